#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "compare.hpp"
#include "convolution_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"
#include "zonal/planning/map_smoothing.hpp"

// Partial skies that have memory for their own pixels, smoothed as on the whole sky.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t nside = 32;

/// A part of the sky: the pixels whose centres it has.
struct Region {
    const char* name;
    std::function<bool(double theta, double phi)> has;
};

const std::vector<Region>& regions() {
    static const std::vector<Region> all{
        {"disc on the equator across longitude 0",
         [](double theta, double phi) { return std::hypot(theta - 1.5, std::sin(phi / 2)) < 0.2; }},
        {"cap around the north pole", [](double theta, double) { return theta < 0.3; }},
        {"both caps", [](double theta, double) { return std::abs(theta - 1.57) > 1.2; }},
        {"arcs of southern rings",
         [](double theta, double phi) { return theta > 2.2 && theta < 2.5 && std::sin(5 * phi) > 0; }}};
    return all;
}

MapFile part_of_sky(const Pixelization& pixels, const Region& region, bool polarized) {
    auto file = new_sky_map(pixels, polarized).header();
    file.source = "the map";
    const auto grid = make_grid(pixels);
    for (const Ring& ring : grid.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) {
            const double phi = ring.phi_0 + 2 * std::numbers::pi * static_cast<double>(k) /
                                                static_cast<double>(ring.n_pixels);
            if (region.has(ring.theta, phi)) file.pixels.push_back(ring.first_pixel + k);
        }
    for (auto& column : file.columns) {
        const auto values =
            random_map(std::ssize(file.pixels), static_cast<unsigned>(&column - file.columns.data()) + 1);
        column.values.assign(values.begin(), values.end());
    }
    for (std::size_t i = 0; i < file.columns[0].values.size(); i += 17)
        file.columns[0].values[i] = unseen_value;
    return file;
}

/// Compares what both know; rounding is that of sums of up to all pixels of the part, whose order differs
/// between bands and the whole sky.
void expect_same(const SmoothedMap& patch, const SmoothedMap& whole, double rounding) {
    ASSERT_TRUE(patch.map.is_patch());
    auto expanded = patch.map;
    expanded.expand();
    for (std::int64_t row = 0; row < whole.map.rows().extent(0); ++row) {
        double largest = 0;
        for (std::int64_t pixel = 0; pixel < whole.map.rows().extent(1); ++pixel)
            if (const double value = whole.map.rows()(row, pixel); !is_unseen_value(value))
                largest = std::max(largest, std::abs(value));
        for (std::int64_t pixel = 0; pixel < whole.map.rows().extent(1); ++pixel)
            ASSERT_NEAR(expanded.rows()(row, pixel), whole.map.rows()(row, pixel), rounding * largest)
                << row << " " << pixel;
    }
    for (std::size_t i = 0; i < whole.parts.size(); ++i) {
        EXPECT_EQ(patch.parts[i].masked_pixels, whole.parts[i].masked_pixels);
        EXPECT_EQ(patch.parts[i].unseen_pixels, whole.parts[i].unseen_pixels);
        EXPECT_EQ(patch.parts[i].method, whole.parts[i].method);
        for (std::size_t k = 0; k < whole.parts[i].certificates.size(); ++k) {
            const auto &a = patch.parts[i].certificates[k], &b = whole.parts[i].certificates[k];
            EXPECT_NEAR(a.rms_in, b.rms_in, 1e-13 * b.rms_in);
            EXPECT_NEAR(a.rms_out, b.rms_out, std::max(1e-13, rounding) * b.rms_out);
        }
    }
}

class Patches : public testing::TestWithParam<std::size_t> {
  protected:
    const Region& region() const { return regions()[GetParam()]; }
};
INSTANTIATE_TEST_SUITE_P(Regions, Patches, testing::Range(std::size_t{0}, regions().size()));

TEST_P(Patches, AreSmoothedAsOnTheWholeSky) {
    SCOPED_TRACE(region().name);
    for (const Pixelization& pixels :
         {Pixelization(HealpixPixels{nside}), Pixelization(CarPixels{50, 100, 0.02, false})})
        for (const bool polarized : {false, true}) {
            const auto file = part_of_sky(pixels, region(), polarized);
            const SkyMap whole(file), patch(file, Extent::own_pixels);
            for (const auto method : {ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft})
                for (const auto mode : {MaskMode::zero, MaskMode::renormalize}) {
                    if (mode == MaskMode::renormalize && whole.nside() == 0) continue;  // has no certificate
                    MapSmoothingOptions options{.method = method, .cut = 0.3, .threads = 2};
                    options.mask_rule.mode = mode;
                    // Parts of a ring FFT's padded rings that cancel are as large as the kernel's peak.
                    expect_same(smooth(patch, {.fwhm = 0.12}, options),
                                smooth(whole, {.fwhm = 0.12}, options),
                                method == ConvolutionMethod::ring_fft ? 1e-12 : 1e-13);
                }
        }
}

TEST_P(Patches, AreSmoothedInSinglePrecisionAsOnTheWholeSky) {
    const auto file = part_of_sky(HealpixPixels{nside}, region(), true);
    const SkyMap whole(file), patch(file, Extent::own_pixels);
    const MapSmoothingOptions options{
        .method = ConvolutionMethod::pixel_sum, .error = 1e-3, .precision = Precision::float32, .threads = 2};
    expect_same(smooth(patch, {.fwhm = 0.12}, options), smooth(whole, {.fwhm = 0.12}, options), 1e-5);
}

TEST_P(Patches, KeepErrorsAndCountsAsOnTheWholeSky) {
    const auto file = part_of_sky(HealpixPixels{nside}, region(), false);
    const SkyMap whole(file), patch(file, Extent::own_pixels);
    for (const auto method :
         {ConvolutionMethod::pixel_sum, ConvolutionMethod::harmonic, ConvolutionMethod::split}) {
        MapSmoothingOptions options{.method = method, .error = 1e-3, .threads = 1};
        const SmoothingWindow window{.fwhm = 0.15};
        expect_same(smooth(patch, window, options), smooth(whole, window, options), 1e-12);
    }
    MapSmoothingOptions counts{.method = ConvolutionMethod::pixel_sum, .cut = 0.3, .threads = 1};
    counts.normalization = Normalization::pixel;
    expect_same(smooth(patch, {.fwhm = 0.12}, counts), smooth(whole, {.fwhm = 0.12}, counts), 1e-13);
}

TEST(PatchesOfSkies, TakeMasksOfTheirPixels) {
    const auto file = part_of_sky(HealpixPixels{nside}, regions()[0], true);
    const SkyMap whole(file), patch(file, Extent::own_pixels);
    std::vector<double> mask(static_cast<std::size_t>(whole.grid().n_pixels())), own;
    for (std::size_t pixel = 0; pixel < mask.size(); ++pixel) {
        mask[pixel] = static_cast<double>(pixel % 5) / 4;
        if (patch.place(static_cast<std::int64_t>(pixel)) >= 0) own.push_back(mask[pixel]);
    }
    MapSmoothingOptions options{.method = ConvolutionMethod::pixel_sum, .cut = 0.3, .threads = 1}, on_whole;
    on_whole = options;
    options.mask = {own.data(), {std::ssize(own)}};
    on_whole.mask = {mask.data(), {std::ssize(mask)}};
    expect_same(smooth(patch, {.fwhm = 0.12}, options), smooth(whole, {.fwhm = 0.12}, on_whole), 1e-13);
}

TEST(PatchesOfSkies, AreRefusedWhereOtherPixelsAreAskedFor) {
    const SkyMap patch(part_of_sky(HealpixPixels{nside}, regions()[0], false), Extent::own_pixels);
    MapSmoothingOptions filled, finer;
    filled.mask_rule.fill_masked = true;
    finer.pixels_out = HealpixPixels{16};
    EXPECT_THAT([&] { smooth(patch, {.fwhm = 0.1}, filled); },
                ThrowsMessage<InvalidArgument>(HasSubstr("fill_masked: not for a patch")));
    EXPECT_THAT([&] { smooth(patch, {.fwhm = 0.1}, finer); },
                ThrowsMessage<InvalidArgument>(HasSubstr("a part of a sky keeps its pixels, nside 32")));
}

}  // namespace
}  // namespace zonal::test
