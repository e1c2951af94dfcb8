#pragma once

#include "session.hpp"
#include "sky_map.hpp"
#include "smooth_options.hpp"

namespace zonal::cli {

/// Replaces --method auto by the fastest method that keeps --error from --reference (discrete), by zonal
/// plan, with the cut, precision, device and iterations that it has there; for --method split the fastest
/// split. Reports its predicted time and error, what planning took, and with --explain all that was looked
/// at ("choices"). What only harmonic space can do (Q and U, un-smoothing, another nside) auto leaves to it.
/// Throws UsageError where nothing keeps the error.
void choose_method(SmoothOptions& options, const SkyMap& map, Session& session);

}  // namespace zonal::cli
