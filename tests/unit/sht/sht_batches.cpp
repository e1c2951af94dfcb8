#include <gtest/gtest.h>

#include <limits>

#include "sht_helpers.hpp"
#include "zonal/analysis.hpp"

// Many maps at once, parts of spin fields, single precision, strided arrays, numbers below the normal ones.
namespace zonal::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Rings in all regions, so that every kernel sees the batch.
Grid grid() {
    return Grid::gauss_legendre(70, 45);
}

// Neither <double> nor a view of const is written out.
TEST(ShtPlan, TakesMutableViewsAsInput) {
    const ShtPlan plan(grid(), options_of(30));
    AlmArray alm = random_alm(plan.layout(), 1, 1, 3), back = alm, update = alm;
    MapArray map({1, 1, plan.grid().n_pixels()}), expected = map;
    plan.synthesize<double>(std::as_const(alm).view(), expected.view());
    ShtWorkspace workspace = plan.make_workspace();
    plan.synthesize(alm.view(), map.view(), workspace);
    EXPECT_EQ(relative_difference(map, expected), 0);
    plan.adjoint_synthesis(map.view(), back.view());
    plan.quadrature(map.view(), back.view(), workspace);
    plan.project_residual(alm.view(), map.view(), update.view(), workspace);
    const ShtPlan coarse(grid(), options_of(22));
    AlmArray fewer({1, 1, coarse.layout().size()});
    analyze(coarse, map.view(), fewer.view());
}

// CPUs take many times as long for them, and windows of wide beams make them.
TEST(ShtPlan, TakesNumbersBelowTheNormalOnesAsZero) {
    ShtOptions options = options_of(30);
    options.device = Device::cpu();
    const ShtPlan plan(grid(), options);
    AlmArray alm = random_alm(plan.layout(), 1, 1, 3);
    for (std::int64_t i = 0; i < plan.layout().size(); ++i) alm(0, 0, i) *= 1e-312;
    const MapArray map = synthesis(plan, alm);
    for (std::int64_t p = 0; p < map.size(); ++p) ASSERT_EQ(map.data()[p], 0);
    volatile double smallest = std::numeric_limits<double>::min();
    EXPECT_GT(0.5 * smallest, 0) << "the caller's arithmetic is as it was";
}

class OfSpinAndBatch : public ::testing::TestWithParam<std::tuple<int, int>> {
  protected:
    const int spin = std::get<0>(GetParam());
    const std::int64_t n_maps = std::get<1>(GetParam());
    const ShtPlan plan{grid(), options_of(30, spin)};
};

/// Maps go through the recurrence four (spin: two) at a time; the order of the sums over degrees and rings
/// may differ with their number.
TEST_P(OfSpinAndBatch, EveryMapIsTransformedAsAlone) {
    const AlmArray alm = random_alm(plan.layout(), n_maps, plan.alm_components(), 3);
    const MapArray maps = synthesis(plan, alm), noise = random_map(grid(), n_maps, plan.map_components(), 4);
    const AlmArray coefficients = adjoint(plan, noise);
    const double tolerance = transform_rounding(plan.layout().lmax());
    for (std::int64_t k = 0; k < n_maps; ++k) {
        AlmArray one_alm({1, plan.alm_components(), plan.layout().size()});
        MapArray one_map({1, plan.map_components(), plan.grid().n_pixels()});
        std::copy_n(alm.data() + k * one_alm.size(), one_alm.size(), one_alm.data());
        plan.synthesize<double>(one_alm.view(), one_map.view());
        MapArray map = one_map;
        std::copy_n(maps.data() + k * map.size(), map.size(), map.data());
        EXPECT_LE(scaled_difference(map, one_map), tolerance) << "map " << k;

        std::copy_n(noise.data() + k * map.size(), map.size(), map.data());
        plan.adjoint_synthesis<double>(map.view(), one_alm.view());
        AlmArray part = one_alm;
        std::copy_n(coefficients.data() + k * part.size(), part.size(), part.data());
        EXPECT_LE(scaled_difference(part, one_alm), tolerance) << "map " << k;
    }
}

TEST_P(OfSpinAndBatch, SinglePrecisionRoundsTheDoubleResult) {
    const AlmArray alm = random_alm(plan.layout(), n_maps, plan.alm_components(), 3);
    Array<std::complex<float>, 3> alm_float(alm.extents());
    for (std::int64_t k = 0; k < alm.size(); ++k) alm_float.data()[k] = std::complex<float>(alm.data()[k]);
    AlmArray rounded(alm.extents());
    for (std::int64_t k = 0; k < alm.size(); ++k) rounded.data()[k] = Complex(alm_float.data()[k]);
    Array<float, 3> map_float({n_maps, plan.map_components(), plan.grid().n_pixels()});
    plan.synthesize<float>(alm_float.view(), map_float.view());
    // The arithmetic is double: only the result is rounded, by half a unit in the last place of float.
    constexpr double half_ulp = std::numeric_limits<float>::epsilon() / 2.0;
    const MapArray map = synthesis(plan, rounded);
    for (std::int64_t k = 0; k < map.size(); ++k)
        ASSERT_NEAR(map_float.data()[k], map.data()[k], half_ulp * (std::abs(map.data()[k]) + 1e-6));

    MapArray input(map.extents());
    for (std::int64_t k = 0; k < map.size(); ++k) input.data()[k] = map_float.data()[k];
    plan.adjoint_synthesis<float>(map_float.view(), alm_float.view());
    const AlmArray expected = adjoint(plan, input);
    const double scale = largest(expected);
    for (std::int64_t k = 0; k < expected.size(); ++k)
        ASSERT_LE(std::abs(Complex(alm_float.data()[k]) - expected.data()[k]),
                  half_ulp * (1.5 * std::abs(expected.data()[k]) + 1e-6 * scale));
}

INSTANTIATE_TEST_SUITE_P(Sht, OfSpinAndBatch,
                         ::testing::Combine(::testing::Values(0, 1, 2, 3),
                                            ::testing::Values(0, 1, 2, 3, 5, 8)),
                         [](const auto& info) {
                             return "Spin" + std::to_string(std::get<0>(info.param)) + "Maps" +
                                    std::to_string(std::get<1>(info.param));
                         });

class OfSpinParts : public ::testing::TestWithParam<int> {};

TEST_P(OfSpinParts, AreThoseOfTheWholeFieldBitwise) {
    const int spin = GetParam();
    const ShtPlan whole(grid(), options_of(30, spin));
    const AlmArray alm = random_alm(whole.layout(), 3, 2, 5);
    const MapArray noise = random_map(grid(), 3, 2, 6);
    const AlmArray both = adjoint(whole, noise);
    for (const SpinParts parts : {SpinParts::gradient, SpinParts::curl}) {
        ShtOptions options = options_of(30, spin);
        options.parts = parts;
        const ShtPlan plan(grid(), options);
        ASSERT_EQ(plan.alm_components(), 1);
        ASSERT_EQ(plan.map_components(), 2);
        const int component = parts == SpinParts::gradient ? 0 : 1;
        AlmArray part({3, 1, plan.layout().size()}), others_zero(alm.extents());
        for (std::int64_t k = 0; k < 3; ++k)
            for (std::int64_t i = 0; i < plan.layout().size(); ++i)
                part(k, 0, i) = others_zero(k, component, i) = alm(k, component, i);
        EXPECT_EQ(largest_difference(synthesis(plan, part), synthesis(whole, others_zero)), 0);
        const AlmArray projected = adjoint(plan, noise);
        for (std::int64_t k = 0; k < 3; ++k)
            for (std::int64_t i = 0; i < plan.layout().size(); ++i)
                ASSERT_EQ(projected(k, 0, i), both(k, component, i));
    }
}

INSTANTIATE_TEST_SUITE_P(Sht, OfSpinParts, ::testing::Values(1, 2, 3),
                         [](const auto& info) { return "Spin" + std::to_string(info.param); });

/// alm and maps as every second map of a larger array with space between the components.
TEST(Sht, FollowsTheStridesOfBatchAndComponent) {
    const ShtPlan plan(grid(), options_of(20, 2));
    const std::int64_t n_alm = plan.layout().size(), n_pixels = plan.grid().n_pixels();
    const AlmArray alm = random_alm(plan.layout(), 3, 2, 7);
    const MapArray expected = synthesis(plan, alm);
    const AlmArray expected_alm = adjoint(plan, expected);

    const View<double, 3>::Extents alm_strides{5 * n_alm, 2 * n_alm + 3, 1},
        map_strides{4 * n_pixels, 2 * n_pixels - 2, 1};
    std::vector<Complex> alm_memory(15 * n_alm, nan);
    std::vector<double> map_memory(12 * n_pixels, nan);
    const View<Complex, 3> alm_view(alm_memory.data(), {3, 2, n_alm}, alm_strides);
    const View<double, 3> map_view(map_memory.data(), {3, 2, n_pixels}, map_strides);
    for (std::int64_t k = 0; k < 3; ++k)
        for (std::int64_t c = 0; c < 2; ++c)
            for (std::int64_t i = 0; i < n_alm; ++i) alm_view(k, c, i) = alm(k, c, i);
    plan.synthesize<double>(alm_view, map_view);
    std::int64_t written = 0;
    for (const double value : map_memory) written += std::isnan(value) ? 0 : 1;
    EXPECT_EQ(written, 6 * n_pixels) << "between the maps nothing is written";
    std::fill(alm_memory.begin(), alm_memory.end(), nan);
    plan.adjoint_synthesis<double>(map_view, alm_view);
    for (std::int64_t k = 0; k < 3; ++k)
        for (std::int64_t c = 0; c < 2; ++c) {
            for (std::int64_t i = 0; i < n_pixels; ++i) ASSERT_EQ(map_view(k, c, i), expected(k, c, i));
            for (std::int64_t i = 0; i < n_alm; ++i) ASSERT_EQ(alm_view(k, c, i), expected_alm(k, c, i));
        }
    written = 0;
    for (const Complex value : alm_memory) written += std::isnan(value.real()) ? 0 : 1;
    EXPECT_EQ(written, 6 * n_alm);
}

TEST(Sht, LeavesPixelsOutsideTheRingsAlone) {
    const Grid full = Grid::healpix(4);
    const Grid part = full.subset({1, 7, 8, 14});
    std::vector<bool> inside(full.n_pixels(), false);
    for (const Ring& ring : part.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) inside[ring.first_pixel + k] = true;
    const ShtPlan plan(part, options_of(8, 2));
    const AlmArray alm = random_alm(plan.layout(), 2, 2, 8);
    MapArray map({2, 2, full.n_pixels()});
    std::fill(map.begin(), map.end(), 1e300);
    plan.synthesize<double>(alm.view(), map.view());
    for (std::int64_t k = 0; k < map.size(); ++k)
        EXPECT_EQ(map.data()[k] == 1e300, !inside[k % full.n_pixels()]) << "pixel " << k;
    // And does not read them.
    const AlmArray expected = adjoint(plan, map);
    for (std::int64_t k = 0; k < map.size(); ++k)
        if (!inside[k % full.n_pixels()]) map.data()[k] = nan;
    EXPECT_EQ(largest_difference(adjoint(plan, map), expected), 0);
}

TEST(Sht, OverwritesItsOutput) {
    for (const int spin : {0, 1, 2, 3}) {
        const ShtPlan plan(grid(), options_of(12, spin));
        const AlmArray alm = random_alm(plan.layout(), 1, plan.alm_components(), 9);
        const MapArray expected = synthesis(plan, alm);
        MapArray map = expected;
        std::fill(map.begin(), map.end(), nan);
        plan.synthesize<double>(alm.view(), map.view());
        EXPECT_EQ(largest_difference(map, expected), 0);
        AlmArray out = alm;
        std::fill(out.begin(), out.end(), Complex(nan, nan));
        plan.adjoint_synthesis<double>(map.view(), out.view());
        EXPECT_EQ(largest_difference(out, adjoint(plan, expected)), 0);
        // A spin field has no degrees below its spin: they come out as zeros.
        for (std::int64_t m = 0; m < spin; ++m)
            for (std::int64_t l = m; l < spin; ++l)
                EXPECT_EQ(out(0, 0, plan.layout().index(l, m)), Complex(0));
    }
}

TEST(Sht, QuadratureIsTheAdjointOfTheWeightedMap) {
    const Grid rings = Grid::clenshaw_curtis(17, 33);
    const ShtPlan plan(rings, options_of(8, 2));
    MapArray map = random_map(rings, 1, 2, 10);
    const AlmArray weighted = quadrature(plan, map);
    for (std::int64_t c = 0; c < 2; ++c)
        for (const Ring& ring : rings.rings())
            for (std::int64_t k = 0; k < ring.n_pixels; ++k) map(0, c, ring.first_pixel + k) *= ring.weight;
    // The CPU weights the pixels, CUDA their Fourier coefficients, of order 1: one rounding each.
    const double tolerance = test_device() == Device::cpu() ? 0 : 4 * eps;
    EXPECT_LE(largest_difference(adjoint(plan, map), weighted), tolerance);
}

}  // namespace
}  // namespace zonal::test
