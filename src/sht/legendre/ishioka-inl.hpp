// Coefficients of Ishioka's recurrence for one order m, and the conversion of a_lm to and from its form.
// Included once per SIMD target: the plain loops below are vectorised by the compiler for that target.

#if defined(ZONAL_SHT_ISHIOKA_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_ISHIOKA_INL_HPP
#undef ZONAL_SHT_ISHIOKA_INL_HPP
#else
#define ZONAL_SHT_ISHIOKA_INL_HPP
#endif

#include <hwy/highway.h>

#include <cmath>
#include <complex>

#include "sht/legendre/ishioka_math.hpp"
#include "sht/legendre/legendre.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

using Complex = std::complex<double>;

/// The recurrence of one order m up to degree lmax, in steps i of two degrees: l = m + 2i (ishioka_math.hpp).
struct Ishioka {
    std::int64_t m, lmax;
    std::int64_t n_steps;   ///< even: the last may be empty
    const double* epsilon;  ///< [l - m], l = m..: sqrt((l^2 - m^2) / (4 l^2 - 1))
    const double* alpha;    ///< [i]

    Ishioka(std::int64_t m, std::int64_t lmax, LegendreScratch& scratch) : m(m), lmax(lmax) {
        const std::int64_t used = (lmax - m) / 2 + 1;
        n_steps = (used + 1) / 2 * 2;
        // Room for a spin field's degrees up to lmax + 2 and the recurrence's l + 3.
        double *const eps = room_for(scratch.epsilon, 2 * n_steps + 4 + 8), *const values =
                                                                                room_for(scratch.alpha,
                                                                                         3 * n_steps + 4);
        write_epsilons(eps);
        write_alphas(eps, values);
        epsilon = eps;
        alpha = values;
    }

    /// epsilon_lm of ishioka_math.hpp for l = m..m + 2 n_steps + 3, and up to a vector more. By name, as GCC
    /// has neither roots that it may not need nor conversions of 64-bit integers as vectors for AVX2.
    void write_epsilons(double* eps) const {
        namespace hn = hwy::HWY_NAMESPACE;
        const hn::CappedTag<double, 8> d;
        const auto order = hn::Set(d, static_cast<double>(m)), one = hn::Set(d, 1.0), four = hn::Set(d, 4.0);
        const auto step = static_cast<std::int64_t>(hn::Lanes(d));
        for (std::int64_t k = 0; k < 2 * n_steps + 4; k += step) {
            const auto l = hn::Add(order, hn::Iota(d, static_cast<double>(k)));
            const auto squares = hn::Mul(hn::Sub(l, order), hn::Add(l, order));
            const auto below = hn::Sub(hn::Mul(four, hn::Mul(l, l)), one);
            hn::StoreU(hn::Sqrt(hn::Div(squares, below)), d, eps + k);
        }
        eps[0] = 0;
    }

    /// Room behind the n_steps values of alpha is scratch.
    void write_alphas(const double* eps, double* alpha_out) const {
        double* a = alpha_out;
        double* ratio = a + n_steps;
        double* defect = ratio + n_steps;
        // As write_alpha of ishioka_math.hpp, in loops that vectorise. p_i = eps_{l+2}
        // eps_{l+3}.
        for (std::int64_t i = 0; i < n_steps; ++i)
            ratio[i] = -(eps[2 * i + 2] * eps[2 * i + 3]) / (eps[2 * i + 4] * eps[2 * i + 5]);
        a[0] = 1 / eps[1];
        a[1] = eps[1] / (eps[2] * eps[3]);
        for (std::int64_t i = 0; i + 2 < n_steps; ++i) a[i + 2] = a[i] * ratio[i];
        // Even and odd i have drifted apart by rounding, which near the equator and the poles acts as a shift
        // of theta. Restore alpha_{i+1} alpha_i p_i = (-1)^i: with alpha_i (1 + c_i), c_{i+1} = -defect_i -
        // c_i.
        for (std::int64_t i = 0; i + 1 < n_steps; ++i)
            defect[i] = alpha_defect(eps[2 * i + 2], eps[2 * i + 3], a[i], a[i + 1], i % 2 == 0 ? 1 : -1);
        // (-1)^(i+1) c_{i+1} = sum_{j<=i} (-1)^j defect_j: no value waits for more than one sum of the four
        // before.
        double sum = 0;
        std::int64_t i = 0;
        for (; i + 4 < n_steps; i += 4) {
            const double two = defect[i] - defect[i + 1], three = two + defect[i + 2],
                         four = three - defect[i + 3];
            a[i + 1] -= a[i + 1] * (sum + defect[i]);
            a[i + 2] += a[i + 2] * (sum + two);
            a[i + 3] -= a[i + 3] * (sum + three);
            a[i + 4] += a[i + 4] * (sum + four);
            sum += four;
        }
        for (double sign = 1; i + 1 < n_steps; ++i, sign = -sign) {
            sum += sign * defect[i];
            a[i + 1] -= sign * a[i + 1] * sum;
        }
    }

    /// steps[i * stride], steps[i * stride + 1] = A_i, B_i.
    void write_recurrence(double* steps, std::int64_t stride) const {
        for (std::int64_t i = 0; i < n_steps; ++i) {
            const IshiokaStep step = ishioka_step(i, alpha[i], epsilon[2 * i + 1], epsilon[2 * i + 2]);
            steps[i * stride] = step.a;
            steps[i * stride + 1] = step.b;
        }
    }

    /// steps[(i - begin) * stride + 0..3] = b_i, c_i (re, im each) for the steps i from `begin` to `end`:
    ///   b_i = alpha_i (eps_{l+1} a_l + eps_{l+2} a_{l+2}), c_i = alpha_i a_{l+1}
    /// a: [lmax - m + 1]
    void write_coefficients(const Complex* a, std::int64_t begin, std::int64_t end, double* steps,
                            std::int64_t stride) const {
        const std::int64_t length = lmax - m + 1;
        namespace hn = hwy::HWY_NAMESPACE;
        const hn::CappedTag<double, 2> d;
        auto write = [&](std::int64_t i, const Complex* at) HWY_ATTR {
            const auto scale = hn::Set(d, alpha[i]);
            const auto even0 = hn::Mul(scale, hn::Set(d, epsilon[2 * i + 1])),
                       even2 = hn::Mul(scale, hn::Set(d, epsilon[2 * i + 2]));
            const double* const a0 = reinterpret_cast<const double*>(at);
            double* const step = steps + (i - begin) * stride;
            for (std::size_t r = 0; r < 2; r += hn::Lanes(d)) {
                const auto even = hn::Mul(even0, hn::LoadU(d, a0 + r));
                hn::StoreU(hn::MulAdd(even2, hn::LoadU(d, a0 + 4 + r), even), d, step + r);
                hn::StoreU(hn::Mul(scale, hn::LoadU(d, a0 + 2 + r)), d, step + 2 + r);
            }
        };
        std::int64_t i = begin;
        for (; i < end && 2 * i + 2 < length; ++i) write(i, a + 2 * i);
        auto at = [&](std::int64_t k) { return k < length ? a[k] : Complex(0); };
        for (; i < end; ++i) {
            const Complex last[3] = {at(2 * i), at(2 * i + 1), at(2 * i + 2)};
            write(i, last);
        }
    }

    /// The transpose of write_coefficients: adds to a_l from sums[k][i], k = even re, im, odd re, im, rows
    /// `row` long.
    void read_sums(const double* sums, std::int64_t row, Complex* a) const {
        const std::int64_t length = lmax - m + 1;
        Complex carried = 0;
        for (std::int64_t i = 0; 2 * i < length; ++i) {
            const Complex even(sums[i], sums[row + i]), odd(sums[2 * row + i], sums[3 * row + i]);
            a[2 * i] += alpha[i] * epsilon[2 * i + 1] * even + carried;
            if (2 * i + 1 < length) a[2 * i + 1] += alpha[i] * odd;
            carried = alpha[i] * epsilon[2 * i + 2] * even;
        }
    }
};

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
