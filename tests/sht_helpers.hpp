#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "compare.hpp"
#include "sht/reference.hpp"
#include "zonal/alm.hpp"
#include "zonal/grid.hpp"
#include "zonal/sht.hpp"
#include "zonal/view.hpp"

/// What the tests of the transforms share: random input, grids of every kind, answers of the plain reference.
namespace zonal::test {

using Complex = std::complex<double>;
using AlmArray = Array<Complex, 3>;
using MapArray = Array<double, 3>;

inline constexpr double eps = std::numeric_limits<double>::epsilon();

/// Largest rounding error of a transform, relative to the largest value. Each of the l / 2 steps of a
/// recurrence errs by about eps / 2 and adds to the others as in a random walk; where the recurrence of two
/// degrees is used, a step's error grows by up to 1 / sin(2 theta) <= 25 (docs/how-it-works/methods.md, "Near
/// the poles"): 25 / 2 sqrt(l / 2) eps = 9 sqrt(l) eps, and twice that for the largest of thousands. There
/// cos^2 theta is rounded, too, by up to eps / 4, which moves theta by eps / (4 sin 2 theta) and the phase l
/// theta by l / 2 eps for most rings. Spins come from scalars over sin^s theta, from sin theta = 0.1 on or,
/// above spin 2, from sin^s theta = 0.01 on, which shows at low lmax.
inline double transform_rounding(std::int64_t lmax, int spin = 0) {
    const double l = static_cast<double>(lmax) + 1;
    const double scalars = spin == 0 ? 0 : spin == 1 ? 10 : 100;
    return eps * (18 * std::sqrt(l) + l / 2 + 2 * scalars);
}

/// The same near the poles (sin theta < 0.05, for spins from 1 on 0.1) and the equator (cos theta < 0.02),
/// where steps' errors do not grow and the angle is not rounded: l steps of three roundings, and the largest
/// of thousands.
inline double sharp_transform_rounding(std::int64_t lmax) {
    return eps * 6 * std::sqrt(static_cast<double>(lmax) + 1);
}

/// Where the transforms of the tests run: cpu, or what the environment variable ZONAL_TEST_DEVICE says.
inline Device test_device() {
    const char* name = std::getenv("ZONAL_TEST_DEVICE");
    if (name == nullptr || std::string(name) == "cpu") return Device::cpu();
    if (std::string(name) == "cuda") return Device::cuda(0);
    throw std::invalid_argument("ZONAL_TEST_DEVICE: must be cpu or cuda");
}

inline ShtOptions options_of(std::int64_t lmax, int spin = 0, std::int64_t mmax = -1, int threads = 1) {
    ShtOptions options;
    options.lmax = lmax;
    options.mmax = mmax;
    options.spin = spin;
    options.threads = threads;
    options.device = test_device();
    return options;
}

/// Independent normal coefficients of unit variance; real for m = 0. [n_maps, components, layout.size()]
inline AlmArray random_alm(const AlmLayout& layout, std::int64_t n_maps, std::int64_t components,
                           unsigned seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    AlmArray alm({n_maps, components, layout.size()});
    for (Complex& a : alm) {
        const double re = normal(generator), im = normal(generator);
        a = Complex(re, im);
    }
    for (std::int64_t map = 0; map < n_maps; ++map)
        for (std::int64_t c = 0; c < components; ++c)
            for (std::int64_t l = 0; l <= layout.lmax(); ++l)
                alm(map, c, l) = std::sqrt(2.0) * alm(map, c, l).real();
    return alm;
}

/// The same without the degrees below the spin, of which a spin field has none.
inline AlmArray random_spin_alm(const AlmLayout& layout, std::int64_t n_maps, std::int64_t components,
                                int spin, unsigned seed) {
    AlmArray alm = random_alm(layout, n_maps, components, seed);
    for (std::int64_t map = 0; map < n_maps; ++map)
        for (std::int64_t c = 0; c < components; ++c)
            for (std::int64_t m = 0; m <= std::min<std::int64_t>(layout.mmax(), spin - 1); ++m)
                for (std::int64_t l = m; l < spin; ++l) alm(map, c, layout.index(l, m)) = 0;
    return alm;
}

/// Independent normal pixels. [n_maps, components, n_pixels]
inline MapArray random_map(const Grid& grid, std::int64_t n_maps, std::int64_t components, unsigned seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    MapArray map({n_maps, components, grid.n_pixels()});
    for (double& value : map) value = normal(generator);
    return map;
}

/// max |a - b| / max |b|, for input of unit variance: what is left of a field that nearly vanishes on a grid,
/// as one of spin 10 at the poles, counts relative to 1, as the transform leaves out terms below 2^-66.
template <class A, class B>
double scaled_difference(const A& a, const B& b) {
    return largest_difference(a, b) / larger(largest(b), 1.0);
}

/// S alm of every map by the reference; pixels outside the rings are zero.
inline MapArray reference_synthesis(const Grid& grid, const AlmLayout& layout, int spin,
                                    const AlmArray& alm) {
    MapArray map({alm.extent(0), spin == 0 ? 1 : 2, grid.n_pixels()});
    for (std::int64_t k = 0; k < alm.extent(0); ++k)
        reference::synthesize(grid, layout, spin, alm.view()[k], map.view()[k]);
    return map;
}

inline AlmArray reference_adjoint(const Grid& grid, const AlmLayout& layout, int spin, const MapArray& map) {
    AlmArray alm({map.extent(0), spin == 0 ? 1 : 2, layout.size()});
    for (std::int64_t k = 0; k < map.extent(0); ++k)
        reference::adjoint_synthesis(grid, layout, spin, map.view()[k], alm.view()[k]);
    return alm;
}

inline MapArray synthesis(const ShtPlan& plan, const AlmArray& alm) {
    MapArray map({alm.extent(0), plan.map_components(), plan.grid().n_pixels()});
    plan.synthesize<double>(alm.view(), map.view());
    return map;
}

inline AlmArray adjoint(const ShtPlan& plan, const MapArray& map) {
    AlmArray alm({map.extent(0), plan.alm_components(), plan.layout().size()});
    plan.adjoint_synthesis<double>(map.view(), alm.view());
    return alm;
}

inline AlmArray quadrature(const ShtPlan& plan, const MapArray& map) {
    AlmArray alm({map.extent(0), plan.alm_components(), plan.layout().size()});
    plan.quadrature<double>(map.view(), alm.view());
    return alm;
}

struct RingShape {
    double theta, phi_0;
    std::int64_t n_pixels;
};

/// Rings in the given order, one after the other, each followed by `gap` pixels that are in no ring.
inline Grid grid_of(const std::vector<RingShape>& shapes, std::int64_t gap = 0) {
    std::vector<Ring> rings;
    std::int64_t next = 0;
    for (const RingShape& shape : shapes) {
        rings.push_back(make_ring(shape.theta, shape.phi_0, 0.01, shape.n_pixels, next));
        next += shape.n_pixels + gap;
    }
    return Grid(rings, next);
}

/// The ring's mirror image in the equator, to the last bit, from the given pixel on.
inline Ring mirrored(const Ring& ring, double phi_0, std::int64_t first_pixel) {
    Ring mirror = ring;
    mirror.theta = std::numbers::pi - ring.theta;
    mirror.cos_theta = -ring.cos_theta;
    mirror.phi_0 = phi_0;
    mirror.first_pixel = first_pixel;
    return mirror;
}

struct NamedGrid {
    std::string name;
    Grid grid;
};

inline void PrintTo(const NamedGrid& named, std::ostream* out) {
    *out << named.name;
}

/// Rings of every kind that the transform treats in its own way.
inline std::vector<NamedGrid> custom_grids() {
    constexpr double pi = std::numbers::pi;
    std::vector<NamedGrid> grids;
    auto add = [&](const char* name, const std::vector<RingShape>& shapes, std::int64_t gap = 0) {
        grids.push_back({name, grid_of(shapes, gap)});
    };
    // Fewer pixels than modes: the aliases meet in the same bins.
    add("OddPixelCounts", {{0.3, 0.1, 1}, {0.6, 0.2, 3}, {1.0, 0.3, 5}, {1.5, 0.4, 7}, {2.5, 0.5, 9}});
    add("EvenPixelCounts", {{0.3, 0.1, 2}, {0.6, 0.2, 4}, {1.0, 0.3, 6}, {1.5, 0.4, 8}, {2.5, 0.5, 12}});
    add("LargePrimes", {{0.7, 0.9, 211}, {1.7, 1.2, 1009}, {2.0, -1.2, 2 * 211}, {2.2, 0, 4 * 211}});
    add("UnusualFirstLongitudes", {{0.7, -3.5, 60}, {0.9, 7.0, 60}, {1.2, 31.0, 60}, {2.0, -1e-9, 61}});
    add("Unsorted", {{2.0, 0, 50}, {0.05, 0, 50}, {1.57, 0, 50}, {3.1, 0, 50}, {1.0, 0, 50}});
    add("OneRing", {{0.8, 0.3, 64}});
    add("OneRingOfOnePixel", {{2.2, 0.3, 1}});
    add("OnlySouth", {{1.9, 0.3, 64}, {2.5, 0.1, 63}, {3.0, 0.2, 20}}, 3);
    add("Poles", {{0, 0.3, 64}, {pi, 0.3, 51}});
    add("NearPoles", {{1e-8, 0, 50}, {1e-3, 0.2, 50}, {0.02, 1, 50}, {pi - 1e-3, 0, 50}, {pi - 1e-7, 0, 7}});
    add("Equator", {{pi / 2, 0.3, 64}, {pi / 2 + 1e-5, 0.3, 51}, {pi / 2 - 0.019, 0, 51}});
    add("EqualLatitudes", {{1.0, 0, 50}, {1.0, 0.5, 50}, {1.0, 0, 49}});

    // Mirror images with other first longitudes, one with another number of pixels, one alone.
    std::vector<Ring> rings;
    std::int64_t next = 5;
    for (double theta : {0.01, 0.4, 1.1, 1.56}) {
        const Ring north = make_ring(theta, 0.2, 0.01, 55, next);
        rings.push_back(north);
        rings.push_back(mirrored(north, theta == 1.1 ? 0.2 : -0.7, next + 60));
        if (theta == 0.4) rings.back().n_pixels = 48;
        next += 120;
    }
    rings.push_back(make_ring(2.0, 0.2, 0.01, 55, next));
    grids.push_back({"MirrorImages", Grid(rings)});
    return grids;
}

/// Every kind of grid of the factories, small.
inline std::vector<NamedGrid> factory_grids() {
    return {{"HealpixNside1", Grid::healpix(1)},
            {"HealpixNside3", Grid::healpix(3)},
            {"HealpixNside8", Grid::healpix(8)},
            {"GaussLegendre", Grid::gauss_legendre(25, 52, 0.3)},
            {"GaussLegendreOfManyRings", Grid::gauss_legendre(129, 8)},
            {"ClenshawCurtisWithPoles", Grid::clenshaw_curtis(26, 51)},
            {"TwoPoles", Grid::clenshaw_curtis(2, 3)},
            {"Fejer1", Grid::fejer1(25, 50)},
            {"Fejer2", Grid::fejer2(24, 49, -0.2)},
            {"EquidistantCylindrical", Grid::equidistant_cylindrical(20, 40)},
            {"Octahedral", Grid::octahedral(9)},
            {"ReducedGaussian", Grid::reduced_gaussian({3, 20, 24, 25, 24, 20, 3})},
            {"ReducedGaussLegendre", Grid::reduced_gauss_legendre(33, 32, 2)}};
}

inline std::vector<NamedGrid> all_grids() {
    auto grids = factory_grids();
    for (auto& grid : custom_grids()) grids.push_back(grid);
    return grids;
}

inline std::string grid_name(const ::testing::TestParamInfo<NamedGrid>& info) {
    return info.param.name;
}

}  // namespace zonal::test
