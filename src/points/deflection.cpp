#include "zonal/points/deflection.hpp"

#include <cmath>
#include <numbers>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

constexpr double turn_around = 2 * std::numbers::pi;

double in_one_turn(double phi) {
    double reduced = std::fmod(phi, turn_around);
    if (reduced < 0) reduced += turn_around;
    return reduced < turn_around ? reduced : 0;  // a tiny negative longitude rounds to a full turn
}

DeflectedPoint deflect_from(double sin_t, double cos_t, double phi, double d_theta, double d_phi) {
    // The end is cos|d| n + S d, S = sin|d| / |d|; x, y, z in the frame turned by phi.
    const double length = std::hypot(d_theta, d_phi), c = std::cos(length);
    const double s = length > 0 ? std::sin(length) / length : 1;
    const double x = c * sin_t + s * d_theta * cos_t, y = s * d_phi, z = c * cos_t - s * d_theta * sin_t;
    const double rho = std::hypot(x, y), longitude = std::atan2(y, x);
    // e_theta carried along the geodesic, in e_theta and e_phi of the end. The way back from the antipode is
    // not unique: 1 + cos|d| = 0 there, and S d_theta = 0.
    const double f = 1 + c > 0 ? s * d_theta / (1 + c) : 0;
    const double v_x = cos_t - f * (sin_t + x), v_y = -f * y, v_z = -sin_t - f * (cos_t + z);
    const double cos_l = rho > 0 ? x / rho : 1, sin_l = rho > 0 ? y / rho : 0;
    const double along = (v_x * cos_l + v_y * sin_l) * z - v_z * rho, across = v_y * cos_l - v_x * sin_l;
    return {std::atan2(rho, z), in_one_turn(phi + longitude), std::atan2(-across, along)};
}

}  // namespace

DeflectedPoint deflect(double theta, double phi, double d_theta, double d_phi) {
    return deflect_from(std::sin(theta), std::cos(theta), phi, d_theta, d_phi);
}

template <class T>
void deflect(const Grid& grid, ConstView<double, 1> step, ConstView<T, 2> deflection, View<T, 2> deflected,
             int threads) {
    sht::check_host("deflection", deflection);
    sht::check_host("deflected", deflected);
    sht::check_extent("deflection", deflection, 0, "pixel", grid.n_pixels());
    sht::check_extent("deflection", deflection, 1, "component", 2);
    sht::check_extent("deflected", deflected, 0, "pixel", grid.n_pixels());
    if (deflected.extent(1) != 2) sht::check_extent("deflected", deflected, 1, "angle", 3);
    if (step.size() > 0) sht::check_extent("step", step, 0, "ring", grid.n_rings());
    const bool rotates = deflected.extent(1) == 3;
    core::parallel_for(grid.n_rings(), core::resolve_threads(threads), [&](std::int64_t index, int) {
        const Ring& ring = grid.rings()[static_cast<std::size_t>(index)];
        const double width = step.size() > 0 ? step[index] : turn_around / static_cast<double>(ring.n_pixels);
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            const std::int64_t pixel = ring.first_pixel + k;
            const auto end =
                deflect_from(ring.sin_theta, ring.cos_theta, ring.phi_0 + static_cast<double>(k) * width,
                             deflection(pixel, 0), deflection(pixel, 1));
            deflected(pixel, 0) = static_cast<T>(end.theta);
            deflected(pixel, 1) = static_cast<T>(end.phi);
            if (rotates) deflected(pixel, 2) = static_cast<T>(end.rotation);
        }
    });
}

template <class T>
void turn(int spin, ConstView<T, 1> rotation, View<std::complex<T>, 1> values, int threads) {
    sht::check_host("rotation", rotation);
    sht::check_host("values", values);
    sht::check_extent("rotation", rotation, 0, "point", values.extent(0));
    core::for_pieces(values.size(), threads, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            const double angle = spin * static_cast<double>(rotation[i]);
            const std::complex<double> turned =
                std::complex<double>(values[i].real(), values[i].imag()) * std::polar(1.0, angle);
            values[i] = {static_cast<T>(turned.real()), static_cast<T>(turned.imag())};
        }
    });
}

template void deflect(const Grid&, View<const double, 1>, View<const float, 2>, View<float, 2>, int);
template void deflect(const Grid&, View<const double, 1>, View<const double, 2>, View<double, 2>, int);
template void turn(int, View<const float, 1>, View<std::complex<float>, 1>, int);
template void turn(int, View<const double, 1>, View<std::complex<double>, 1>, int);

}  // namespace zonal
