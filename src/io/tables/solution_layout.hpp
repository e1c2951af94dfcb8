#pragma once

// What the writer and the reader of solutions agree on.
#include <cstdint>
#include <string>
#include <vector>

#include "zonal/gwrm/problem.hpp"

namespace zonal::io {

/// ZONALSOL.
constexpr std::int64_t solution_version = 1;

/// Shape of the coefficients of one time interval: [field, subdomain, k_0, ..], k_0 of time, then one for
/// each axis. Numbers are those that read_solution permits, which cannot overflow.
std::vector<std::int64_t> solution_shape(std::int64_t n_fields, const std::vector<gwrm::Axis>& axes,
                                         std::int64_t time_modes);
std::int64_t size_of_shape(const std::vector<std::int64_t>& shape);
/// TDIM, where the last index comes first: "(25,19,1,1)".
std::string tdim_of_shape(const std::vector<std::int64_t>& shape);

/// Keys that the writer of solutions sets, numbered or not.
bool is_solution_key(const std::string& key);

}  // namespace zonal::io
