// What is said of smoothed maps: how far the answer depends on lmax, the least error that can be planned for,
// and the sizes of maps that certificates are relative to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "convolution_helpers.hpp"
#include "planning/certificate/map_certificate.hpp"
#include "sky/sky_part.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/map_smoothing.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using enum ConvolutionMethod;

SkyMap sky(const Pixelization& pixels, bool polarized = false) {
    SkyMap map = new_sky_map(pixels, polarized);
    const auto values = random_map(map.rows().size(), 3);
    std::copy(values.begin(), values.end(), map.rows().data());
    return map;
}

TEST(LmaxEffects, AreOfTheWindowOrOfWhatPixelsMixOverTheGain) {
    // A window that has not faded at lmax, and one that has: there 7e-3 / nside of what lies above comes
    // back.
    for (const auto& [fwhm, lmax, is_mixed] : {std::tuple{0.3, 20, false}, {0.7, 30, true}}) {
        const MapSmoothingOptions options{.error = 1e-6, .lmax = lmax, .threads = 1};
        const auto part = smooth(sky(HealpixPixels{16}), {.fwhm = fwhm}, options).parts.at(0);
        const double last = gaussian_beam(fwhm, lmax).temperature.back();
        const double gain = part.certificates[0].rms_out / part.certificates[0].rms_in;
        EXPECT_NEAR(part.window_above_lmax / last, 1, 1e-9);
        EXPECT_GT(part.map_above_lmax, 0.1);
        EXPECT_EQ(last < 7e-3 / 16, is_mixed);
        const double effect = std::max(last, 7e-3 / 16) * part.map_above_lmax / gain;
        EXPECT_NEAR(part.lmax_effect / effect, 1, 1e-9) << fwhm;
        ASSERT_EQ(part.notes.size(), 1U);
        EXPECT_THAT(part.notes[0],
                    HasSubstr(is_mixed ? "the pixels mix it into lower degrees" : "of its largest value"));
        auto loose = options;
        loose.error = 1.5 * effect;
        loose.strict = true;
        EXPECT_TRUE(smooth(sky(HealpixPixels{16}), {.fwhm = fwhm}, loose).parts[0].notes.empty());
        loose.error = effect / 3;
        EXPECT_THROW(smooth(sky(HealpixPixels{16}), {.fwhm = fwhm}, loose), ErrorNotKept);
    }
    // Sums over pixels have no lmax.
    const auto sums =
        smooth(sky(HealpixPixels{16}), {.fwhm = 0.5}, {.method = ring_fft, .threads = 1}).parts[0];
    EXPECT_EQ(sums.lmax_effect, 0);
    EXPECT_EQ(sums.lmax, -1);
    EXPECT_EQ(sums.stands_for(), "the sum over the map's pixels");
}

TEST(LmaxEffects, AreTheLargestOfRowsWithKernelsOfTheirOwn) {
    // The same values in both rows, of which as much lies above lmax.
    SkyMap map(MapFile{HealpixPixels{16},
                       CoordinateSystem::unknown,
                       PolarizationConvention::absent,
                       {},
                       {{.name = "FIRST"}, {.name = "SECOND"}}});
    const auto values = random_map(map.rows().extent(1), 3);
    for (std::int64_t row = 0; row < 2; ++row)
        std::copy(values.begin(), values.end(), map.rows()[row].data());
    constexpr std::int64_t lmax = 20;
    const auto faded = RadialKernel::gaussian(0.7), open = RadialKernel::gaussian(0.3);
    for (const auto& kernels : {std::vector{faded, open}, std::vector{open, faded}}) {
        const auto part =
            convolve(map, kernels, {.method = harmonic, .error = 1e-6, .lmax = lmax, .threads = 1})
                .parts.at(0);
        double last = 0, effect = 0;
        ASSERT_EQ(part.certificates.size(), 2U);
        for (std::size_t row = 0; row < 2; ++row) {
            const auto window = kernels[row].window(lmax);
            const double gain = part.certificates[row].rms_out / part.certificates[row].rms_in;
            last = larger(last, window.back());
            effect = larger(effect, std::max(window.back(), 7e-3 / 16) * part.map_above_lmax / gain);
        }
        EXPECT_NEAR(part.window_above_lmax / last, 1, 1e-9);
        EXPECT_NEAR(part.lmax_effect / effect, 1, 1e-9);
    }
}

TEST(LeastErrors, AreTheFirstPowerOfTenThatCanBePlannedFor) {
    const auto map = sky(HealpixPixels{8});
    const auto text = [&](double error) -> std::string {
        try {
            smooth(map, {.fwhm = 0.6}, {.method = ring_fft, .error = error, .threads = 1});
        } catch (const ErrorNotKept& refused) {
            return refused.what();
        }
        return "";
    };
    const auto refused = text(1e-15);
    const std::string before = "the least error that can be planned for is ";
    ASSERT_THAT(refused, HasSubstr(before));
    const double least = std::stod(refused.substr(refused.find(before) + before.size()));
    EXPECT_NEAR(std::remainder(std::log10(least), 1), 0, 1e-9);
    EXPECT_EQ(text(least * 1.01).find(before), std::string::npos);
    EXPECT_THAT(text(least / 10), HasSubstr(before));
    // A map that must be returned all the same is smoothed within that error.
    const auto kept =
        smooth(map, {.fwhm = 0.6}, {.method = ring_fft, .error = 1e-15, .keep_missed = true, .threads = 1})
            .parts[0];
    EXPECT_FALSE(kept.is_certified());
    EXPECT_EQ(kept.attempts, 1);
    EXPECT_LE(kept.certified_error(), 10 * least);
}

TEST(SmoothedParts, SayInWordsWhatTheyAre) {
    const auto map = sky(HealpixPixels{8});
    const auto part =
        smooth(map, {.fwhm = 0.6}, {.error = 1e-4, .threads = 1, .device = Device::cpu()}).parts[0];
    EXPECT_TRUE(part.is_certified());
    EXPECT_EQ(part.stands_for(), "the answer for l <= " + std::to_string(part.lmax));
    EXPECT_THAT(part.summary(), HasSubstr("harmonic, lmax " + std::to_string(part.lmax) + ", " +
                                          std::to_string(part.analysis.iterations) + " iteration"));
    EXPECT_THAT(part.summary(), HasSubstr("on cpu: certified "));
    EXPECT_EQ(part.summary().find("more than"), std::string::npos);
    EXPECT_EQ(part.text().find("multiplied"), std::string::npos);
    EXPECT_EQ(part.text().find("Masked"), std::string::npos);
    SmoothedPart other;
    other.method = ring_fft;
    other.reference = ConvolutionReference::discrete;
    other.precision = Precision::float32;
    other.rows = {0, 2};
    other.certificates = {{2e-3}, {1e-4}};
    other.error_bound = 1e-3;
    other.masked_pixels = {3, 11, 4};
    other.kernels = {{1, 2, 0.5}};
    other.notes = {"a note"};
    other.lmax_effect = 0.02;
    EXPECT_FALSE(other.is_certified());
    EXPECT_EQ(other.certified_error(), 2e-3);
    for (const char* expected : {"ring-fft, single precision", "certified 0.002 of the sum",
                                 "more than the 0.001", "depends on lmax by about 0.02"})
        EXPECT_THAT(other.summary(), HasSubstr(expected));
    for (const char* expected : {"Rows 0, 2: ", "up to 11 pixels", "multiplied by 0.5", "Note: a note."})
        EXPECT_THAT(other.text(), HasSubstr(expected));
    other.error_bound = 2e-3;
    EXPECT_TRUE(other.is_certified());
    EXPECT_EQ(other.summary().find("more than"), std::string::npos);
    other.error_bound.reset();
    EXPECT_FALSE(other.is_certified());
    other.precision = Precision::float64;
    other.certificates[0].error = std::numeric_limits<double>::infinity();
    EXPECT_THAT(other.summary(), HasSubstr("double precision, on cpu: no bound of the error of the sum"));
    other.method = harmonic;
    other.analysis.iterations = 1;
    EXPECT_THAT(other.summary(), HasSubstr(", 1 iteration, "));
}

/// rms and the rms without the mean of a map, as its certificate has them.
std::pair<double, double> sizes_of(const Array<double, 2>& rows, const Grid& grid) {
    ErrorBound bound;
    bound.cut = 1;
    const WholeSky whole(grid);
    // An error of a millionth of the input, so that the sizes follow from the quotients.
    const auto rms = planning::certificates_of<double>(bound, {1e-300}, whole, rows.view(), 1).at(0).rms_out;
    const double error = 1e-6 * rms;
    const auto one = planning::certificates_of<double>(bound, {error}, whole, rows.view(), 1).at(0);
    const double deviation =
        std::isfinite(one.error_of_variations) ? error / one.error_of_variations + error : 0;
    return {rms, deviation};
}

TEST(MapSizes, KeepTheDigitsOfWhatVariesAboutALargeMeanAndOfAnyScale) {
    for (const auto& grid : {Grid::healpix(4), Grid::gauss_legendre(9, 21)})
        for (const double offset : {0.0, 3.0, 1e5})
            for (const double scale : {1.0, 1e-180, 1e180, 1e-90})
                for (const std::int64_t n_rows : {1, 2}) {
                    const auto n = grid.n_pixels();
                    Array<double, 2> rows({n_rows, n});
                    const auto values = random_map(n_rows * n, 9);
                    double weights = 0, squares = 0, area = 0;
                    std::vector<double> means(2, 0);
                    // Two pixels are hidden, of which one is the first of the map; of pairs in either row.
                    const auto is_hidden = [n](std::int64_t pixel) { return pixel == 0 || pixel == n - 3; };
                    std::vector<double> weight(static_cast<std::size_t>(n), 0);

                    for (const Ring& ring : grid.rings())
                        for (auto p = ring.first_pixel; p < ring.first_pixel + ring.n_pixels; ++p)
                            weight[p] = ring.weight;
                    for (std::int64_t p = 0; p < n; ++p) {
                        area += weight[p];
                        for (std::int64_t row = 0; row < n_rows; ++row)
                            rows(row, p) =
                                scale * (offset * static_cast<double>(row + 1) + values[row * n + p]);
                        if (is_hidden(p)) continue;
                        weights += weight[p];
                        for (std::int64_t row = 0; row < n_rows; ++row) {
                            means[row] += weight[p] * values[row * n + p];
                            squares += weight[p] * std::pow(rows(row, p) / scale, 2);
                        }
                    }
                    double deviations = 0;
                    for (std::int64_t p = 0; p < n; ++p)
                        for (std::int64_t row = 0; row < n_rows && !is_hidden(p); ++row)
                            deviations += weight[p] * std::pow(values[row * n + p] - means[row] / weights, 2);
                    rows(0, 0) = unseen_value;
                    rows(n_rows - 1, n - 3) = unseen_value;
                    const auto [rms, deviation] = sizes_of(rows, grid);
                    EXPECT_NEAR(rms / scale / std::sqrt(squares / area), 1, 1e-12) << offset << ", " << scale;
                    EXPECT_NEAR(deviation / scale / std::sqrt(deviations / area), 1,
                                offset > 10 ? 1e-3 : 1e-5)
                        << offset << ", " << scale << ", " << n_rows;
                }
    Array<double, 2> zero({1, 48});
    EXPECT_EQ(sizes_of(zero, Grid::healpix(2)).first, 0);
}

TEST(DefaultCosts, AreSharedAmongThreadsButForCalls) {
    const auto one = default_cost_model(1).devices.at(0), four = default_cost_model(4).devices.at(0);
    for (const auto kind : {&DeviceCosts::scalar, &DeviceCosts::polarization}) {
        const auto &a = one.*kind, &b = four.*kind;
        for (const auto part : {&ConvolutionCosts::smoothing, &ConvolutionCosts::iteration})
            for (const auto cost : {&TransformCost::legendre_flop, &TransformCost::pixel}) {
                EXPECT_GT(a.*part.*cost, 0);
                EXPECT_DOUBLE_EQ(a.*part.*cost, 4 * (b.*part.*cost));
            }
        for (const auto part : {&ConvolutionCosts::ring_fft_single, &ConvolutionCosts::ring_fft_double,
                                &ConvolutionCosts::pixel_sum_single, &ConvolutionCosts::pixel_sum_double})
            for (const auto cost :
                 {&PixelCost::kernel_value, &PixelCost::row_product, &PixelCost::mode_product,
                  &PixelCost::pixel_product, &PixelCost::uneven_product, &PixelCost::pixel_row,
                  &PixelCost::pixel_weight, &PixelCost::fft_pixel})
                EXPECT_DOUBLE_EQ(a.*part.*cost, 4 * (b.*part.*cost));
        // Single precision is nowhere slower, by what its numbers are wide at most.
        for (const auto cost : {&PixelCost::kernel_value, &PixelCost::mode_product, &PixelCost::pixel_product,
                                &PixelCost::fft_pixel})
            EXPECT_LE(a.ring_fft_single.*cost, a.ring_fft_double.*cost);
        for (const auto method : {PixelMethod::ring_fft, PixelMethod::pixel_sum}) {
            EXPECT_EQ(&a.pixels(method, Precision::float32),
                      method == PixelMethod::ring_fft ? &a.ring_fft_single : &a.pixel_sum_single);
            EXPECT_EQ(&a.pixels(method, Precision::float64),
                      method == PixelMethod::ring_fft ? &a.ring_fft_double : &a.pixel_sum_double);
        }
    }
    EXPECT_EQ(default_cost_model(1).fingerprint, "default");
}

TEST(TransformWork, OnAGpuIsOfTheOrdersThatRingsHave) {
    // Pruning in docs/how-it-works/methods.md: a ring gets nothing from orders above t + 11 (t cos^2
    // theta)^(1/3) + 6, t = l sin theta.
    for (const std::int64_t lmax : {0, 10, 150}) {
        const auto grid = Grid::healpix(64);
        double expected = 0;
        for (const Ring& ring : grid.rings()) {
            const double t = static_cast<double>(lmax) * ring.sin_theta;
            const double last = t + 11 * std::cbrt(t * std::pow(ring.cos_theta, 2)) + 6;
            for (std::int64_t m = 0; m <= lmax && static_cast<double>(m) <= last; ++m)
                expected += 3 * static_cast<double>(lmax + 1 - m);
        }
        const auto work = transform_work(grid, lmax, Device::cuda(0));
        EXPECT_NEAR(work.legendre_flops / expected, 1, 1e-12) << lmax;
        EXPECT_EQ(work.pixels, 49152);
    }
}

}  // namespace
}  // namespace zonal::test
