#pragma once

#include <vector>

#include "sky/sky_part.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal::planning {

/// Returns rms of maps before they are convolved: one for each row, or for each pair of Q and U. UNSEEN
/// pixels do not count. maps: [row, pixel]; mask, options: have the factors that they are multiplied by.
template <class T>
std::vector<double> rms_of_input(const SkyPart& part, int n_components, const ConvolutionOptions& options,
                                 View<const T, 2> maps, View<const T, 1> mask, int threads);

/// Returns the certificates of convolved maps. bound: of the way that was taken. rms_in: of rms_of_input.
/// part: of `convolved`, [row, pixel]. T: float or double, to which the result is rounded.
template <class T>
std::vector<Certificate> certificates_of(const ErrorBound& bound, const std::vector<double>& rms_in,
                                         const SkyPart& part, View<const T, 2> convolved, int threads);

/// Returns the largest of the weights that multiply the grid's; 1 where there are none.
double largest_weight(const std::vector<double>& ring_weights, View<const double, 1> pixel_weights,
                      const SkyPart& part);

/// Returns the largest certified error; infinite if one of them has no bound.
double largest_error(const std::vector<Certificate>& certificates);
/// Returns the smallest gain, rms of the result over rms of the input, of the maps that are not 0 everywhere.
double smallest_gain(const std::vector<Certificate>& certificates);

}  // namespace zonal::planning
