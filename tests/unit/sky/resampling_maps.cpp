#include "zonal/sky/resampling.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"
#include "zonal/sky/synfast.hpp"

namespace zonal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

SimulatedSky sky(const Pixelization& pixels) {
    SkySpectra c;
    for (auto* spectrum : {&c.tt, &c.ee, &c.bb}) spectrum->assign(13, 1.0);
    return synfast(c, pixels, {.lmax = 12, .seed = 3});
}

double largest_difference(const SkyMap& a, const SkyMap& b) {
    double largest = 0;
    for (std::int64_t i = 0; i < a.rows().size(); ++i) {
        const double delta = std::abs(a.rows().data()[i] - b.rows().data()[i]);
        if (!(delta <= largest)) largest = delta;
    }
    return largest;
}

TEST(Resampling, GivesTheMapThatTheAlmHaveThere) {
    const HealpixPixels coarse{8, healpix::Order::ring}, fine{16, healpix::Order::nest};
    const auto found = resample(sky(coarse).map, fine, {.lmax = 12, .tolerance = 1e-13});
    // The residual of the solution, amplified by at most 10 (tests of the analysis), on values of order 10.
    EXPECT_LE(largest_difference(found.map, sky(fine).map), 10 * 10 * 1e-13);
    EXPECT_EQ(found.lmax, 12);
    EXPECT_EQ(resample(sky(fine).map, coarse).lmax, 23);  // what the coarser grid holds
    EXPECT_THAT([&] { resample(sky(coarse).map, fine, {.lmax = 1}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("must be at least 2")));
}

TEST(Resampling, SaysWhatItsAnalysisHasNotReached) {
    const HealpixPixels coarse{8, healpix::Order::ring}, fine{16, healpix::Order::nest};
    const auto map = sky(coarse).map;
    EXPECT_THAT(resample(map, fine, {.lmax = 12, .tolerance = 1e-13}).notes, testing::IsEmpty());
    EXPECT_THAT(resample(map, fine, {.lmax = 12, .tolerance = 1e-13, .max_iterations = 1}).notes,
                testing::ElementsAre(HasSubstr("above the tolerance")));
}

TEST(Resampling, OfAPartialSkyIsOne) {
    auto map = sky(HealpixPixels{4, healpix::Order::ring}).map;
    const HealpixPixels fine{8, healpix::Order::ring};
    EXPECT_FALSE(resample(map, fine).map.header().partial());
    for (std::int64_t row = 0; row < 3; ++row) std::fill_n(map.rows()[row].data(), 50, unseen_value);
    map.make_partial_sky();
    const auto found = resample(map, fine).map;
    // A finer pixel is unknown where the coarse one nearest to it is.
    std::vector<std::int64_t> expected;
    for (std::int64_t pixel = 0; pixel < 768; ++pixel) {
        const auto [theta, phi] = healpix::pix2ang(8, healpix::Order::ring, pixel);
        if (nearest_pixel(Grid::healpix(4), theta, phi) >= 50) expected.push_back(pixel);
    }
    EXPECT_EQ(found.header().pixels, expected);
}

TEST(Resampling, OfTheSamePixelsInAnotherOrderKeepsPartialSkies) {
    auto map = sky(HealpixPixels{4, healpix::Order::ring}).map;
    for (std::int64_t row = 0; row < 3; ++row) std::fill_n(map.rows()[row].data(), 50, unseen_value);
    map.make_partial_sky();
    const auto nest = reorder(map, HealpixPixels{4, healpix::Order::nest});
    EXPECT_EQ(largest_difference(map, nest), 0);
    EXPECT_EQ(nest.header().pixels.size(), 192u - 50);
    EXPECT_NE(nest.header().pixels, map.header().pixels);
    EXPECT_THAT(
        [&] {
            reorder(map, HealpixPixels{8, healpix::Order::nest});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("pixels = nside 8, nest")));
}

}  // namespace
}  // namespace zonal
