#pragma once

#include <cstdint>
#include <vector>

#include "split/spline_basis.hpp"
#include "zonal/progress.hpp"
#include "zonal/view.hpp"

/// Windows 2 pi int f(theta) P_l(cos theta) sin theta d theta of functions given between knots, by
/// Gauss-Legendre quadrature on every interval; of spin s = 2 those of the kernel K+ = f cos^2s(theta/2),
/// with d^l_{s,s}(theta) in the place of P_l, zero below s.
namespace zonal::split {

/// Nodes that integrate a quintic times P_l, l <= lmax, times sin theta over an interval (rad) to rounding.
std::int64_t nodes_per_interval(double interval, std::int64_t lmax);

/// Windows of all functions of the basis: [l, function], l = 0 .. lmax. Throws Cancelled.
Array<double, 2> basis_windows(const SplineBasis& basis, std::int64_t lmax, int spin, int n_threads,
                               const Progress& progress = {});
/// The memory that basis_windows takes, its result among it.
double bytes_of_basis_windows(const SplineBasis& basis, std::int64_t lmax);

/// The window of sum_c coefficients[c] f_c, evaluated as a whole at more nodes than basis_windows takes: an
/// independent answer. coefficients: [basis.size()].
std::vector<double> spline_window(const SplineBasis& basis, const std::vector<double>& coefficients,
                                  std::int64_t lmax);

/// Inner products 2 pi int f_c f_d sin theta d theta for d = c .. c + 5: [c, d - c], 0 past the last.
Array<double, 2> basis_products(const SplineBasis& basis);

}  // namespace zonal::split
