#pragma once

#include "options/smooth_options.hpp"
#include "shell/session.hpp"

namespace zonal::cli {

/// Smooths a map with --beam-alm, turned by --psi from every meridian.
void smooth_with_beam_alm(SmoothOptions& options, Session& session);

}  // namespace zonal::cli
