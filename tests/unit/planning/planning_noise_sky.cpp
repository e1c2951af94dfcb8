#include "zonal/planning/noise_sky.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "compare.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

constexpr HealpixPixels pixels{16, healpix::Order::ring};

/// That of a beam which has faded away at lmax = 47.
std::vector<double> window() {
    std::vector<double> k;
    for (int l = 0; l <= 47; ++l) k.push_back(std::exp(-l * (l + 1) * 0.01));
    return k;
}

std::vector<double> sky_by(ConvolutionMethod method, NoiseSky& sky) {
    auto map = new_sky_map(pixels, false);
    sky = make_noise_sky(window(), {.method = method, .error = 1e-4, .threads = 1, .device = Device::cpu()},
                         5, map);
    return {map.rows().data(), map.rows().data() + map.rows().size()};
}

TEST(NoiseSky, IsTheSameByEveryMethodWithinTheError) {
    NoiseSky harmonic, planned, split;
    const auto expected = sky_by(ConvolutionMethod::harmonic, harmonic);
    EXPECT_DOUBLE_EQ(harmonic.noise_variance, 12.0 * 16 * 16 / (4 * std::numbers::pi));
    const auto fastest = sky_by(ConvolutionMethod::automatic, planned),
               by_split = sky_by(ConvolutionMethod::split, split);
    EXPECT_EQ(harmonic.part.method, ConvolutionMethod::harmonic);
    EXPECT_EQ(split.part.method, ConvolutionMethod::split);
    for (const auto* sky : {&harmonic, &planned, &split}) {
        EXPECT_TRUE(sky->part.is_certified());
        EXPECT_EQ(sky->part.reference, ConvolutionReference::discrete);
    }
    // Each is within its certificate of the sum over the pixels.
    EXPECT_LE(test::relative_rms(fastest, expected),
              1.001 * (planned.part.certified_error() + harmonic.part.certified_error()));
    EXPECT_LE(test::relative_rms(by_split, expected),
              1.001 * (split.part.certified_error() + harmonic.part.certified_error()));
}

// Noise of spectrum 1, seen through the window, has the variance sum (2l + 1) window^2 / 4 pi. That of one
// sky scatters by sqrt(2 sum (2l + 1) window^4) / sum (2l + 1) window^2.
TEST(NoiseSky, HasTheVarianceOfASpectrumOfOne) {
    NoiseSky sky;
    const auto found = sky_by(ConvolutionMethod::harmonic, sky);
    double second = 0, fourth = 0, square = 0;
    const auto k = window();
    for (std::size_t l = 0; l < k.size(); ++l) {
        second += static_cast<double>(2 * l + 1) * std::pow(k[l], 2);
        fourth += static_cast<double>(2 * l + 1) * std::pow(k[l], 4);
    }
    for (const double value : found) square += value * value / static_cast<double>(found.size());
    const double scatter = std::sqrt(2 * fourth) / second;
    EXPECT_NEAR(square * 4 * std::numbers::pi / second, 1, 4 * scatter);
    EXPECT_LT(scatter, 0.2);
}

TEST(NoiseSky, IsNotMadeWhereNoSplitKeepsTheError) {
    auto map = new_sky_map(pixels, false);
    const std::vector<double> flat(48, 1.0);  // goes on above lmax
    EXPECT_THROW(
        make_noise_sky(flat, {.method = ConvolutionMethod::split, .error = 1e-9, .threads = 1}, 1, map),
        ErrorNotKept);
    EXPECT_THROW(make_noise_sky(std::vector<double>(48), {}, 1, map), InvalidArgument);
}

}  // namespace
}  // namespace zonal
