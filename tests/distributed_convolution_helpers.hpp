#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "distributed_helpers.hpp"
#include "zonal/distributed/sky.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/split.hpp"

/// Convolutions over ranks, beside one process on the CPU.
namespace zonal::test {

/// What a convolution does on some ranks, and by one process.
struct RankConvolution {
    const char* name;
    ConvolutionRequest request;
    ConvolutionChoice choice;
    ConvolutionOptions options{};
    bool is_masked = false;
};

inline ConvolutionRequest narrow_request(double fwhm, bool has_spin) {
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

inline ConvolutionChoice rank_choice(ConvolutionMethod method, double support = 0) {
    ConvolutionChoice choice;
    choice.method = method;
    choice.support = support;
    choice.accuracy = method == ConvolutionMethod::harmonic ? 0 : 1e-10;
    return choice;
}

inline ConvolutionChoice split_of(const ConvolutionRequest& request) {
    auto choice = rank_choice(ConvolutionMethod::split);
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

inline std::vector<RankConvolution> rank_convolutions() {
    using enum ConvolutionMethod;
    std::vector<RankConvolution> all;
    for (const bool has_spin : {false, true}) {
        const auto narrow = narrow_request(0.1, has_spin), wide = narrow_request(0.6, has_spin);
        all.push_back({"pixel sum", narrow, rank_choice(pixel_sum, 0.25)});
        all.push_back({"ring FFT", narrow, rank_choice(ring_fft, 0.3)});
        all.push_back({"ring FFT of the whole sky", wide, rank_choice(ring_fft)});
        all.push_back({"harmonic space", narrow, rank_choice(harmonic)});
        all.push_back({"split", wide, split_of(wide)});
        RankConvolution masked{"mask", narrow, rank_choice(ring_fft, 0.3)};
        masked.is_masked = true;
        all.push_back(masked);
        masked.name = "renormalised";
        masked.options.mask.mode = MaskMode::renormalize;
        all.push_back(masked);
    }
    for (const auto method : {pixel_sum, ring_fft}) {
        RankConvolution counts{"counts", narrow_request(0.1, false), rank_choice(method, 0.3)};
        counts.options.keep_counts = true;
        all.push_back(counts);
        counts.is_masked = true;
        all.push_back(counts);
    }
    return all;
}

inline Array<double, 2> maps_of(const RankConvolution& one) {
    const std::int64_t n_rows = one.request.n_maps * (one.request.polarization ? 2 : 1);
    Array<double, 2> maps({n_rows, one.request.grid.n_pixels()});
    const auto random = random_map(one.request.grid, 1, n_rows, 3);
    std::copy_n(random.data(), maps.size(), maps.data());
    return maps;
}

inline Array<double, 1> mask_of(const RankConvolution& one) {
    if (!one.is_masked) return Array<double, 1>({0});
    Array<double, 1> mask({one.request.grid.n_pixels()});
    for (std::int64_t i = 0; i < mask.size(); ++i) mask(i) = i % 1000 < 300 ? 0 : i % 7 == 0 ? 0.5 : 1;
    return mask;
}

/// [row, pixel] of a rank's pixels.
template <class T, int N>
Array<T, N> part_of_rows(const Array<T, N>& rows, std::span<const PixelRange> pixels) {
    std::int64_t n = 0;
    for (const auto& range : pixels) n += range.end - range.first;
    const std::int64_t whole = rows.extents()[N - 1], n_rows = whole == 0 ? 0 : rows.size() / whole;
    auto extents = rows.extents();
    extents[N - 1] = whole == 0 ? 0 : n;
    Array<T, N> part(extents);
    for (std::int64_t row = 0; row < n_rows; ++row) {
        T* to = part.data() + row * n;
        for (const auto& range : pixels)
            to =
                std::copy(rows.data() + row * whole + range.first, rows.data() + row * whole + range.end, to);
    }
    return part;
}

inline ConvolutionResult convolve(const RankConvolution& one, Device device,
                                  const ConvolutionOptions& options, const Array<double, 2>& maps,
                                  const Array<double, 1>& mask, Array<double, 2>& convolved) {
    auto choice = one.choice;
    choice.device = choice.harmonic_device = device;
    ConvolutionPlan plan(one.request, choice, options);
    return one.is_masked ? plan.convolve<double>(maps.view(), mask.view(), convolved.view())
                         : plan.convolve<double>(maps.view(), convolved.view());
}

/// Expects of ranks with these devices what one process finds. tolerance: of the largest pixel of the maps.
inline void expect_one_process(const RankConvolution& one, const Devices& devices,
                               const std::vector<double>& speeds, double tolerance) {
    SCOPED_TRACE(::testing::Message() << one.name << ", " << devices.size() << " ranks");
    const auto maps = maps_of(one);
    const auto mask = mask_of(one);
    Array<double, 2> expected(maps.extents());
    double largest = 0;
    for (std::int64_t i = 0; i < maps.size(); ++i) largest = std::max(largest, std::abs(maps.data()[i]));
    const auto whole = convolve(one, Device::cpu(), one.options, maps, mask, expected);
    const auto errors = on_ranks(devices, [&](const Communicator& ranks, Device device) {
        const DistributedSky sky(ranks, one.request.grid, 64, 64, 1, speeds, device);
        const auto here = part_of_rows(maps, sky.pixels());
        const auto mask_here = part_of_rows(mask, sky.pixels());
        Array<double, 2> found(here.extents());
        auto options = one.options;
        options.part = sky.part();
        const auto result = convolve(one, device, options, here, mask_here, found);
        const auto wanted = part_of_rows(expected, sky.pixels());
        for (std::int64_t i = 0; i < found.size(); ++i)
            ASSERT_LE(std::abs(found.data()[i] - wanted.data()[i]), tolerance * largest) << "pixel " << i;
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

}  // namespace zonal::test
