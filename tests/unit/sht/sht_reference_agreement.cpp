#include <gtest/gtest.h>

#include <numbers>

#include "sht_helpers.hpp"

// The fast transform against the plain one in long double.
namespace zonal::test {
namespace {

struct Band {
    std::int64_t lmax, mmax;
};

void expect_agreement(const Grid& grid, Band band, int spin) {
    SCOPED_TRACE(::testing::Message() << "lmax " << band.lmax << ", mmax " << band.mmax << ", spin " << spin);
    const ShtPlan plan(grid, options_of(band.lmax, spin, band.mmax));
    const AlmLayout& layout = plan.layout();
    const double tolerance = transform_rounding(band.lmax, spin);

    // Degrees below the spin count as zero, whatever is there.
    const AlmArray alm = random_alm(layout, 1, plan.alm_components(), 1);
    EXPECT_LE(scaled_difference(synthesis(plan, alm), reference_synthesis(grid, layout, spin, alm)),
              tolerance);
    const MapArray map = random_map(grid, 1, plan.map_components(), 2);
    EXPECT_LE(scaled_difference(adjoint(plan, map), reference_adjoint(grid, layout, spin, map)), tolerance);
}

class OnEveryGrid : public ::testing::TestWithParam<NamedGrid> {};

TEST_P(OnEveryGrid, TransformMatchesReference) {
    for (const Band band : {Band{24, 24}, Band{23, 7}, Band{12, 0}, Band{2, 2}})
        for (const int spin : {0, 1, 2, 3, 5, 10})
            if (spin <= band.lmax) expect_agreement(GetParam().grid, band, spin);
}

INSTANTIATE_TEST_SUITE_P(Sht, OnEveryGrid, ::testing::ValuesIn(all_grids()), grid_name);

class TransformOfSpin : public ::testing::TestWithParam<int> {};

/// High enough for values that start far below the range of double, for pruned orders and for every
/// recurrence: near the poles, between, and near the equator. Spins 3, 4, 8 and 17 become scalars at sin
/// theta = 0.215, 0.316, 0.562 and 0.763.
TEST_P(TransformOfSpin, TransformMatchesReferenceAtHighDegrees) {
    const Grid grid = grid_of({{1e-4, 0, 8},
                               {0.03, 0.1, 30},
                               {0.0501, 0, 12},
                               {0.0999, 0, 40},
                               {0.11, 0, 9},
                               {0.214, 0, 20},
                               {0.218, 0, 21},
                               {0.3, 0.7, 601},
                               {0.321, 0, 33},
                               {0.325, 0.4, 35},
                               {0.59, 0, 30},
                               {0.6, 0, 31},
                               {0.8, 0.2, 64},
                               {0.86, 0.2, 48},
                               {0.87, 0, 49},
                               {1.2, 0, 50},
                               {1.5507, 0, 64},
                               {1.5509, 0, 64},
                               {std::numbers::pi / 2, 0, 64},
                               {1.9, 0.1, 1024},
                               {2.8, 0, 50},
                               {3.09, 1, 600}});
    expect_agreement(grid, {300, 300}, GetParam());
}

/// Largest difference on the ring, relative to the ring's largest value.
double ring_error(const Ring& ring, const MapArray& map, const MapArray& expected) {
    double error = 0, scale = 0;
    for (std::int64_t c = 0; c < map.extent(1); ++c)
        for (std::int64_t k = ring.first_pixel; k < ring.first_pixel + ring.n_pixels; ++k) {
            error = larger(error, std::abs(map(0, c, k) - expected(0, c, k)));
            scale = larger(scale, std::abs(expected(0, c, k)));
        }
    return error / larger(scale, 1.0);
}

TEST_P(TransformOfSpin, KeepsEveryDigitNearThePolesAndTheEquator) {
    constexpr std::int64_t lmax = 400;
    constexpr double pi = std::numbers::pi;
    // Whole blocks of eight, as a block is computed in one way.
    std::vector<RingShape> shapes;
    const double last = GetParam() == 0 ? 0.0499 : 0.0999;
    for (double sine : {1e-9, 1e-4, 1e-3, 0.01, 0.2 * last, 0.5 * last, 0.8 * last, last})
        shapes.push_back({std::asin(sine), 0, 9});
    for (double cosine : {1e-16, 1e-9, 1e-5, 1e-3, 0.005, 0.01, 0.015, 0.0199})
        shapes.push_back({std::acos(-cosine), 0, 9});
    shapes.push_back({pi - 1e-6, 0.1, 9});
    shapes.push_back({pi / 2, 0.1, 9});
    const Grid grid = grid_of(shapes);
    const ShtPlan plan(grid, options_of(lmax, GetParam()));
    const AlmArray alm = random_alm(plan.layout(), 1, plan.alm_components(), 1);
    const MapArray map = synthesis(plan, alm),
                   expected = reference_synthesis(grid, plan.layout(), GetParam(), alm);
    for (const Ring& ring : grid.rings())
        EXPECT_LE(ring_error(ring, map, expected), sharp_transform_rounding(lmax)) << "theta " << ring.theta;
}

/// A value that starts far below the range of double and grows through it must not lose digits on the way:
/// the start is 2^-110 for m = 40 at theta = 0.15, and 2^-1000 for m = 360.
TEST(Sht, OrdersThatStartBelowTheRangeOfDoubleKeepTheirDigits) {
    const Grid grid = grid_of({{0.15, 0, 1}, {0.02, 0, 1}});
    for (const std::int64_t m : {40, 110, 360}) {
        const std::int64_t lmax = std::min<std::int64_t>(8 * m, 2000);
        const ShtPlan plan(grid, options_of(lmax, 0, m));
        AlmArray alm({1, 1, plan.layout().size()});
        alm(0, 0, plan.layout().index(std::min<std::int64_t>(lmax, 7 * m), m)) = 1;
        const MapArray map = synthesis(plan, alm),
                       expected = reference_synthesis(grid, plan.layout(), 0, alm);
        EXPECT_LE(scaled_difference(map, expected), sharp_transform_rounding(lmax)) << "m " << m;
    }
}

INSTANTIATE_TEST_SUITE_P(Sht, TransformOfSpin, ::testing::Values(0, 1, 2, 3, 4, 8, 17),
                         [](const auto& info) { return "Spin" + std::to_string(info.param); });

TEST(Sht, SpinAsLargeAsLmaxMatchesReference) {
    const Grid grid = grid_of({{0, 0, 9}, {0.02, 0, 9}, {1, 0, 64}, {1.6, 0.2, 65}, {3.0, 0, 7}});
    expect_agreement(grid, {20, 20}, 20);
    expect_agreement(grid, {1, 1}, 1);
    expect_agreement(grid, {150, 150}, 149);
}

TEST(Sht, LmaxZeroIsTheMean) {
    for (const NamedGrid& named : all_grids()) {
        SCOPED_TRACE(named.name);
        expect_agreement(named.grid, {0, 0}, 0);
    }
}

}  // namespace
}  // namespace zonal::test
