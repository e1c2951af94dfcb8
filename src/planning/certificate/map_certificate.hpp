#pragma once

#include <vector>

#include "zonal/planning/certificate.hpp"
#include "zonal/sky/sky_part.hpp"

namespace zonal::planning {

/// Returns the certificates of maps that were convolved: one for each row, or for each pair of Q and U.
///
/// bound: of the way that was taken. grid: of the maps. mask, options: have the factors that the maps were
/// multiplied by. maps, convolved: [row, pixel], before and after. grid_out: of `convolved`. Pixels that are
/// UNSEEN do not count. T: float or double, to which the result is rounded. part: of a sky that ranks have in
/// parts, of which the grids and the arrays are a rank's; else null.
template <class T>
std::vector<Certificate> certificates_of(const ErrorBound& bound, const Grid& grid, int n_components,
                                         const ConvolutionOptions& options, View<const T, 2> maps,
                                         View<const T, 1> mask, const Grid& grid_out,
                                         View<const T, 2> convolved, int threads,
                                         const SkyPart* part = nullptr);

/// The same in two steps, for maps that are convolved in place: rms of the input, one for each row or each
/// pair of Q and U, and their certificates afterwards.
template <class T>
std::vector<double> rms_of_input(const Grid& grid, int n_components, const ConvolutionOptions& options,
                                 View<const T, 2> maps, View<const T, 1> mask, int threads,
                                 const SkyPart* part = nullptr);
template <class T>
std::vector<Certificate> certificates_of(const ErrorBound& bound, const std::vector<double>& rms_in,
                                         const Grid& grid_out, View<const T, 2> convolved, int threads,
                                         const SkyPart* part = nullptr);

/// Returns the largest of the weights that multiply the grid's; 1 where there are none.
double largest_weight(const std::vector<double>& ring_weights, View<const double, 1> pixel_weights,
                      const SkyPart* part = nullptr);

/// Returns the largest certified error; infinite if one of them has no bound.
double largest_error(const std::vector<Certificate>& certificates);
/// Returns the smallest gain, rms of the result over rms of the input, of the maps that are not 0 everywhere.
double smallest_gain(const std::vector<Certificate>& certificates);

}  // namespace zonal::planning
