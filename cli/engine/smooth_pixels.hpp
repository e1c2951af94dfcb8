#pragma once

#include "options/smooth_options.hpp"
#include "shell/session.hpp"

namespace zonal::cli {

/// Throws UsageError for what only a window in harmonic space can do.
void check_pixel_options(const SmoothOptions& options);

/// Throws UsageError for maps of Q and U that the method cannot convolve.
void check_spin(const SmoothOptions& options, const SkyMap& map);

/// Whether sums in single precision hold the map's values: the largest, but for UNSEEN, is 0 or from 1e-25 to
/// 1e25, as products with kernels in 1/sr and weights are summed.
bool fits_single(const SkyMap& map);

/// `zonal smooth` by sums over pixels, and by split kernels: the result, which is not written.
/// Throws UsageError and IoError.
SkyMap smooth_pixels(const SmoothOptions& options, const SkyMap& map, Session& session);

}  // namespace zonal::cli
