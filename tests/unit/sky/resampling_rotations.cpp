#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "sky_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"
#include "zonal/sky/resampling.hpp"
#include "zonal/sky/synfast.hpp"

namespace zonal {
namespace {

using test::sky_spectra;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr HealpixPixels pixels{8, healpix::Order::nest};
constexpr std::int64_t lmax = 12;
constexpr EulerAngles some_angles{0.3, 1.1, -2};

SimulatedSky sky(const Pixelization& on = pixels) {
    return synfast(sky_spectra(), on, {.lmax = lmax, .seed = 3});
}

TEST(Rotation, ThereAndBackGivesTheMap) {
    const auto map = sky().map;
    const EulerAngles angles{0.3, 1.1, -2}, back{2, -1.1, -0.3};
    const ResamplingOptions how{.analysis = {.lmax = lmax, .tolerance = 1e-13}};
    const auto again = rotate(rotate(map, angles, how).map, back, how).map;
    // Two analyses to 1e-13 of 13^2 coefficients, which add as random terms do; twice that at worst.
    for (std::int64_t i = 0; i < map.rows().size(); ++i)
        EXPECT_NEAR(again.rows().data()[i], map.rows().data()[i], 2 * 2 * 13 * 1e-13);
}

TEST(Rotation, ReportsItsAnalysis) {
    const auto turned = rotate(sky().map, {0.3, 1.1, -2},
                               {.analysis = {.lmax = lmax, .tolerance = 1e-13, .max_iterations = 1}});
    EXPECT_EQ(turned.report.lmax, lmax);
    EXPECT_FALSE(turned.report.analysis.reached_tolerance);
    EXPECT_THAT(turned.report.analysis.note, HasSubstr("above the tolerance"));
    EXPECT_EQ(turned.map.header().coordinates, CoordinateSystem::unknown);
}

TEST(Rotation, TurnsUnseenPixelsToo) {
    auto map = sky().map;
    map.rows()(0, 0) = unseen_value;  // at the north pole
    const auto turned = rotate(map, {0, std::numbers::pi, 0}, {.analysis = {.lmax = lmax}}).map;
    const auto row = turned.rows()[0];
    EXPECT_EQ(std::count(row.data(), row.data() + row.size(), unseen_value), 1);
    EXPECT_TRUE(std::find(row.data(), row.data() + row.size(), unseen_value) >= row.data() + 764);
    const auto filled =
        rotate(map, {0, std::numbers::pi, 0}, {.analysis = {.lmax = lmax}, .fill_masked = true}).map;
    EXPECT_EQ(std::count(filled.rows()[0].data(), filled.rows()[0].data() + 768, unseen_value), 0);
}

/// Of any angles and grid: each pixel of the result is looked up where it came from.
TEST(Rotation, LeavesUnseenWhatComesFromUnseenPixels) {
    const EulerAngles angles{0.4, 1.2, -0.7};
    const auto matrix = rotation_matrix(angles);
    for (const Pixelization& on : {Pixelization(HealpixPixels{8, healpix::Order::ring}),
                                   Pixelization(CarPixels{17, 33, 0.05, true})}) {
        auto map = synfast(sky_spectra(), on, {.lmax = lmax, .seed = 3}).map;
        const auto& grid = map.grid();
        for (std::int64_t pixel = 0; pixel < grid.n_pixels() / 3; ++pixel)
            map.rows()(2, pixel) = unseen_value;
        const auto turned = rotate(map, angles, {.analysis = {.lmax = lmax}}).map;
        std::int64_t unseen = 0;
        for (const Ring& ring : grid.rings())
            for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
                const double phi = ring.phi_0 + 2 * std::numbers::pi * static_cast<double>(k) /
                                                    static_cast<double>(ring.n_pixels);
                const double n[] = {std::sin(ring.theta) * std::cos(phi),
                                    std::sin(ring.theta) * std::sin(phi), std::cos(ring.theta)};
                double from[3] = {};
                for (std::size_t i = 0; i < 3; ++i)
                    for (std::size_t j = 0; j < 3; ++j) from[i] += matrix[j][i] * n[j];
                const auto pixel =
                    map.nside() > 0 ? healpix::vec2pix(8, healpix::Order::ring, {from[0], from[1], from[2]})
                                    : nearest_pixel(grid, std::acos(from[2]), std::atan2(from[1], from[0]));
                const bool is_unseen = map.rows()(2, pixel) == unseen_value;
                EXPECT_EQ(turned.rows()(2, ring.first_pixel + k) == unseen_value, is_unseen) << pixel;
                EXPECT_EQ(turned.rows()(1, ring.first_pixel + k) == unseen_value, is_unseen);
                EXPECT_NE(turned.rows()(0, ring.first_pixel + k), unseen_value);
                unseen += is_unseen ? 1 : 0;
            }
        EXPECT_GT(unseen, grid.n_pixels() / 10);
        EXPECT_LT(unseen, grid.n_pixels() / 2);
    }
}

TEST(Rotation, TurnsUnseenPixelsOfQAndUTogether) {
    const auto n_unseen = [](const SkyMap& map, std::int64_t row) {
        return std::count(map.rows()[row].data(), map.rows()[row].data() + map.rows().extent(1),
                          unseen_value);
    };
    for (const std::int64_t bad : {1, 2}) {  // Q, U
        auto map = sky().map;
        map.rows()(bad, 300) = unseen_value;
        const auto turned = rotate(map, {0.3, 1.1, -2}, {.analysis = {.lmax = lmax}}).map;
        EXPECT_EQ(n_unseen(turned, 0), 0);
        EXPECT_GT(n_unseen(turned, 1), 0);
        for (std::int64_t i = 0; i < turned.rows().extent(1); ++i)
            EXPECT_EQ(turned.rows()(1, i) == unseen_value, turned.rows()(2, i) == unseen_value);
    }
}

/// What is interpolated errs by 1e-11 of the largest value, and the analyses are the same.
TEST(Rotation, ByPointsIsThatByAlm) {
    const EulerAngles cases[] = {
        some_angles, {0, 0, 0}, {0.7, 0, 0}, {0, std::numbers::pi, 0}, {0, std::numbers::pi / 2, 0},
        {-2, 3.1, 5}};
    for (const Pixelization& on : {Pixelization(pixels), Pixelization(CarPixels{26, 52, 0.05, true}),
                                   Pixelization(CarPixels{25, 51, 0.01, false})}) {
        const auto map = sky(on).map;
        double scale = 0;
        for (std::int64_t i = 0; i < map.rows().size(); ++i)
            scale = std::max(scale, std::abs(map.rows().data()[i]));
        for (const auto& angles : cases) {
            ResamplingOptions how{.analysis = {.lmax = lmax}, .error = 1e-11};
            const auto by_alm = rotate(map, angles, how);
            how.way = RotationWay::points;
            const auto by_points = rotate(map, angles, how);
            EXPECT_FALSE(by_alm.report.interpolated);
            EXPECT_TRUE(by_points.report.interpolated);
            EXPECT_GT(by_points.report.bound, 0);
            EXPECT_LE(by_points.report.bound, 1e-11);
            EXPECT_GT(by_points.report.mean_error, 0);
            // max |Q + iU| is at most sqrt(2) times the largest of Q and U; 1e-13 for rounding of the alm.
            for (std::int64_t i = 0; i < map.rows().size(); ++i)
                EXPECT_NEAR(by_points.map.rows().data()[i], by_alm.map.rows().data()[i],
                            1.5 * scale * (1e-11 + 1e-13))
                    << angles.theta << " " << i;
        }
    }
}

/// There and back on grids whose alm are known exactly.
TEST(Rotation, ByPointsThereAndBackGivesTheMap) {
    const auto map = sky(CarPixels{14, 27, 0.1, true}).map;
    const ResamplingOptions how{.analysis = {.iterations = 0}, .way = RotationWay::points, .error = 1e-12};
    const auto there = rotate(map, some_angles, how);
    const auto again = rotate(there.map, {2, -1.1, -0.3}, how);
    EXPECT_LE(there.report.analysis.unresolved, 1e-13);  // rounding of two transforms
    EXPECT_TRUE(there.report.analysis.exact);
    // Two errors of 1e-12 of values below 4, which the second analysis amplifies by less than 3.
    for (std::int64_t i = 0; i < map.rows().size(); ++i)
        EXPECT_NEAR(again.map.rows().data()[i], map.rows().data()[i], 4 * 4 * 1e-12);
}

TEST(Rotation, SaysHowMuchOfTheMapItLeavesOut) {
    auto map = sky(CarPixels{26, 52, 0, true}).map;
    EXPECT_LT(rotate(map, some_angles, {.analysis = {.lmax = lmax}}).report.analysis.unresolved, 1e-13);
    const auto cut = rotate(map, some_angles, {.analysis = {.lmax = 3}}).report;
    EXPECT_GT(cut.analysis.unresolved, 0.1);  // spectra fall as l^-2
    EXPECT_LT(cut.analysis.unresolved, 1);
    EXPECT_EQ(cut.lmax, 3);
}

TEST(Rotation, TellsHowFarItIs) {
    for (const auto way : {RotationWay::alm, RotationWay::points}) {
        std::vector<double> done;
        const Progress progress = [&](double share) {
            done.push_back(share);
            return true;
        };
        rotate(sky().map, some_angles, {.analysis = {.lmax = lmax, .progress = progress}, .way = way});
        ASSERT_FALSE(done.empty());
        EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
        EXPECT_GE(done.front(), 0);
        EXPECT_LT(done.front(), 0.3);
        EXPECT_NEAR(done.back(), 1, 4 * std::numeric_limits<double>::epsilon());
    }
}

}  // namespace
}  // namespace zonal
