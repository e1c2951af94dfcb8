#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "distributed/halo.hpp"
#include "distributed_helpers.hpp"
#include "zonal/distributed/sky.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/split.hpp"

namespace zonal::test {
namespace {

/// What a convolution does on some ranks, and by one process.
struct Case {
    const char* name;
    ConvolutionRequest request;
    ConvolutionChoice choice;
    ConvolutionOptions options{};
    bool is_masked = false;
};

ConvolutionRequest request_of(double fwhm, bool has_spin) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(32);
    request.kernel = RadialKernel::gaussian(fwhm);
    if (has_spin) request.polarization = PolarizationKernel::gaussian(fwhm);
    request.lmax = 64;
    request.n_maps = has_spin ? 1 : 2;
    request.error = 1e-3;
    request.gain = 0.01;
    request.threads = 1;
    return request;
}

ConvolutionChoice choice_of(ConvolutionMethod method, double support = 0) {
    ConvolutionChoice choice;
    choice.method = method;
    choice.support = support;
    choice.accuracy = method == ConvolutionMethod::harmonic ? 0 : 1e-10;
    return choice;
}

ConvolutionChoice split_of(const ConvolutionRequest& request) {
    auto choice = choice_of(ConvolutionMethod::split);
    choice.accuracy = 1e-7;
    choice.l_cut = 20;
    const auto window = request.kernel.window(95);
    KernelSplitOptions options;
    options.theta_cut = 0.7;
    options.threads = 1;
    if (request.polarization) options.spin = 2;
    choice.split = std::make_shared<const KernelSplit>(KernelSplitter(window, options).split(choice.l_cut));
    return choice;
}

std::vector<Case> cases() {
    using enum ConvolutionMethod;
    std::vector<Case> all;
    for (const bool has_spin : {false, true}) {
        const auto narrow = request_of(0.1, has_spin), wide = request_of(0.6, has_spin);
        all.push_back({"pixel sum", narrow, choice_of(pixel_sum, 0.25)});
        all.push_back({"ring FFT", narrow, choice_of(ring_fft, 0.3)});
        all.push_back({"ring FFT of the whole sky", wide, choice_of(ring_fft)});
        all.push_back({"harmonic space", narrow, choice_of(harmonic)});
        all.push_back({"split", wide, split_of(wide)});
        Case masked{"mask", narrow, choice_of(ring_fft, 0.3)};
        masked.is_masked = true;
        all.push_back(masked);
        masked.name = "renormalised";
        masked.options.mask.mode = MaskMode::renormalize;
        all.push_back(masked);
    }
    for (const auto method : {pixel_sum, ring_fft}) {
        Case counts{"counts", request_of(0.1, false), choice_of(method, 0.3)};
        counts.options.keep_counts = true;
        all.push_back(counts);
        counts.is_masked = true;
        all.push_back(counts);
    }
    return all;
}

Array<double, 2> maps_of(const Case& one) {
    const std::int64_t n_rows = one.request.n_maps * (one.request.polarization ? 2 : 1);
    Array<double, 2> maps({n_rows, one.request.grid.n_pixels()});
    const auto random = random_map(one.request.grid, 1, n_rows, 3);
    std::copy_n(random.data(), maps.size(), maps.data());
    return maps;
}

Array<double, 1> mask_of(const Case& one) {
    if (!one.is_masked) return Array<double, 1>({0});
    Array<double, 1> mask({one.request.grid.n_pixels()});
    for (std::int64_t i = 0; i < mask.size(); ++i) mask(i) = i % 1000 < 300 ? 0 : i % 7 == 0 ? 0.5 : 1;
    return mask;
}

/// [row, pixel] of a rank's pixels.
template <int N>
Array<double, N> part_of_rows(const Array<double, N>& rows, std::span<const PixelRange> pixels) {
    std::int64_t n = 0;
    for (const auto& range : pixels) n += range.end - range.first;
    const std::int64_t whole = rows.extents()[N - 1], n_rows = whole == 0 ? 0 : rows.size() / whole;
    auto extents = rows.extents();
    extents[N - 1] = whole == 0 ? 0 : n;
    Array<double, N> part(extents);
    for (std::int64_t row = 0; row < n_rows; ++row) {
        double* to = part.data() + row * n;
        for (const auto& range : pixels)
            to =
                std::copy(rows.data() + row * whole + range.first, rows.data() + row * whole + range.end, to);
    }
    return part;
}

ConvolutionResult convolve(const Case& one, const ConvolutionOptions& options, const Array<double, 2>& maps,
                           const Array<double, 1>& mask, Array<double, 2>& convolved) {
    ConvolutionPlan plan(one.request, one.choice, options);
    return one.is_masked ? plan.convolve<double>(maps.view(), mask.view(), convolved.view())
                         : plan.convolve<double>(maps.view(), convolved.view());
}

TEST(DistributedConvolution, FindsWhatOneProcessFinds) {
    for (const Case& one : cases()) {
        SCOPED_TRACE(one.name);
        const auto maps = maps_of(one);
        const auto mask = mask_of(one);
        Array<double, 2> expected(maps.extents());
        double largest = 0;
        for (std::int64_t i = 0; i < maps.size(); ++i) largest = std::max(largest, std::abs(maps.data()[i]));
        const auto whole = convolve(one, one.options, maps, mask, expected);
        for (const int n_ranks : {1, 2, 3, 5}) {
            SCOPED_TRACE(n_ranks);
            const std::vector<double> speeds =
                n_ranks == 3 ? std::vector{1.0, 3.0, 2.0} : std::vector<double>();
            const auto errors = on_ranks(n_ranks, [&](const Communicator& ranks) {
                const DistributedSky sky(ranks, one.request.grid, 64, 64, 1, speeds);
                const auto here = part_of_rows(maps, sky.pixels());
                const auto mask_here = part_of_rows(mask, sky.pixels());
                Array<double, 2> found(here.extents());
                auto options = one.options;
                options.part = sky.part();
                const auto result = convolve(one, options, here, mask_here, found);
                const auto wanted = part_of_rows(expected, sky.pixels());
                // Sums over the discs of pixels may be made in another order near the end of a rank's rings:
                // they have fewer than 400 terms, whose absolute values add up to the largest pixel at most
                // and which round as in a random walk.
                const bool is_sum = one.choice.method == ConvolutionMethod::pixel_sum;
                const double tolerance = is_sum ? 20 * std::numeric_limits<double>::epsilon() * largest : 0;
                for (std::int64_t i = 0; i < found.size(); ++i)
                    ASSERT_LE(std::abs(found.data()[i] - wanted.data()[i]), tolerance)
                        << one.name << ", " << n_ranks << " ranks, pixel " << i;
                ASSERT_EQ(result.masked_pixels, whole.masked_pixels);
                ASSERT_EQ(result.unseen_pixels, whole.unseen_pixels);
                ASSERT_EQ(result.certificates.size(), whole.certificates.size());
                for (std::size_t i = 0; i < whole.certificates.size(); ++i) {
                    const double error = whole.certificates[i].error;
                    ASSERT_TRUE(result.certificates[i].error == error ||  // infinite of renormalised Q and U
                                std::abs(result.certificates[i].error - error) <= 1e-6 * error);
                    ASSERT_NEAR(result.certificates[i].rms_in, whole.certificates[i].rms_in,
                                1e-14 * whole.certificates[i].rms_in);
                }
            });
            EXPECT_THAT(errors, testing::Each(""));
        }
    }
}

TEST(DistributedConvolution, ThrowsOnAllRanksWhatIsWrongOnOne) {
    const auto request = request_of(0.1, false);
    const auto errors = on_ranks(3, [&](const Communicator& ranks) {
        const DistributedSky sky(ranks, request.grid, 64, 64, 1);
        ConvolutionOptions options;
        options.part = sky.part();
        ConvolutionPlan plan(request, choice_of(ConvolutionMethod::ring_fft, 0.3), options);
        const std::int64_t n = sky.grid().n_pixels() + (ranks.rank() == 1 ? 1 : 0);
        Array<double, 2> maps({2, n}), convolved({2, n});
        plan.convolve<double>(maps.view(), convolved.view());
    });
    EXPECT_THAT(errors, testing::Each(testing::HasSubstr("rank 1: maps: ")));
}

}  // namespace
}  // namespace zonal::test
