#pragma once

#include "session.hpp"
#include "smooth_options.hpp"

namespace zonal::cli {

/// Replaces --method auto by the fastest method that keeps --error from --reference (discrete), by zonal
/// plan, with the iterations that it needs; reports its predicted time and error, and with --explain all that
/// was looked at ("choices"). What only harmonic space can do (Q and U, un-smoothing, another nside) is left
/// to it. Throws UsageError where nothing keeps the error.
void choose_method(SmoothOptions& options, Session& session);

}  // namespace zonal::cli
