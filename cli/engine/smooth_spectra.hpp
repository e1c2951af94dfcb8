#pragma once

#include <vector>

#include "options/map_input.hpp"
#include "options/smooth_options.hpp"
#include "shell/session.hpp"

namespace zonal::cli {

/// Spectra that --input-cl names, by which errors are weighed: one for all rows of the map, or with
/// "--input-cl map" one for each; an empty one is white. map: without UNSEEN pixels. Throws UsageError and
/// IoError.
std::vector<std::vector<double>> input_spectra(const SmoothOptions& options, const SkyMap& map,
                                               Session& session);

/// The same for a map of Q and U alone: of E and of B, both empty where it is white.
std::vector<std::vector<double>> polarization_spectra(const SmoothOptions& options, const SkyMap& map,
                                                      Session& session);

}  // namespace zonal::cli
