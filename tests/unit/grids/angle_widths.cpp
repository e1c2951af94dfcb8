#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "zonal/angle.hpp"
#include "zonal/error.hpp"
#include "zonal/kernel.hpp"
#include "zonal/planning/map_smoothing.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/wavelets.hpp"
#include "zonal/window.hpp"

namespace zonal::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Angle, UnitsHaveManyNames) {
    for (const auto* name : {"deg", "degree", "degrees", "°"})
        EXPECT_EQ(angle_unit(name), degrees_to_radians(1)) << name;
    for (const auto* name : {"arcmin", "arcminute", "arcminutes", "'", "′"})
        EXPECT_EQ(angle_unit(name), arcmin_to_radians(1)) << name;
    EXPECT_EQ(angle_unit("arcseconds"), degrees_to_radians(1) / 3600);
    EXPECT_EQ(angle_unit("radians"), 1);
    for (const auto* name : {"", "Deg", "degs", "min", "10deg"}) EXPECT_FALSE(angle_unit(name)) << name;
}

TEST(Angle, WidthsEndAtHalfACircle) {
    EXPECT_EQ(checked_width("fwhm", 0.1), 0.1);
    EXPECT_EQ(checked_width("fwhm", std::numbers::pi), std::numbers::pi);
    EXPECT_EQ(checked_width("fwhm", std::nextafter(std::numbers::pi, 4)), std::numbers::pi);
    EXPECT_THAT([] { checked_width("fwhm", 10); },
                ThrowsMessage<InvalidArgument>(
                    "fwhm = 10 rad (572.958 deg): must be above 0 and at most pi rad (180 deg)"));
    EXPECT_THAT([] { checked_width("radius", 2, 1); },
                ThrowsMessage<InvalidArgument>(
                    "radius = 2 rad (114.592 deg): must be above 0 and at most 1 rad (57.2958 deg)"));
    for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")})
        EXPECT_THROW(checked_width("fwhm", bad), InvalidArgument) << bad;
}

/// Every function that takes a width refuses one that was meant in degrees, by the name of its argument.
TEST(Angle, WidthsInDegreesAreRefused) {
    const auto refuses = [](const auto& call, const char* what) {
        EXPECT_THAT(call, ThrowsMessage<InvalidArgument>(HasSubstr(what)));
    };
    const auto kernel = RadialKernel::gaussian(0.1);
    refuses([] { RadialKernel::gaussian(10); }, "fwhm = 10 rad (572.958 deg)");
    refuses([] { RadialKernel::top_hat(10); }, "radius = 10 rad");
    refuses([] { mexican_hat(10); }, "radius = 10 rad");
    refuses([] { PolarizationKernel::gaussian(5); }, "fwhm = 5 rad");
    refuses([&] { kernel.truncated(10); }, "theta_cut = 10 rad");
    refuses([&] { truncation_error(kernel, {}, 10); }, "theta_cut = 10 rad");
    refuses([] { gaussian_window(10, 5); }, "fwhm = 10 rad");
    refuses([] { gaussian_beam(10, 5); }, "fwhm = 10 rad");
    refuses([] { evaluate({.fwhm = 0.1, .fwhm_in = 10}, 5); }, "fwhm_in = 10 rad");
    const SkyMap sky({.pixelization = HealpixPixels{.nside = 4}, .columns = {{.name = "I"}}});
    refuses([&] { convolve(sky, {kernel}, {.method = ConvolutionMethod::ring_fft, .cut = 10}); },
            "cut = 10 rad");
    refuses([&] { convolve(sky, {kernel}, {.method = ConvolutionMethod::split, .theta_cut = 10}); },
            "theta_cut = 10 rad");
}

}  // namespace
}  // namespace zonal::test
