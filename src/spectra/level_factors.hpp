#pragma once

#include <vector>

#include "zonal/view.hpp"

/// Spectra of several components as covariances, one for each degree.
namespace zonal::masked {

/// L of C = L L^T for each degree, with components in the order of their draws: [l, component, drawn
/// component]. What is negative by rounding, as of realize, counts as 0. c_l: [component, component, l],
/// finite. Throws InvalidArgument, naming c_l by `name`, where C is not positive semi-definite.
Array<double, 3> level_factors(const char* name, const View<const double, 3>& c_l,
                               const std::vector<int>& order);

/// Throws InvalidArgument, naming c_l by `name`, unless all values are finite, and [i, j] that of [j, i].
void check_levels(const char* name, const View<const double, 3>& c_l);

/// Throws as level_factors does.
void require_covariance(const char* name, const View<const double, 3>& c_l);

}  // namespace zonal::masked
