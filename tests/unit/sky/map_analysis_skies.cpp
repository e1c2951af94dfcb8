#include "zonal/sky/map_analysis.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sky_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"
#include "zonal/sky/synfast.hpp"

namespace zonal {
namespace {

using test::sky_spectra;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr HealpixPixels pixels{8, healpix::Order::nest};
constexpr std::int64_t lmax = 12;

SimulatedSky sky() {
    return synfast(sky_spectra(), pixels, {.lmax = lmax, .seed = 3});
}

double largest_difference(const Array<std::complex<double>, 2>& a, const Array<std::complex<double>, 2>& b) {
    double largest = a.extents() == b.extents() ? 0 : INFINITY;
    for (std::int64_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const double delta = std::abs(a.data()[i] - b.data()[i]);
        if (!(delta <= largest)) largest = delta;
    }
    return largest;
}

TEST(MapAnalysis, FindsTheAlmThatAMapWasMadeFrom) {
    const auto simulated = sky();
    const auto found = analyze(simulated.map, {.lmax = lmax, .tolerance = 1e-13});
    EXPECT_LE(largest_difference(found.alm.alm, simulated.alm.alm), 4 * 1e-13);  // values below 4
    EXPECT_TRUE(found.report.analysis.reached_tolerance);
    EXPECT_EQ(found.report.analysis.last_update, 0);
    ASSERT_EQ(found.report.sky_fraction.size(), 3u);
    EXPECT_DOUBLE_EQ(found.report.sky_fraction[1].used, 1);
}

TEST(MapAnalysis, ByIterationsSaysHowFarTheAlmMoved) {
    const auto found = analyze(sky().map, {.lmax = lmax});
    EXPECT_EQ(found.report.analysis.iterations, 3);
    EXPECT_GT(found.report.analysis.last_update, 0);
    EXPECT_LT(found.report.analysis.last_update, 1e-3);  // a digit each
    EXPECT_FALSE(found.report.analysis.updates_grew);
}

TEST(MapAnalysis, MasksUnseenPixelsAndQAndUTogether) {
    auto map = sky().map, zeroed = map;
    map.rows()(1, 20) = unseen_value;
    for (const auto row : {1, 2}) zeroed.rows()(row, 20) = 0;
    std::vector<double> mask(768, 1);
    for (std::size_t pixel = 100; pixel < 200; ++pixel) {
        mask[pixel] = 0;
        for (std::int64_t row = 0; row < 3; ++row) zeroed.rows()(row, static_cast<std::int64_t>(pixel)) = 0;
    }
    const auto masked = analyze(map, {.lmax = lmax, .mask = {mask.data(), {768}}});
    EXPECT_EQ(largest_difference(masked.alm.alm, analyze(zeroed, {.lmax = lmax}).alm.alm), 0);
    EXPECT_DOUBLE_EQ(masked.report.sky_fraction[0].used, 668.0 / 768);
    EXPECT_DOUBLE_EQ(masked.report.sky_fraction[2].used, 667.0 / 768);
    EXPECT_THAT([&] { analyze(map, {.lmax = lmax, .mask_mode = MaskMode::error}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("1 pixels are UNSEEN or masked")));
}

TEST(MapAnalysis, TakesAMonopoleAway) {
    auto map = new_sky_map(pixels, false);
    for (std::int64_t pixel = 0; pixel < 768; ++pixel) map.rows()(0, pixel) = 5;
    const auto found = analyze(map, {.lmax = lmax, .remove = FitTerms::monopole});
    // Of a sum over 768 pixels, as in a random walk.
    const double rounding = 5 * std::sqrt(768.0) * std::numeric_limits<double>::epsilon();
    EXPECT_NEAR(found.report.removed.monopole, 5, rounding);
    for (const auto& a : found.alm.alm) EXPECT_LE(std::abs(a), std::sqrt(4 * std::numbers::pi) * rounding);
}

TEST(MapAnalysis, SaysWhatMemoryItTakes) {
    const auto map = sky().map;
    const double maps = 8 * 768, alms = 16 * static_cast<double>(AlmLayout(23).size());
    const auto bytes = [&](MapAnalysisOptions options) {
        options.device = Device::cpu();  // whose memory it is
        return bytes_of_analysis(map, options);
    };
    // E and B are transformed together, and need the most.
    const double least = bytes({.iterations = 0});
    EXPECT_GE(least, 3 * std::max(maps, alms));
    EXPECT_EQ(bytes({.iterations = 3}) - least, 2 * alms);  // an update
    EXPECT_EQ(bytes({.iterations = 3, .ring_weights = std::vector<double>(31, 1.0)}) - least,
              2 * (alms + maps));
    EXPECT_EQ(bytes({.tolerance = 1e-9}) - least, 2 * (3 * alms + 2 * maps));
    // Of few coefficients the maps of what is known are more.
    EXPECT_EQ(bytes_of_analysis(new_sky_map(HealpixPixels{64}, true), {.lmax = 0, .iterations = 0}),
              3 * 8 * 49152);
}

TEST(MapAnalysis, RejectsALmaxThatTheGridCannotHold) {
    EXPECT_THAT([] { analyze(new_sky_map(pixels, false), {.lmax = 24}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("lmax = 24: must be at most 3*nside-1 = 23")));
    auto map = new_sky_map(pixels, false);
    EXPECT_THROW(synthesize(sky().alm, map), InvalidArgument);
}

TEST(Anafast, GivesTheSpectraOfTheAlm) {
    auto simulated = sky();
    for (auto& column : simulated.map.header().columns) column.unit = "uK";
    const auto found = anafast(simulated.map, {.lmax = lmax, .tolerance = 1e-13});
    const auto expected = spectra<double>(simulated.alm.layout, simulated.alm.alm.view());
    ASSERT_EQ(found.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(found[i].name, expected[i].name);
        EXPECT_EQ(found[i].unit, "uK^2");
        // Those of the alm, whose errors average.
        for (std::size_t l = 0; l <= lmax; ++l) EXPECT_NEAR(found[i].values[l], expected[i].values[l], 1e-14);
    }
    EXPECT_EQ(anafast(simulated.map, simulated.map, {.lmax = lmax}).size(), 9u);
}

TEST(SkyFraction, WeighsPixelsByTheirArea) {
    const Grid grid = Grid::gauss_legendre(6, 4);
    std::vector<double> mask(24, 1);
    double all = 0, used = 0, mean = 0, square = 0;
    for (const Ring& ring : grid.rings())
        for (auto pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel) {
            const double value = mask[static_cast<std::size_t>(pixel)] = static_cast<double>(pixel % 3) / 4;
            all += ring.weight;
            used += value > 0 ? ring.weight : 0;
            mean += ring.weight * value;
            square += ring.weight * value * value;
        }
    const auto found = sky_fraction(grid, {mask.data(), {24}}, 1);
    // Sums of 24 numbers.
    constexpr double rounding = 24 * std::numeric_limits<double>::epsilon();
    EXPECT_NEAR(found.used, used / all, rounding);
    EXPECT_NEAR(found.mean, mean / all, rounding);
    EXPECT_NEAR(found.mean_square, square / all, rounding);
}

TEST(Anafast, OfTwoSkiesGivesTheirCrossSpectra) {
    auto a = sky(), b = synfast(sky_spectra(), pixels, {.lmax = lmax, .seed = 4});
    for (auto& column : a.map.header().columns) column.unit = "uK";
    for (auto& column : b.map.header().columns) column.unit = "K";
    const auto found = anafast(a.map, b.map, {.lmax = lmax, .tolerance = 1e-13});
    const auto expected = spectra<double>(a.alm.layout, a.alm.alm.view(), b.alm.alm.view());
    ASSERT_EQ(found.size(), 9u);
    for (std::size_t i = 0; i < 9; ++i) {
        EXPECT_EQ(found[i].name, expected[i].name);
        EXPECT_EQ(found[i].unit, product_unit("uK", "K"));
        for (std::size_t l = 0; l <= lmax; ++l) EXPECT_NEAR(found[i].values[l], expected[i].values[l], 1e-14);
    }
}

/// That what is done goes from 0 to 1 and never back.
TEST(MapAnalysis, TellsHowFarItIs) {
    std::vector<double> done;
    const Progress progress = [&](double share) {
        done.push_back(share);
        return true;
    };
    const auto map = sky().map;
    analyze(map, {.lmax = lmax, .progress = progress});
    ASSERT_FALSE(done.empty());
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
    EXPECT_GE(done.front(), 0);
    EXPECT_LT(done.front(), 0.3);
    EXPECT_NEAR(done.back(), 1, 4 * std::numeric_limits<double>::epsilon());
}

TEST(Synfast, GivesTheSameSkyOnEveryGrid) {
    const auto fine =
        synfast(sky_spectra(), HealpixPixels{16, healpix::Order::ring}, {.lmax = 20, .seed = 3});
    const auto& coarse = sky();
    for (std::int64_t l = 0; l <= lmax; ++l)
        EXPECT_EQ(fine.alm.alm(1, fine.alm.layout.index(l, 0)),
                  coarse.alm.alm(1, coarse.alm.layout.index(l, 0)));
    EXPECT_EQ(fine.map.groups()[0].fields, Fields::iqu);
}

TEST(Synfast, MultipliesByTheBeam) {
    const auto beam = gaussian_beam(0.3, lmax);
    const auto seen = synfast(sky_spectra(), pixels, {.lmax = lmax, .seed = 3, .beam = beam});
    const auto bare = sky();
    const auto i = bare.alm.layout.index(7, 3);
    EXPECT_EQ(seen.alm.alm(1, i), bare.alm.alm(1, i) * beam.gradient[7]);
}

TEST(Synfast, RejectsSpectraThatBelongToNoSky) {
    auto spectra = sky_spectra();
    spectra.te[5] = 10;
    EXPECT_THAT([&] { synfast(spectra, pixels, {.lmax = lmax}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("at l = 5 is not positive")));
    // before memory is taken: these alm would need 100 TB
    EXPECT_THROW(synfast(spectra, pixels, {.lmax = 2'000'000}), InvalidArgument);
}

}  // namespace
}  // namespace zonal
