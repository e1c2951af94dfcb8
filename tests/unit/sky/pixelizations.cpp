#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "zonal/grid.hpp"
#include "zonal/sky/sky_map.hpp"

namespace zonal {
namespace {

constexpr double pi = std::numbers::pi;

TEST(Pixelizations, AreNamedByWhatTellsThemApart) {
    EXPECT_EQ(to_string(HealpixPixels{32, healpix::Order::nest}), "nside 32, nest");
    EXPECT_EQ(to_string(HealpixPixels{8, healpix::Order::ring}), "nside 8, ring");
    EXPECT_EQ(to_string(CarPixels{180, 360, pi / 360, false}), "CAR, 180 rings of 360 pixels");
    EXPECT_EQ(to_string(CarPixels{181, 360, 0, true}),
              "CAR, 181 rings of 360 pixels from longitude 0 degrees, poles included");
    EXPECT_EQ(to_string(CarPixels{2, 3, pi / 2, false}),
              "CAR, 2 rings of 3 pixels from longitude 90 degrees");
}

TEST(Pixelizations, HaveTheSizeOfTheirGrids) {
    for (const Pixelization& pixels :
         {Pixelization(HealpixPixels{1, healpix::Order::ring}), Pixelization(HealpixPixels{8}),
          Pixelization(CarPixels{5, 7, 0.1, true}), Pixelization(CarPixels{6, 4, 0, false})}) {
        const auto grid = make_grid(pixels);
        EXPECT_EQ(full_sky_size(pixels), grid.n_pixels()) << to_string(pixels);
        EXPECT_EQ(ring_count(pixels), grid.n_rings()) << to_string(pixels);
    }
}

TEST(Pixelizations, AreTheSameUpToTheRoundingOfHeaders) {
    const CarPixels car{4, 8, 0.1, false};
    const auto moved = [&](double pixels) {
        auto other = car;
        other.phi_0 += pixels * 2 * pi / 8;
        return same_pixels(car, other) && same_pixels(other, car);
    };
    for (const double pixels : {0.0, 0.9e-6, -0.9e-6}) EXPECT_TRUE(moved(pixels)) << pixels;
    for (const double pixels : {1.1e-6, -1.1e-6, 0.25}) EXPECT_FALSE(moved(pixels)) << pixels;
    for (const CarPixels& other : {CarPixels{5, 8, 0.1, false}, {4, 9, 0.1, false}, {4, 8, 0.1, true}})
        EXPECT_FALSE(same_pixels(car, other)) << to_string(other);
    const HealpixPixels ring{4, healpix::Order::ring}, nest{4, healpix::Order::nest}, finer{8};
    EXPECT_TRUE(same_pixels(ring, nest));
    EXPECT_FALSE(same_pixels(ring, finer));
    EXPECT_FALSE(same_pixels(ring, car));
    EXPECT_FALSE(same_pixels(car, ring));
}

/// Ring after ring and pixel after pixel.
std::int64_t nearest_of_all(const Grid& grid, double theta, double phi) {
    const auto away = [](double a, double b) { return std::abs(std::remainder(a - b, 2 * pi)); };
    const Ring* ring = &grid.rings()[0];
    for (const Ring& other : grid.rings())
        if (std::abs(other.theta - theta) < std::abs(ring->theta - theta)) ring = &other;
    std::int64_t nearest = 0;
    const auto longitude = [&](std::int64_t k) {
        return ring->phi_0 + 2 * pi * static_cast<double>(k) / static_cast<double>(ring->n_pixels);
    };
    for (std::int64_t k = 1; k < ring->n_pixels; ++k)
        if (away(longitude(k), phi) < away(longitude(nearest), phi)) nearest = k;
    return ring->first_pixel + nearest;
}

TEST(Pixelizations, NearestPixelIsTheNearestOfAll) {
    std::mt19937 engine(2);
    std::uniform_real_distribution<double> share(0, 1);
    for (const Grid& grid : {make_grid(CarPixels{7, 9, 0.2, false}), make_grid(CarPixels{6, 10, 0, true}),
                             Grid::healpix(3), Grid::gauss_legendre(5, 4)}) {
        EXPECT_EQ(nearest_pixel(grid, 0, 0.3), nearest_of_all(grid, 0, 0.3));
        EXPECT_EQ(nearest_pixel(grid, pi, -2), nearest_of_all(grid, pi, -2));
        for (int i = 0; i < 200; ++i) {
            const double theta = pi * share(engine), phi = 2 * pi * (2 * share(engine) - 1);
            EXPECT_EQ(nearest_pixel(grid, theta, phi), nearest_of_all(grid, theta, phi))
                << theta << ' ' << phi;
        }
    }
}

}  // namespace
}  // namespace zonal
