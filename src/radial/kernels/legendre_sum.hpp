#pragma once

#include <span>

/// Sums of Legendre polynomials at many colatitudes at once, to rounding up to the poles.
namespace zonal::radial {

/// value_i = sum_l series_l P_l(cos theta_i). series: [lmax + 1]; theta (rad, 0 to pi), value: [n].
void legendre_series(std::span<const double> series, std::span<const double> theta, std::span<double> value);

/// moment_l = sum_i weight_i P_l(cos theta_i), the transpose. theta (rad, 0 to pi), weight: [n]; moment:
/// [lmax + 1].
void legendre_moments(std::span<const double> theta, std::span<const double> weight,
                      std::span<double> moment);

}  // namespace zonal::radial
