#pragma once

#include <vector>

#include "zonal/view.hpp"

namespace zonal::split {

/// The x >= 0 that makes |counts x - values| the smallest. counts: [measurement, unknown], not negative;
/// values: [measurement].
std::vector<double> non_negative_fit(View<const double, 2> counts, const std::vector<double>& values);

}  // namespace zonal::split
