#pragma once

#include <cmath>

#include "zonal/sky/rotation.hpp"

namespace zonal::sky {

/// Where a point of a turned field comes from. A field of spin s at the point is (cosine + i sine)^s times
/// what it is there along e_theta and e_phi of (theta, phi).
struct TurnedPoint {
    double theta, phi;
    double cosine, sine;
};

/// R^T of the direction (theta, phi). e_theta, turned back, makes the angle a with e_theta where it comes to;
/// axes that turn by a multiply a field of spin s by e^{-i s a}. At the poles e_theta and e_phi are those of
/// the phi that is returned.
inline TurnedPoint turn_back(const RotationMatrix& r, double cos_theta, double sin_theta, double phi) {
    const double c = std::cos(phi), s = std::sin(phi);
    const double n[] = {sin_theta * c, sin_theta * s, cos_theta};
    const double e[] = {cos_theta * c, cos_theta * s, -sin_theta};
    double from[3], axis[3];
    for (int i = 0; i < 3; ++i) {
        from[i] = r[0][i] * n[0] + r[1][i] * n[1] + r[2][i] * n[2];
        axis[i] = r[0][i] * e[0] + r[1][i] * e[1] + r[2][i] * e[2];
    }
    const double rho = std::hypot(from[0], from[1]);
    const double x = rho > 0 ? from[0] / rho : 1, y = rho > 0 ? from[1] / rho : 0;
    const double along_theta = (axis[0] * x + axis[1] * y) * from[2] - axis[2] * rho;
    const double along_phi = axis[1] * x - axis[0] * y;
    const double length = std::hypot(along_theta, along_phi);
    return {std::atan2(rho, from[2]), std::atan2(y, x), along_theta / length, -along_phi / length};
}

}  // namespace zonal::sky
