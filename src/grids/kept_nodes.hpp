#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "grids/latitude_nodes.hpp"

namespace zonal::grids {

/// A rule, and how many points it has.
using Rule = std::pair<std::vector<Node> (*)(std::int64_t), std::int64_t>;

/// The nodes of a rule. Those of the last one are kept, because their weights take O(n^2), and whoever makes
/// a map of many rings asks for its grid several times: for its lmax, the memory that it takes, and itself.
std::vector<Node> kept_nodes(const Rule& rule);

void forget_nodes();
std::int64_t bytes_of_kept_nodes();
/// From now on keeps this many bytes at most. By default 16 MiB.
void limit_kept_nodes(std::int64_t bytes);

}  // namespace zonal::grids
