#pragma once

#include <memory>

#include "sht/transform.hpp"
#include "zonal/sht.hpp"

namespace zonal {

/// A transform and the shapes of its arrays.
class ShtPlan::Implementation {
  public:
    Implementation(const Grid& grid, const ShtOptions& resolved, const AlmLayout& layout,
                   std::unique_ptr<const sht::Transform> transform)
        : grid(grid), options(resolved), layout(layout), transform(std::move(transform)) {}

    const Grid grid;
    const ShtOptions options;
    const AlmLayout layout;
    const std::unique_ptr<const sht::Transform> transform;
};

}  // namespace zonal
