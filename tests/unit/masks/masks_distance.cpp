#include "zonal/masks/distance.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/interruption.hpp"

namespace zonal {
namespace {

using healpix::Order;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double pi = std::numbers::pi;

std::vector<double> distances_of(const std::vector<std::uint8_t>& masked, double max_distance = pi,
                                 int threads = 2) {
    const auto n = std::ssize(masked);
    std::vector<double> distances(masked.size(), std::numeric_limits<double>::quiet_NaN());
    distances_to_masked({masked.data(), {n}}, {distances.data(), {n}}, max_distance, threads);
    return distances;
}

/// By all pairs, for each `step`th pixel. The angle from its half's sine and cosine, which is as exact near 0
/// as near pi.
std::vector<double> by_all_pairs(const std::vector<std::uint8_t>& masked, std::int64_t nside,
                                 std::size_t step = 1) {
    std::vector<healpix::Vector> centres, of_masked;
    for (std::int64_t p = 0; p < std::ssize(masked); ++p) {
        centres.push_back(healpix::pix2vec(nside, Order::ring, p));
        if (masked[static_cast<std::size_t>(p)] != 0) of_masked.push_back(centres.back());
    }
    std::vector<double> distances;
    for (std::size_t p = 0; p < masked.size(); p += step) {
        const auto [x, y, z] = centres[p];
        double apart = 4, together = 0;
        for (const auto& [a, b, c] : of_masked) {
            apart = std::min(apart, (a - x) * (a - x) + (b - y) * (b - y) + (c - z) * (c - z));
            together = std::max(together, (a + x) * (a + x) + (b + y) * (b + y) + (c + z) * (c + z));
        }
        distances.push_back(2 * std::atan2(std::sqrt(apart), std::sqrt(together)));
    }
    return distances;
}

/// A share of the pixels, and discs around some of them.
std::vector<std::uint8_t> random_mask(std::int64_t nside, double share, int discs, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform;
    std::vector<std::uint8_t> masked(static_cast<std::size_t>(healpix::n_pixels(nside)));
    for (auto& flag : masked) flag = uniform(random) < share ? 1 : 0;
    for (int k = 0; k < discs; ++k) {
        const auto middle = static_cast<std::int64_t>(uniform(random) * static_cast<double>(masked.size()));
        const auto c = healpix::pix2vec(nside, Order::ring, middle);
        const double cosine = std::cos(0.3 * uniform(random));
        for (std::int64_t p = 0; p < std::ssize(masked); ++p) {
            const auto v = healpix::pix2vec(nside, Order::ring, p);
            if (v[0] * c[0] + v[1] * c[1] + v[2] * c[2] >= cosine) masked[static_cast<std::size_t>(p)] = 1;
        }
    }
    return masked;
}

// The squares of chords are exact to a few eps of themselves, and the angle has at most 7 times their
// relative error (where it is up to 161 degrees); vectors are exact to eps, which for pixels of nside 64 is
// 1e-14 of the distance of neighbours.
TEST(DistancesToMasked, AreThoseOfAllPairs) {
    for (const std::int64_t nside : {1, 2, 3, 5, 8, 12, 17}) {
        for (const auto& [share, discs] : {std::pair(0.0, 1), {0.0, 4}, {0.002, 3}, {0.3, 0}, {0.98, 0}}) {
            auto masked = random_mask(nside, share, discs, static_cast<unsigned>(nside));
            masked[masked.size() / 3] = 1;
            const auto expected = by_all_pairs(masked, nside), found = distances_of(masked);
            double largest = 0;
            for (std::size_t p = 0; p < masked.size(); ++p)
                largest = std::max(largest, std::abs(found[p] - expected[p]));
            EXPECT_LE(largest, 5e-15) << "nside " << nside << ", share " << share << ", discs " << discs;
            for (std::size_t p = 0; p < masked.size(); ++p) ASSERT_FALSE(std::isnan(found[p]));
        }
    }
}

// Flags are copied in tiles of 64 by 64 pixels.
TEST(DistancesToMasked, AreThoseOfAllPairsOfSeveralTiles) {
    for (const auto& [nside, discs] : {std::pair<std::int64_t, int>(64, 1), {64, 12}, {81, 3}}) {
        const auto masked = random_mask(nside, 0.0005, discs, 9);
        const auto expected = by_all_pairs(masked, nside, 11), found = distances_of(masked);
        for (std::size_t k = 0; k < expected.size(); ++k)
            ASSERT_NEAR(found[11 * k], expected[k], 5e-15) << nside << ' ' << k;
    }
}

// Other pixels than those nearest to a square's centre are kept, and the rim has pixels at all edges of
// faces.
TEST(DistancesToMasked, AreThoseOfAllPairsToFacesAndToPlanes) {
    constexpr std::int64_t nside = 24;
    for (const std::int64_t face : {0, 4, 7, 11}) {
        std::vector<std::uint8_t> of_face(12 * nside * nside), of_others(of_face.size()),
            of_plane(of_face.size());
        for (std::int64_t p = 0; p < std::ssize(of_face); ++p) {
            const auto at = static_cast<std::size_t>(p);
            of_face[at] = healpix::pix2xyf(nside, Order::ring, p).face == face ? 2 : 0;
            of_others[at] = of_face[at] == 0 ? 1 : 0;
            of_plane[at] =
                std::abs(healpix::pix2vec(nside, Order::ring, p)[2]) < 0.03 * static_cast<double>(face + 1)
                    ? 1
                    : 0;
        }
        for (const auto& masked : {of_face, of_others, of_plane}) {
            const auto expected = by_all_pairs(masked, nside, 5), found = distances_of(masked);
            for (std::size_t k = 0; k < expected.size(); ++k)
                ASSERT_NEAR(found[5 * k], expected[k], 5e-15) << k;
        }
    }
}

TEST(DistancesToMasked, ReachTheAntipode) {
    std::vector<std::uint8_t> masked(12 * 16 * 16);
    masked[0] = 1;
    const auto found = distances_of(masked), expected = by_all_pairs(masked, 16);
    for (std::size_t p = 0; p < masked.size(); ++p) ASSERT_NEAR(found[p], expected[p], 5e-15) << p;
}

// Squares whose pixels are looked at one by one for being masked have at most 64 by 64 of them; of faces that
// are this large the first ones have more.
TEST(DistancesToMasked, AreThoseOfAllPairsOfLargeFaces) {
    constexpr std::int64_t nside = 528;
    std::vector<std::uint8_t> masked(static_cast<std::size_t>(healpix::n_pixels(nside)));
    std::fill(masked.begin(), masked.begin() + 4, 1);
    masked[masked.size() / 2] = 1;
    const auto expected = by_all_pairs(masked, nside, 1009), found = distances_of(masked);
    for (std::size_t k = 0; k < expected.size(); ++k) ASSERT_NEAR(found[1009 * k], expected[k], 5e-15) << k;
}

TEST(DistancesToMasked, EndAtALimit) {
    const auto masked = random_mask(32, 0.0, 3, 4);
    const auto whole = distances_of(masked);
    for (const double limit : {0.0, 0.02, 0.4, 2.0}) {
        const auto found = distances_of(masked, limit);
        for (std::size_t p = 0; p < masked.size(); ++p)
            ASSERT_EQ(found[p], std::min(whole[p], limit)) << p << ' ' << limit;
    }
}

TEST(DistancesToMasked, OfNothingAndOfAllAreTheLimitAndZero) {
    EXPECT_THAT(distances_of(std::vector<std::uint8_t>(192, 0)), testing::Each(pi));
    EXPECT_THAT(distances_of(std::vector<std::uint8_t>(192, 0), 0.5), testing::Each(0.5));
    EXPECT_THAT(distances_of(std::vector<std::uint8_t>(192, 1)), testing::Each(0.0));
}

TEST(DistancesToMasked, DoNotDependOnThreads) {
    const auto masked = random_mask(48, 0.01, 2, 3);
    EXPECT_EQ(distances_of(masked, pi, 1), distances_of(masked, pi, 3));
}

// Of docs/how-it-works: a mask of sines, from another program.
TEST(DistancesToMasked, AreReferenceValues) {
    constexpr std::int64_t nside = 16;
    std::vector<double> mask;
    for (std::int64_t p = 0; p < healpix::n_pixels(nside); ++p) {
        const auto d = healpix::pix2direction(nside, Order::ring, p);
        const double x = std::clamp((d.cos_theta + 0.3 + 0.2 * std::cos(2 * d.phi)) / 0.5, 0.0, 1.0);
        mask.push_back(std::pow(std::sin(pi / 2 * x), 2));
    }
    const auto masked = masked_pixels<double>({mask.data(), {std::ssize(mask)}});
    const auto found = distances_of(masked);
    double sum = 0, n = 0;
    for (std::size_t p = 0; p < masked.size(); ++p)
        if (masked[p] == 0) {
            sum += found[p];
            n += 1;
        }
    EXPECT_EQ(n, 1998);
    EXPECT_NEAR(*std::max_element(found.begin(), found.end()), 1.653644053549, 5e-13);  // digits given
    EXPECT_NEAR(sum / n, 0.697734592420, 5e-13);
}

TEST(DistancesToMasked, StopWhenAsked) {
    const auto masked = random_mask(512, 0.01, 0, 3);
    const InterruptionCheck check([] { return true; });
    const auto many = [&] {  // which take longer than the 50 ms after which it is asked, on any machine
        for (int k = 0; k < 100; ++k) distances_of(masked, pi, 1);
    };
    EXPECT_THROW(many(), Cancelled);
}

TEST(DistancesToMasked, RefuseWhatDoesNotFit) {
    std::vector<std::uint8_t> masked(12);
    std::vector<double> out(11);
    const View<const std::uint8_t, 1> mask(masked.data(), {12});
    EXPECT_THAT(
        [&] {
            distances_to_masked(mask, {out.data(), {11}});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("distances: 11 pixels: must be 12")));
    out.resize(12);
    EXPECT_THAT(
        [&] {
            distances_to_masked(mask, {out.data(), {12}}, -0.1);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("max_distance = -0.1: must be 0 or more")));
    EXPECT_THROW(distances_to_masked(mask, {out.data(), {12}}, std::nan("")), InvalidArgument);
    EXPECT_THROW(distances_to_masked(mask.slice(0, 11), {out.data(), {11}}), InvalidArgument);
}

TEST(MaskedPixels, AreZeroOrUnseen) {
    const std::vector<double> mask{0,      -0.0, 1, 0.2, -1.6375e30, -1.63750000e30 * (1 + 1e-7),
                                   1e-300, 1,    1, 1,   1,          1};
    const std::vector<std::uint8_t> expected{1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0};
    EXPECT_EQ(masked_pixels<double>({mask.data(), {12}}), expected);
    const std::vector<float> bad{1, std::numeric_limits<float>::infinity()};
    EXPECT_THAT(
        [&] {
            masked_pixels<float>({bad.data(), {2}});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("mask: pixel 1 is inf: must be finite")));
}

}  // namespace
}  // namespace zonal
