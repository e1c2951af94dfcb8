#include "zonal/masks/apodization.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"
#include "zonal/masks/distance.hpp"
#include "zonal/masks/holes.hpp"

namespace zonal {
namespace {

using healpix::Order;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double pi = std::numbers::pi;

View<const double, 1> view(const std::vector<double>& values) {
    return {values.data(), {std::ssize(values)}};
}

std::vector<double> apodized(const std::vector<double>& mask, const ApodizationOptions& options) {
    std::vector<double> result(mask.size(), std::numeric_limits<double>::quiet_NaN());
    apodize(view(mask), {result.data(), {std::ssize(mask)}}, options);
    return result;
}

/// 1 north of a bent line, 0 south of it.
std::vector<double> bent(std::int64_t nside) {
    std::vector<double> mask;
    for (std::int64_t p = 0; p < healpix::n_pixels(nside); ++p) {
        const auto d = healpix::pix2direction(nside, Order::ring, p);
        mask.push_back(d.cos_theta + 0.3 + 0.2 * std::cos(2 * d.phi) > 0 ? 1 : 0);
    }
    return mask;
}

TEST(Apodize, MultipliesByTheFormulas) {
    auto mask = bent(16);
    for (std::size_t p = 0; p < mask.size(); p += 7) mask[p] *= 0.25;
    mask[5] = unseen_value;
    const auto masked = masked_pixels(view(mask));
    std::vector<double> d(mask.size());
    distances_to_masked({masked.data(), {std::ssize(mask)}}, {d.data(), {std::ssize(mask)}});
    const double scale = 0.4;
    for (const auto kind : {Apodization::cosine, Apodization::sine})
        for (const auto distance : {ApodizationDistance::chord, ApodizationDistance::angle}) {
            const auto found = apodized(mask, {kind, distance, scale});
            for (std::size_t p = 0; p < mask.size(); ++p) {
                const double x = distance == ApodizationDistance::chord
                                     ? std::sqrt((1 - std::cos(d[p])) / (1 - std::cos(scale)))
                                     : d[p] / scale;
                const double f = x >= 1                        ? 1
                                 : kind == Apodization::cosine ? (1 - std::cos(pi * x)) / 2
                                                               : x - std::sin(2 * pi * x) / (2 * pi);
                // 1 - cos(d) loses eps / d^2, and neighbours are 0.06 apart
                ASSERT_NEAR(found[p], masked[p] != 0 ? 0 : f * mask[p], 1e-13) << p;
            }
        }
}

TEST(Apodize, IsAReferenceValue) {
    const auto found = apodized(bent(16), {Apodization::sine, ApodizationDistance::chord, 10 * pi / 180});
    double sum = 0;
    for (const double value : found) sum += value;
    EXPECT_NEAR(sum / static_cast<double>(found.size()), 0.621007983590, 5e-13);  // the digits given
}

/// The sum over all pixels, each at its distance.
TEST(Apodize, SmoothIsAGaussianMeanOfWhatIsFarEnough) {
    constexpr std::int64_t nside = 16;
    const double scale = 0.12;
    const auto mask = bent(nside);
    const auto found = apodized(mask, {Apodization::smooth, ApodizationDistance::chord, scale});
    const auto masked = masked_pixels(view(mask));
    std::vector<double> d(mask.size());
    distances_to_masked({masked.data(), {std::ssize(mask)}}, {d.data(), {std::ssize(mask)}});
    for (std::size_t p = 0; p < mask.size(); p += 17) {
        const auto a = healpix::pix2vec(nside, Order::ring, static_cast<std::int64_t>(p));
        double sum = 0, all = 0;
        for (std::size_t q = 0; q < mask.size(); ++q) {
            const auto b = healpix::pix2vec(nside, Order::ring, static_cast<std::int64_t>(q));
            const double cosine = std::clamp(a[0] * b[0] + a[1] * b[1] + a[2] * b[2], -1.0, 1.0);
            // What exp(-l (l + 1) sigma^2 / 2) is on the sphere, to the next order of sigma
            const double angle = std::acos(cosine);
            const double weight = angle == 0 ? 1
                                             : std::exp(-angle * angle / (2 * scale * scale)) *
                                                   std::sqrt(angle / std::sin(angle));
            all += weight;
            if (d[q] > 2.5 * scale) sum += weight;
        }
        ASSERT_NEAR(found[p], mask[p] * sum / all, 1e-3) << p;  // sigma^2 / 15 of terms that nearly cancel
        ASSERT_LE(found[p], 1);
    }
}

TEST(Apodize, LeavesAMaskWithoutMaskedPixelsAsItIs) {
    const std::vector<double> mask(192, 0.5);
    for (const auto kind : {Apodization::cosine, Apodization::sine, Apodization::smooth})
        EXPECT_EQ(apodized(mask, {kind, ApodizationDistance::chord, 0.3}), mask);
}

TEST(Apodize, RefusesScalesOutOfRange) {
    const std::vector<double> mask(12, 1.0);
    for (const double scale : {0.0, -1.0, 4.0, std::nan("")})
        EXPECT_THAT(
            [&] {
                apodized(mask, {Apodization::cosine, ApodizationDistance::chord, scale});
            },
            ThrowsMessage<InvalidArgument>(HasSubstr("must be above 0 and at most pi")));
}

TEST(FillHoles, GivesSmallOnesTheMeanAround) {
    constexpr std::int64_t nside = 8;
    std::vector<double> mask(12 * nside * nside, 1.0);
    mask[300] = 0;  // alone
    const auto around = healpix::neighbours(nside, Order::ring, 500);
    mask[500] = mask[static_cast<std::size_t>(around[0])] = unseen_value;  // two
    for (const auto p : healpix::neighbours(nside, Order::ring, 100)) mask[static_cast<std::size_t>(p)] = 0;
    mask[100] = 0;  // nine
    mask[static_cast<std::size_t>(healpix::neighbours(nside, Order::ring, 300)[3])] = 0.2;
    const auto fill = [&](const HoleLimits& limits) {
        auto filled = mask;
        const auto report = fill_holes({filled.data(), {std::ssize(filled)}}, limits);
        return std::pair(filled, report);
    };
    auto [one, report] = fill({.min_pixels = 2, .min_area = 0});
    EXPECT_EQ(report.holes, 1);
    EXPECT_EQ(report.pixels, 1);
    EXPECT_DOUBLE_EQ(one[300], 7.2 / 8);
    EXPECT_EQ(one[500], unseen_value);
    const double area = healpix::pixel_area(nside);
    EXPECT_EQ(fill({.min_pixels = 0, .min_area = 3 * area}).second.pixels, 3);
    EXPECT_EQ(fill({.min_pixels = 0, .min_area = 2 * area}).second.pixels, 1);  // as many as are kept
    EXPECT_EQ(fill({.min_pixels = 9, .min_area = 0}).second.pixels, 3);
    EXPECT_EQ(fill({.min_pixels = 10, .min_area = 0}).second.holes, 3);
    EXPECT_EQ(fill({}).first, mask);
}

TEST(FillHoles, KeepsASkyThatIsMaskedAsAWhole) {
    std::vector<double> mask(48, 0.0);
    EXPECT_EQ(fill_holes({mask.data(), {48}}, {.min_pixels = 1000, .min_area = 0}).pixels, 0);
    EXPECT_THAT(mask, testing::Each(0.0));
    EXPECT_THROW(fill_holes({mask.data(), {48}}, {.min_pixels = -1, .min_area = 0}), InvalidArgument);
    EXPECT_THROW(fill_holes({mask.data(), {48}}, {.min_pixels = 0, .min_area = -0.1}), InvalidArgument);
}

}  // namespace
}  // namespace zonal
