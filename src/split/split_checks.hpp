#pragma once

#include <cstdint>
#include <vector>

#include "zonal/split.hpp"

namespace zonal::split {

/// Options with knots and threads filled in. Throws InvalidArgument for what they, the window or both do not
/// permit.
KernelSplitOptions resolve(const std::vector<double>& window, KernelSplitOptions options);

/// Checks split_error's arguments. Throws InvalidArgument, as the next do.
void check_lengths(const std::vector<double>& kernel, const std::vector<double>& window,
                   const std::vector<double>& profile_window, const std::vector<double>& c_l);
void check_spin(int spin);
void check_l_cut(std::int64_t l_cut, std::int64_t lmax);
void check_search(double error, std::int64_t neighbourhood);

}  // namespace zonal::split
