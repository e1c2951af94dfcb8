// Regions whose edges meet the centres of pixels: each centre belongs to one of the regions that share an
// edge.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "zonal/grids/healpix_regions.hpp"

namespace zonal::healpix {
namespace {

constexpr double pi = std::numbers::pi;

double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
/// Angle between unit vectors, right at all sizes.
double distance(const Vector& a, const Vector& b) {
    return 2 * std::atan2(std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]),
                          std::hypot(a[0] + b[0], a[1] + b[1], a[2] + b[2]));
}

/// Pixels of either region, once for each region that has it.
std::vector<std::int64_t> together(const Ranges& a, const Ranges& b) {
    std::vector<std::int64_t> pixels = list_pixels(a), others = list_pixels(b);
    pixels.insert(pixels.end(), others.begin(), others.end());
    std::sort(pixels.begin(), pixels.end());
    return pixels;
}

std::vector<std::int64_t> all_pixels(std::int64_t nside) {
    return list_pixels(Ranges{{0, n_pixels(nside)}});
}

struct Rim {
    Vector centre;
    double radius;
};

/// Discs around pixels and points of the axes, whose rims run through other pixels or to the poles.
std::vector<Rim> rims(std::int64_t nside) {
    std::mt19937_64 random(7);
    std::uniform_int_distribution<std::int64_t> any(0, n_pixels(nside) - 1);
    std::vector<Rim> all;
    for (int k = 0; k < 200; ++k) {
        const Vector centre = pix2vec(nside, Order::ring, any(random));
        all.push_back({centre, distance(centre, pix2vec(nside, Order::ring, any(random)))});
    }
    const std::vector<Vector> axes{{1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1},
                                   {1, 1, 0}, {1, 0, 1},  {2, 1, -1}};
    for (const Vector& axis : axes) {
        const double length = std::sqrt(dot(axis, axis));
        const Vector centre{axis[0] / length, axis[1] / length, axis[2] / length};
        for (const double radius : {0.0, pi / 4, pi / 3, std::acos(2. / 3), pi / 2, pi})
            all.push_back({centre, radius});
        for (int k = 0; k < 20; ++k)
            all.push_back({centre, distance(centre, pix2vec(nside, Order::ring, any(random)))});
    }
    return all;
}

TEST(HealpixRegionRim, IsSharedByADiscAndTheRestOfTheSky) {
    for (const std::int64_t nside : {1, 2, 3, 4, 16})
        for (const auto& [centre, radius] : rims(nside))
            for (const Order order : {Order::ring, Order::nest}) {
                if (!is_valid_nside(nside, order)) continue;
                const QueryOptions options{.order = order};
                const Vector opposite{-centre[0], -centre[1], -centre[2]};
                EXPECT_EQ(together(query_disc(nside, vec2ang(centre), radius, options),
                                   query_disc(nside, vec2ang(opposite), pi - radius, options)),
                          all_pixels(nside))
                    << fmt::format("nside {} centre {} {} {} radius {}", nside, centre[0], centre[1],
                                   centre[2], radius);
            }
}

TEST(HealpixRegionRim, BelongsToADiscAtTheEasternEndsOfItsRings) {
    int on_rims = 0;
    for (const std::int64_t nside : {2, 3, 16})
        for (const auto& [centre, radius] : rims(nside)) {
            const auto pixels = list_pixels(query_disc(nside, vec2ang(centre), radius));
            for (const auto pixel : all_pixels(nside)) {
                const Vector at = pix2vec(nside, Order::ring, pixel);
                const double outside = distance(at, centre) - radius;
                // The sine of the longitude east of the centre, times the radii of both circles of latitude.
                const double east = at[1] * centre[0] - at[0] * centre[1];
                // distance() and the query round by a few eps, far below the 2^-43 of a rim.
                const bool on_rim = std::abs(outside) < 0x1p-44;
                if (!on_rim && std::abs(outside) < 0x1p-42) continue;
                const bool found = std::binary_search(pixels.begin(), pixels.end(), pixel);
                if (!on_rim) {
                    EXPECT_EQ(found, outside < 0) << nside << ' ' << pixel;
                } else if (std::abs(east) > 1e-6) {
                    EXPECT_EQ(found, east > 0) << nside << ' ' << pixel;
                    ++on_rims;
                }
            }
        }
    EXPECT_GT(on_rims, 1000);
}

TEST(HealpixRegionRim, OfAPolarDiscIsTheBoundOfAStrip) {
    for (const std::int64_t nside : {1, 2, 5, 16})
        for (std::int64_t row = 0; row < 4 * nside - 1; ++row) {
            // Beside rings as strips take them, where rounding does not decide.
            const double theta = ring(nside, row).theta;
            const bool above = row < 3 * nside;  // whether the ring belongs to its north
            const std::int64_t north = ring(nside, row).first_pixel + (above ? ring(nside, row).n_pixels : 0);
            EXPECT_EQ(query_disc(nside, Angles{0, 0}, theta), north > 0 ? Ranges({{0, north}}) : Ranges{})
                << nside << ' ' << row;
            EXPECT_EQ(query_disc(nside, Angles{pi, 0}, pi - theta),
                      north < n_pixels(nside) ? Ranges({{north, n_pixels(nside)}}) : Ranges{})
                << nside << ' ' << row;
        }
}

TEST(HealpixRegionRim, IsSharedByStripsThatMeet) {
    for (const std::int64_t nside : {1, 2, 5, 64, 1 << 20}) {
        std::vector<double> bounds{0, pi / 3, pi / 2, 2 * pi / 3, pi};
        const std::int64_t step = std::max<std::int64_t>(1, nside / 16);
        for (std::int64_t row = 0; row < 4 * nside - 1; row += step) bounds.push_back(ring(nside, row).theta);
        std::sort(bounds.begin(), bounds.end());
        std::int64_t next = 0;
        for (std::size_t k = 1; k < bounds.size(); ++k) {
            if (bounds[k] == bounds[k - 1]) continue;
            for (const auto& [first, end] : query_strip(nside, bounds[k - 1], bounds[k])) {
                EXPECT_EQ(first, next) << nside << ' ' << bounds[k];
                next = end;
            }
        }
        EXPECT_EQ(next, n_pixels(nside));
    }
}

TEST(HealpixRegionRim, IsSharedByTrianglesThatMeet) {
    // The octants of the sphere: at every nside many centres lie on their sides, at nside 1 all but four.
    for (const std::int64_t nside : {1, 2, 3, 8}) {
        std::vector<std::int64_t> pixels;
        for (const double x : {-1, 1})
            for (const double y : {-1, 1})
                for (const double z : {-1, 1}) {
                    const std::vector<Vector> corners{{x, 0, 0}, {0, y, 0}, {0, 0, z}};
                    const auto some = list_pixels(query_polygon(nside, corners));
                    pixels.insert(pixels.end(), some.begin(), some.end());
                }
        std::sort(pixels.begin(), pixels.end());
        EXPECT_EQ(pixels, all_pixels(nside)) << nside;
    }
}

}  // namespace
}  // namespace zonal::healpix
