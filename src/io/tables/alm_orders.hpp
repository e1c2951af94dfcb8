#pragma once

#include <cstddef>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/distributed/plan.hpp"

namespace zonal::io {

/// Collective. The orders of every rank's layout, [rank].
std::vector<std::vector<std::int64_t>> orders_of_ranks(const AlmLayout& layout, const Communicator& ranks);

/// Collective. The rank that has an order, [m]. Throws InvalidArgument on all ranks unless each has one.
std::vector<std::size_t> owners_of_orders(const AlmLayout& layout, const Communicator& ranks);

}  // namespace zonal::io
