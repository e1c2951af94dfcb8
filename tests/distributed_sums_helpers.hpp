#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "distributed_convolution_helpers.hpp"
#include "zonal/buffer.hpp"
#include "zonal/distributed/convolution.hpp"

/// Sums over pixels by ranks, beside one process on the CPU.
namespace zonal::test {

/// [map, component, pixel] as a convolution by this kernel takes it.
template <class Kernel, class T>
auto maps_of_kernel(View<T, 3> maps) {
    if constexpr (KernelConvolutionPlan<Kernel>::rank == 3)
        return maps;
    else
        return View<T, 2>(maps.data(), {maps.extent(0), maps.extent(2)}, maps.space());
}

/// Maps, and what one process makes of them. T: of the maps.
template <class Kernel, class T>
class RankSums {
  public:
    using Plan = KernelConvolutionPlan<Kernel>;

    RankSums(const Grid& grid, const Kernel& kernel, PixelConvolutionOptions options, std::int64_t n_maps)
        : grid_(grid),
          kernel_(kernel),
          options_(options),
          maps_({n_maps, Plan::rank - 1, grid.n_pixels()}),
          expected_(maps_.extents()) {
        const auto random = random_map(grid, n_maps, Plan::rank - 1, 3);
        std::copy_n(random.data(), maps_.size(), maps_.data());
        for (const T value : maps_) largest_ = std::max(largest_, std::abs(static_cast<double>(value)));
        options.device = Device::cpu();
        options.threads = 1;
        Plan(grid, kernel, grid, options)
            .template convolve<T>(as_given<const T>(std::as_const(maps_).view()),
                                  as_given<T>(expected_.view()));
    }

    /// Expects it of ranks, in one call after another. tolerance: of the largest pixel of the maps.
    /// on_device: [rank], whether arrays are on the rank's device; empty: nowhere.
    void expect_of(const Devices& devices, double tolerance, const std::vector<double>& speeds = {},
                   const std::vector<bool>& on_device = {}) const {
        const auto errors = on_ranks(devices, [&](const Communicator& ranks, Device device) {
            const DistributedSky sky(ranks, grid_, 64, 64, 1, speeds, device);
            DistributedConvolutionPlan<Kernel> plan(sky, kernel_, options_);
            const bool is_there = !on_device.empty() && on_device[static_cast<std::size_t>(ranks.rank())];
            for (const std::int64_t n_maps : {std::int64_t{1}, maps_.extent(0), std::int64_t{1}})
                expect_call(plan, n_maps, is_there ? device : Device::cpu(), tolerance);
        });
        EXPECT_THAT(errors, testing::Each(""));
    }

  private:
    template <class Element>
    static auto as_given(View<Element, 3> maps) {
        return maps_of_kernel<Kernel, Element>(maps);
    }

    /// Expects this of the first maps. place: where the arrays lie.
    void expect_call(DistributedConvolutionPlan<Kernel>& plan, std::int64_t n_maps, Device place,
                     double tolerance) const {
        const auto here = part_of_rows(maps_, plan.sky().pixels()),
                   wanted = part_of_rows(expected_, plan.sky().pixels());
        Array<T, 3> some({n_maps, here.extent(1), here.extent(2)}), found(some.extents());
        std::copy_n(here.data(), some.size(), some.data());
        const auto bytes = some.size() * static_cast<std::int64_t>(sizeof(T));
        Buffer maps(place, bytes), convolved(place, bytes);
        maps.copy_from(some.data());
        convolved.clear();
        plan.template convolve<T>(as_given<const T>(maps.view<const T, 3>(some.extents())),
                                  as_given<T>(convolved.view<T, 3>(some.extents())));
        convolved.copy_to(found.data());
        for (std::int64_t i = 0; i < found.size(); ++i)
            ASSERT_LE(std::abs(static_cast<double>(found.data()[i]) - static_cast<double>(wanted.data()[i])),
                      tolerance * largest_)
                << "pixel " << i << " of " << n_maps << " maps";
    }

    Grid grid_;
    Kernel kernel_;
    PixelConvolutionOptions options_;
    Array<T, 3> maps_, expected_;
    double largest_ = 0;
};

inline PixelConvolutionOptions rank_sum_options(PixelMethod method) {
    PixelConvolutionOptions options;
    options.method = method;
    options.accuracy = 1e-10;
    return options;
}

/// Calls expect(sums, method) with maps of one field and of Q and U, in double and in single precision.
template <class Expect>
void for_all_sums(const Grid& grid, const Expect& expect) {
    const auto kernel = RadialKernel::gaussian(0.1).truncated(0.3);
    const auto of_pairs = PolarizationKernel::gaussian(0.1).truncated(0.3);
    for (const auto method : {PixelMethod::pixel_sum, PixelMethod::ring_fft}) {
        const auto options = rank_sum_options(method);
        expect(RankSums<RadialKernel, double>(grid, kernel, options, 3), method);
        expect(RankSums<RadialKernel, float>(grid, kernel, options, 3), method);
        expect(RankSums<PolarizationKernel, double>(grid, of_pairs, options, 2), method);
        expect(RankSums<PolarizationKernel, float>(grid, of_pairs, options, 2), method);
    }
}

}  // namespace zonal::test
