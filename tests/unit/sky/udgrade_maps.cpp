#include "zonal/sky/udgrade.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "zonal/error.hpp"
#include "zonal/mask.hpp"

namespace zonal {
namespace {

using healpix::Order;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A map of these columns whose pixel i, in ring order, is i + 1 in all of them.
SkyMap ramp(std::int64_t nside, const std::vector<Auxiliary>& columns = {Auxiliary::none}) {
    MapFile file;
    file.pixelization = HealpixPixels{nside, Order::ring};
    for (const auto auxiliary : columns) {
        file.columns.push_back({.name = "C" + std::to_string(file.columns.size()), .auxiliary = auxiliary});
        file.columns.back().values.resize(static_cast<std::size_t>(12 * nside * nside));
        std::iota(file.columns.back().values.begin(), file.columns.back().values.end(), 1.0);
    }
    return SkyMap(std::move(file));
}

/// Sum over the pixels of `fine` that lie in a pixel of a coarser grid, found one by one through nest order.
double sum_inside(const SkyMap& fine, std::int64_t nside, std::int64_t pixel) {
    const auto children = (fine.nside() / nside) * (fine.nside() / nside);
    const auto nest = healpix::ring2nest(nside, pixel);
    double sum = 0;
    for (auto child = nest * children; child < (nest + 1) * children; ++child)
        sum += fine.rows()(0, healpix::nest2ring(fine.nside(), child));
    return sum;
}

TEST(Udgrade, TakesMeansAndSumsOfThePixelsInside) {
    const auto map = ramp(8);
    const auto mean = udgrade(map, 2), sum = udgrade(map, 2, {.combine = Combine::sum});
    for (std::int64_t pixel = 0; pixel < 48; ++pixel) {
        EXPECT_EQ(mean.rows()(0, pixel), sum_inside(map, 2, pixel) / 16);
        EXPECT_EQ(sum.rows()(0, pixel), sum_inside(map, 2, pixel));
    }
}

TEST(Udgrade, RepeatsOrSharesPixelsOnAFinerGrid) {
    const auto map = ramp(2);
    const auto mean = udgrade(map, 4), sum = udgrade(map, 4, {.combine = Combine::sum});
    for (std::int64_t pixel = 0; pixel < 192; ++pixel) {
        const auto parent = healpix::nest2ring(2, healpix::ring2nest(4, pixel) / 4);
        EXPECT_EQ(mean.rows()(0, pixel), map.rows()(0, parent));
        EXPECT_EQ(sum.rows()(0, pixel), map.rows()(0, parent) / 4);
    }
}

TEST(Udgrade, LeavesOutUnseenPixels) {
    auto map = ramp(2);
    map.rows()(0, healpix::nest2ring(2, 5)) = unseen_value;  // in the base pixel 1
    for (std::int64_t nest = 8; nest < 12; ++nest) map.rows()(0, healpix::nest2ring(2, nest)) = unseen_value;
    const auto good = udgrade(map, 1), strict = udgrade(map, 1, {.pessimistic = true});
    double sum = 0;
    for (const auto nest : {4, 6, 7}) sum += map.rows()(0, healpix::nest2ring(2, nest));
    EXPECT_EQ(good.rows()(0, healpix::nest2ring(1, 1)), sum / 3);
    EXPECT_EQ(strict.rows()(0, healpix::nest2ring(1, 1)), unseen_value);
    EXPECT_EQ(good.rows()(0, healpix::nest2ring(1, 2)), unseen_value);
}

TEST(Udgrade, SumsHits) {
    const auto map = ramp(4, {Auxiliary::none, Auxiliary::hits});
    const auto coarse = udgrade(map, 1);
    EXPECT_EQ(coarse.rows()(0, 3), sum_inside(map, 1, 3) / 16);
    EXPECT_EQ(coarse.rows()(1, 3), sum_inside(map, 1, 3));
}

TEST(Udgrade, SaysWhatMemoryItTakes) {
    const auto map = ramp(4, {Auxiliary::none, Auxiliary::hits});
    // Both columns of the result, and one of either map in nest order.
    EXPECT_EQ(bytes_of_udgrade(map, 8), 8 * (2 * 768 + 192 + 768));
    EXPECT_EQ(bytes_of_udgrade(map, 2), 8 * (2 * 48 + 192 + 48));
    auto file = ramp(4).to_file();
    file.pixels = {1, 2, 3, 4, 5, 6, 7, 8};
    file.columns[0].values.resize(8);
    const SkyMap patch(file, Extent::own_pixels);
    // Two numbers of each pixel, sorted; the larger list of pixels; and the pixels and ranges of the result.
    EXPECT_EQ(bytes_of_udgrade(patch, 8), 8 * (32 + 2 * 8 + 32 + 2 * 32));
    EXPECT_EQ(bytes_of_udgrade(patch, 2), 8 * (2 + 2 * 8 + 8 + 2 * 2));
}

TEST(Udgrade, RejectsWhatItCannotCombine) {
    EXPECT_THAT(
        [] {
            udgrade(ramp(4, {Auxiliary::none, Auxiliary::error}), 2);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("column C1: errors and covariances")));
    EXPECT_THAT([] { udgrade(ramp(4), 3); }, ThrowsMessage<InvalidArgument>(HasSubstr("nside = 3")));
    EXPECT_THAT([] { udgrade(ramp(3), 1); }, ThrowsMessage<InvalidArgument>(HasSubstr("power of 2")));
    EXPECT_THROW(udgrade(new_sky_map(CarPixels{4, 8, 0, false}, false), 2), InvalidArgument);
}

}  // namespace
}  // namespace zonal
