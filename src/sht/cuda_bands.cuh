#pragma once

#include <functional>
#include <memory>

#include "sht/transform.hpp"

/// Transforms that need more scratch memory than there is: the rings in bands, one after the other.
namespace zonal::sht::cuda {

using MakeTransform = std::function<std::unique_ptr<const Transform>(const Grid&)>;

/// The transform of the grid that `make` makes, or of as few bands of rings as are needed to keep within
/// options.max_workspace_bytes, at most 64. Throws InvalidArgument where these do not keep within it; where
/// they do not keep within what is free, calls may run out of memory.
std::unique_ptr<const Transform> within_memory(const Grid& grid, const ShtOptions& options,
                                               const MakeTransform& make);

}  // namespace zonal::sht::cuda
