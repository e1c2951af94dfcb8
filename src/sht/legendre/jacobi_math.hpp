#pragma once

#include <cmath>

#include "core/host_device.hpp"
#include "core/multiply_add.hpp"

/// One step of the Wigner d functions lambda = sqrt((2l+1)/4pi) d^l_{m,+-s} from degree l to l + 1.
namespace zonal::sht {

struct JacobiStep {
    double c0, c1, c2;
};

/// With n = l - L, L = max(m, s), lambda = g_n R_n, R_n = P_n^(alpha,beta)(x) / P_n^(alpha,beta)(1), h = 1 -
/// x (DLMF 18.9.1-2 in differences):
///   d_{n+1} = (c_n d_n - h R_n) / a_n,  R_{n+1} = R_n + d_{n+1},  R_0 = 1, d_0 = 0
///   a_n = 2 (n+alpha+beta+1)(n+alpha+1) / ((2n+alpha+beta+1)(2n+alpha+beta+2))
///   c_n = 2 n (n+beta) / ((2n+alpha+beta)(2n+alpha+beta+1))
///   (g_{n+1}/g_n)^2 = (2l+3)/(2l+1) (n+1+alpha+beta)(n+1+alpha) / ((n+1)(n+1+beta))
/// The step acts on g_n R_n and g_n d_n: g_{n+1}/g_n times 1, c_n / a_n, 1 / a_n.
ZONAL_HOST_DEVICE inline JacobiStep difference_step(double alpha, double beta, double first_degree,
                                                    double n) {
    const double l = first_degree + n, ab = alpha + beta, two = 2 * n + ab;
    const double inverse_a = (two + 1) * (two + 2) / (2 * (n + ab + 1) * (n + alpha + 1));
    // c_0 = 0, also where alpha + beta = 0.
    const double c = 2 * n * (n + beta) / ((two > 1 ? two : 1.0) * (two + 1));
    const double growth = core::root_of_quotient((2 * l + 3) * (n + 1 + ab) * (n + 1 + alpha),
                                                 (2 * l + 1) * (n + 1) * (n + 1 + beta));
    return {growth, growth * c * inverse_a, growth * inverse_a};
}

/// The factors u and v of three_term_step at degree l.
ZONAL_HOST_DEVICE inline double three_term_growth(double m, double s, double l) {
    const double next = l + 1;
    return next * core::root_of_quotient((2 * l + 1) * (2 * l + 3),
                                         (next - m) * (next + m) * ((next - s) * (next + s)));
}

ZONAL_HOST_DEVICE inline double three_term_shift(double m, double s, double l, double growth) {
    return -growth * m * s / ((l > 1 ? l : 1.0) * (l + 1));
}

/// lambda_{l+1} = (u x + v) lambda_l - w lambda_{l-1} (Varshalovich et al. 1988, eq. 4.8.1, with the norm),
/// r_l = sqrt((l^2 - m^2)(l^2 - s^2)):
///   u = sqrt((2l+1)(2l+3)) (l+1) / r_{l+1},  v = -u m s / (l (l+1)),
///   w = sqrt((2l+3)/(2l-1)) (l+1) r_l / (l r_{l+1})
/// which is w_l = u_l / u_{l-1}. The first w, at l = L = max(m, |s|), has nothing to act on.
ZONAL_HOST_DEVICE inline JacobiStep three_term_step(double m, double s, double first_degree, double n) {
    const double l = first_degree + n, u = three_term_growth(m, s, l);
    const double w = n > 0 ? u / three_term_growth(m, s, l - 1) : 0;
    return {u, three_term_shift(m, s, l, u), w};
}

}  // namespace zonal::sht
