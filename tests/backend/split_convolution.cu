// Split kernels whose parts work on a device, on two streams of it, and beside the CPU, against both on the
// CPU.
#include "zonal/split_convolution.hpp"

#include <cmath>
#include <thread>

#include "backend/cuda_helpers.cuh"
#include "zonal/window.hpp"

namespace zonal::test {
namespace {

class SplitConvolutionOnCuda : public OnCuda {};

constexpr std::int64_t lmax = 192;
/// Of sums over pixels: more than the splines of splits converge to would take them out of the ring FFT.
constexpr double accuracy = 1e-8;

/// Steep at low l, faded away at lmax.
KernelSplit make_split(int spin) {
    auto window = gaussian_window(0.05, lmax);
    for (std::int64_t l = 0; l <= lmax; ++l)
        window[static_cast<std::size_t>(l)] /= static_cast<double>(l + 1);
    KernelSplitOptions options;
    options.spin = spin;
    options.theta_cut = 0.3;
    return KernelSplitter(window, options).split(40);
}

/// maps: [map, component, pixel], of which a plan of spin 0 takes the first component.
template <class T>
Array<T, 3> convolved(const Grid& grid, const KernelSplit& split, Device pixels, Device harmonic,
                      Precision precision, const Array<T, 3>& maps) {
    SplitConvolutionOptions options;
    options.precision = precision;
    options.accuracy = accuracy;
    options.pixel_device = pixels;
    options.harmonic_device = harmonic;
    Array<T, 3> result(maps.extents());
    if (split.spin == 2) {
        PolarizationSplitConvolutionPlan(grid, split, options).convolve<T>(maps.view(), result.view());
        return result;
    }
    const std::int64_t n_maps = maps.extent(0), n_pixels = maps.extent(2), stride = 2 * n_pixels;
    SplitConvolutionPlan(grid, split, options)
        .convolve<T>({maps.data(), {n_maps, n_pixels}, {stride, 1}},
                     {result.data(), {n_maps, n_pixels}, {stride, 1}});
    return result;
}

/// tolerance: of the same sums in another order.
template <class T>
void expect_same_on_all_devices(Precision precision, double tolerance) {
    const Grid grid = Grid::healpix(96);
    Array<T, 3> maps({2, 2, grid.n_pixels()});
    std::int64_t k = 0;
    // With a mean, so that what is compared is as large as what is added up.
    for (T& value : maps) value = static_cast<T>(1 + std::sin(0.37 * static_cast<double>(k++ % 10007)));
    const Device cpu = Device::cpu(), cuda = Device::cuda(0);
    for (const int spin : {0, 2}) {
        SCOPED_TRACE(spin);
        const KernelSplit split = make_split(spin);
        const auto on = [&](Device pixels, Device harmonic) {
            return convolved<T>(grid, split, pixels, harmonic, precision, maps);
        };
        const auto on_cpu = on(cpu, cpu), on_cuda = on(cuda, cuda);
        EXPECT_LE(largest_difference(on(cpu, cuda), on_cpu), tolerance * largest(on_cpu));
        EXPECT_LE(largest_difference(on(cuda, cpu), on_cuda), tolerance * largest(on_cpu));
        // Each leaves modes out as it may, to the accuracy.
        EXPECT_LE(largest_difference(on_cuda, on_cpu), std::max(2 * accuracy, tolerance) * largest(on_cpu));
    }
}

TEST_F(SplitConvolutionOnCuda, EqualsTheCpuInDoublePrecision) {
    expect_same_on_all_devices<double>(Precision::float64, 1e-12);
}

TEST_F(SplitConvolutionOnCuda, EqualsTheCpuInSinglePrecision) {
    expect_same_on_all_devices<float>(Precision::float32, 1e-6);
}

TEST_F(SplitConvolutionOnCuda, TwoThreadsMayUseOnePlan) {
    const Grid grid = Grid::healpix(64);
    const KernelSplit split = make_split(2);
    SplitConvolutionOptions options;
    options.pixel_device = options.harmonic_device = Device::cuda(0);
    const PolarizationSplitConvolutionPlan plan(grid, split, options);
    MapArray map({1, 2, grid.n_pixels()});
    std::int64_t k = 0;
    for (double& value : map) value = std::cos(0.11 * static_cast<double>(k++ % 7919));
    MapArray results[2] = {MapArray(map.extents()), MapArray(map.extents())}, alone(map.extents());
    const MapArray& input = map;
    plan.convolve<double>(input.view(), alone.view());
    {
        std::vector<std::jthread> threads;
        for (MapArray& result : results)
            threads.emplace_back([&] { plan.convolve<double>(input.view(), result.view()); });
    }
    for (const MapArray& result : results) EXPECT_EQ(largest_difference(result, alone), 0);
}

}  // namespace
}  // namespace zonal::test
