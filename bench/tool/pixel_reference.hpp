#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/grid.hpp"
#include "zonal/kernel.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/view.hpp"

namespace zonal::cli {

/// A right answer, at the pixels of some rings of a grid, and what it is.
struct ReferenceMap {
    std::vector<std::int64_t> rings;  ///< indices in the grid
    std::vector<double> values;       ///< [component, grid.n_pixels()]
    std::string description;
};

/// The error of a result, over the reference's rings.
struct ConvolutionError {
    double rms = 0;      ///< over the reference's rms
    double maximum = 0;  ///< over the reference's largest value
};

/// The sum over the pixels in double; over all rings of a small grid, else over as many rings, at the poles,
/// at the edges of HEALPix' caps, at the equator and between, as take a few seconds. map: [grid.n_pixels()].
ReferenceMap discrete_reference(const Grid& grid, const RadialKernel& kernel, View<const double, 1> map,
                                int threads);
/// The same of Q and U. map: [2, grid.n_pixels()].
ReferenceMap discrete_reference(const Grid& grid, const PolarizationKernel& kernel, View<const double, 1> map,
                                int threads);

/// result: [component, grid.n_pixels()], in one piece. Errors are those of all components together.
template <class T>
ConvolutionError error_of(const Grid& grid, View<const T, 1> result, const ReferenceMap& reference);

}  // namespace zonal::cli
