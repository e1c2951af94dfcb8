#pragma once

#include "options/map_input.hpp"
#include "options/smooth_options.hpp"
#include "shell/session.hpp"

namespace zonal::cli {

/// What a map's fields become, none of it written: analysis, window, synthesis.
SkyMap smooth_in_harmonic_space(const SmoothOptions& options, const SkyMap& map, Session& session);

/// By the method that the options name, which is not auto. map: masked.
SkyMap smoothed(const SmoothOptions& options, SkyMap& map, Session& session);

/// Whether the fields of spin 0 and Q and U each take the way that is fastest for them: --method auto of maps
/// that have both.
bool has_parts(const SmoothOptions& options, const SkyMap& map);

/// Smooths such a map in place and returns the header's cards: each part as if it were alone. "parts" of the
/// report has what a map of one part has at the top, "method" there names the ways.
std::vector<io::HeaderCard> smooth_parts(const SmoothOptions& options, SkyMap& map, Session& session);

}  // namespace zonal::cli
