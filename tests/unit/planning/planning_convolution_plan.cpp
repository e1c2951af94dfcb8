#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "compare.hpp"
#include "convolution_helpers.hpp"
#include "polarization_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/split.hpp"
#include "zonal/split_convolution.hpp"

// Every method of a choice carried out, compared with the direct sum over all pairs of pixels.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Rows = Array<double, 2>;

constexpr std::int64_t nside = 8, lmax = 20;
constexpr double fwhm = 35 * degree;  // W_l has faded to 1e-6 at lmax

Rows random_rows(std::int64_t n_rows, unsigned seed) {
    const auto values = random_map(n_rows * 12 * nside * nside, seed);
    Rows rows({n_rows, 12 * nside * nside});
    std::copy(values.begin(), values.end(), rows.begin());
    return rows;
}

/// n_maps maps, of spin 0 or of Q and U, whose kernels end at lmax: sums and transforms are the same.
ConvolutionRequest request_of(bool has_spin, std::int64_t n_maps) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(nside);
    request.lmax = lmax;
    request.reference = ConvolutionReference::discrete;
    request.kernel = RadialKernel::from_window(gaussian_window(fwhm, lmax + 1));
    if (has_spin)
        request.polarization =
            PolarizationKernel(gaussian_window(fwhm, lmax + 1), gaussian_window(1.2 * fwhm, lmax + 1));
    request.n_maps = n_maps;
    request.threads = 1;
    return request;
}

ConvolutionChoice choice_of(ConvolutionMethod method, double support = 0) {
    ConvolutionChoice choice;
    choice.method = method;
    choice.support = support;
    return choice;
}

template <class T = double>
Rows convolved(ConvolutionPlan& plan, const Rows& rows) {
    Array<T, 2> in(rows.extents()), out(rows.extents());
    std::copy(rows.begin(), rows.end(), in.begin());
    plan.convolve<T>(std::as_const(in).view(), out.view());
    Rows result(rows.extents());
    std::copy(out.begin(), out.end(), result.begin());
    return result;
}

Rows direct_sums(const ConvolutionRequest& request, double support, const Rows& rows) {
    Rows out(rows.extents());
    const auto n_pixels = rows.extent(1);
    for (std::int64_t map = 0; map < request.n_maps; ++map)
        if (request.polarization)
            reference::convolve(request.grid, request.polarization->truncated(support), request.grid,
                                {rows.view()[2 * map].data(), {2, n_pixels}},
                                {out.view()[2 * map].data(), {2, n_pixels}});
        else
            reference::convolve(request.grid, request.kernel.truncated(support), request.grid,
                                rows.view()[map], out.view()[map]);
    return out;
}

TEST(ConvolutionPlan, SumsOverPixelsAreTheDirectSumOfTheCutKernel) {
    const double support = 40 * degree;
    for (const bool has_spin : {false, true})
        for (const auto method : {ConvolutionMethod::pixel_sum, ConvolutionMethod::ring_fft}) {
            const auto request = request_of(has_spin, 2);
            const auto rows = random_rows(has_spin ? 4 : 2, 3);
            const auto exact = direct_sums(request, support, rows);
            auto choice = choice_of(method, support);
            ConvolutionPlan plan(request, choice);
            // The default accuracy of the kernel's values, summed with either sign.
            EXPECT_LT(relative_difference(convolved(plan, rows), exact), 1e-11) << has_spin;
            choice.precision = Precision::float32;
            ConvolutionPlan single(request, choice);
            EXPECT_LT(relative_difference(convolved<float>(single, rows), exact), 2e-6) << has_spin;
        }
}

TEST(ConvolutionPlan, HarmonicSpaceWithoutIterationsIsTheDirectSum) {
    for (const bool has_spin : {false, true}) {
        const auto request = request_of(has_spin, 1);
        const auto rows = random_rows(has_spin ? 2 : 1, 5);
        ConvolutionPlan plan(request, choice_of(ConvolutionMethod::harmonic));
        // Rounding of transforms, of spin 2, too, and of the direct sum's profile.
        EXPECT_LT(relative_difference(convolved(plan, rows), direct_sums(request, std::numbers::pi, rows)),
                  2e-13)
            << has_spin;
    }
}

TEST(ConvolutionPlan, SplitsKeepTheErrorOfTheRequest) {
    auto request = request_of(false, 1);
    request.error = 1e-2;
    request.method = ConvolutionMethod::split;
    const auto choices = plan_convolution(request, default_cost_model(1));
    const auto split = std::find_if(choices.begin(), choices.end(), [](const auto& choice) {
        return choice.method == ConvolutionMethod::split && choice.excluded.empty();
    });
    ASSERT_NE(split, choices.end());
    const auto rows = random_rows(1, 7);
    const auto exact = direct_sums(request, std::numbers::pi, rows);
    ConvolutionPlan plan(request, *split);
    const auto result = convolved(plan, rows);
    double difference = 0, whole = 0;
    for (std::int64_t pixel = 0; pixel < rows.extent(1); ++pixel) {
        difference += (result(0, pixel) - exact(0, pixel)) * (result(0, pixel) - exact(0, pixel));
        whole += exact(0, pixel) * exact(0, pixel);
    }
    // A bound, alpha = 5 times the error that is estimated of the first split that keeps it.
    EXPECT_LT(std::sqrt(difference / whole), request.error);
}

TEST(ConvolutionPlan, SplitsWorkAsTheChoiceSays) {
    auto request = request_of(false, 1);
    ConvolutionChoice choice{ConvolutionMethod::split, Device::cpu(), Precision::float64, 0.8};
    choice.harmonic_device = Device::cpu();
    KernelSplitOptions splitting;
    splitting.theta_cut = 0.8;
    splitting.threads = 1;
    choice.split = std::make_shared<const KernelSplit>(
        KernelSplitter(request.kernel.window(lmax + 1), splitting).split(8));
    const auto rows = random_rows(1, 8);
    for (const auto precision : {Precision::float64, Precision::float32})
        for (const double accuracy : {1e-3, 1e-6})
            for (const int threads : {1, 2}) {
                choice.precision = precision;
                choice.accuracy = accuracy;
                request.threads = threads;
                SplitConvolutionOptions options;
                options.precision = precision;
                options.accuracy = accuracy;
                options.threads = threads;
                options.pixel_device = options.harmonic_device = Device::cpu();
                const SplitConvolutionPlan expected(request.grid, *choice.split, options);
                ConvolutionPlan plan(request, choice);
                Rows out(rows.extents());
                expected.convolve<double>(rows.view(), out.view());
                EXPECT_TRUE(std::ranges::equal(convolved(plan, rows), out)) << accuracy << ' ' << threads;
                const double products = 2.0 * static_cast<double>(rows.size()) * sizeof(double);
                EXPECT_EQ(plan.scratch_bytes(false), products + expected.scratch_bytes(1));
            }
    for (auto device : {&ConvolutionChoice::device, &ConvolutionChoice::harmonic_device}) {
        auto absent = choice;
        absent.*device = Device::cuda(1000);
        EXPECT_THROW(ConvolutionPlan(request, absent), BackendUnavailable);
    }
}

TEST(ConvolutionPlan, MasksMeanTheSameInHarmonicSpaceAndInSumsOverPixels) {
    for (const bool has_spin : {false, true})
        for (const auto mode : {MaskMode::zero, MaskMode::renormalize})
            for (const bool fill : {false, true}) {
                const auto request = request_of(has_spin, 1);
                auto rows = random_rows(has_spin ? 2 : 1, 11);
                Array<double, 1> mask({rows.extent(1)});
                for (std::int64_t pixel = 0; pixel < mask.size(); ++pixel)
                    mask(pixel) = pixel < 300 ? 0 : pixel < 400 ? 0.5 : 1;
                rows(0, 500) = unseen_value;
                const ConvolutionOptions options{.mask = {mode, 0.1, fill}};
                Rows harmonic(rows.extents()), sums(rows.extents());
                const auto in = std::as_const(rows).view();
                const auto m = std::as_const(mask).view();
                const auto a = ConvolutionPlan(request, choice_of(ConvolutionMethod::harmonic), options)
                                   .convolve<double>(in, m, harmonic.view());
                const auto b = ConvolutionPlan(request, choice_of(ConvolutionMethod::pixel_sum), options)
                                   .convolve<double>(in, m, sums.view());
                EXPECT_EQ(a.masked_pixels, b.masked_pixels);
                EXPECT_EQ(a.masked_pixels[0], 301);
                EXPECT_EQ(a.unseen_pixels, b.unseen_pixels);
                // Of kept shares above a tenth, the sums' error, 4e-12 of the largest, is ten times that of
                // whole maps.
                for (std::int64_t i = 0; i < rows.size(); ++i)
                    ASSERT_NEAR(harmonic.data()[i], sums.data()[i], 4e-11)
                        << has_spin << fill << ' ' << i << ' ' << static_cast<int>(mode);
            }
}

TEST(ConvolutionPlan, HidesExactlyThePixelsWhoseShareIsBelowTheThreshold) {
    for (const bool has_spin : {false, true})
        for (const double integral : {1.0, -2.5}) {
            auto request = request_of(has_spin, 1);
            request.kernel = request.kernel.scaled(integral);
            auto rows = random_rows(has_spin ? 2 : 1, 11);
            Array<double, 1> mask({rows.extent(1)});
            for (std::int64_t pixel = 0; pixel < mask.size(); ++pixel) mask(pixel) = pixel < 400 ? 0 : 0.9;
            // What the kernel of spin 0 makes of the mask, over its integral.
            Array<double, 1> share({rows.extent(1)});
            reference::convolve(request.grid, request.kernel, request.grid, std::as_const(mask).view(),
                                share.view());
            for (double& one : share) one /= request.kernel.window(0)[0];
            for (const auto method : {ConvolutionMethod::harmonic, ConvolutionMethod::pixel_sum})
                for (const double threshold : {0.1, 0.35, 0.8}) {
                    Rows out(rows.extents());
                    ConvolutionPlan(request, choice_of(method),
                                    {.mask = {MaskMode::renormalize, threshold, true}})
                        .convolve<double>(std::as_const(rows).view(), std::as_const(mask).view(), out.view());
                    std::int64_t n_hidden = 0;
                    for (std::int64_t pixel = 0; pixel < mask.size(); ++pixel) {
                        if (std::abs(share(pixel) - threshold) < 1e-9) continue;
                        n_hidden += share(pixel) < threshold ? 1 : 0;
                        ASSERT_EQ(is_unseen_value(out(0, pixel)), share(pixel) < threshold)
                            << has_spin << integral << to_string(method) << threshold << ", " << pixel;
                    }
                    EXPECT_GT(n_hidden, 30);
                    EXPECT_LT(n_hidden, 600);
                }
        }
}

TEST(ConvolutionPlan, MultipliesConstantMapsByTheKernelsIntegralWhateverTheMask) {
    const auto request = request_of(false, 1);
    Rows rows({1, 12 * nside * nside}), out(rows.extents());
    std::fill(rows.begin(), rows.end(), 3.0);
    for (std::int64_t pixel = 0; pixel < 250; ++pixel) rows(0, pixel) = unseen_value;
    const ConvolutionOptions options{.mask = {MaskMode::renormalize, 0.1, false}};
    const auto result = ConvolutionPlan(request, choice_of(ConvolutionMethod::ring_fft), options)
                            .convolve<double>(std::as_const(rows).view(), {}, out.view());
    EXPECT_EQ(result.unseen_pixels[0], 250);
    // The kernel's errors cancel in the quotient; what rounds are sums and FFTs of the map and the mask.
    const double expected = 3 * request.kernel.window(0)[0];
    ASSERT_GT(expected, 3.4);
    for (std::int64_t pixel = 250; pixel < rows.extent(1); ++pixel)
        ASSERT_NEAR(out(0, pixel), expected, expected * 64 * std::numeric_limits<double>::epsilon()) << pixel;
}

TEST(ConvolutionPlan, KeepsCounts) {
    const auto request = request_of(false, 1);
    Rows rows({1, 12 * nside * nside}), out(rows.extents());
    rows(0, 100) = 7;
    rows(0, 0) = 2;
    auto counts = request;
    counts.kernel = RadialKernel::gaussian(fwhm);
    ConvolutionPlan(counts, choice_of(ConvolutionMethod::pixel_sum, 60 * degree), {.keep_counts = true})
        .convolve<double>(std::as_const(rows).view(), out.view());
    double sum = 0;
    for (const double value : out) sum += value;
    // Of thousands of terms, as in a random walk.
    EXPECT_NEAR(sum, 9, 9 * 32 * std::numeric_limits<double>::epsilon());
}

TEST(ConvolutionPlan, SaysWhatAMethodCannotDo) {
    const auto request = request_of(false, 1);
    EXPECT_THAT(
        ([&] { ConvolutionPlan(request, choice_of(ConvolutionMethod::harmonic), {.keep_counts = true}); }),
        ThrowsMessage<InvalidArgument>(HasSubstr("keep_counts: method = harmonic")));
    EXPECT_THAT(([&] { ConvolutionPlan(request, choice_of(ConvolutionMethod::split)); }),
                ThrowsMessage<InvalidArgument>(HasSubstr("choice.split: is empty")));
    auto excluded = choice_of(ConvolutionMethod::ring_fft);
    excluded.excluded = "too wide";
    EXPECT_THAT(([&] { ConvolutionPlan(request, excluded); }),
                ThrowsMessage<InvalidArgument>(HasSubstr("too wide")));
    ConvolutionPlan plan(request, choice_of(ConvolutionMethod::ring_fft));
    Rows rows({2, 12 * nside * nside}), out(rows.extents());
    EXPECT_THAT(([&] { plan.convolve<double>(std::as_const(rows).view(), out.view()); }),
                ThrowsMessage<InvalidArgument>(HasSubstr("maps: axis 0 (row)")));
    ConvolutionPlan strict(request, choice_of(ConvolutionMethod::ring_fft),
                           {.mask = {.mode = MaskMode::error}});
    Rows row({1, 12 * nside * nside});
    row(0, 5) = unseen_value;
    EXPECT_THAT(([&] { strict.convolve<double>(std::as_const(row).view(), {}, out.view().slice(0, 1)); }),
                ThrowsMessage<InvalidArgument>(HasSubstr("1 pixels are UNSEEN or masked")));
}

TEST(ConvolutionPlan, RefusesGapsBetweenRowsAndMasksOfAnotherGrid) {
    auto request = request_of(false, 1);
    request.n_maps = 2;
    const std::int64_t n = 12 * nside * nside;
    Rows rows({2, n}), out({2, n});
    const std::vector<double> padded(static_cast<std::size_t>(2 * n + 3), 1);
    const Array<double, 1> short_mask({n - 1});
    for (const auto method : {ConvolutionMethod::ring_fft, ConvolutionMethod::harmonic}) {
        ConvolutionPlan plan(request, choice_of(method));
        const View<const double, 2> gaps(padded.data(), {2, n}, {n + 3, 1});
        EXPECT_THAT(([&] { plan.convolve<double>(gaps, out.view()); }),
                    ThrowsMessage<InvalidArgument>(HasSubstr("maps: rows are")));
        EXPECT_THAT(
            ([&] { plan.convolve<double>(std::as_const(rows).view(), short_mask.view(), out.view()); }),
            ThrowsMessage<InvalidArgument>(HasSubstr("mask: axis 0 (pixel)")));
    }
}

TEST(ConvolutionPlan, DoesNotSpreadPixelsWithoutAValue) {
    const auto request = request_of(false, 1);
    Rows row({1, 12 * nside * nside}), out(row.extents());
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto method : {ConvolutionMethod::ring_fft, ConvolutionMethod::harmonic})
        for (const auto& [value, complaint] :
             {std::pair(unseen_value, "maps[0]: 1 pixel is UNSEEN, the first is pixel 5"),
              std::pair(nan, "maps[0]: 1 pixel is NaN, the first is pixel 5")}) {
            row(0, 5) = value;
            ConvolutionPlan plan(request, choice_of(method));
            EXPECT_THAT(([&] { plan.convolve<double>(std::as_const(row).view(), out.view()); }),
                        ThrowsMessage<InvalidArgument>(HasSubstr(complaint)));
        }
}

TEST(ConvolutionPlan, RefusesWeightsOfAnotherGrid) {
    const auto request = request_of(false, 1);
    const Array<double, 1> few({3});
    Array<double, 1> negative({12 * nside * nside});
    negative(0) = -1;
    for (const auto method : {ConvolutionMethod::ring_fft, ConvolutionMethod::harmonic})
        for (const auto& one :
             {std::pair(ConvolutionOptions{.ring_weights = {1, 2}}, "ring_weights: has length 2: must be"),
              std::pair(ConvolutionOptions{.pixel_weights = few.view()}, "pixel_weights: axis 0 (pixel)"),
              std::pair(ConvolutionOptions{.pixel_weights = negative.view()},
                        "pixel_weights[0] = -1: must be")})
            EXPECT_THAT(([&] { ConvolutionPlan(request, choice_of(method), one.first); }),
                        ThrowsMessage<InvalidArgument>(HasSubstr(one.second)));
}

}  // namespace
}  // namespace zonal::test
