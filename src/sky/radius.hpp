#pragma once

#include <cmath>

#include "zonal/error.hpp"

namespace zonal::sky {

/// Throws InvalidArgument unless the radius of a sphere is finite and above 0.
inline void check_radius(double radius) {
    if (!(std::isfinite(radius) && radius > 0))
        throw InvalidArgument("radius", radius, "must be finite and above 0");
}

}  // namespace zonal::sky
