#pragma once

#include <cstdint>
#include <string>

#include "session.hpp"
#include "zonal/planner.hpp"
#include "zonal/view.hpp"

namespace zonal::cli {

/// Convolves maps of spin 0 as was planned for the discrete reference. kernel: whole, that it was planned
/// for. lmax: of harmonic space. maps, convolved: [map, grid.n_pixels()]. stage: for the progress bar. Of a
/// split reports where it is and what its parts took ("parts_seconds"; on two devices at the same time).
void convolve(const ConvolutionChoice& choice, const RadialKernel& kernel, std::int64_t lmax,
              const Grid& grid, View<const double, 2> maps, View<double, 2> convolved, int threads,
              const std::string& stage, Session& session);

}  // namespace zonal::cli
