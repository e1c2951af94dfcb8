#include "zonal/points/deflection.hpp"

#include <cmath>
#include <numbers>

#include "core/parallel.hpp"
#include "points/lensing/displacement_math.hpp"
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

DeflectedPoint end_at(const points::Displaced& end) {
    return {end.theta, in_one_turn(end.phi), std::atan2(end.sin_gamma, end.cos_gamma)};
}

}  // namespace

DeflectedPoint deflect(double theta, double phi, double d_theta, double d_phi) {
    return end_at(points::displaced(theta, phi, d_theta, d_phi));
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
            const double phi = ring.phi_0 + static_cast<double>(k) * width;
            const auto end = end_at(points::displaced(ring.sin_theta, ring.cos_theta, phi,
                                                      deflection(pixel, 0), deflection(pixel, 1)));
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
