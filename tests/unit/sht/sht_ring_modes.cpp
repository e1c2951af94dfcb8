#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/sht.hpp"
#include "zonal/sht/ring_modes.hpp"

// The halves of a transform, which together are the transform.
namespace zonal {
namespace {

using ::testing::HasSubstr;
using Complex = std::complex<double>;

constexpr double eps = 2.3e-16;

/// Rings of 1 to 40 pixels, some of them mirrors of others, with gaps between them in the map.
Grid some_rings() {
    std::vector<Ring> rings;
    std::int64_t first = 2;
    const std::vector<double> thetas{0.0, 0.1, 0.8, 1.3, std::numbers::pi - 0.8, 2.9, std::numbers::pi};
    for (std::size_t i = 0; i < thetas.size(); ++i) {
        const std::int64_t n = i == 4 ? 13 : 1 + 6 * static_cast<std::int64_t>(i);
        rings.push_back(make_ring(thetas[i], 0.3 * double(i), 1, n, first));
        first += n + 3;
    }
    mirror_southern_rings(rings);
    return Grid(std::move(rings), first + 5);
}

Array<Complex, 3> some_alm(const AlmLayout& layout, std::int64_t components, int spin) {
    Array<Complex, 3> alm({2, components, layout.size()});
    for (std::int64_t i = 0; i < 2; ++i)
        for (std::int64_t c = 0; c < components; ++c)
            for (std::int64_t n = 0; n < layout.n_orders(); ++n)
                for (std::int64_t m = layout.order(n), l = std::max<std::int64_t>(m, spin);
                     l <= layout.lmax(); ++l)
                    alm(i, c, layout.index(l, m)) = {std::sin(double(3 * l + 7 * m + c + 5 * i)),
                                                     m == 0 ? 0 : std::cos(double(l * m + c + i))};
    return alm;
}

double largest(const Array<double, 3>& values) {
    double found = 0;
    for (const double value : values) found = std::max(found, std::abs(value));
    return found;
}

TEST(RingModes, HalvesOfASynthesisAreTheSynthesis) {
    constexpr std::int64_t lmax = 20;
    const Grid grid = some_rings();
    for (const int spin : {0, 1, 2, 3}) {
        const std::int64_t components = spin == 0 ? 1 : 2;
        const ShtOptions options{.lmax = lmax, .spin = spin, .threads = 2, .device = Device::cpu()};
        std::vector<std::int64_t> orders(lmax + 1);
        for (std::int64_t m = 0; m <= lmax; ++m) orders[m] = m;
        const LegendrePlan legendre(grid, options, orders);
        const RingPlan rings(grid, lmax, 2);
        const auto alm = some_alm(legendre.layout(), components, spin);
        Array<Complex, 4> modes({2, components, grid.n_rings(), lmax + 1});
        Array<double, 3> map({2, components, grid.n_pixels()}), expected({2, components, grid.n_pixels()});
        legendre.synthesize<double>(alm.view(), modes.view());
        for (std::int64_t i = 0; i < 2; ++i) rings.synthesize<double>(modes.view()[i], map.view()[i]);
        ShtPlan(grid, options).synthesize<double>(alm.view(), expected.view());
        // Both have the same F_m; the sums of 41 of them on a ring, folded to its pixels, round by
        // log2(41) eps / 2 or so of the rms each way, and the largest of hundreds of values is thrice the
        // rms.
        const double within = 8 * eps * largest(expected);
        for (std::int64_t k = 0; k < map.size(); ++k)
            EXPECT_LE(std::abs(map.data()[k] - expected.data()[k]), within) << spin << ' ' << k;
    }
}

TEST(RingModes, HalvesOfAnAdjointAreTheAdjoint) {
    constexpr std::int64_t lmax = 20;
    const Grid grid = some_rings();
    for (const int spin : {0, 2}) {
        const std::int64_t components = spin == 0 ? 1 : 2;
        const ShtOptions options{.lmax = lmax, .spin = spin, .threads = 2, .device = Device::cpu()};
        const std::vector<std::int64_t> orders{0, 3, 4, 20};
        const LegendrePlan legendre(grid, options, orders);
        Array<double, 3> map({1, components, grid.n_pixels()});
        for (std::int64_t k = 0; k < map.size(); ++k) map.data()[k] = std::sin(3.0 * double(k));
        Array<Complex, 3> all({components, grid.n_rings(), lmax + 1});
        RingPlan(grid, lmax, 1).adjoint<double>(map.view()[0], all.view());
        Array<Complex, 4> modes({1, components, grid.n_rings(), 4});
        for (std::int64_t c = 0; c < components; ++c)
            for (std::int64_t r = 0; r < grid.n_rings(); ++r)
                for (std::int64_t k = 0; k < 4; ++k) modes(0, c, r, k) = all(c, r, orders[k]);
        Array<Complex, 3> alm({1, components, legendre.layout().size()});
        legendre.adjoint<double>(modes.view(), alm.view());
        const ShtPlan plan(grid, options);
        Array<Complex, 3> expected({1, components, plan.layout().size()});
        plan.adjoint_synthesis<double>(map.view(), expected.view());
        double peak = 0;
        for (const Complex& value : expected) peak = std::max(peak, std::abs(value));
        for (std::int64_t c = 0; c < components; ++c)
            for (const std::int64_t m : orders)
                for (std::int64_t l = m; l <= lmax; ++l)
                    EXPECT_LE(std::abs(alm(0, c, legendre.layout().index(l, m)) -
                                       expected(0, c, plan.layout().index(l, m))),
                              16 * lmax * eps * peak);
    }
}

TEST(RingModes, OnePartOfASpinFieldTakesOneSetOfCoefficients) {
    const Grid grid = some_rings();
    ShtOptions options{.lmax = 9, .spin = 2, .threads = 1, .device = Device::cpu()};
    const std::vector<std::int64_t> orders{2, 5};
    const LegendrePlan both(grid, options, orders);
    options.parts = SpinParts::gradient;
    const LegendrePlan gradient(grid, options, orders);
    auto alm = some_alm(both.layout(), 2, 2);
    for (std::int64_t i = 0; i < 2; ++i)
        for (std::int64_t k = 0; k < both.layout().size(); ++k) alm(i, 1, k) = 0;
    Array<Complex, 3> one({2, 1, both.layout().size()});
    for (std::int64_t i = 0; i < 2; ++i)
        for (std::int64_t k = 0; k < both.layout().size(); ++k) one(i, 0, k) = alm(i, 0, k);
    Array<Complex, 4> expected({2, 2, grid.n_rings(), 2}), modes({2, 2, grid.n_rings(), 2});
    both.synthesize<double>(alm.view(), expected.view());
    gradient.synthesize<double>(one.view(), modes.view());
    for (std::int64_t k = 0; k < modes.size(); ++k) EXPECT_EQ(modes.data()[k], expected.data()[k]);
}

TEST(RingModes, PixelsOfNoRingStay) {
    const Grid grid = some_rings();
    Array<Complex, 3> modes({1, grid.n_rings(), 3});
    Array<double, 2> map({1, grid.n_pixels()});
    for (double& value : map) value = 7;
    RingPlan(grid, 2).synthesize<double>(modes.view(), map.view());
    EXPECT_EQ(map(0, 0), 7);
    EXPECT_EQ(map(0, grid.n_pixels() - 1), 7);
    EXPECT_EQ(map(0, 2), 0);
}

template <class Work>
std::string complaint(const Work& work) {
    try {
        work();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "accepted";
}

TEST(RingModes, RejectsOrdersAndShapesThatDoNotFit) {
    const Grid grid = some_rings();
    const ShtOptions options{.lmax = 4, .device = Device::cpu()};
    EXPECT_THAT(complaint([&] { LegendrePlan(grid, options, {}); }), HasSubstr("orders"));
    EXPECT_NE(complaint([&] { LegendrePlan(grid, options, {2, 1}); }), "accepted");
    EXPECT_NE(complaint([&] { LegendrePlan(grid, options, {5}); }), "accepted");
    EXPECT_THAT(complaint([&] { RingPlan(grid, -1); }), HasSubstr("mmax = -1"));
    const LegendrePlan legendre(grid, options, {1});
    const Array<Complex, 3> alm({1, 1, 4});
    Array<Complex, 4> modes({1, 1, grid.n_rings(), 2});
    EXPECT_THAT(complaint([&] { legendre.synthesize<double>(alm.view(), modes.view()); }),
                HasSubstr("modes: axis 3 (order)"));
    Array<Complex, 3> fourier({1, grid.n_rings(), 2});
    Array<double, 2> map({1, grid.n_pixels() - 1});
    EXPECT_THAT(complaint([&] { RingPlan(grid, 1).synthesize<double>(fourier.view(), map.view()); }),
                HasSubstr("map: axis 1 (pixel)"));
}

}  // namespace
}  // namespace zonal
