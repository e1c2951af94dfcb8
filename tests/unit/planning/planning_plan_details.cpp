// What a convolution plan does beside convolving: weights, progress, floats, masks and what certificates are
// made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "convolution_helpers.hpp"
#include "planning/certificate/analysis_bounds.hpp"
#include "planning/request.hpp"
#include "polarization_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/certificate.hpp"
#include "zonal/planning/convolution_plan.hpp"

namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Rows = Array<double, 2>;
using enum ConvolutionMethod;

constexpr std::int64_t nside = 8, n_pixels = 12 * nside * nside;

Rows random_rows(std::int64_t n_rows, unsigned seed = 3) {
    const auto values = random_map(n_rows * n_pixels, seed);
    Rows rows({n_rows, n_pixels});
    std::copy(values.begin(), values.end(), rows.begin());
    return rows;
}

ConvolutionRequest request_of(std::int64_t n_maps, bool has_spin = false,
                              ConvolutionReference reference = ConvolutionReference::discrete) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(nside);
    request.kernel = RadialKernel::from_window(gaussian_window(0.6, 18));
    if (has_spin)
        request.polarization = PolarizationKernel(gaussian_window(0.6, 18), gaussian_window(0.6, 18));
    request.lmax = 18;
    request.reference = reference;
    request.n_maps = n_maps;
    request.gain = 0.1;
    request.threads = 1;
    return request;
}

ConvolutionResult convolve(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                           const Rows& rows, Rows& out, const ConvolutionOptions& options = {},
                           const Progress& progress = {}) {
    out = Rows(rows.extents());
    return ConvolutionPlan(request, choice, options)
        .convolve<double>(std::as_const(rows).view(), out.view(), progress);
}

TEST(PlanDetails, WeightsMultiplyTheMapBeforeItIsConvolved) {
    ConvolutionOptions of_both;
    const auto grid = Grid::healpix(nside);
    std::vector<double> pixels;
    for (std::int64_t pixel = 0; pixel < n_pixels; ++pixel)
        pixels.push_back(1 + 0.2 * std::sin(static_cast<double>(pixel)));
    for (std::int64_t r = 0; r < grid.n_rings(); ++r)
        of_both.ring_weights.push_back(1 + 0.1 * std::cos(static_cast<double>(r)));
    of_both.pixel_weights = {pixels.data(), {n_pixels}};
    auto of_rings = of_both, of_pixels = of_both;
    of_rings.pixel_weights = {};
    of_pixels.ring_weights.clear();
    for (const bool has_spin : {false, true})
        for (const auto* options : {&of_rings, &of_pixels, &of_both})
            for (const auto method : {pixel_sum, ring_fft, harmonic}) {
                const auto request = request_of(has_spin ? 1 : 2, has_spin);
                const auto rows = random_rows(2);
                auto weighted = rows;
                for (std::int64_t row = 0; row < 2; ++row)
                    for (std::size_t r = 0; r < grid.rings().size(); ++r)
                        for (auto pixel = grid.rings()[r].first_pixel;
                             pixel < grid.rings()[r].first_pixel + grid.rings()[r].n_pixels; ++pixel) {
                            if (!options->ring_weights.empty())
                                weighted(row, pixel) *= options->ring_weights[r];
                            if (options->pixel_weights.size() > 0) weighted(row, pixel) *= pixels[pixel];
                        }
                const ConvolutionChoice choice{method, Device::cpu(), Precision::float64, 0, 1e-12};
                Rows found, expected;
                const auto result = convolve(request, choice, rows, found, *options);
                convolve(request, choice, weighted, expected);
                EXPECT_LE(relative_difference(found, expected), 1e-12) << to_string(method) << has_spin;
                EXPECT_EQ(result.certificates.size(), has_spin ? 1U : 2U);
            }
}

TEST(PlanDetails, ProgressGoesUpToOneAndMayEndTheWork) {
    for (const bool has_spin : {false, true})
        for (const auto mode : {MaskMode::zero, MaskMode::renormalize})
            for (const auto method : {pixel_sum, ring_fft, harmonic}) {
                ConvolutionOptions options;
                options.mask.mode = mode;
                const auto request = request_of(
                    3, has_spin,
                    method == harmonic ? ConvolutionReference::continuous : ConvolutionReference::discrete);
                const auto rows = random_rows(has_spin ? 6 : 3);
                const ConvolutionChoice choice{method, Device::cpu(), Precision::float64, 0, 1e-7};
                std::vector<double> seen;
                Rows out(rows.extents());
                const std::vector<double> mask(n_pixels, 1.0);
                ConvolutionPlan plan(request, choice, options);
                plan.convolve<double>(std::as_const(rows).view(), {mask.data(), {n_pixels}}, out.view(),
                                      [&](double done) {
                                          seen.push_back(done);
                                          return true;
                                      });
                ASSERT_GE(seen.size(), 2U) << to_string(method);
                EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end())) << to_string(method) << has_spin;
                EXPECT_GE(seen.front(), 0);
                EXPECT_LE(seen.front(), 0.5);
                EXPECT_NEAR(seen.back(), 1, 1e-9) << to_string(method) << has_spin;
                EXPECT_THROW(plan.convolve<double>(std::as_const(rows).view(), {mask.data(), {n_pixels}},
                                                   out.view(), [](double) { return false; }),
                             Cancelled);
            }
}

TEST(PlanDetails, FloatsAreRoundedOnceWhereDoublesDoTheWork) {
    const auto request = request_of(2);
    const auto rows = random_rows(2);
    Array<float, 2> in({2, n_pixels}), out({2, n_pixels});
    std::copy(rows.begin(), rows.end(), in.begin());
    Rows wide({2, n_pixels}), expected;
    std::copy(in.begin(), in.end(), wide.begin());
    for (const auto method : {harmonic, ring_fft, pixel_sum}) {
        const ConvolutionChoice choice{method, Device::cpu(), Precision::float64, 0, 1e-12};
        const auto result =
            ConvolutionPlan(request, choice).convolve<float>(std::as_const(in).view(), out.view());
        const auto exact = convolve(request, choice, wide, expected);
        for (std::int64_t i = 0; i < out.size(); ++i)
            ASSERT_EQ(out.data()[i], static_cast<float>(expected.data()[i])) << to_string(method);
        EXPECT_NEAR(result.certificates[1].bound.of_output - exact.certificates[1].bound.of_output, 0x1p-24,
                    1e-12);
        EXPECT_EQ(result.certificates[1].rms_in, exact.certificates[1].rms_in);
    }
}

TEST(PlanDetails, MasksThatHideAllAreRefusedAndThoseThatHideNothingAreAsNone) {
    const auto request = request_of(1);
    const auto rows = random_rows(1);
    const std::vector<double> ones(n_pixels, 1.0), zeros(n_pixels, 0.0);
    auto part = ones;
    part[3] = part[700] = 0;
    for (const auto method : {harmonic, ring_fft}) {
        const ConvolutionChoice choice{method, Device::cpu(), Precision::float64, 0, 1e-12};
        ConvolutionOptions strict;
        strict.mask.mode = MaskMode::error;
        ConvolutionPlan plan(request, choice), strict_plan(request, choice, strict);
        Rows out(rows.extents()), expected;
        convolve(request, choice, rows, expected);
        for (auto* one : {&plan, &strict_plan}) {
            const auto result =
                one->convolve<double>(std::as_const(rows).view(), {ones.data(), {n_pixels}}, out.view());
            EXPECT_LE(relative_difference(out, expected), 1e-13);
            EXPECT_EQ(result.masked_pixels, std::vector<std::int64_t>{0});
            EXPECT_EQ(result.unseen_pixels, std::vector<std::int64_t>{0});
        }
        const auto with = [&](ConvolutionPlan& one, const std::vector<double>& mask) {
            return one.convolve<double>(std::as_const(rows).view(), {mask.data(), {n_pixels}}, out.view());
        };
        EXPECT_THROW(with(plan, zeros), InvalidArgument);
        EXPECT_THAT([&] { with(strict_plan, part); }, ThrowsMessage<InvalidArgument>(HasSubstr("2 pixels")));
        const auto result = with(plan, part);
        EXPECT_EQ(result.masked_pixels, std::vector<std::int64_t>{2});
        EXPECT_EQ(result.unseen_pixels, std::vector<std::int64_t>{2});
        EXPECT_TRUE(is_unseen_value(out(0, 3)) && is_unseen_value(out(0, 700)));
    }
}

TEST(PlanDetails, PixelsWithoutAValueAreFoundWhereverTheyAreAndLargeOnesAreNone) {
    ConvolutionRequest request = request_of(1);
    request.grid = Grid::healpix(80);  // 76800 pixels
    request.lmax = 20;
    Rows rows({1, request.grid.n_pixels()}), out(rows.extents());
    ConvolutionPlan plan(request, {harmonic});
    for (const std::int64_t pixel :
         {std::int64_t{0}, std::int64_t{65535}, std::int64_t{65536}, rows.extent(1) - 1}) {
        std::fill(rows.begin(), rows.end(), 1.0);
        rows(0, pixel) = unseen_value;
        EXPECT_THAT([&] { plan.convolve<double>(std::as_const(rows).view(), out.view()); },
                    ThrowsMessage<InvalidArgument>(
                        HasSubstr("1 pixel is UNSEEN, the first is pixel " + std::to_string(pixel))));
    }
    rows(0, 0) = unseen_value;
    EXPECT_THAT([&] { plan.convolve<double>(std::as_const(rows).view(), out.view()); },
                ThrowsMessage<InvalidArgument>(HasSubstr("2 pixels are UNSEEN, the first is pixel 0")));
    std::fill(rows.begin(), rows.end(), 1.0);
    rows(0, 5) = 3e30;
    EXPECT_NO_THROW(plan.convolve<double>(std::as_const(rows).view(), out.view()));
}

TEST(PlanDetails, CertificatesOfAnalysesAreOfEachMapsOwnResidual) {
    for (const bool has_spin : {false, true}) {
        const auto request = request_of(2, has_spin, ConvolutionReference::continuous);
        const std::int64_t n = has_spin ? 2 : 1;
        auto rows = random_rows(2 * n);
        for (std::int64_t i = n * n_pixels; i < rows.size(); ++i) rows.data()[i] *= 7;
        ConvolutionChoice choice;
        choice.until_certified = true;
        Rows out;
        const auto result = convolve(request, choice, rows, out);
        ASSERT_EQ(result.analysis.power.size(), static_cast<std::size_t>(2 * n));
        const auto common = bound_of(request, choice, {}, result.analysis, 1);
        const auto windows = planning::windows_of(request, request.lmax);
        for (std::size_t map = 0; map < 2; ++map) {
            const auto& one = result.certificates.at(map);
            const auto begin = result.analysis.power.begin() + static_cast<std::ptrdiff_t>(map) * n;
            const double residual =
                planning::windowed_residual(request.grid, request.grid, windows, {begin, begin + n}, 1) /
                one.rms_in;
            EXPECT_NEAR(one.bound.quadrature / std::min(common.quadrature, residual), 1, 1e-9)
                << has_spin << map;
            EXPECT_LT(residual, common.quadrature);
            double squares = 0;
            for (std::int64_t i = 0; i < n * n_pixels; ++i)
                squares += std::pow(rows.data()[static_cast<std::int64_t>(map) * n * n_pixels + i], 2);
            EXPECT_NEAR(one.rms_in / std::sqrt(squares / n_pixels), 1, 1e-12);
            EXPECT_NEAR(one.bound.rounding / common.rounding, 1, 1e-9);
        }
    }
}

TEST(PlanDetails, AnalysesGoOnUntilEveryMapIsCertifiedAndNoFurther) {
    for (const bool has_spin : {false, true}) {
        auto request = request_of(2, has_spin, ConvolutionReference::continuous);
        auto rows = random_rows(has_spin ? 4 : 2);
        // The kernel leaves little of the second map, whose error is relative to that.
        for (std::int64_t i = rows.size() / 2; i < rows.size(); ++i) rows.data()[i] = i % 2 == 0 ? 1 : -1;
        std::vector<int> iterations;
        for (const double error : {1e-2, 1e-5, 1e-9}) {
            request.error = error;
            ConvolutionChoice choice;
            choice.until_certified = true;
            choice.iterations = 3;
            Rows out;
            const auto result = convolve(request, choice, rows, out);
            for (const auto& one : result.certificates) EXPECT_LE(one.error, error) << has_spin;
            iterations.push_back(result.analysis.iterations);
            // One iteration less does not certify both.
            if (iterations.back() == 0) continue;
            ConvolutionChoice less;
            less.iterations = iterations.back() - 1;
            const auto before = convolve(request, less, rows, out);
            double largest = 0;
            for (const auto& one : before.certificates) largest = std::max(largest, one.error);
            EXPECT_GT(largest, 0.5 * error) << has_spin << error;
        }
        EXPECT_LT(iterations[0], iterations[2]);
    }
}

TEST(PlanDetails, MapsWhoseSquaresAreNoNumbersHaveNoCertificateOfAnAnalysis) {
    const auto request = request_of(1, false, ConvolutionReference::continuous);
    ConvolutionChoice choice;
    choice.iterations = 1;
    const auto white = random_rows(1);
    for (const auto& [scale, is_known] :
         {std::pair{1e-131, false}, {1e-129, true}, {1e129, true}, {1e131, false}}) {
        auto rows = white;
        for (double& value : rows) value *= scale;
        Rows out;
        const auto result = convolve(request, choice, rows, out);
        EXPECT_EQ(std::isfinite(result.certificates[0].error), is_known) << scale;
    }
    Rows zero({1, n_pixels}), out;
    EXPECT_EQ(convolve(request, choice, zero, out).certificates[0].error, 0);
}

TEST(PlanDetails, RefuseThresholdsAndGridsThatAMethodDoesNotHave) {
    const auto refusal = [](auto change, ConvolutionMethod method = ring_fft) {
        return [change, method] {
            auto request = request_of(1);
            ConvolutionOptions options;
            ConvolutionChoice choice{method};
            change(request, choice, options);
            ConvolutionPlan(request, choice, options);
        };
    };
    for (const double threshold : {0.0, -0.1, 1.1, std::nan("")})
        EXPECT_THAT(refusal([threshold](auto&, auto&, auto& options) { options.mask.threshold = threshold; }),
                    ThrowsMessage<InvalidArgument>(HasSubstr("mask.threshold")));
    for (const double threshold : {1e-9, 1.0})
        EXPECT_NO_THROW(
            refusal([threshold](auto&, auto&, auto& options) { options.mask.threshold = threshold; })());
    EXPECT_THAT(
        refusal([](auto& request, auto&, auto&) { request.grid_out = Grid::healpix(4); }),
        ThrowsMessage<InvalidArgument>(HasSubstr("grid_out: only with method = harmonic, not ring-fft")));
    EXPECT_NO_THROW(
        refusal([](auto& request, auto&, auto&) { request.grid_out = Grid::healpix(4); }, harmonic)());
    EXPECT_THAT(
        refusal([](auto& request, auto&, auto& options) {
            request.polarization = PolarizationKernel::gaussian(0.5);
            options.keep_counts = true;
        }),
        ThrowsMessage<InvalidArgument>(HasSubstr("ring-fft of Q and U: only sums over pixels of spin 0")));
    EXPECT_THAT(refusal(
                    [](auto& request, auto&, auto& options) {
                        request.kernel = RadialKernel::from_window({0, 1, 1});
                        request.reference = ConvolutionReference::continuous;
                        options.mask.mode = MaskMode::renormalize;
                    },
                    harmonic),
                ThrowsMessage<InvalidArgument>(HasSubstr("integral is 0")));
}

TEST(PlanDetails, ResultsSayWhatWasDone) {
    const auto request = request_of(1);
    ConvolutionChoice choice{pixel_sum, Device::cpu(), Precision::float32, 0.7, 1e-6};
    choice.error = 3e-4;
    Rows out;
    const auto result = convolve(request, choice, random_rows(1), out);
    EXPECT_EQ(result.method, pixel_sum);
    EXPECT_EQ(result.precision, Precision::float32);
    EXPECT_EQ(result.support, 0.7);
    EXPECT_EQ(result.error, 3e-4);
    EXPECT_EQ(result.l_cut, -1);
    EXPECT_GT(result.certificate_seconds, 0);
    EXPECT_LT(result.certificate_seconds, result.seconds);
}

}  // namespace
}  // namespace zonal::test
