#include "points/point_checks.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <numbers>

#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal::points {

void check_arrays(View<const double, 1> theta, View<const double, 1> phi) {
    if (theta.extent(0) != phi.extent(0))
        throw InvalidArgument("theta and phi",
                              fmt::format("lengths {} and {} differ", theta.extent(0), phi.extent(0)));
    sht::check_host("theta", theta);
    sht::check_host("phi", phi);
}

void check_angles(View<const double, 1> theta, View<const double, 1> phi) {
    for (std::int64_t i = 0; i < theta.extent(0); ++i) {
        if (!(theta[i] >= 0 && theta[i] <= std::numbers::pi))
            throw InvalidArgument("theta", theta[i], fmt::format("must be from 0 to pi (point {})", i));
        if (!(std::abs(phi[i]) <= largest_phi))
            throw InvalidArgument(
                "phi", phi[i],
                fmt::format("must be a number from {} to {} (point {})", -largest_phi, largest_phi, i));
    }
}

}  // namespace zonal::points
