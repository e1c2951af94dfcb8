#pragma once

#include <cmath>

#include "sht/ishioka_math.hpp"

/// Spin 1 and 2 through scalar functions: sin^s theta F+ and sin^s theta F- are combinations of
/// lambda_{l-s}..lambda_{l+s} of the same order, so that sin^s Q_m = sum_l q_l lambda_lm, sin^s U_m = sum_l
/// u_l lambda_lm with l up to lmax + s. Works where sin theta is not small.
namespace zonal::sht {

/// Weight of degree l's -sin^s F+ (offsets of the parity of s) and -sin^s F- (the others) in lambda_{l +
/// offset}: weight[offset + 2]. The sign is that of Q + iU = -sum (E + iB) sY.
struct SpinShifts {
    double weight[5];
};

/// With e_l = eps_lm and N = 1 / sqrt(l(l+1)):
///   sin F+ = -N { l e_{l+1} lambda_{l+1} - (l+1) e_l lambda_{l-1} },  sin F- = N m lambda_l
ZONAL_HOST_DEVICE inline SpinShifts spin_1_shifts(double l, double m) {
    const double norm = 1 / sqrt(l * (l + 1));
    return {{0, -norm * (l + 1) * epsilon_lm(l, m), -norm * m, norm * l * epsilon_lm(l + 1, m), 0}};
}

/// With N = 2 / sqrt((l+2)(l+1)l(l-1)):
///   sin^2 F+ = N { l(l-1)/2 e_{l+1} e_{l+2} lambda_{l+2}
///                  + [m^2 - l - l(l-1)/2 (1 - e_l^2 - e_{l+1}^2) + (2l+1) e_l^2] lambda_l
///                  + (l+1)(l+2)/2 e_l e_{l-1} lambda_{l-2} }
///   sin^2 F- = -N m { (l-1) e_{l+1} lambda_{l+1} - (l+2) e_l lambda_{l-1} }
ZONAL_HOST_DEVICE inline SpinShifts spin_2_shifts(double l, double m) {
    const double norm = 2 / sqrt((l + 2) * (l + 1) * (l * (l - 1)));
    const double e0 = epsilon_lm(l, m), e1 = epsilon_lm(l + 1, m), e2 = epsilon_lm(l + 2, m);
    const double below = l > m ? epsilon_lm(l - 1, m) : 0, pairs = l * (l - 1) / 2;
    return {{-norm * ((l + 1) * (l + 2) / 2) * e0 * below, -norm * m * (l + 2) * e0,
             -norm * (m * m - l - pairs * (1 - e0 * e0 - e1 * e1) + (2 * l + 1) * e0 * e0),
             norm * m * (l - 1) * e1, -norm * pairs * e1 * e2}};
}

}  // namespace zonal::sht
