#pragma once

#include <cmath>

#include "core/host_device.hpp"

/// Spin 1 and 2 through scalar functions: sin^s theta F+ and sin^s theta F- are combinations of
/// lambda_{l-s}..lambda_{l+s} of the same order, so that sin^s Q_m = sum_l q_l lambda_lm, sin^s U_m = sum_l
/// u_l lambda_lm with l up to lmax + s. Works where sin theta is not small.
namespace zonal::sht {

/// Weight of degree l's -sin^s F+ (offsets of the parity of s) and -sin^s F- (the others) in lambda_{l +
/// offset}: weight[offset + 2]. The sign is that of Q + iU = -sum (E + iB) sY. e0, e1, e2: eps_lm of degrees
/// l, l + 1, l + 2; below: of l - 1, 0 where that is below m.
struct SpinShifts {
    double weight[5];
};

/// With e_l = eps_lm and N = 1 / sqrt(l(l+1)):
///   sin F+ = -N { l e_{l+1} lambda_{l+1} - (l+1) e_l lambda_{l-1} },  sin F- = N m lambda_l
ZONAL_HOST_DEVICE inline SpinShifts spin_1_shifts(double l, double m, double e0, double e1) {
    const double norm = 1 / sqrt(l * (l + 1));
    return {{0, -norm * (l + 1) * e0, -norm * m, norm * l * e1, 0}};
}

/// With N = 2 / sqrt((l+2)(l+1)l(l-1)):
///   sin^2 F+ = N { l(l-1)/2 e_{l+1} e_{l+2} lambda_{l+2}
///                  + [m^2 - l - l(l-1)/2 (1 - e_l^2 - e_{l+1}^2) + (2l+1) e_l^2] lambda_l
///                  + (l+1)(l+2)/2 e_l e_{l-1} lambda_{l-2} }
///   sin^2 F- = -N m { (l-1) e_{l+1} lambda_{l+1} - (l+2) e_l lambda_{l-1} }
ZONAL_HOST_DEVICE inline SpinShifts spin_2_shifts(double l, double m, double below, double e0, double e1,
                                                  double e2) {
    const double norm = 2 / sqrt((l + 2) * (l + 1) * (l * (l - 1)));
    const double pairs = l * (l - 1) / 2;
    return {{-norm * ((l + 1) * (l + 2) / 2) * e0 * below, -norm * m * (l + 2) * e0,
             -norm * (m * m - l - pairs * (1 - e0 * e0 - e1 * e1) + (2 * l + 1) * e0 * e0),
             norm * m * (l - 1) * e1, -norm * pairs * e1 * e2}};
}

}  // namespace zonal::sht
