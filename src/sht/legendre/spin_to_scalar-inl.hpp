// Spin 1 and 2 through scalar functions: sin^s theta F+ and sin^s theta F- are combinations of lambda_{l-s}..
// lambda_{l+s} of the same order, so that sin^s Q_m = sum_l q_l lambda_lm, sin^s U_m = sum_l u_l lambda_lm
// with l up to lmax + s. Works where sin theta is not small. Included once per SIMD target: the plain loops
// below are vectorised by the compiler for that target.

#if defined(ZONAL_SHT_SPIN_TO_SCALAR_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_SPIN_TO_SCALAR_INL_HPP
#undef ZONAL_SHT_SPIN_TO_SCALAR_INL_HPP
#else
#define ZONAL_SHT_SPIN_TO_SCALAR_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "sht/legendre/legendre.hpp"
#include "sht/legendre/scaled-inl.hpp"
#include "sht/legendre/spin_math.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// One order's weights of -sin^s F+ (even shifts) and -sin^s F- (odd ones): degree l = m + k adds
/// weight[shift][k] of its coefficient to degree l + shift - 2. The sign is that of Q + iU = -sum (E + iB)
/// sY.
class SpinWeights {
  public:
    /// epsilon: [l - m], l = m..lmax + 2.
    SpinWeights(int spin, std::int64_t m, std::int64_t lmax, const double* epsilon, LegendreScratch& scratch)
        : spin_(spin), length_(lmax - m + 1) {
        scratch.spin_weights.assign(5 * length_ + lanes(), 0.0);  // whole vectors are read
        for (int i = 0; i < 5; ++i) weight_[i] = scratch.spin_weights.data() + i * length_;
        const std::int64_t first = std::max<std::int64_t>(0, spin - m);
        if (spin == 1)
            write_spin_1(static_cast<double>(m), first, epsilon);
        else
            write_spin_2(static_cast<double>(m), first, epsilon);
    }

    /// q, u: [length + s], overwritten; e, b: [length].
    void to_scalar(const Complex* e, const Complex* b, Complex* q, Complex* u) const {
        if (spin_ == 1)
            combine<1, false>(e, b, q, u);
        else
            combine<2, false>(e, b, q, u);
    }

    /// The transpose; adds to e, b.
    void add_from_scalar(const Complex* q, const Complex* u, Complex* e, Complex* b) const {
        if (spin_ == 1)
            combine<1, true>(q, u, e, b);
        else
            combine<2, true>(q, u, e, b);
    }

  private:
    void write_spin_1(double m, std::int64_t first, const double* epsilon) {
        double *const low = weight_[1], *const same = weight_[2], *const high = weight_[3];
        for (std::int64_t k = first; k < length_; ++k) {
            const SpinShifts w = spin_1_shifts(m + static_cast<double>(k), m, epsilon[k], epsilon[k + 1]);
            low[k] = w.weight[1], same[k] = w.weight[2], high[k] = w.weight[3];
        }
    }

    void write_spin_2(double m, std::int64_t first, const double* HWY_RESTRICT epsilon) {
        double *const HWY_RESTRICT
            lowest = weight_[0],
            *const HWY_RESTRICT low = weight_[1], *const HWY_RESTRICT same = weight_[2],
            *const HWY_RESTRICT high = weight_[3], *const HWY_RESTRICT highest = weight_[4];
        const std::int64_t peeled = first == 0 ? 1 : 0;  // epsilon of degree m - 1 is not there, nor needed
        for (std::int64_t k = first + peeled; k < length_; ++k) {
            const SpinShifts w = spin_2_shifts(m + static_cast<double>(k), m, epsilon[k - 1], epsilon[k],
                                               epsilon[k + 1], epsilon[k + 2]);
            lowest[k] = w.weight[0], low[k] = w.weight[1], same[k] = w.weight[2];
            high[k] = w.weight[3], highest[k] = w.weight[4];
        }
        if (peeled == 0) return;
        const SpinShifts w = spin_2_shifts(m, m, 0, epsilon[0], epsilon[1], epsilon[2]);
        for (int i = 0; i < 5; ++i) weight_[i][0] = w.weight[i];
    }

    /// x_out = W+ x + i W- y, y_out = W+ y - i W- x, with W+ of the shifts of the parity of Spin and W- of
    /// the others. Transposed: adds W^T x + i W^T y and so on.
    template <int Spin, bool Transposed>
    void combine(const Complex* x, const Complex* y, Complex* x_out, Complex* y_out) const {
        const std::int64_t n_in = Transposed ? length_ + Spin : length_,
                           n_out = Transposed ? length_ : length_ + Spin;
        auto at = [&](const Complex* in, std::int64_t k) { return 0 <= k && k < n_in ? in[k] : Complex(0); };
        auto one = [&](std::int64_t k) {
            Complex even_x = 0, even_y = 0, odd_x = 0, odd_y = 0;
            for (int shift = -Spin; shift <= Spin; ++shift) {
                const std::int64_t from = Transposed ? k + shift : k - shift, row = Transposed ? k : from;
                if (row < 0 || row >= length_) continue;
                const double w = weight_[shift + 2][row];
                const bool even = (shift + Spin) % 2 == 0;
                (even ? even_x : odd_x) += w * at(x, from);
                (even ? even_y : odd_y) += w * at(y, from);
            }
            const Complex x_sum = even_x + Complex(-odd_y.imag(), odd_y.real());
            const Complex y_sum = even_y - Complex(-odd_x.imag(), odd_x.real());
            x_out[k] = Transposed ? x_out[k] + x_sum : x_sum;
            y_out[k] = Transposed ? y_out[k] + y_sum : y_sum;
        };
        std::int64_t k = 0;
        if constexpr (lanes() > 1) {
            for (; k < std::min<std::int64_t>(Spin, n_out); ++k) one(k);
            k = combine_vectors<Spin, Transposed>(k, x, y, x_out, y_out);
        }
        for (; k < n_out; ++k) one(k);
    }

    /// The same from k on, for as many whole vectors as have all that they need; returns where it stopped.
    template <int Spin, bool Transposed>
    std::int64_t combine_vectors(std::int64_t k, const Complex* x, const Complex* y, Complex* x_out,
                                 Complex* y_out) const {
        const D d;
        constexpr std::int64_t step = lanes() / 2;
        alignas(64) std::int64_t pairs[block_size];
        alignas(64) double signs[block_size];
        for (std::int64_t i = 0; i < lanes(); ++i) pairs[i] = i / 2, signs[i] = i % 2 == 0 ? -1 : 1;
        const auto twice = hn::SetTableIndices(d, pairs);
        const V sign = hn::Load(d, signs);  // of i z, whose parts change places
        auto load = [&](const Complex* in)
                        HWY_ATTR { return hn::LoadU(d, reinterpret_cast<const double*>(in)); };
        auto store = [&](V sum, Complex* out) HWY_ATTR {
            hn::StoreU(Transposed ? hn::Add(sum, load(out)) : sum, d, reinterpret_cast<double*>(out));
        };
        const std::int64_t end = Transposed ? length_ : length_ - Spin;
        for (; k + step <= end; k += step) {
            V even_x = hn::Zero(d), even_y = even_x, odd_x = even_x, odd_y = even_x;
            for (int shift = -Spin; shift <= Spin; ++shift) {
                const std::int64_t from = Transposed ? k + shift : k - shift;
                const V w =
                    hn::TableLookupLanes(hn::LoadU(d, weight_[shift + 2] + (Transposed ? k : from)), twice);
                if ((shift + Spin) % 2 == 0) {
                    even_x = hn::MulAdd(w, load(x + from), even_x);
                    even_y = hn::MulAdd(w, load(y + from), even_y);
                } else {
                    odd_x = hn::MulAdd(w, load(x + from), odd_x);
                    odd_y = hn::MulAdd(w, load(y + from), odd_y);
                }
            }
            store(hn::MulAdd(sign, hn::Reverse2(d, odd_y), even_x), x_out + k);
            store(hn::NegMulAdd(sign, hn::Reverse2(d, odd_x), even_y), y_out + k);
        }
        return k;
    }

    int spin_;
    std::int64_t length_;
    double* weight_[5];
};

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
