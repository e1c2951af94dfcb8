#pragma once

#include <string>

#include "options/map_input.hpp"
#include "options/smooth_options.hpp"
#include "shell/session.hpp"

namespace zonal::cli {

/// Replaces --method auto by the fastest method that keeps --error from --reference (discrete), by zonal
/// plan, with the cut, precision, device and iterations that it has there; for --method split the fastest
/// split. Reports its predicted time and error, what planning took, and with --explain all that was looked
/// at ("choices"). What only harmonic space can do (un-smoothing, another nside) auto leaves to it. map: of
/// fields that go one way, of spin 0 or Q and U alone, but for what is left to harmonic space. Throws
/// CannotBeKept where nothing keeps the error, and UsageError.
void choose_method(SmoothOptions& options, const SkyMap& map, Session& session);

/// Why only harmonic space comes into question, whatever the kernel's width; empty where any way does.
std::string harmonic_only(const SmoothOptions& options, const SkyMap& map);

}  // namespace zonal::cli
