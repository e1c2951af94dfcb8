#pragma once

#include "session.hpp"
#include "smooth_options.hpp"

namespace zonal::cli {

/// `zonal smooth` by sums over pixels. Throws UsageError and IoError.
void smooth_pixels(const SmoothOptions& options, Session& session);

}  // namespace zonal::cli
