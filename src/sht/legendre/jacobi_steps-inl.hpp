// The coefficients of the Jacobi recurrences of one order. Included once per SIMD target: the plain loops
// below are vectorised by the compiler for that target.

#if defined(ZONAL_SHT_JACOBI_STEPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ZONAL_SHT_JACOBI_STEPS_INL_HPP
#undef ZONAL_SHT_JACOBI_STEPS_INL_HPP
#else
#define ZONAL_SHT_JACOBI_STEPS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "sht/legendre/jacobi_math.hpp"
#include "sht/legendre/legendre.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::sht::HWY_NAMESPACE {

/// Degrees are taken in groups of this many, so that sums over rings fold whole vectors.
inline constexpr std::int64_t degree_group = 4;

/// How lambda = sqrt((2l+1)/4pi) d^l_{m,+-s} goes from degree l to l + 1.
enum class JacobiForm {
    difference,  ///< exact to rounding near the poles
    three_term   ///< exact to rounding elsewhere
};

/// The coefficients of all steps of one sequence, [n_degrees] each; their meaning depends on the form.
struct JacobiSteps {
    double *c0, *c1, *c2;
};

inline void write_difference_steps(double alpha, double beta, double first_degree, std::int64_t count,
                                   const JacobiSteps& steps) {
    // Of 64-bit integers AVX2 would convert one at a time.
    for (std::int32_t k = 0; k < count; ++k) {
        const JacobiStep step = difference_step(alpha, beta, first_degree, static_cast<double>(k));
        steps.c0[k] = step.c0;
        steps.c1[k] = step.c1;
        steps.c2[k] = step.c2;
    }
}

/// The steps of one order for lambda_lm (spin 0, one sequence) or the pair d_{m,-s}, d_{m,+s}; padded to
/// whole degree groups. In the three-term form lambda = norm p with p_{l+1} = (c0 x + c1) p_l - p_{l-1}; the
/// pair shares c0 and has c1 of opposite sign.
struct JacobiRecurrence {
    std::int64_t first_degree;     ///< L = max(m, s)
    std::int64_t n_degrees;        ///< a multiple of degree_group, 0 where L > lmax
    JacobiSteps steps[2] = {};     ///< differences: of each sequence; else c0 and c1 of both
    const double* norm = nullptr;  ///< [n_degrees]; null: 1

    /// The three-term recurrence of lambda_lm up to degree lmax. epsilon: [l - m], as Ishioka's, up to lmax.
    JacobiRecurrence(std::int64_t m, std::int64_t lmax, const double* epsilon, LegendreScratch& scratch)
        : first_degree(m), n_degrees(padded(lmax - m + 1)) {
        double* const growth = three_term_rows(scratch);
        for (std::int64_t k = 0; k < lmax - m; ++k) growth[k] = 1 / epsilon[k + 1];
        write_three_term(lmax - m, growth, [](std::int32_t) { return 0.0; });
    }

    JacobiRecurrence(const LegendreOrder& order, JacobiForm form) {
        const std::int64_t m = order.m, s = order.table.spin, lmax = order.table.layout.lmax();
        first_degree = std::max(m, s);
        const std::int64_t used = std::max<std::int64_t>(0, lmax - first_degree + 1);
        n_degrees = padded(used);
        const double dm = static_cast<double>(m), ds = static_cast<double>(s), first = std::max(dm, ds);
        if (form == JacobiForm::three_term) {
            double* const growth = three_term_rows(order.scratch);
            for (std::int32_t k = 0; k < used - 1; ++k)
                growth[k] = three_term_growth(dm, ds, first + static_cast<double>(k));
            write_three_term(used - 1, growth, [&](std::int32_t k) {
                return three_term_shift(dm, -ds, first + static_cast<double>(k), growth[k]);
            });
            return;
        }
        const int n_sequences = s == 0 ? 1 : 2;
        order.scratch.jacobi.assign(n_degrees * 3 * n_sequences, 0.0);
        double* next = order.scratch.jacobi.data();
        const double far = dm + ds, near = std::abs(dm - ds);
        for (int k = 0; k < n_sequences; ++k) {
            steps[k] = {next, next + n_degrees, next + 2 * n_degrees};
            next += 3 * n_degrees;
            // d_{m,-s} carries sin^(m+s)(theta/2), d_{m,+s} carries sin^|m-s|(theta/2).
            write_difference_steps(k == 0 ? far : near, k == 0 ? near : far, first, used - 1, steps[k]);
        }
    }

  private:
    static std::int64_t padded(std::int64_t used) {
        return (used + degree_group - 1) / degree_group * degree_group;
    }

    /// Rows for c0, c1 and the norm, and one that is returned, zeros.
    double* three_term_rows(LegendreScratch& scratch) {
        scratch.jacobi.assign(n_degrees * 4, 0.0);
        double* const all = scratch.jacobi.data();
        steps[0] = {all, all + n_degrees, all + 2 * n_degrees};
        norm = steps[0].c2;
        return all + 3 * n_degrees;
    }

    /// From three_term_step's u and v: with w_l = u_l / u_{l-1} the norm obeys norm_{l+1} = w_l norm_{l-1}.
    template <class Shift>
    void write_three_term(std::int64_t count, const double* growth, const Shift& shift) {
        const auto [c0, c1, g] = steps[0];
        if (n_degrees > 0) g[0] = g[1] = 1;
        for (std::int64_t k = 1; k < count; ++k) c0[k] = growth[k] / growth[k - 1];
        for (std::int64_t k = 1; k < count; ++k) g[k + 1] = c0[k] * g[k - 1];
        for (std::int32_t k = 0; k < count; ++k) {
            const double ratio = g[k] / g[k + 1];
            c0[k] = growth[k] * ratio;
            c1[k] = shift(k) * ratio;
        }
    }
};

}  // namespace zonal::sht::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
