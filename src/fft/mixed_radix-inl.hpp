// Mixed-radix Stockham transforms of sequences of vectors: every lane is a sequence of its own.
// Included once per SIMD target.

#if defined(ZONAL_FFT_MIXED_RADIX_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_FFT_MIXED_RADIX_INL_HPP
#undef ZONAL_FFT_MIXED_RADIX_INL_HPP
#else
#define ZONAL_FFT_MIXED_RADIX_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fft/complex_fft.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::fft::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
inline constexpr std::int64_t lanes_of = static_cast<std::int64_t>(hn::MaxLanes(D()));

/// One complex number per lane. In memory, the imaginary parts of a row of `Row` lie behind the real ones.
template <class D>
struct ComplexV {
    hn::Vec<D> re, im;

    template <std::int64_t Row = lanes_of<D>>
    static HWY_INLINE ComplexV load(const double* p) {
        const D d;
        return {hn::LoadU(d, p), hn::LoadU(d, p + Row)};
    }
    template <std::int64_t Row = lanes_of<D>>
    HWY_INLINE void store(double* p) const {
        const D d;
        hn::StoreU(re, d, p);
        hn::StoreU(im, d, p + Row);
    }
    HWY_INLINE ComplexV operator+(ComplexV b) const { return {hn::Add(re, b.re), hn::Add(im, b.im)}; }
    HWY_INLINE ComplexV operator-(ComplexV b) const { return {hn::Sub(re, b.re), hn::Sub(im, b.im)}; }
    HWY_INLINE ComplexV times_i() const { return {hn::Neg(im), re}; }
    HWY_INLINE ComplexV times(ComplexV w) const {
        return {hn::NegMulAdd(im, w.im, hn::Mul(re, w.re)), hn::MulAdd(im, w.re, hn::Mul(re, w.im))};
    }
    /// root: re, im, the same for all lanes.
    HWY_INLINE ComplexV times(const double* root) const {
        const D d;
        return times(ComplexV{hn::Set(d, root[0]), hn::Set(d, root[1])});
    }
    HWY_INLINE ComplexV scaled(double factor) const {
        const D d;
        return {hn::Mul(re, hn::Set(d, factor)), hn::Mul(im, hn::Set(d, factor))};
    }
};

template <class D, int P>
HWY_INLINE void butterfly(ComplexV<D> (&a)[P]) {
    using C = ComplexV<D>;
    if constexpr (P == 2) {
        const C s = a[0] + a[1];
        a[1] = a[0] - a[1];
        a[0] = s;
    } else if constexpr (P == 3) {
        const C s = a[1] + a[2], t = (a[1] - a[2]).scaled(0.86602540378443864676).times_i();
        const C r = a[0] - s.scaled(0.5);
        a[0] = a[0] + s;
        a[1] = r + t;
        a[2] = r - t;
    } else if constexpr (P == 4) {
        const C s = a[0] + a[2], t = a[0] - a[2], u = a[1] + a[3], v = (a[1] - a[3]).times_i();
        a[0] = s + u;
        a[1] = t + v;
        a[2] = s - u;
        a[3] = t - v;
    } else if constexpr (P == 8) {
        // Two of length 4, and the roots of unity between them.
        constexpr double r = 0.70710678118654752440;
        C even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
        butterfly<D, 4>(even);
        butterfly<D, 4>(odd);
        odd[1] = (odd[1] + odd[1].times_i()).scaled(r);
        odd[2] = odd[2].times_i();
        odd[3] = (odd[3].times_i() - odd[3]).scaled(r);
        for (int k = 0; k < 4; ++k) {
            a[k] = even[k] + odd[k];
            a[k + 4] = even[k] - odd[k];
        }
    } else {
        static_assert(P == 5);
        constexpr double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
        constexpr double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
        const C p1 = a[1] + a[4], m1 = a[1] - a[4], p2 = a[2] + a[3], m2 = a[2] - a[3];
        const C r1 = a[0] + p1.scaled(c1) + p2.scaled(c2), r2 = a[0] + p1.scaled(c2) + p2.scaled(c1);
        const C i1 = (m1.scaled(s1) + m2.scaled(s2)).times_i(),
                i2 = (m1.scaled(s2) - m2.scaled(s1)).times_i();
        a[0] = a[0] + p1 + p2;
        a[1] = r1 + i1;
        a[4] = r1 - i1;
        a[2] = r2 + i2;
        a[3] = r2 - i2;
    }
}

/// One pass: `done` sub-sequences of P * rest elements each become done * P of `rest` elements.
/// in: [done][P][rest], out: [P][done][rest], roots of the whole length done * P * rest.
template <class D, std::int64_t Row, int P>
HWY_NOINLINE void pass(std::int64_t done, std::int64_t rest, const double* HWY_RESTRICT roots,
                       const double* HWY_RESTRICT in, double* HWY_RESTRICT out) {
    using C = ComplexV<D>;
    constexpr std::int64_t width = 2 * Row;
    for (std::int64_t k = 0; k < done; ++k) {
        for (std::int64_t i = 0; i < rest; ++i) {
            for (std::int64_t lane = 0; lane < Row; lane += lanes_of<D>) {
                C a[P];
                for (int j = 0; j < P; ++j)
                    a[j] = C::template load<Row>(in + ((k * P + j) * rest + i) * width + lane);
                butterfly<D, P>(a);
                a[0].template store<Row>(out + (k * rest + i) * width + lane);
                for (int j = 1; j < P; ++j) {
                    if (i > 0) a[j] = a[j].times(roots + 2 * (i * j * done));
                    a[j].template store<Row>(out + ((k + done * j) * rest + i) * width + lane);
                }
            }
        }
    }
}

/// The same for any odd prime p, by sums over pairs of inputs: (p-1)^2 fused multiply-adds.
template <class D, std::int64_t Row>
HWY_NOINLINE void pass_prime(std::int64_t p, std::int64_t done, std::int64_t rest,
                             const double* HWY_RESTRICT roots, const double* HWY_RESTRICT in,
                             double* HWY_RESTRICT out) {
    using C = ComplexV<D>;
    using V = hn::Vec<D>;
    const D d;
    constexpr std::int64_t width = 2 * Row, sum_width = 2 * lanes_of<D>;
    const std::int64_t half = (p - 1) / 2;
    std::vector<double> cosine(p), sine(p);
    for (std::int64_t j = 0; j < p; ++j) {
        cosine[j] = roots[2 * (j * done * rest)];
        sine[j] = roots[2 * (j * done * rest) + 1];
    }
    HWY_ALIGN double sums[largest_direct_prime / 2 * 2 * HWY_MAX_BYTES / 8];
    HWY_ALIGN double differences[largest_direct_prime / 2 * 2 * HWY_MAX_BYTES / 8];
    const auto one = [&](std::int64_t k, std::int64_t i, std::int64_t lane) HWY_ATTR {
        const double* const source = in + (k * p * rest + i) * width + lane;
        double* const target = out + (k * rest + i) * width + lane;
        const C first = C::template load<Row>(source);
        C total = first;
        for (std::int64_t j = 1; j <= half; ++j) {
            const C a = C::template load<Row>(source + j * rest * width),
                    b = C::template load<Row>(source + (p - j) * rest * width);
            (a + b).store(sums + (j - 1) * sum_width);
            (a - b).store(differences + (j - 1) * sum_width);
            total = total + (a + b);
        }
        total.template store<Row>(target);
        for (std::int64_t q = 1; q <= half; ++q) {
            C even = first, odd = {hn::Zero(d), hn::Zero(d)};
            std::int64_t index = 0;
            for (std::int64_t j = 0; j < half; ++j) {
                index += q;
                if (index >= p) index -= p;
                const C s = C::load(sums + j * sum_width), t = C::load(differences + j * sum_width);
                const V c = hn::Set(d, cosine[index]), w = hn::Set(d, sine[index]);
                even = {hn::MulAdd(c, s.re, even.re), hn::MulAdd(c, s.im, even.im)};
                odd = {hn::MulAdd(w, t.re, odd.re), hn::MulAdd(w, t.im, odd.im)};
            }
            C x = even + odd.times_i(), y = even - odd.times_i();
            if (i > 0) {
                x = x.times(roots + 2 * (i * q * done));
                y = y.times(roots + 2 * (i * (p - q) * done));
            }
            x.template store<Row>(target + done * q * rest * width);
            y.template store<Row>(target + done * (p - q) * rest * width);
        }
    };
    for (std::int64_t k = 0; k < done; ++k)
        for (std::int64_t i = 0; i < rest; ++i)
            for (std::int64_t lane = 0; lane < Row; lane += lanes_of<D>) one(k, i, lane);
}

/// Backward transform of rows x[length] (re, im); result in x, which may be swapped with y.
template <class D, std::int64_t Row = lanes_of<D>>
void transform(const MixedRadixTable& table, core::AlignedVector<double>& x, core::AlignedVector<double>& y) {
    std::int64_t rest = table.length, done = 1;
    const double* roots = table.roots.data();
    for (const std::int64_t p : table.radices) {
        rest /= p;
        switch (p) {
            case 2:
                pass<D, Row, 2>(done, rest, roots, x.data(), y.data());
                break;
            case 3:
                pass<D, Row, 3>(done, rest, roots, x.data(), y.data());
                break;
            case 4:
                pass<D, Row, 4>(done, rest, roots, x.data(), y.data());
                break;
            case 5:
                pass<D, Row, 5>(done, rest, roots, x.data(), y.data());
                break;
            case 8:
                pass<D, Row, 8>(done, rest, roots, x.data(), y.data());
                break;
            default:
                pass_prime<D, Row>(p, done, rest, roots, x.data(), y.data());
        }
        done *= p;
        std::swap(x, y);
    }
}

}  // namespace zonal::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
