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

std::vector<double> sky_by(std::optional<ConvolutionMethod> method, NoiseSky& sky) {
    auto map = new_sky_map(pixels, false);
    sky = make_noise_sky(window(), default_cost_model(1),
                         {.seed = 5, .method = method, .error = 1e-4, .threads = 1, .device = Device::cpu()},
                         map);
    return {map.rows().data(), map.rows().data() + map.rows().size()};
}

TEST(NoiseSky, IsTheSameByEveryMethodWithinTheError) {
    NoiseSky harmonic, planned, split;
    const auto expected = sky_by(ConvolutionMethod::harmonic, harmonic);
    EXPECT_TRUE(harmonic.choices.empty());
    EXPECT_DOUBLE_EQ(harmonic.noise_variance, 12.0 * 16 * 16 / (4 * std::numbers::pi));
    const auto fastest = sky_by({}, planned), by_split = sky_by(ConvolutionMethod::split, split);
    ASSERT_TRUE(planned.choice && split.choice);
    EXPECT_LE(planned.choice->error, 1e-4);
    EXPECT_LE(test::relative_rms(fastest, expected), 1e-4);
    EXPECT_EQ(split.choice->method, ConvolutionMethod::split);
    EXPECT_LE(test::relative_rms(by_split, expected), 1e-4);
}

TEST(NoiseSky, IsNotMadeWhereNoSplitKeepsTheError) {
    auto map = new_sky_map(pixels, false);
    const std::vector<double> flat(48, 1.0);  // goes on above lmax
    const auto sky = make_noise_sky(flat, default_cost_model(1),
                                    {.method = ConvolutionMethod::split, .error = 1e-9, .threads = 1}, map);
    EXPECT_FALSE(sky.choice);
    EXPECT_FALSE(sky.choices.empty());
    EXPECT_EQ(map.rows()(0, 0), 0);
    EXPECT_THROW(make_noise_sky(std::vector<double>(48), default_cost_model(1), {}, map), InvalidArgument);
}

}  // namespace
}  // namespace zonal
