#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "beam_helpers.hpp"
#include "zonal/beams/smoothing.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"
#include "zonal/window.hpp"

namespace zonal::test {
namespace {

/// The centres of all pixels, in order.
Scan centres(const Grid& grid, double psi) {
    Scan scan;
    scan.theta.resize(static_cast<std::size_t>(grid.n_pixels()));
    scan.phi = scan.psi = scan.hwp = scan.theta;
    for (const Ring& ring : grid.rings())
        for (std::int64_t j = 0; j < ring.n_pixels; ++j) {
            const auto p = static_cast<std::size_t>(ring.first_pixel + j);
            scan.theta[p] = ring.theta;
            scan.phi[p] = ring.phi_0 +
                          2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(ring.n_pixels);
            scan.psi[p] = psi;
        }
    return scan;
}

std::vector<double> on_grid(const Grid& grid, const AlmLayout& layout, const AlmArray& sky,
                            const TurnedBeam& beam) {
    std::vector<double> signal(static_cast<std::size_t>(grid.n_pixels()));
    scan_grid(grid, layout, sky.view()[0], beam, {signal.data(), {grid.n_pixels()}},
              {.threads = 2, .device = Device::cpu()});
    return signal;
}

TEST(BeamsOnGrids, AreTurnedBeamsAtEveryPixel) {
    for (const std::int64_t components : {1, 3})
        for (const double psi : {0.0, 0.7, -12.3}) {
            const std::int64_t lmax = 12, kmax = 4;
            const AlmLayout layout(lmax), of_beam(lmax, kmax);
            const AlmArray beam = random_teb(of_beam, 1, components, 3),
                           sky = random_teb(layout, 1, components, 4);
            for (const Grid& grid : {Grid::healpix(4), Grid::clenshaw_curtis(9, 12)}) {
                const auto signal = on_grid(grid, layout, sky, {of_beam, beam.view()[0], psi});
                const auto wanted = by_turning(of_beam, beam.view()[0], sky, centres(grid, psi));
                double scale = 0;
                for (const double d : wanted) scale = std::max(scale, std::abs(d));
                // Two recurrences up to lmax, of as many components and orders.
                for (std::size_t p = 0; p < wanted.size(); ++p)
                    EXPECT_NEAR(signal[p], wanted[p], 1e-12 * scale) << p;
            }
        }
}

TEST(BeamsOnGrids, TakeOrdersUpToKmaxAndDegreesOfTheSky) {
    const AlmLayout layout(10), of_beam(14, 5), fewer(10, 2);
    const AlmArray beam = random_teb(of_beam, 1, 1, 3), sky = random_teb(layout, 1, 1, 4);
    AlmArray cut({1, 1, fewer.size()});
    for (std::int64_t k = 0; k <= 2; ++k)
        for (std::int64_t l = k; l <= 10; ++l) cut(0, 0, fewer.index(l, k)) = beam(0, 0, of_beam.index(l, k));
    const Grid grid = Grid::healpix(4);
    EXPECT_EQ(on_grid(grid, layout, sky, {of_beam, beam.view()[0], 0.4, 2}),
              on_grid(grid, layout, sky, {fewer, cut.view()[0], 0.4}));
}

SkyMap map_of(const AlmLayout& layout, const AlmArray& sky, std::int64_t nside, bool polarized) {
    MapFile file;
    file.pixelization = HealpixPixels{nside, healpix::Order::ring};
    file.columns.push_back({.name = "I_STOKES", .unit = "K", .stokes = Stokes::I});
    if (polarized) {
        file.columns.push_back({.name = "Q_STOKES", .unit = "K", .stokes = Stokes::Q});
        file.columns.push_back({.name = "U_STOKES", .unit = "K", .stokes = Stokes::U});
    }
    SkyMap map(std::move(file));
    Array<std::complex<double>, 2> alm({sky.extent(1), sky.extent(2)});
    std::copy(sky.begin(), sky.end(), alm.begin());
    synthesize({layout, std::move(alm)}, map, {.threads = 1, .device = Device::cpu()});
    return map;
}

BeamSmoothingOptions exact(std::int64_t lmax) {
    BeamSmoothingOptions options;
    options.analysis.lmax = lmax;
    options.analysis.tolerance = 1e-13;
    options.analysis.threads = 1;
    options.analysis.device = Device::cpu();
    return options;
}

TEST(BeamsOnGrids, SmoothMapsWithTheSkyOfTheirPixels) {
    const std::int64_t lmax = 14;
    const AlmLayout layout(lmax), of_beam(lmax, 3);
    for (const bool polarized : {false, true}) {
        const std::int64_t components = polarized ? 3 : 1;
        const AlmArray beam = random_teb(of_beam, 1, components, 3),
                       sky = random_teb(layout, 1, components, 4);
        const SkyMap map = map_of(layout, sky, 8, polarized);
        const auto smoothed = smooth_with_beam(map, {of_beam, beam.view()[0], 0.3}, exact(lmax));
        const auto wanted = on_grid(map.grid(), layout, sky, {of_beam, beam.view()[0], 0.3});
        ASSERT_EQ(smoothed.map.rows().extent(0), 1);
        EXPECT_EQ(smoothed.map.row_name(0), polarized ? "SIGNAL" : "I_STOKES");
        EXPECT_EQ(smoothed.map.column(0).unit, "K");
        EXPECT_EQ(smoothed.lmax, lmax);
        EXPECT_EQ(smoothed.kmax, 3);
        EXPECT_EQ(smoothed.left_out, 0);
        double scale = 0;
        for (const double d : wanted) scale = std::max(scale, std::abs(d));
        // The analysis ends at a residual of 1e-13; its alm err by that times the condition, below 10.
        for (std::int64_t p = 0; p < map.grid().n_pixels(); ++p)
            EXPECT_NEAR(smoothed.map.rows()(0, p), wanted[static_cast<std::size_t>(p)], 1e-11 * scale);
    }
}

TEST(BeamsOnGrids, OfARoundBeamAreSmoothing) {
    const std::int64_t lmax = 14;
    const AlmLayout layout(lmax), of_beam(lmax, 0);
    const auto window = gaussian_window(0.2, lmax);
    AlmArray beam({1, 1, of_beam.size()});
    for (std::int64_t l = 0; l <= lmax; ++l)
        beam(0, 0, l) = std::sqrt(static_cast<double>(2 * l + 1) / (4 * std::numbers::pi)) *
                        window[static_cast<std::size_t>(l)];
    const AlmArray sky = random_teb(layout, 1, 1, 4);
    const SkyMap map = map_of(layout, sky, 8, false);
    const auto smoothed = smooth_with_beam(map, {of_beam, beam.view()[0], 1.1}, exact(lmax));
    Array<double, 2> wanted(map.rows().extents());
    SmoothingOptions options{
        .lmax = lmax, .iterations = 0, .tolerance = 1e-13, .threads = 1, .device = Device::cpu()};
    smooth<double>(map.grid(), map.rows(), Fields::scalars, {}, uniform_beam(window), map.grid(),
                   wanted.view(), options);
    for (std::int64_t p = 0; p < wanted.size(); ++p)  // two residuals of 1e-13
        EXPECT_NEAR(smoothed.map.rows()(0, p), wanted.data()[p], 1e-11);
}

TEST(BeamsOnGrids, MaskedAndUnseenPixelsStayUnseen) {
    const std::int64_t lmax = 10;
    const AlmLayout layout(lmax), of_beam(lmax, 2);
    const AlmArray beam = random_teb(of_beam, 1, 3, 3), sky = random_teb(layout, 1, 3, 4);
    SkyMap map = map_of(layout, sky, 4, true);
    map.rows()(1, 17) = unseen_value;  // Q, which masks U and the signal
    Array<double, 1> mask({map.grid().n_pixels()});
    std::fill(mask.begin(), mask.end(), 1.0);
    mask.data()[40] = 0;
    auto options = exact(lmax);
    options.analysis.tolerance = 0;
    options.analysis.mask = mask.view();
    const auto smoothed = smooth_with_beam(map, {of_beam, beam.view()[0], 0}, options);
    for (std::int64_t p = 0; p < mask.size(); ++p)
        EXPECT_EQ(smoothed.map.rows()(0, p) == unseen_value, p == 17 || p == 40) << p;
    options.fill_masked = true;
    const auto filled = smooth_with_beam(map, {of_beam, beam.view()[0], 0}, options);
    for (std::int64_t p = 0; p < mask.size(); ++p) {
        EXPECT_NE(filled.map.rows()(0, p), unseen_value);
        if (p != 17 && p != 40) {
            EXPECT_EQ(filled.map.rows()(0, p), smoothed.map.rows()(0, p));
        }
    }
}

TEST(BeamsOnGrids, SayWhatOrdersLeftOutWouldAdd) {
    const std::int64_t lmax = 14;
    const AlmLayout layout(lmax), of_beam(lmax, 4);
    const AlmArray beam = random_teb(of_beam, 1, 1, 3), sky = random_teb(layout, 1, 1, 4);
    const BeamConvolver convolver(of_beam, beam.view(), {.kmax = 1, .error = 1e-6, .threads = 1});
    BeamReport report;
    convolver.make_planes<double>(sky.view()[0], &report);
    const auto smoothed =
        smooth_with_beam(map_of(layout, sky, 8, false), {of_beam, beam.view()[0], 0.2, 1}, exact(lmax));
    EXPECT_EQ(smoothed.kmax, 1);
    EXPECT_NEAR(smoothed.left_out, report.left_out, 1e-10);
}

TEST(BeamsOnGrids, AreRefusedWhereTheBeamDoesNotFit) {
    using ::testing::HasSubstr;
    const AlmLayout layout(6), of_beam(6, 2);
    const AlmArray t = random_teb(of_beam, 1, 1, 3), teb = random_teb(of_beam, 1, 3, 3),
                   sky = random_teb(layout, 1, 3, 4), i = random_teb(layout, 1, 1, 4);
    const SkyMap map = map_of(layout, sky, 4, true), scalar = map_of(layout, i, 4, false);
    const auto smoothing = [&](const SkyMap& of, const AlmArray& beam, std::int64_t kmax, double psi,
                               std::int64_t lmax) {
        return refusal([&] { smooth_with_beam(of, {of_beam, beam.view()[0], psi, kmax}, exact(lmax)); });
    };
    EXPECT_THAT(smoothing(map, t, -1, 0, 6), HasSubstr("must have E and B"));
    EXPECT_THAT(smoothing(scalar, teb, -1, 0, 6), HasSubstr("must have I, Q and U"));
    EXPECT_THAT(smoothing(scalar, t, 3, 0, 6), HasSubstr("kmax = 3: must be from 0 to that of the beam, 2"));
    EXPECT_THAT(smoothing(scalar, t, -1, std::nan(""), 6), HasSubstr("psi = nan: must be finite"));
    EXPECT_THAT(smoothing(scalar, t, -1, 0, 7), HasSubstr("ends at l = 6: must go on to lmax = 7"));
    EXPECT_THAT(refusal([&] {
                    on_grid(Grid::healpix(2), AlmLayout(7), AlmArray({1, 1, 36}), {of_beam, t.view()[0]});
                }),
                HasSubstr("must go on to that of the sky, 7"));
    AlmArray broken = t;
    broken(0, 0, 3) = std::nan("");
    EXPECT_THAT(smoothing(scalar, broken, -1, 0, 6), HasSubstr("beam[0, 3]: must be finite"));
}

}  // namespace
}  // namespace zonal::test
