#include "zonal/sky/map_analysis.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "zonal/error.hpp"
#include "zonal/sky/synfast.hpp"

namespace zonal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr HealpixPixels pixels{8, healpix::Order::nest};
constexpr std::int64_t lmax = 12;

SkySpectra sky_spectra() {
    SkySpectra c;
    for (std::int64_t l = 0; l <= 30; ++l) {
        const double falling = 1.0 / static_cast<double>((l + 1) * (l + 1));
        c.tt.push_back(falling);
        c.ee.push_back(0.3 * falling);
        c.bb.push_back(0.1 * falling);
        c.te.push_back(0.2 * falling);
    }
    return c;
}

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

TEST(Rotation, ThereAndBackGivesTheMap) {
    const auto map = sky().map;
    const EulerAngles angles{0.3, 1.1, -2}, back{2, -1.1, -0.3};
    const MapAnalysisOptions how{.lmax = lmax, .tolerance = 1e-13};
    const auto again = rotate(rotate(map, angles, how).map, back, how).map;
    // Two analyses to 1e-13 of 13^2 coefficients, which add as random terms do; twice that at worst.
    for (std::int64_t i = 0; i < map.rows().size(); ++i)
        EXPECT_NEAR(again.rows().data()[i], map.rows().data()[i], 2 * 2 * 13 * 1e-13);
}

TEST(Rotation, TurnsUnseenPixelsToo) {
    auto map = sky().map;
    map.rows()(0, 0) = unseen_value;  // at the north pole
    const auto turned = rotate(map, {0, std::numbers::pi, 0}, {.lmax = lmax}).map;
    const auto row = turned.rows()[0];
    EXPECT_EQ(std::count(row.data(), row.data() + row.size(), unseen_value), 1);
    EXPECT_TRUE(std::find(row.data(), row.data() + row.size(), unseen_value) >= row.data() + 764);
    const auto filled = rotate(map, {0, std::numbers::pi, 0}, {.lmax = lmax}, true).map;
    EXPECT_EQ(std::count(filled.rows()[0].data(), filled.rows()[0].data() + 768, unseen_value), 0);
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
