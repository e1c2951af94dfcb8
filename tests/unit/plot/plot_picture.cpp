#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>
#include <set>
#include <tuple>

#include "plot/color_scale.hpp"
#include "plot/plot.hpp"
#include "zonal/error.hpp"

namespace zonal::plot {
namespace {

using std::numbers::pi;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr Rgb black{0, 0, 0};
constexpr Rgb white{255, 255, 255};

/// A bare map: nothing drawn over the sky, the ellipse in the middle of the picture.
MapPlot bare_map(SkyFunction value) {
    MapPlot plot;
    plot.value = std::move(value);
    plot.graticule = false;
    plot.colorbar = false;
    plot.minimum = 0;
    plot.maximum = 1;
    plot.colormap = "grey";
    plot.image = {.width = 400, .height = 220};
    return plot;
}

/// 1 within 10 degrees of (lon, lat), else 0.
SkyFunction spot(double lon, double lat) {
    const double phi0 = lon * pi / 180, theta0 = (90 - lat) * pi / 180;
    return [=](double theta, double phi) {
        const double cosine =
            std::cos(theta) * std::cos(theta0) + std::sin(theta) * std::sin(theta0) * std::cos(phi - phi0);
        return cosine > std::cos(pi / 18) ? 1.0 : 0.0;
    };
}

std::string temporary_path(const std::string& name) {
    return (std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)).string();
}

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
}

TEST(PlotMap, BrightPixelAtPositiveLongitudeLandsLeft) {
    const Image left = draw_map(bare_map(spot(60, 0)));
    const Image right = draw_map(bare_map(spot(300, 0)));
    // lon 60 is a third of the way to the ellipse's end: 58 pixels from the centre for a half axis of 175 or
    // so
    EXPECT_EQ(left.pixel(140, 110), white);
    EXPECT_EQ(left.pixel(260, 110), black);
    EXPECT_EQ(right.pixel(140, 110), black);
    EXPECT_EQ(right.pixel(260, 110), white);
}

TEST(PlotMap, CentreOptionTurnsTheSky) {
    MapPlot plot = bare_map(spot(60, 30));
    plot.centre_lon = 60;
    plot.centre_lat = 30;
    EXPECT_EQ(draw_map(plot).pixel(200, 110), white);
}

TEST(PlotMap, MissingValuesAreGrey) {
    for (const double missing : {-1.6375e30, double(-1.6375e30f), std::nan(""), HUGE_VAL}) {
        const Image image = draw_map(bare_map([=](double, double) { return missing; }));
        EXPECT_EQ(image.pixel(200, 110), missing_color);
        EXPECT_EQ(image.pixel(2, 2), white);
    }
}

TEST(PlotMap, HasNoSeam) {
    const Image image = draw_map(bare_map([](double theta, double) { return 0.5 + 0.3 * std::cos(theta); }));
    for (const int y : {60, 110, 150}) {
        const Rgb middle = image.pixel(200, y);
        // the ellipse: half axes a = 188, b = 94 pixels (margins of 12 points, 80 dpi); 3 pixels for the
        // outline
        const double b = 94, a = 188;
        const int half = static_cast<int>(a * std::sqrt(1 - std::pow((y + 0.5 - 110) / b, 2))) - 6;
        for (int x = 200 - half; x <= 200 + half; ++x) {
            ASSERT_LE(std::abs(image.pixel(x, y).red - middle.red), 1) << x << " " << y;
        }
    }
}

TEST(PlotMap, NonPositiveValuesAreTheLowestColorOfALogScale) {
    MapPlot plot = bare_map([](double theta, double) { return theta < pi / 2 ? 10.0 : -1.0; });
    plot.scale = Scale::log;
    plot.minimum = 1;
    plot.maximum = 10;
    const Image image = draw_map(plot);
    EXPECT_EQ(image.pixel(200, 60), white);
    EXPECT_EQ(image.pixel(200, 160), black);
}

TEST(PlotMap, HealpixMapsAreLookedUpByPixel) {
    std::vector<double> map(12, 0.0);
    for (int pixel = 0; pixel < 4; ++pixel) map[pixel] = 1;  // the four pixels of the north at nside 1
    const Image image = draw_map(bare_map(healpix_ring(1, std::span<const double>(map))));
    EXPECT_EQ(image.pixel(200, 30), white);
    EXPECT_EQ(image.pixel(200, 190), black);
    EXPECT_THAT([&] { healpix_ring(2, std::span<const double>(map)); },
                ThrowsMessage<InvalidArgument>(HasSubstr("has 12 pixels, must have 12 nside^2 = 48")));
}

TEST(PlotMap, ZoomShowsItsField) {
    MapPlot plot = bare_map(spot(83, 22));
    plot.projection = Projection::gnomonic;
    plot.centre_lon = 83;
    plot.centre_lat = 22;
    plot.field = 30;
    plot.image = {.width = 300, .height = 300};
    const Image image = draw_map(plot);
    EXPECT_EQ(image.pixel(150, 150), white);
    // 10 of 15 degrees from the centre: tan 10 / tan 15 = 0.66 of half a side of 273 pixels or so
    EXPECT_EQ(image.pixel(150 + 80, 150), white);
    EXPECT_EQ(image.pixel(150 + 100, 150), black);
}

TEST(PlotMap, DecoratedMapsOfManyShapesCanBeDrawn) {
    for (const Scale scale : {Scale::linear, Scale::log, Scale::symlog, Scale::equalised})
        for (const auto& [width, height] : {std::pair{300, 0}, {400, 350}})
            for (const double lat : {0.0, 40.0, 90.0}) {
                MapPlot plot;
                plot.value = [](double theta, double phi) {
                    return 1.5 + std::cos(theta) * std::cos(3 * phi);
                };
                plot.scale = scale;
                plot.projection = width == 400 ? Projection::gnomonic : Projection::mollweide;
                plot.centre_lat = lat;
                plot.title = "A title with \xff and K_{CMB}";
                plot.unit = "uK";
                plot.coordinates = "Galactic";
                plot.image = {.width = width, .height = height};
                EXPECT_NO_THROW(draw_map(plot));
            }
}

TEST(PlotMap, ErrorsNameTheArgument) {
    const auto fails = [](auto change, const char* message) {
        MapPlot plot = bare_map([](double, double) { return 0.5; });
        change(plot);
        EXPECT_THAT([&] { draw_map(plot); }, ThrowsMessage<InvalidArgument>(HasSubstr(message)));
    };
    fails([](MapPlot& p) { p.value = nullptr; }, "value = none");
    fails([](MapPlot& p) { p.minimum = 2; }, "range = 2 to 1");
    fails([](MapPlot& p) { p.scale = Scale::log, p.minimum = -1; }, "must lie above 0 on a log scale");
    fails([](MapPlot& p) { p.centre_lat = 91; }, "centre_lat = 91: must be from -90 to 90");
    fails([](MapPlot& p) { p.projection = Projection::gnomonic, p.field = 0; }, "field = 0: must be above 0");
    fails([](MapPlot& p) { p.image.width = 10; }, "width = 10: must be from 200 to 16384");
    fails([](MapPlot& p) { p.image.dpi = 5000; }, "dpi = 5000: must be from 40 to 1200");
    fails([](MapPlot& p) { p.image.dpi = 1200; }, "dpi = 1200: must be at most");
    fails([](MapPlot& p) { p.graticule = true, p.graticule_step = 0.1; },
          "graticule_step = 0.1: must be from 1 to 90");
    fails([](MapPlot& p) { p.colormap = "rainbow"; }, "colormap = rainbow");
}

TEST(PlotSpectrum, DrawsEachCurveInItsColor) {
    SpectrumPlot plot;
    std::vector<double> theory(101), negative(101);
    for (int l = 2; l <= 100; ++l) theory[l] = 1.0 / l, negative[l] = -2.0 / l;
    plot.spectra = {{"TT", theory}, {"TE", negative}};
    plot.image = {.width = 400};
    const Image image = draw_spectrum(plot);
    EXPECT_EQ(image.height(), 250);
    bool blue = false, orange = false;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) {
            blue |= image.pixel(x, y) == Rgb{0, 114, 178};
            orange |= image.pixel(x, y) == Rgb{213, 94, 0};
        }
    EXPECT_TRUE(blue);
    EXPECT_TRUE(orange);
}

/// Nine flat spectra at 1 to 9, which cross the whole graph; in every corner lie some.
SpectrumPlot nine_spectra() {
    SpectrumPlot plot;
    for (int i = 1; i <= 9; ++i) plot.spectra.push_back({std::to_string(i), std::vector<double>(101, i)});
    plot.times_l2 = false;
    plot.image = {.width = 1600};
    return plot;
}

TEST(PlotSpectrum, NineSpectraHaveNineColors) {
    const Image image = draw_spectrum(nine_spectra());
    std::set<std::tuple<int, int, int>> colors;
    const int x = 500;  // between lines of the grid
    for (int y = 0; y + 1 < image.height(); ++y) {
        const Rgb color = image.pixel(x, y), next = image.pixel(x + 1, y);
        const bool is_grey = color.red == color.green && color.green == color.blue;
        // Lines are more than a pixel thick: the middle row has their colour.
        if (color == next && color == image.pixel(x, y + 1) && !is_grey)
            colors.emplace(color.red, color.green, color.blue);
    }
    EXPECT_GE(colors.size() + 1, 9u);  // one of the nine is grey
}

TEST(PlotSpectrum, LegendStandsBesideTheAxesWhereItWouldHideData) {
    const Image beside = draw_spectrum(nine_spectra());
    auto free = nine_spectra();
    free.maximum = 60;  // an empty corner
    const Image inside = draw_spectrum(free);
    const auto box_right = [](const Image& image) {  // the axes' right edge, from the right
        int x = image.width() - 1;
        while (x > 0 && image.pixel(x, image.height() - 160).red > 150) --x;
        return x;
    };
    EXPECT_GT(box_right(inside), 1500);
    EXPECT_LT(box_right(beside), 1490);
}

TEST(PlotSpectrum, ErrorsNameTheArgument) {
    const auto fails = [](auto change, const char* message) {
        SpectrumPlot plot;
        plot.spectra = {{"TT", std::vector<double>(11, 1.0)}};
        change(plot);
        EXPECT_THAT([&] { draw_spectrum(plot); }, ThrowsMessage<InvalidArgument>(HasSubstr(message)));
    };
    fails([](SpectrumPlot& p) { p.spectra.clear(); }, "at least one spectrum");
    fails([](SpectrumPlot& p) { p.lmax = 20; }, "lmax = 20: must be at most 10");
    fails([](SpectrumPlot& p) { p.lmin = 10; }, "lmin = 10: must be from 0 to 9");
    fails([](SpectrumPlot& p) { p.x = Axis::log, p.lmin = 0; }, "lmin = 0: must be at least 1");
    fails([](SpectrumPlot& p) { p.minimum = 3, p.maximum = 2; }, "range = 3 to 2");
    fails([](SpectrumPlot& p) { p.y = Axis::log, p.minimum = -1; }, "must lie above 0");
    fails([](SpectrumPlot& p) { p.spectra[0].c_l.assign(11, 0.0); }, "no finite value other than zero");
}

TEST(PlotImage, FileHasTheSizeAndResolutionAskedFor) {
    MapPlot plot = bare_map(spot(0, 0));
    plot.image.dpi = 100;
    const std::string path = temporary_path("_size.png");
    draw_map(plot).write_png(path);
    const std::string png = contents(path);
    std::filesystem::remove(path);
    ASSERT_GT(png.size(), 60u);
    EXPECT_EQ(png.substr(1, 3), "PNG");
    EXPECT_EQ(big_endian(png, 16), 400u);
    EXPECT_EQ(big_endian(png, 20), 220u);
    EXPECT_EQ(png.substr(37, 4), "pHYs");
    EXPECT_EQ(big_endian(png, 41), 3937u);  // 100 / 0.0254 pixels per metre
}

TEST(PlotImage, EqualPlotsGiveEqualBytes) {
    const std::string first = temporary_path("_first.png");
    const std::string second = temporary_path("_second.png");
    draw_map(bare_map(spot(30, 30))).write_png(first);
    draw_map(bare_map(spot(30, 30))).write_png(second);
    EXPECT_EQ(contents(first), contents(second));
    std::filesystem::remove(first);
    std::filesystem::remove(second);
}

TEST(PlotImage, FailureNamesThePathAndLeavesNothing) {
    const Image image = draw_map(bare_map(spot(0, 0)));
    const std::string directory = temporary_path("_directory");
    std::filesystem::create_directory(directory);
    const std::string missing = directory + "/none/map.png";
    EXPECT_THAT([&] { image.write_png(missing); }, ThrowsMessage<IoError>(HasSubstr(missing)));
    const std::string occupied = directory + "/folder";
    std::filesystem::create_directory(occupied);
    EXPECT_THAT([&] { image.write_png(occupied); }, ThrowsMessage<IoError>(HasSubstr(occupied)));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
    std::filesystem::remove_all(directory);
}

TEST(PlotImage, RowsAreArrangedBelowEachOtherInTheMiddle) {
    MapPlot plot = bare_map(spot(0, 0));
    const Image wide = draw_map(plot);  // 400 x 220
    plot.image = {.width = 200, .height = 150};
    const Image small = draw_map(plot);
    const Image sheet = arrange({{wide}, {small, wide}, {small}});
    ASSERT_EQ(sheet.width(), 600);
    ASSERT_EQ(sheet.height(), 220 + 220 + 150);
    EXPECT_EQ(sheet.pixel(50, 110), white);                        // left of the first row
    EXPECT_EQ(sheet.pixel(100 + 200, 110), wide.pixel(200, 110));  // the spot in the middle of each
    EXPECT_EQ(sheet.pixel(100, 220 + 75), small.pixel(100, 75));
    EXPECT_EQ(sheet.pixel(200 + 200, 220 + 110), wide.pixel(200, 110));
    EXPECT_EQ(sheet.pixel(100, 220 + 200), white);  // below a small picture
    EXPECT_EQ(sheet.pixel(200 + 100, 440 + 75), small.pixel(100, 75));
    EXPECT_EQ(wide.pixel(200, 110), white);  // the spot, on a dark sky
    EXPECT_THAT([] { arrange({}); }, ThrowsMessage<InvalidArgument>(HasSubstr("rows")));
}

TEST(PlotImage, OutsideIsTransparentOnRequest) {
    MapPlot plot = bare_map(spot(0, 0));
    const std::string opaque = temporary_path("_opaque.png");
    const std::string transparent = temporary_path("_transparent.png");
    draw_map(plot).write_png(opaque);
    plot.image.transparent = true;
    draw_map(plot).write_png(transparent);
    EXPECT_EQ(contents(opaque)[25], 2);       // colour type RGB
    EXPECT_EQ(contents(transparent)[25], 6);  // RGBA
    std::filesystem::remove(opaque);
    std::filesystem::remove(transparent);
}

}  // namespace
}  // namespace zonal::plot
