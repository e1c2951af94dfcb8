#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "sanitized.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/pixel_window.hpp"

namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(HealpixPixelWindow, AgreesWithTheFilesOfHealpix) {
    // HEALPix 3.83, pixel_window_n0002.fits, which holds double precision and was computed pixel by pixel
    const auto window = healpix_pixel_window(2, 8, 1);
    const double temperature[] = {1, 0, 0.93310702, 0.86971852, 0.79038278, 0.69905215};
    const double polarization[] = {0, 0, 0.97751743, 0.91178970, 0.82949764, 0.73471704};
    for (std::size_t l = 2; l < 6; ++l) {
        EXPECT_NEAR(window.temperature[l], temperature[l], 1e-8);
        EXPECT_NEAR(window.gradient[l], polarization[l], 1e-8);
        EXPECT_EQ(window.curl[l], window.gradient[l]);
    }
    EXPECT_NEAR(window.temperature[0], 1, 1e-14);
    EXPECT_EQ(window.gradient[1], 0);
}

TEST(HealpixPixelWindow, ComesFromFewPixelsOfMany) {
    // pixel_window_n0128.fits, of all pixels; here a few hundred stand for them
    const auto window = healpix_pixel_window(128, 256);
    EXPECT_NEAR(window.temperature[100], 0.9716117591583988, 2e-10);
    EXPECT_NEAR(window.temperature[256], 0.8267344730840308, 2e-10);
    EXPECT_NEAR(window.gradient[256], 0.8267442037821651, 2e-10);
}

TEST(HealpixPixelWindow, OfManyPixelsTendsToAFunctionOfTheShareOfNside) {
    const auto at_twice_nside = [](std::int64_t nside) {
        return healpix_pixel_window(nside, 2 * nside, 1).temperature.back();
    };
    for (const std::int64_t nside : {16, sanitized ? 32 : 256})
        // the exponent -l (l + 1) / (12 nside^2), roughly, has l = 2 nside beside l^2
        EXPECT_NEAR(at_twice_nside(nside), at_twice_nside(4 * nside), 0.2 / static_cast<double>(nside));
    const auto whole = healpix_pixel_window(1 << 29, 2, 1);
    EXPECT_NEAR(whole.temperature[2], 1, 1e-14);
}

TEST(HealpixPixelWindow, DoesNotDependOnThreads) {
    const auto one = healpix_pixel_window(64, 192, 1), three = healpix_pixel_window(64, 192, 3);
    EXPECT_EQ(one.temperature, three.temperature);
    EXPECT_EQ(one.gradient, three.gradient);
}

TEST(HealpixPixelWindow, RejectsWhatItHasNoValuesFor) {
    EXPECT_THAT([] { healpix_pixel_window(4, 17); },
                ThrowsMessage<InvalidArgument>(HasSubstr("lmax = 17: must be from 0 to 4 nside = 16")));
    EXPECT_THAT([] { healpix_pixel_window(4, -1); }, ThrowsMessage<InvalidArgument>(HasSubstr("lmax = -1")));
    EXPECT_THAT([] { healpix_pixel_window(0, 0); }, ThrowsMessage<InvalidArgument>(HasSubstr("nside = 0")));
}

}  // namespace
}  // namespace zonal::test
