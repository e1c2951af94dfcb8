// A field of any spin as two scalar ones: sin^s theta Q_m = sum_l q_l lambda_lm, sin^s theta U_m = sum_l u_l
// lambda_lm with l up to lmax + s. Works where sin^s theta is not small. Included once per SIMD target: the
// plain loops below are vectorised by the compiler for that target.

#if defined(ZONAL_SHT_SPIN_TO_SCALAR_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_SPIN_TO_SCALAR_INL_HPP
#undef ZONAL_SHT_SPIN_TO_SCALAR_INL_HPP
#else
#define ZONAL_SHT_SPIN_TO_SCALAR_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <complex>
#include <utility>

#include "sht/legendre/legendre.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// One order's coefficients of a spin field on their way from spin s to 0 or, transposed, from 0 to s. Each
/// step is
///   x'_l = eps_l below_l x_{l-1} + eps_{l+1} above_l x_{l+1} + i m across_l y_l
/// and y' the same of y and -x, with the weights of SpinStep.
class SpinSteps {
  public:
    /// epsilon: [l - m], l = m..lmax + s + 1.
    SpinSteps(const LegendreTable& table, std::int64_t m, const double* epsilon, LegendreScratch& scratch)
        : table_(table), m_(m), length_(table.layout.lmax() - m + 1), epsilon_(epsilon) {
        // Before the first degree and beyond the last, where close() writes them, lie zeros.
        const std::int64_t row = length_ + table.spin + 2 * margin;
        double* const rows = room_for(scratch.spin_rows, 2 * n_parts * row);
        for (int part = 0; part < n_parts; ++part) {
            from_[part] = rows + part * row + margin;
            to_[part] = from_[part] + n_parts * row;
            from_[part][-1] = to_[part][-1] = 0;
        }
    }

    /// q, u: [length + s], overwritten; e, b: [length].
    void to_scalar(const Complex* e, const Complex* b, Complex* q, Complex* u) {
        take(e, b, length_);
        for (int s = table_.spin; s > 0; --s) {
            const SpinStep& step = table_.steps[s - 1];
            apply(step.below(m_), step.above(m_), step.across(m_), length_ + table_.spin - s + 1);
        }
        for (std::int64_t k = 0; k < length_ + table_.spin; ++k) {
            q[k] = {from_[0][k], from_[1][k]};
            u[k] = {from_[2][k], from_[3][k]};
        }
    }

    /// The transpose; adds to e, b.
    void add_from_scalar(const Complex* q, const Complex* u, Complex* e, Complex* b) {
        take(q, u, length_ + table_.spin);
        for (int s = 1; s <= table_.spin; ++s) {
            const SpinStep& step = table_.steps[s - 1];
            apply(step.above(m_) - 1, step.below(m_) + 1, step.across(m_), length_ + table_.spin - s);
        }
        for (std::int64_t k = 0; k < length_; ++k) {
            e[k] += Complex(from_[0][k], from_[1][k]);
            b[k] += Complex(from_[2][k], from_[3][k]);
        }
    }

  private:
    static constexpr int n_parts = 4;  ///< re, im of x, re, im of y
    static constexpr std::int64_t margin = 8;

    /// The next step asks for up to two degrees more than there are.
    static void close(double* const (&parts)[n_parts], std::int64_t length) {
        for (double* part : parts) part[length] = part[length + 1] = 0;
    }

    void take(const Complex* x, const Complex* y, std::int64_t length) {
        for (std::int64_t k = 0; k < length; ++k) {
            from_[0][k] = x[k].real(), from_[1][k] = x[k].imag();
            from_[2][k] = y[k].real(), from_[3][k] = y[k].imag();
        }
        close(from_, length);
    }

    /// Degrees [0, length) of a step's result. before, after: weights of the degrees before and after each.
    void apply(const double* HWY_RESTRICT before, const double* HWY_RESTRICT after,
               const double* HWY_RESTRICT across, std::int64_t length) {
        const double *const HWY_RESTRICT x_re = from_[0], *const HWY_RESTRICT x_im = from_[1];
        const double *const HWY_RESTRICT y_re = from_[2], *const HWY_RESTRICT y_im = from_[3];
        double *const HWY_RESTRICT x_re_to = to_[0], *const HWY_RESTRICT x_im_to = to_[1];
        double *const HWY_RESTRICT y_re_to = to_[2], *const HWY_RESTRICT y_im_to = to_[3];
        const double* const HWY_RESTRICT eps = epsilon_;
        const double m = static_cast<double>(m_);
        for (std::int64_t k = 0; k < length; ++k) {
            const double a = before[k] * eps[k], b = after[k] * eps[k + 1], c = m * across[k];
            x_re_to[k] = a * x_re[k - 1] + b * x_re[k + 1] - c * y_im[k];
            x_im_to[k] = a * x_im[k - 1] + b * x_im[k + 1] + c * y_re[k];
            y_re_to[k] = a * y_re[k - 1] + b * y_re[k + 1] + c * x_im[k];
            y_im_to[k] = a * y_im[k - 1] + b * y_im[k + 1] - c * x_re[k];
        }
        close(to_, length);
        std::swap(from_, to_);
    }

    const LegendreTable& table_;
    std::int64_t m_, length_;
    const double* epsilon_;
    double *from_[n_parts], *to_[n_parts];
};

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
