#pragma once

#include "zonal/planning/certificate.hpp"

namespace zonal::planning {

/// Returns the largest certified_error of the maps of a request once they are convolved; infinite where there
/// is no bound.
///
/// reference: with the kernel that the result stands for. applied, options: what was done. maps, convolved:
/// [row, grid.n_pixels()], before and after. mask: [grid.n_pixels()] or empty. Pixels that are UNSEEN in the
/// result do not count.
double certify(const ConvolutionRequest& reference, const ConvolutionChoice& applied,
               const ConvolutionOptions& options, View<const double, 2> maps, View<const double, 1> mask,
               View<const double, 2> convolved);

}  // namespace zonal::planning
