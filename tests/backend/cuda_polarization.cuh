#pragma once

#include "convolution_helpers.hpp"
#include "cuda_helpers.cuh"
#include "polarization_helpers.hpp"

/// Convolutions of Q and U on the device against the CPU's.
namespace zonal::test {

inline PixelConvolutionOptions options_on(Device device, PixelMethod method, Precision precision) {
    PixelConvolutionOptions options;
    options.device = device;
    options.method = method;
    options.precision = precision;
    return options;
}

/// From host memory or, copied there, from the device's; 7 in pixels of no ring.
template <class T>
Array<T, 3> convolved(const PolarizationConvolutionPlan& plan, const Maps& maps, bool on_device = true) {
    Array<T, 3> in(maps.extents()), out({maps.extent(0), 2, plan.grid_out().n_pixels()});
    std::copy(maps.begin(), maps.end(), in.begin());
    std::fill(out.begin(), out.end(), T(7));
    if (!on_device) {
        plan.convolve<T>(in.view(), out.view());
        return out;
    }
    const OnDevice<T> device_in(in), device_out(out);
    plan.convolve<T>(device_in.view(), device_out.view());
    return device_out.host();
}

inline Maps on_cpu(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out, const Maps& maps,
                   PixelMethod method) {
    const auto options = options_on(Device::cpu(), method, Precision::float64);
    return convolved<double>(PolarizationConvolutionPlan(grid, kernel, grid_out, options), maps, false);
}

/// The largest difference from the CPU in double precision, of the maximum.
template <class T>
double error_of(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out, PixelMethod method,
                Precision precision, bool on_device = true) {
    const Maps maps = random_maps(1, grid, 3);
    const PolarizationConvolutionPlan cuda(grid, kernel, grid_out,
                                           options_on(Device::cuda(0), method, precision));
    return relative_difference(convolved<T>(cuda, maps, on_device),
                               on_cpu(grid, kernel, grid_out, maps, method));
}

/// On the device, some rings are those of all, and pixels of others stay as they are.
inline void expect_rings_of_whole(const Grid& whole, const Grid& some, const PolarizationKernel& kernel,
                                  PixelMethod method, double tolerance) {
    const Maps maps = random_maps(1, whole, 1);
    const Maps expected = on_cpu(whole, kernel, whole, maps, method);
    const PolarizationConvolutionPlan plan(whole, kernel, some,
                                           options_on(Device::cuda(0), method, Precision::float64));
    std::int64_t asked = 0;
    for (const Ring& ring : some.rings()) asked += 2 * ring.n_pixels;
    for (const bool on_device : {true, false}) {
        Maps out = convolved<double>(plan, maps, on_device);
        std::int64_t left = 0;
        for (std::int64_t k = 0; k < out.size(); ++k)
            if (out.data()[k] == 7) ++left, out.data()[k] = expected.data()[k];
        EXPECT_EQ(left, out.size() - asked);
        EXPECT_LT(relative_difference(out, expected), tolerance);
    }
}

/// Maps at once are those one by one, to the last bit, from both kinds of memory.
inline void expect_batch_of_single_maps(const PolarizationConvolutionPlan& plan) {
    const std::int64_t n_maps = 5;
    const Maps maps = random_maps(n_maps, plan.grid(), 1);
    const std::int64_t size_in = 2 * plan.grid().n_pixels(), size_out = 2 * plan.grid_out().n_pixels();
    for (const bool on_device : {true, false}) {
        const auto batch = convolved<float>(plan, maps, on_device);
        for (std::int64_t map = 0; map < n_maps; ++map) {
            Maps one({1, 2, plan.grid().n_pixels()});
            std::copy_n(maps.data() + map * size_in, size_in, one.data());
            const auto single = convolved<float>(plan, one);
            EXPECT_TRUE(std::equal(single.begin(), single.end(), batch.data() + map * size_out));
        }
    }
}

/// A stream of the caller's gives the same bits as no stream, however often.
inline void expect_same_on_stream(const PolarizationConvolutionPlan& plan) {
    const Maps maps = random_maps(1, plan.grid(), 1), expected = convolved<double>(plan, maps);
    const OnDevice<double> in(maps), out(expected);
    const core::OwnStream stream;
    PixelConvolutionWorkspace workspace = plan.make_workspace();
    workspace.use_stream(stream.get());
    for (int call = 0; call < 3; ++call) {
        plan.convolve<double>(in.view(), out.view(), workspace);
        core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
        const Maps result = out.host();
        EXPECT_TRUE(std::equal(result.begin(), result.end(), expected.begin()));
    }
}

inline PolarizationKernel oscillating_kernel() {
    return PolarizationKernel(random_windows(24, 1), random_windows(20, 2));
}

}  // namespace zonal::test
