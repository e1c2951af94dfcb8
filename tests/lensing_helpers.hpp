#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "point_helpers.hpp"
#include "zonal/points/lensing.hpp"

/// What the tests of lensing share.
namespace zonal::test {

using PotentialArray = Array<Complex, 2>;

inline DeflectionPotentials potentials_of(const AlmLayout& layout, const PotentialArray& alm) {
    return {layout, alm.view()};
}

/// Random potentials whose deflections have rms `size`, in rad, with a spectrum that falls as that of the
/// sky's does: C_l of phi as (l (l + 1))^-3.
inline PotentialArray random_potentials(const AlmLayout& layout, std::int64_t rows, double size,
                                        unsigned seed) {
    const AlmArray random = random_alm(layout, 1, rows, seed);
    PotentialArray alm({rows, layout.size()});
    double power = 0;
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t m = 0; m <= layout.mmax(); ++m)
            for (std::int64_t l = std::max<std::int64_t>(m, 1); l <= layout.lmax(); ++l) {
                const auto i = layout.index(l, m);
                const double ll = static_cast<double>(l) * (static_cast<double>(l) + 1);
                alm(row, i) = random(0, row, i) * std::pow(ll, -1.5);
                power += (m == 0 ? 1 : 2) * ll * std::norm(alm(row, i)) / (4 * std::numbers::pi);
            }
    for (Complex& value : alm) value *= size / std::sqrt(power);
    return alm;
}

/// phi_lm = 0.02 a_lm of the explicit coefficients, l = 1 to 8, which the reference values are for.
inline PotentialArray explicit_potentials(const AlmLayout& layout) {
    const AlmArray alm = explicit_alm(layout, 0);
    PotentialArray potentials({1, layout.size()});
    for (std::int64_t i = 1; i < layout.size(); ++i) potentials(0, i) = 0.02 * alm(0, 0, i);
    return potentials;
}

inline LensingOptions lensing_options(std::int64_t lmax, int components, double error, int threads = 1) {
    LensingOptions options;
    options.lmax = lmax;
    options.components = components;
    options.error = error;
    options.threads = threads;
    options.device = test_device();
    return options;
}

/// T, or E and B, or all three, with nothing below l = 2 of E and B.
inline AlmArray random_sky(const AlmLayout& layout, std::int64_t maps, std::int64_t components,
                           unsigned seed) {
    AlmArray sky({maps, components, layout.size()});
    const AlmArray scalar = random_alm(layout, maps, 1, seed),
                   pair = random_spin_alm(layout, maps, 2, 2, seed + 1);
    for (std::int64_t map = 0; map < maps; ++map)
        for (std::int64_t c = 0; c < components; ++c)
            for (std::int64_t i = 0; i < layout.size(); ++i)
                sky(map, c, i) =
                    components != 2 && c == 0 ? scalar(map, 0, i) : pair(map, components == 2 ? c : c - 1, i);
    return sky;
}

inline MapArray lensed(const Lensing& lensing, const AlmArray& alm) {
    MapArray values({alm.extent(0), alm.extent(1), lensing.n_values()});
    lensing.lens<double>(alm.view(), values.view());
    return values;
}

inline MapArray random_values(std::int64_t maps, std::int64_t components, std::int64_t points,
                              unsigned seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    MapArray values({maps, components, points});
    for (double& value : values) value = normal(generator);
    return values;
}

inline double dot(const MapArray& a, const MapArray& b) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) sum += a.data()[i] * b.data()[i];
    return sum;
}

/// Points near the poles and on them among those anywhere.
inline Points points_and_poles(std::int64_t n, unsigned seed) {
    Points points = random_points(n, seed);
    for (const double theta : {0.0, std::numbers::pi, 1e-9, 1e-4, std::numbers::pi - 1e-4, 0.02})
        points.add(theta, 40 * theta + 7);
    return points;
}

}  // namespace zonal::test
