#include "points/point_checks.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <numbers>

#include "points/lensing/displacement_math.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal::points {

void check_cpu(Device device, const char* what) {
    if (device.kind() == Device::Kind::cuda)
        throw BackendUnavailable("device", to_string(device),
                                 fmt::format("{} runs on the CPU: must be cpu", what));
}

void check_arrays(View<const double, 1> theta, View<const double, 1> phi, MemorySpace also) {
    if (theta.extent(0) != phi.extent(0))
        throw InvalidArgument("theta and phi",
                              fmt::format("lengths {} and {} differ", theta.extent(0), phi.extent(0)));
    sht::check_space("theta", theta, also);
    sht::check_space("phi", phi, also);
}

namespace {

void check_theta(double theta, std::int64_t number) {
    if (!(theta >= 0 && theta <= std::numbers::pi))
        throw InvalidArgument("theta", theta, fmt::format("must be from 0 to pi (point {})", number));
}

}  // namespace

void check_angle(double theta, double phi, std::int64_t number) {
    check_theta(theta, number);
    if (!(std::abs(phi) <= largest_phi))
        throw InvalidArgument(
            "phi", phi,
            fmt::format("must be a number from {} to {} (point {})", -largest_phi, largest_phi, number));
}

void check_angles(View<const double, 1> theta, View<const double, 1> phi) {
    for (std::int64_t i = 0; i < theta.extent(0); ++i) check_angle(theta[i], phi[i], i);
}

void check_displacement(double theta, double phi, double t, double p, std::int64_t number) {
    if (is_displaceable(theta, phi, t, p)) return;
    check_theta(theta, number);
    if (!(std::abs(phi) < core::infinite))
        throw InvalidArgument("phi", phi, fmt::format("must be finite (point {})", number));
    throw InvalidArgument(
        "deflection", std::hypot(t, p),
        fmt::format("must be a number of radians up to {} (point {})", largest_deflection, number));
}

}  // namespace zonal::points
