#pragma once

#include <cstdint>
#include <string>

#include "shell/session.hpp"
#include "zonal/planner.hpp"
#include "zonal/view.hpp"

namespace zonal::cli {

/// Convolves maps through the split that was planned: of spin 0, [map, grid.n_pixels()], or, where the split
/// is of Q and U, [2 map, grid.n_pixels()], Q and U of each map after each other. stage: for the progress
/// bar. Reports where the split is and what its parts took ("parts_seconds"; on two devices at the same
/// time).
void convolve_split(const ConvolutionChoice& choice, const Grid& grid, View<const double, 2> maps,
                    View<double, 2> convolved, int threads, const std::string& stage, Session& session);

/// Convolves maps of spin 0 as was planned for the discrete reference. kernel: whole, that it was planned
/// for. lmax: of harmonic space. maps, convolved: [map, grid.n_pixels()]. stage: for the progress bar. Of a
/// split reports what convolve_split does.
void convolve(const ConvolutionChoice& choice, const RadialKernel& kernel, std::int64_t lmax,
              const Grid& grid, View<const double, 2> maps, View<double, 2> convolved, int threads,
              const std::string& stage, Session& session);

}  // namespace zonal::cli
