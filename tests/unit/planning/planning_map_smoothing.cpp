#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "compare.hpp"
#include "convolution_helpers.hpp"
#include "polarization_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/map_smoothing.hpp"

// Maps smoothed by any method in one call, compared with plain sums and with the other methods.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t nside = 16;
constexpr double fwhm = 20 * degree;  // wide: the window has faded to 1e-9 at 3 nside - 1

SkyMap random_sky(bool polarized, unsigned seed = 1) {
    SkyMap map = new_sky_map(HealpixPixels{nside}, polarized);
    const auto values = random_map(map.rows().size(), seed);
    std::copy(values.begin(), values.end(), map.rows().data());
    return map;
}

View<const double, 2> rows_of(const SmoothedMap& smoothed) {
    return std::as_const(smoothed.map).rows();
}

std::vector<double> values_of(View<const double, 2> rows) {
    return {rows.data(), rows.data() + rows.size()};
}

double difference(const SmoothedMap& a, const SmoothedMap& b, std::int64_t row) {
    const auto x = rows_of(a)[row], y = rows_of(b)[row];
    return relative_rms(std::vector(x.data(), x.data() + x.size()),
                        std::vector(y.data(), y.data() + y.size()));
}

TEST(MapSmoothing, EveryMethodKeepsItsErrorFromTheDirectSum) {
    const auto map = random_sky(false);
    Array<double, 1> exact({map.grid().n_pixels()});
    reference::convolve(map.grid(), RadialKernel::gaussian(fwhm), map.grid(), map.rows()[0], exact.view());
    for (const auto method : {ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft,
                              ConvolutionMethod::split, ConvolutionMethod::automatic}) {
        const auto smoothed = smooth(
            map, {.fwhm = fwhm},
            {.method = method, .reference = ConvolutionReference::discrete, .error = 1e-4, .threads = 1});
        const auto row = rows_of(smoothed)[0];
        EXPECT_LE(relative_rms(std::vector(row.data(), row.data() + row.size()), exact), 1e-4)
            << to_string(method);
        ASSERT_EQ(smoothed.parts.size(), 1U);
        const auto& part = smoothed.parts[0];
        EXPECT_EQ(part.reference, ConvolutionReference::discrete);
        if (method != ConvolutionMethod::automatic) {
            EXPECT_EQ(part.method, method);
        }
        EXPECT_TRUE(part.is_certified());
        ASSERT_EQ(part.certificates.size(), 1U);
        EXPECT_LE(part.certificates[0].error, 1e-4);
    }
}

TEST(MapSmoothing, WorksInTheMemoryOfAMapThatIsNoLongerNeeded) {
    auto map = random_sky(true);
    for (std::int64_t pixel = 100; pixel < 200; ++pixel) map.rows()(0, pixel) = unseen_value;
    for (const auto mode : {MaskMode::zero, MaskMode::renormalize}) {
        MapSmoothingOptions options{.iterations = 1, .threads = 1};
        options.mask_rule.mode = mode;
        const auto expected = smooth(map, {.fwhm = fwhm}, options);
        SkyMap given(map, Fields::iqu, {0, 1, 2});
        const double* const memory = given.rows().data();
        const auto found = smooth(std::move(given), {.fwhm = fwhm}, options);
        EXPECT_EQ(found.map.rows().data(), memory);
        EXPECT_EQ(values_of(rows_of(found)), values_of(rows_of(expected)));
        const auto &part = found.parts.at(0), &wanted = expected.parts.at(0);
        EXPECT_EQ(part.masked_pixels, wanted.masked_pixels);
        EXPECT_EQ(part.unseen_pixels, wanted.unseen_pixels);
        ASSERT_EQ(part.certificates.size(), wanted.certificates.size());
        for (std::size_t i = 0; i < wanted.certificates.size(); ++i) {
            EXPECT_EQ(part.certificates[i].rms_in, wanted.certificates[i].rms_in);
            EXPECT_EQ(part.certificates[i].error, wanted.certificates[i].error);
        }
    }
}

/// Maps far from the white one that a cut is chosen for.
std::vector<SkyMap> hostile_skies() {
    std::vector<SkyMap> skies;
    for (int kind = 0; kind < 4; ++kind) {
        SkyMap map = new_sky_map(HealpixPixels{nside}, false);
        const auto row = map.rows()[0];
        const auto& rings = map.grid().rings();
        for (std::size_t r = 0; r < rings.size(); ++r)
            for (std::int64_t k = 0; k < rings[r].n_pixels; ++k) {
                const auto pixel = rings[r].first_pixel + k;
                const double noise = std::sin(static_cast<double>(7 * pixel % 101));
                const double stripes = r % 2 == 0 ? 1 : -1,
                             checks = (r + static_cast<std::size_t>(k)) % 2 == 0 ? 1 : -1;
                row[pixel] = std::array{2.7255 + 1e-5 * noise, stripes, checks,
                                        pixel == 5 ? 1.0 : 0.0}[static_cast<std::size_t>(kind)];
            }
        skies.push_back(std::move(map));
    }
    return skies;
}

TEST(MapSmoothing, ErrorsOfHostileMapsAreBelowTheirCertificate) {
    for (const auto& map : hostile_skies()) {
        Array<double, 1> exact({map.grid().n_pixels()});
        reference::convolve(map.grid(), RadialKernel::gaussian(fwhm), map.grid(), map.rows()[0],
                            exact.view());
        for (const auto method : {ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft})
            for (const auto precision : {Precision::float64, Precision::float32}) {
                const auto smoothed = smooth(map, {.fwhm = fwhm},
                                             {.method = method,
                                              .error = 1e-4,
                                              .keep_missed = true,
                                              .precision = precision,
                                              .threads = 1});
                const auto row = rows_of(smoothed)[0];
                const double error = relative_rms(std::vector(row.data(), row.data() + row.size()), exact);
                ASSERT_EQ(smoothed.parts[0].certificates.size(), 1U);
                EXPECT_LE(error, smoothed.parts[0].certificates[0].error) << to_string(method);
            }
    }
}

TEST(MapSmoothing, HarmonicSpaceIsWhatSmoothingOfArraysGives) {
    const auto map = random_sky(true);
    const auto smoothed =
        smooth(map, {.fwhm = fwhm}, {.method = ConvolutionMethod::harmonic, .lmax = 32, .threads = 1});
    SkyMap expected(map);
    smooth<double>(map.grid(), map.rows(), Fields::iqu, {}, gaussian_beam(fwhm, 32), map.grid(),
                   expected.rows(), {.lmax = 32, .threads = 1});
    EXPECT_EQ(largest_difference(values_of(rows_of(smoothed)), values_of(std::as_const(expected).rows())), 0);
    EXPECT_EQ(smoothed.parts[0].analysis.iterations, 3);
    EXPECT_EQ(smoothed.parts[0].lmax, 32);
}

TEST(MapSmoothing, IntensityAndPolarizationArePlannedApart) {
    const auto map = random_sky(true);
    const auto automatic = smooth(map, {.fwhm = fwhm},
                                  {.method = ConvolutionMethod::automatic,
                                   .reference = ConvolutionReference::discrete,
                                   .error = 1e-6,
                                   .threads = 1});
    ASSERT_EQ(automatic.parts.size(), 2U);
    EXPECT_EQ(automatic.parts[0].rows, std::vector<std::int64_t>{0});
    EXPECT_EQ(automatic.parts[1].rows, (std::vector<std::int64_t>{1, 2}));
    const auto sums =
        smooth(map, {.fwhm = fwhm}, {.method = ConvolutionMethod::ring_fft, .error = 1e-9, .threads = 1});
    for (std::int64_t row = 0; row < 3; ++row) EXPECT_LE(difference(automatic, sums, row), 1e-6) << row;
}

TEST(MapSmoothing, EachRowMayHaveAKernelOfItsOwn) {
    auto map = SkyMap(MapFile{HealpixPixels{nside},
                              CoordinateSystem::unknown,
                              PolarizationConvention::absent,
                              {},
                              {{.name = "LOW"}, {.name = "HIGH"}}});
    const auto values = random_map(map.rows().size(), 4);
    std::copy(values.begin(), values.end(), map.rows().data());
    const std::vector kernels{RadialKernel::gaussian(fwhm), RadialKernel::gaussian(2 * fwhm)};
    for (const auto method : {ConvolutionMethod::ring_fft, ConvolutionMethod::harmonic}) {
        const MapSmoothingOptions options{.method = method, .threads = 1};
        const auto both = convolve(map, kernels, options);
        for (std::size_t row = 0; row < 2; ++row) {
            const auto one = convolve(map, std::vector{kernels[row]}, options);
            // A batch of two maps adds up the same numbers in another order; sums are planned for each map.
            const double most = method == ConvolutionMethod::harmonic ? 1e-14 : 2e-5;
            EXPECT_LE(difference(both, one, static_cast<std::int64_t>(row)), most) << to_string(method);
        }
    }
}

/// A map of one degree, of which the kernel leaves little.
SkyMap one_mode(std::int64_t l) {
    SkyMap map = new_sky_map(HealpixPixels{nside}, false);
    const auto row = map.rows()[0];
    for (const Ring& ring : map.grid().rings())
        for (auto pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel)
            row[pixel] = std::legendre(static_cast<unsigned>(l), ring.cos_theta);
    return map;
}

TEST(MapSmoothing, PlansAgainWhereTheKernelLeavesLittleOfTheMap) {
    const auto map = one_mode(20);
    Array<double, 1> exact({map.grid().n_pixels()});
    reference::convolve(map.grid(), RadialKernel::gaussian(fwhm), map.grid(), map.rows()[0], exact.view());
    for (const auto method : {ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft}) {
        const auto smoothed = smooth(map, {.fwhm = fwhm}, {.method = method, .error = 1e-4, .threads = 1});
        const auto row = rows_of(smoothed)[0];
        EXPECT_LE(relative_rms(std::vector(row.data(), row.data() + row.size()), exact), 1e-4);
        const auto& part = smoothed.parts[0];
        EXPECT_EQ(part.attempts, 2);
        EXPECT_LT(part.certificates[0].rms_out, 0.02 * part.certificates[0].rms_in);
    }
}

TEST(MapSmoothing, ReturnsNoMapWhoseErrorIsNotCertifiedUnlessAskedTo) {
    const auto map = one_mode(45);  // of which the kernel leaves next to nothing
    MapSmoothingOptions options{
        .method = ConvolutionMethod::ring_fft, .error = 1e-9, .precision = Precision::float64, .threads = 1};
    EXPECT_THAT([&] { smooth(map, {.fwhm = fwhm}, options); },
                ThrowsMessage<ErrorNotKept>(HasSubstr("error = 1e-09: is not certified for this map")));
    options.keep_missed = true;
    const auto kept = smooth(map, {.fwhm = fwhm}, options);
    EXPECT_GT(kept.parts[0].certificates[0].error, 1e-9);
    EXPECT_NE(rows_of(kept)(0, 0), 0);
}

TEST(MapSmoothing, TheContinuousReferenceIsTheConvergedAnalysis) {
    for (const bool polarized : {false, true}) {
        const auto map = random_sky(polarized);
        const auto smoothed = smooth(map, {.fwhm = fwhm},
                                     {.method = ConvolutionMethod::automatic, .error = 1e-6, .threads = 1});
        const auto lmax = smoothed.parts[0].lmax;
        // As far as the kernel goes: exp(-l^2 sigma^2 / 2) is 1e-7 at l = 38.
        EXPECT_GT(lmax, 32);
        EXPECT_LE(lmax, 38);
        for (const auto& part : smoothed.parts) {
            EXPECT_EQ(part.reference, ConvolutionReference::continuous);
            EXPECT_EQ(part.lmax, lmax);
            const auto converged =
                smooth(map, {.fwhm = fwhm}, {.lmax = part.lmax, .tolerance = 1e-13, .threads = 1});
            for (const auto row : part.rows) EXPECT_LE(difference(smoothed, converged, row), 1e-6) << row;
        }
    }
}

TEST(MapSmoothing, HarmonicSpaceKeepsAnErrorOnOtherPixelsAndForRatios) {
    const auto map = random_sky(true);
    for (const auto method : {ConvolutionMethod::harmonic, ConvolutionMethod::automatic}) {
        const SmoothingWindow window{.fwhm = fwhm, .fwhm_in = fwhm / 2};
        const MapSmoothingOptions options{
            .method = method, .error = 1e-7, .lmax = 30, .pixels_out = HealpixPixels{8}, .threads = 1};
        const auto smoothed = smooth(map, window, options);
        const auto converged = smooth(
            map, window, {.lmax = 30, .tolerance = 1e-13, .pixels_out = HealpixPixels{8}, .threads = 1});
        ASSERT_EQ(smoothed.parts.size(), 2U);  // of I, and of Q and U
        for (const auto& part : smoothed.parts) EXPECT_EQ(part.certificates.size(), 1U);
        // Kept by far, as an analysis below 2 nside gains more than a digit by its last iteration.
        for (std::int64_t row = 0; row < 3; ++row) EXPECT_LE(difference(smoothed, converged, row), 1e-7);
    }
    EXPECT_THAT(
        [&] { smooth(map, {.fwhm = fwhm}, {.error = 1e-9, .lmax = 30, .iterations = 1, .threads = 1}); },
        ThrowsMessage<ErrorNotKept>(HasSubstr("error = 1e-09: is not certified")));
}

std::vector<double> times(double factor, std::vector<double> values) {
    for (double& value : values) value *= factor;
    return values;
}

TEST(MapSmoothing, AKernelIsAppliedAsItIsGivenByEveryMethod) {
    const auto map = random_sky(false);
    const auto window = gaussian_beam(fwhm, 3 * nside - 1).temperature;
    const auto beam = [&](double factor) {
        const auto b_l = times(factor, window);
        return SmoothingWindow{.beam = Beam{b_l, b_l, b_l}};
    };
    for (const auto method : {ConvolutionMethod::automatic, ConvolutionMethod::harmonic,
                              ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft}) {
        const MapSmoothingOptions options{.method = method, .error = 1e-4, .threads = 1};
        const auto whole = smooth(map, beam(1), options), part = smooth(map, beam(0.8), options);
        const auto expected = times(0.8, values_of(rows_of(whole)));
        // Errors are relative, so the plans are the same, and round the same values.
        const double rounding = 64 * std::numeric_limits<double>::epsilon();
        EXPECT_LE(relative_rms(values_of(rows_of(part)), expected), rounding) << to_string(method);
        EXPECT_DOUBLE_EQ(part.parts[0].kernels[0].integral, 0.8);
        EXPECT_EQ(part.parts[0].kernels[0].scale, 1);
        auto scaling = options;
        scaling.normalization = Normalization::window;
        const auto scaled = smooth(map, beam(0.8), scaling);
        EXPECT_LE(relative_rms(values_of(rows_of(scaled)), values_of(rows_of(whole))), rounding);
        EXPECT_DOUBLE_EQ(scaled.parts[0].kernels[0].scale, 1 / 0.8);
    }
}

TEST(MapSmoothing, SumsOfKernelsNarrowerThanPixelsAreRefusedButKeepCounts) {
    SkyMap counts = new_sky_map(HealpixPixels{nside}, false);
    for (std::int64_t pixel = 0; pixel < counts.rows().extent(1); ++pixel)
        counts.rows()(0, pixel) = static_cast<double>(pixel * pixel % 41);
    double before = 0;
    for (const double value : values_of(std::as_const(counts).rows())) before += value;
    const double width = 0.3 * std::sqrt(std::numbers::pi / 3) / nside;  // of pixels
    const std::vector kernel{RadialKernel::gaussian(width)};
    for (const auto method : {ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft}) {
        EXPECT_THAT([&] { convolve(counts, kernel, {.method = method, .threads = 1}); },
                    ThrowsMessage<InvalidArgument>(HasSubstr("normalization pixel keeps the sum of counts")));
        const auto kept = convolve(
            counts, kernel,
            {.method = method, .keep_missed = true, .normalization = Normalization::pixel, .threads = 1});
        double after = 0;
        for (const double value : values_of(rows_of(kept))) after += value;
        // Sums of some thousand numbers.
        EXPECT_NEAR(after, before, 1e-12 * before) << to_string(method);
    }
}

TEST(MapSmoothing, TellsHowMuchOfTheMapLiesAboveLmax) {
    SkyMap map = random_sky(false);
    for (const std::int64_t lmax : {20, 30}) {
        const MapSmoothingOptions options{.error = 1e-6, .lmax = lmax, .threads = 1};
        const auto smoothed = smooth(map, {.fwhm = fwhm}, options);
        // A window of 1 up to lmax gives S a, whose distance from the map is what no degree up to lmax has.
        const std::vector<double> flat(static_cast<std::size_t>(lmax + 1), 1.0);
        const auto projected =
            smooth(map, {.beam = Beam{flat, flat, flat}},
                   {.method = ConvolutionMethod::harmonic, .lmax = lmax, .tolerance = 1e-12, .threads = 1});
        const double above =
            relative_rms(values_of(rows_of(projected)), values_of(std::as_const(map).rows()));
        // The analysis ends when rms(S (a - a_k)) is 1e-6 of the result, which is below the map.
        // As a rule it ends far below.
        EXPECT_NEAR(smoothed.parts[0].map_above_lmax, above, 1e-6) << lmax;
        const auto window = gaussian_beam(fwhm, lmax + 1).temperature;
        EXPECT_LE(smoothed.parts[0].window_above_lmax, window[static_cast<std::size_t>(lmax)]);
        EXPECT_GE(smoothed.parts[0].window_above_lmax, window.back() * 0.99);
    }
}

TEST(MapSmoothing, NotesAnEffectOfLmaxAndRefusesItIfStrict) {
    const auto map = random_sky(false);
    MapSmoothingOptions options{.error = 1e-6, .lmax = 20, .threads = 1};
    const auto noted = smooth(map, {.fwhm = fwhm}, options);
    EXPECT_GT(noted.parts[0].lmax_effect, 1e-6);
    ASSERT_EQ(noted.parts[0].notes.size(), 1U);
    EXPECT_THAT(noted.parts[0].notes[0], HasSubstr("depends on lmax = 20"));
    options.strict = true;
    EXPECT_THAT([&] { smooth(map, {.fwhm = fwhm}, options); },
                ThrowsMessage<ErrorNotKept>(HasSubstr("strict: the answer depends on lmax = 20")));
}

TEST(MapSmoothing, SaysWhatMemoryAWayTakesBeforeItTakesIt) {
    const auto map = random_sky(true);
    const double of_results = 3 * 8.0 * static_cast<double>(map.grid().n_pixels());
    for (const auto method : {ConvolutionMethod::harmonic, ConvolutionMethod::ring_fft}) {
        std::vector<double> asked;
        const auto check = [&](double bytes, const std::string& what) {
            if (what.find(": method " + to_string(method)) != std::string::npos) asked.push_back(bytes);
            if (asked.size() == 2) throw OutOfMemory(what);
        };
        MapSmoothingOptions options{.method = method, .error = 1e-3, .threads = 1, .check_memory = check};
        EXPECT_THROW(smooth(map, {.fwhm = fwhm}, options), OutOfMemory) << to_string(method);
        // I comes before Q and U; of its third of the result, nothing is to come then.
        ASSERT_EQ(asked.size(), 2U) << to_string(method);
        EXPECT_GT(asked[0], of_results);
        EXPECT_GT(asked[1], of_results * 2 / 3);
    }
}

TEST(MapSmoothing, RefusesWhatItCannotKeepOrDo) {
    const auto map = random_sky(false);
    const auto attempt = [&](const SmoothingWindow& window, const MapSmoothingOptions& options) {
        return [&map, window, options] { smooth(map, window, options); };
    };
    const auto sums = ConvolutionMethod::ring_fft;
    EXPECT_THAT(attempt({}, {}), ThrowsMessage<InvalidArgument>(HasSubstr("nothing is given")));
    EXPECT_THAT(attempt({.fwhm = fwhm}, {.method = sums, .error = 1e-15}),
                ThrowsMessage<ErrorNotKept>(HasSubstr("error = 1e-15: is not certified for this map")));
    EXPECT_THAT(attempt({.fwhm = fwhm}, {.method = sums, .tolerance = 1e-8}),
                ThrowsMessage<InvalidArgument>(HasSubstr(
                    "method = ring-fft: must be auto or harmonic: sums over pixels have no iterations")));
    EXPECT_THAT(attempt({.fwhm = fwhm}, {.method = ConvolutionMethod::automatic, .error = 1e-15}),
                ThrowsMessage<ErrorNotKept>(HasSubstr("rounding ends its iterations")));
    EXPECT_THAT(attempt({.fwhm = fwhm}, {.error = 1e-4, .lmax = 47}),
                ThrowsMessage<ErrorNotKept>(HasSubstr("an analysis above lmax = 38 has no bound")));
    EXPECT_THAT(attempt({.fwhm = fwhm, .fwhm_in = fwhm / 2}, {.method = sums}),
                ThrowsMessage<InvalidArgument>(HasSubstr("windows of the input or of pixels are given")));
    EXPECT_THAT(attempt({.fwhm = fwhm}, {.lmax = 3 * nside}),
                ThrowsMessage<InvalidArgument>(HasSubstr("lmax = 48: must be at most 47")));
    EXPECT_THAT(attempt({.fwhm = fwhm}, {.method = ConvolutionMethod::automatic, .cut = 0.5}),
                ThrowsMessage<InvalidArgument>(HasSubstr("cut: not with method auto")));
    EXPECT_THAT(attempt({.fwhm = fwhm}, {.method = sums, .error = 1e-3, .cut = 0.2}),
                ThrowsMessage<ErrorNotKept>(HasSubstr("error = 0.001: is not certified")));
    EXPECT_THAT(attempt({.fwhm = fwhm}, {.method = sums, .theta_cut = 0.5}),
                ThrowsMessage<InvalidArgument>(HasSubstr("theta_cut: only with method split")));
}

}  // namespace
}  // namespace zonal::test
