#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "sht_helpers.hpp"
#include "zonal/points/transform.hpp"

/// What the tests of transforms at points share: points of every kind, and direct sums.
namespace zonal::test {

struct Points {
    std::vector<double> theta, phi;

    void add(double t, double p) {
        theta.push_back(t);
        phi.push_back(p);
    }
    std::int64_t size() const { return std::ssize(theta); }
    View<const double, 1> theta_view() const { return {theta.data(), {size()}}; }
    View<const double, 1> phi_view() const { return {phi.data(), {size()}}; }
    /// Each as a ring of one pixel.
    Grid grid() const {
        std::vector<RingShape> rings;
        for (std::size_t i = 0; i < theta.size(); ++i) rings.push_back({theta[i], phi[i], 1});
        return grid_of(rings);
    }
};

/// Uniform on the sphere.
inline Points random_points(std::int64_t n, unsigned seed) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> z(-1, 1), phi(0, 2 * std::numbers::pi);
    Points points;
    for (std::int64_t i = 0; i < n; ++i) points.add(std::acos(z(generator)), phi(generator));
    return points;
}

/// In pieces of the batch, the points' values by direct sums.
inline MapArray direct_values(const Points& points, const AlmLayout& layout, int spin, const AlmArray& alm) {
    return reference_synthesis(points.grid(), layout, spin, alm);
}

inline PointOptions point_options(std::int64_t lmax, int spin, double error, int threads = 1) {
    PointOptions options;
    options.lmax = lmax;
    options.spin = spin;
    options.error = error;
    options.threads = threads;
    options.device = test_device();
    return options;
}

inline MapArray values_at(const PointTransform& transform, const AlmArray& alm) {
    MapArray values({alm.extent(0), alm.extent(1), transform.points().n_points()});
    auto workspace = transform.make_workspace();
    transform.synthesize<double>(alm.view(), values.view(), workspace);
    return values;
}

inline AlmArray adjoint_of(const PointTransform& transform, const MapArray& values) {
    AlmArray alm({values.extent(0), values.extent(1), transform.samples().layout().size()});
    auto workspace = transform.make_workspace();
    transform.adjoint<double>(values.view(), alm.view(), workspace);
    return alm;
}

/// The coefficients that reference values are for: a_lm = (1 + i m) / (1 + l + m)^2, b_lm = (1 - 2 i m) / (2
/// + l
/// + 2 m)^2, none below the spin.
inline AlmArray explicit_alm(const AlmLayout& layout, int spin) {
    AlmArray alm({1, spin == 0 ? 1 : 2, layout.size()});
    for (std::int64_t m = 0; m <= layout.mmax(); ++m)
        for (std::int64_t l = std::max<std::int64_t>(m, spin); l <= layout.lmax(); ++l) {
            const auto x = static_cast<double>(l), y = static_cast<double>(m);
            alm(0, 0, layout.index(l, m)) = Complex(1, y) / ((1 + x + y) * (1 + x + y));
            if (spin > 0)
                alm(0, 1, layout.index(l, m)) = Complex(1, -2 * y) / ((2 + x + 2 * y) * (2 + x + 2 * y));
        }
    return alm;
}

/// sum (2 - delta_m0) Re(conj a b)
inline double inner_product(const AlmLayout& layout, const AlmArray& a, const AlmArray& b) {
    double sum = 0;
    for (std::int64_t map = 0; map < a.extent(0); ++map)
        for (std::int64_t c = 0; c < a.extent(1); ++c)
            for (std::int64_t k = 0; k < layout.size(); ++k)
                sum += (k <= layout.lmax() ? 1 : 2) * (std::conj(a(map, c, k)) * b(map, c, k)).real();
    return sum;
}

/// By how much <S a, f> and <a, S^T f> may differ, of |S a| |f|, for n random values f: what values round by
/// has signs of its own, so that n of them add up to 1 / sqrt(n) of it, either way; and so have the sums' own
/// roundings, to an eps each.
inline double transpose_rounding(std::int64_t lmax, int spin, std::int64_t n) {
    return 2 * transform_rounding(lmax, spin) / std::sqrt(static_cast<double>(n)) + 2 * eps;
}

}  // namespace zonal::test
