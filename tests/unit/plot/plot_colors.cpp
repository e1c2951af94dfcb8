#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

#include "plot/color_scale.hpp"
#include "plot/colormap.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"

namespace zonal::plot {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// CIELAB lightness, 0 to 100, of an sRGB colour.
double lightness(Rgb color) {
    const auto linear = [](double byte) {
        const double c = byte / 255;
        return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    const double y = 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
    return y > 216.0 / 24389 ? 116 * std::cbrt(y) - 16 : y * 24389 / 27;
}

TEST(PlotColormap, LightnessGrowsWherePromised) {
    for (const char* name : {"viridis", "magma", "inferno", "plasma", "cividis", "grey"}) {
        const Colormap colormap(name);
        for (int i = 1; i < 256; ++i)  // 8-bit rounding moves the lightness by up to 0.3
            EXPECT_GT(lightness(colormap.colors()[i]), lightness(colormap.colors()[i - 1]) - 0.3)
                << name << " " << i;
        for (int i = 16; i < 256; ++i)
            EXPECT_GT(lightness(colormap.colors()[i]), lightness(colormap.colors()[i - 16]))
                << name << " " << i;
    }
}

TEST(PlotColormap, DivergingMapsAreLightestInTheMiddle) {
    for (const char* name : {"coolwarm", "planck"}) {
        const auto colors = Colormap(name).colors();
        EXPECT_GT(lightness(colors[127]), lightness(colors[40])) << name;
        EXPECT_GT(lightness(colors[128]), lightness(colors[215])) << name;
        EXPECT_GT(lightness(colors[215]), lightness(colors[255])) << name;
    }
}

TEST(PlotColormap, HasTheKnownColors) {
    EXPECT_EQ(Colormap("viridis").colors()[0], (Rgb{0x44, 0x01, 0x54}));
    EXPECT_EQ(Colormap("viridis").colors()[255], (Rgb{0xfd, 0xe7, 0x25}));
    EXPECT_EQ(Colormap("viridis_r").colors()[0], (Rgb{0xfd, 0xe7, 0x25}));
    // Moreland's table: 59 76 192 at the blue end, 180 4 38 at the red; his Msh points have three digits
    const auto near = [](Rgb a, Rgb b) {
        return std::abs(a.red - b.red) <= 2 && std::abs(a.green - b.green) <= 2 &&
               std::abs(a.blue - b.blue) <= 2;
    };
    EXPECT_TRUE(near(Colormap("coolwarm").colors()[0], {59, 76, 192}));
    EXPECT_TRUE(near(Colormap("coolwarm").colors()[255], {180, 4, 38}));
    EXPECT_TRUE(near(Colormap("coolwarm").colors()[128], {221, 221, 221}));
}

TEST(PlotColormap, KnowsEveryNameItLists) {
    for (const std::string& name : colormap_names()) EXPECT_NO_THROW(Colormap{name});
    EXPECT_THAT([] { Colormap("jet"); },
                ThrowsMessage<InvalidArgument>(HasSubstr("colormap = jet: must be one of")));
}

TEST(PlotColorScale, PlacesValuesLinearlyAndLogarithmically) {
    const ColorScale linear(Scale::linear, {-2, 6});
    EXPECT_DOUBLE_EQ(linear.position(0), 0.25);
    EXPECT_EQ(linear.position(-3), 0);
    EXPECT_EQ(linear.position(7), 1);
    const ColorScale log(Scale::log, {1, 10000});
    EXPECT_DOUBLE_EQ(log.position(100), 0.5);
    EXPECT_EQ(log.position(0), 0);
    EXPECT_EQ(log.position(-5), 0);
    EXPECT_TRUE(log.is_below(-5));
}

TEST(PlotColorScale, SymlogIsOddAndGrows) {
    const ColorScale scale(Scale::symlog, {-100, 100}, 0.1);
    EXPECT_DOUBLE_EQ(scale.position(0), 0.5);
    EXPECT_NEAR(scale.position(3) + scale.position(-3), 1, 1e-15);
    EXPECT_LT(scale.position(1), scale.position(2));
    EXPECT_GT(scale.position(1), 0.6);  // a hundredth of the range, yet well away from zero's colour
}

TEST(PlotColorScale, EqualisedGivesEachColorTheSameShare) {
    std::vector<double> values;
    for (int i = 0; i <= 10000; ++i) values.push_back(std::exp(i * 1e-3));
    const ColorScale scale(Scale::equalised, {1, std::exp(10)}, 0, values);
    EXPECT_NEAR(scale.position(std::exp(2.5)), 0.25, 2e-3);  // 1025 quantiles
    EXPECT_NEAR(scale.position(std::exp(7.5)), 0.75, 2e-3);
}

TEST(PlotColorScale, RejectsRangesThatCannotBeDrawn) {
    const auto message = [](const char* text) { return ThrowsMessage<InvalidArgument>(HasSubstr(text)); };
    EXPECT_THAT(
        [] {
            ColorScale(Scale::linear, {2, 1});
        },
        message("range = 2 to 1: must be two finite numbers"));
    EXPECT_THAT([] { ColorScale(Scale::linear, {1, 1}); }, message("range = 1 to 1"));
    EXPECT_THAT(
        [] {
            ColorScale(Scale::log, {-1, 10});
        },
        message("range = -1 to 10: must lie above 0 on a log scale"));
    EXPECT_THAT(
        [] {
            ColorScale(Scale::linear, {0, std::numeric_limits<double>::infinity()});
        },
        message("finite"));
    EXPECT_THAT([] { ColorScale(Scale::symlog, {-1, 1}, -0.5); }, message("linear_threshold = -0.5"));
}

TEST(PlotAutomaticRange, IsSymmetricForSignedGaussianMaps) {
    std::mt19937 generator(1);
    std::normal_distribution<double> gaussian(0, 70);
    std::vector<double> values(100000);
    for (double& value : values) value = gaussian(generator);
    const Range range = automatic_range(values, Scale::linear);
    EXPECT_EQ(range.minimum, -range.maximum);
    // 2.33 sigma; a percentile of 1e5 values scatters by less than a percent
    EXPECT_NEAR(range.maximum, 2.33 * 70, 0.02 * 2.33 * 70);
    for (int i = 0; i < 5000; ++i) values[i] = 1e3 * (i % 2 ? 1 : -0.01);  // a Galactic plane
    EXPECT_NEAR(automatic_range(values, Scale::linear).maximum, 2.33 * 70, 0.02 * 2.33 * 70);
}

TEST(PlotAutomaticRange, LeavesOutMissingValuesAndOutliers) {
    std::vector<double> values(1000);
    for (int i = 0; i < 1000; ++i) values[i] = 100 + i;
    values.insert(values.end(), {unseen_value, static_cast<float>(unseen_value), std::nan(""), HUGE_VAL});
    const Range range = automatic_range(values, Scale::linear);
    EXPECT_EQ(range.minimum, 105);
    EXPECT_EQ(range.maximum, 1094);
    EXPECT_THAT(
        [] {
            automatic_range({unseen_value, std::nan("")}, Scale::linear);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("no pixel in view has a value")));
}

TEST(PlotAutomaticRange, OfLogCoversThePositiveValues) {
    const Range range = automatic_range({-1, 0, 0, 1, 10, 1000}, Scale::log);
    EXPECT_EQ(range.minimum, 1);
    EXPECT_EQ(range.maximum, 1000);
    EXPECT_THAT(
        [] {
            automatic_range({-1, 0}, Scale::log);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("no pixel in view is positive")));
}

TEST(PlotAutomaticRange, OfAConstantMapHasAWidth) {
    for (const Scale scale : {Scale::linear, Scale::log, Scale::symlog, Scale::equalised}) {
        const Range range = automatic_range(std::vector<double>(10, 3.0), scale);
        EXPECT_LT(range.minimum, 3);
        EXPECT_GT(range.maximum, 3);
    }
    EXPECT_EQ(automatic_range({0, 0}, Scale::linear).minimum, -1);
}

TEST(PlotAutomaticRange, OfCountsStartsAtTheSmallest) {
    std::vector<double> values(1000);
    for (int i = 0; i < 1000; ++i) values[i] = i + 1;
    EXPECT_EQ(automatic_range(values, Scale::linear).minimum, 1);
}

TEST(PlotAutomaticRange, OfSparseCountsReachesTheSources) {
    std::vector<double> values(10000, 0.0);
    values[7] = 5;
    const Range range = automatic_range(values, Scale::linear);
    EXPECT_EQ(range.minimum, 0);
    EXPECT_EQ(range.maximum, 5);
}

}  // namespace
}  // namespace zonal::plot
