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
