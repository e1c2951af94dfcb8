#pragma once

#include <cmath>
#include <cstdint>

#include "core/multiply_add.hpp"

/// Ishioka's recurrence of one order m, in steps i of two degrees, l = m + 2i (Ishioka 2018, eqs. 20-23):
///   lam_{i+1} = (A_i cos^2 theta + B_i) lam_i + lam_{i-1}
///   A_i = (-1)^i alpha_i^2, B_i = -A_i (eps_{l+1}^2 + eps_{l+2}^2)
///   alpha_0 = 1 / eps_{m+1}, alpha_{i+1} = (-1)^i / (eps_{l+2} eps_{l+3} alpha_i)
namespace zonal::sht {

/// eps_lm = sqrt((l^2 - m^2) / (4 l^2 - 1)); 0 at l = m, also at l = m = 0.
ZONAL_HOST_DEVICE inline double epsilon_lm(double l, double m) {
    return core::root_of_quotient((l - m) * (l + m), 4 * l * l - 1);
}

/// What alpha_i alpha_{i+1} p_i, p_i = eps_{l+2} eps_{l+3}, misses of (-1)^i, relative.
ZONAL_HOST_DEVICE inline double alpha_defect(double eps_2, double eps_3, double alpha, double next,
                                             double sign) {
    const double p = eps_2 * eps_3, half = p * alpha;
    const double lost = fma(eps_2, eps_3, -p) * alpha + fma(p, alpha, -half);
    return fma(half, next, -sign) * sign + lost * next * sign;
}

/// alpha_i, i < n_steps. Two degrees apart alpha only needs products: alpha_{i+2} = -alpha_i p_i / p_{i+1}.
/// Even and odd i then drift apart by rounding, which near the equator and the poles acts as a shift of
/// theta; alpha_{i+1} alpha_i p_i = (-1)^i is restored: with alpha_i (1 + c_i), c_{i+1} = -defect_i - c_i.
ZONAL_HOST_DEVICE inline void write_alpha(std::int64_t order, std::int64_t n_steps, double* alpha) {
    const double m = static_cast<double>(order);
    double eps_2 = epsilon_lm(m + 2, m), eps_3 = epsilon_lm(m + 3, m);
    double last = 1 / epsilon_lm(m + 1, m), next = 1 / (eps_2 * eps_3 * last);
    double last_correction = 0;
    for (std::int64_t i = 0; i < n_steps; ++i) {
        const double l = m + 2 * static_cast<double>(i);
        const double eps_4 = epsilon_lm(l + 4, m), eps_5 = epsilon_lm(l + 5, m);
        alpha[i] = last + last * last_correction;
        const double correction =
            -alpha_defect(eps_2, eps_3, last, next, i % 2 == 0 ? 1 : -1) - last_correction;
        const double after = last * (-(eps_2 * eps_3) / (eps_4 * eps_5));
        last = next, next = after, last_correction = correction;
        eps_2 = eps_4, eps_3 = eps_5;
    }
}

/// A_i and B_i.
struct IshiokaStep {
    double a, b;
};
ZONAL_HOST_DEVICE inline IshiokaStep ishioka_step(std::int64_t i, double alpha, double eps_1, double eps_2) {
    const double a = (i % 2 == 0 ? 1 : -1) * alpha * alpha;
    return {a, -a * (eps_1 * eps_1 + eps_2 * eps_2)};
}

}  // namespace zonal::sht
