#pragma once

#include <cstdint>

#include "planning/certificate/window_norms.hpp"
#include "zonal/grid.hpp"

/// Bounds of what an analysis leaves of the answer S B a, where a are the least-squares alm of a map f up to
/// lmax, B multiplies them by a window and S is the synthesis. They hold for every map, and are much smaller
/// than analysis_norm where the window falls (docs/decisions/certificate.md).
namespace zonal::planning {

/// Returns a bound of the rms of S B (a - a_k) over grid_out, in the map's units, with a_k the alm of an
/// analysis on `grid` and r = S^T W (f - S a_k) their residual. Infinite where no residual is a certificate,
/// as above certifiable_lmax(grid), or where the window ends before lmax.
///
/// windows, power: [component][l] of a field of spin 0, or of E and B. power: sum over m of |r_lm|^2, m > 0
/// counted twice, up to lmax (AnalysisReport::power).
/// corrections: 0: the answer has a_k. 1: it has a_k + r, which is more accurate and which the last of the
/// Jacobi iterations has done, or quadrature alone with a_k = 0. n: n - 1 more Jacobi iterations follow.
double windowed_residual(const Grid& grid, const Grid& grid_out, const Windows& windows, const Windows& power,
                         int corrections);

}  // namespace zonal::planning
