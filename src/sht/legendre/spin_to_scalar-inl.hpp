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
#include "sht/legendre/spin_math.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// One order's weights: degree l = m + k adds weight[k] of its coefficient to degree l + offset.
struct DegreeShift {
    int offset;
    const double* weight;  ///< [lmax - m + 1]
};

/// The weights of -sin^s F+ (even) and -sin^s F- (odd); the sign is that of Q + iU = -sum (E + iB) sY.
class SpinWeights {
  public:
    /// epsilon: [l - m], l = m..lmax + 2.
    SpinWeights(int spin, std::int64_t m, std::int64_t lmax, const double* epsilon, LegendreScratch& scratch)
        : length_(lmax - m + 1), first_(std::max<std::int64_t>(0, spin - m)) {
        scratch.spin_weights.assign(5 * length_, 0.0);
        for (int i = 0; i < 5; ++i) weight_[i] = scratch.spin_weights.data() + i * length_;
        if (spin == 1)
            write_spin_1(m, epsilon);
        else
            write_spin_2(m, epsilon);
    }

    /// q, u: [length + s], overwritten; e, b: [length].
    void to_scalar(const Complex* e, const Complex* b, Complex* q, Complex* u, int spin) const {
        std::fill(q, q + length_ + spin, 0.0);
        std::fill(u, u + length_ + spin, 0.0);
        for (int i = 0; i < n_even_; ++i) {
            add_shifted(even_[i], {1, 0}, e, q);
            add_shifted(even_[i], {1, 0}, b, u);
        }
        for (int i = 0; i < n_odd_; ++i) {
            add_shifted(odd_[i], {0, 1}, b, q);
            add_shifted(odd_[i], {0, -1}, e, u);
        }
    }

    /// The transpose; adds to e, b.
    void add_from_scalar(const Complex* q, const Complex* u, Complex* e, Complex* b) const {
        for (int i = 0; i < n_even_; ++i) {
            add_unshifted(even_[i], {1, 0}, q, e);
            add_unshifted(even_[i], {1, 0}, u, b);
        }
        for (int i = 0; i < n_odd_; ++i) {
            add_unshifted(odd_[i], {0, -1}, q, b);
            add_unshifted(odd_[i], {0, 1}, u, e);
        }
    }

  private:
    void write_spin_1(std::int64_t order, const double* epsilon) {
        const double m = static_cast<double>(order);
        for (std::int64_t k = first_; k < length_; ++k) {
            const SpinShifts w = spin_1_shifts(m + static_cast<double>(k), m, epsilon[k], epsilon[k + 1]);
            for (int i = 0; i < 3; ++i) weight_[i][k] = w.weight[i + 1];
        }
        n_even_ = 2, n_odd_ = 1;
        even_[0] = {-1, weight_[0]}, even_[1] = {1, weight_[2]};
        odd_[0] = {0, weight_[1]};
    }

    void write_spin_2(std::int64_t order, const double* epsilon) {
        const double m = static_cast<double>(order);
        for (std::int64_t k = first_; k < length_; ++k) {
            const SpinShifts w = spin_2_shifts(m + static_cast<double>(k), m, epsilon[k - (k > 0)],
                                               epsilon[k], epsilon[k + 1], epsilon[k + 2]);
            for (int i = 0; i < 5; ++i) weight_[i][k] = w.weight[i];
        }
        n_even_ = 3, n_odd_ = 2;
        for (int i = 0; i < 3; ++i) even_[i] = {2 * i - 2, weight_[2 * i]};
        for (int i = 0; i < 2; ++i) odd_[i] = {2 * i - 1, weight_[2 * i + 1]};
    }

    /// out[k + offset] += weight[k] factor in[k]. Below degree m the weights are zero, as e_m is.
    void add_shifted(const DegreeShift& shift, Complex factor, const Complex* in, Complex* out) const {
        const double re = factor.real(), im = factor.imag();
        const auto* x = reinterpret_cast<const double*>(in);
        auto* y = reinterpret_cast<double*>(out + shift.offset);
        for (std::int64_t k = std::max<std::int64_t>(0, -shift.offset); k < length_; ++k) {
            const double w = shift.weight[k];
            y[2 * k] += w * (re * x[2 * k] - im * x[2 * k + 1]);
            y[2 * k + 1] += w * (re * x[2 * k + 1] + im * x[2 * k]);
        }
    }

    /// out[k] += weight[k] factor in[k + offset].
    void add_unshifted(const DegreeShift& shift, Complex factor, const Complex* in, Complex* out) const {
        const double re = factor.real(), im = factor.imag();
        const auto* x = reinterpret_cast<const double*>(in + shift.offset);
        auto* y = reinterpret_cast<double*>(out);
        for (std::int64_t k = std::max<std::int64_t>(0, -shift.offset); k < length_; ++k) {
            const double w = shift.weight[k];
            y[2 * k] += w * (re * x[2 * k] - im * x[2 * k + 1]);
            y[2 * k + 1] += w * (re * x[2 * k + 1] + im * x[2 * k]);
        }
    }

    std::int64_t length_, first_;
    double* weight_[5];
    int n_even_, n_odd_;
    DegreeShift even_[3], odd_[2];
};

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
