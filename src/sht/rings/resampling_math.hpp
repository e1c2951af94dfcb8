#pragma once

#include <cmath>

#include "core/host_device.hpp"

/// Interpolation of band-limited periodic functions by a sinc under a window (sinh-type regularised Shannon
/// sampling; Kircheis, Potts, Tasche 2022): from samples at (j + 1/2) h, h = pi / n, of a trigonometric
/// polynomial of degree K < n,
///   f(u h) = sum_j f(u_j h) w(u - u_j),  w(x) = sinc(pi x) sinh(beta sqrt(1 - x^2/m^2)) / sinh beta, |x| <
///   m,
/// with beta = pi m (1 - K/n) is off by at most 2 exp(-beta) of the largest |f|.
namespace zonal::sht {

struct ResamplingWindow {
    double support;  ///< m, in samples
    double beta;

    ZONAL_HOST_DEVICE double operator()(double x) const {
        const double ratio = x / support, inside = 1 - ratio * ratio;
        if (!(inside > 0)) return 0;
        const double root = sqrt(inside);
        const double window = exp(beta * (root - 1)) * expm1(-2 * beta * root) / expm1(-2 * beta);
        if (x == 0) return window;
        constexpr double pi = 3.14159265358979323846;
        // sin(pi x) from the distance to the nearest integer, which is exact.
        const double nearest = rint(x), sine = sin(pi * (x - nearest));
        const bool odd = fmod(fabs(nearest), 2.0) == 1;
        return window * (odd ? -sine : sine) / (pi * x);
    }
};

/// The window for an error of at most `accuracy` of the largest value.
inline ResamplingWindow resampling_window(double degree, double n_samples, double accuracy) {
    constexpr double pi = 3.14159265358979323846;
    const double support = std::ceil(std::log(2 / accuracy) / (pi * (1 - degree / n_samples)));
    return {support, pi * support * (1 - degree / n_samples)};
}

}  // namespace zonal::sht
