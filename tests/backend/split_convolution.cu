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

struct Devices {
    Device pixels, harmonic;
};

/// maps: [map, component, pixel], of which a plan of spin 0 takes the first component.
template <class T>
Array<T, 3> convolved(const Grid& grid, const KernelSplit& split, Devices devices, Precision precision,
                      const Array<T, 3>& maps) {
    SplitConvolutionOptions options;
    options.precision = precision;
    options.accuracy = 1e-9;
    options.pixel_device = devices.pixels;
    options.harmonic_device = devices.harmonic;
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

template <class T>
void expect_same_on_all_devices(Precision precision, double tolerance) {
    const Grid grid = Grid::healpix(96);
    Array<T, 3> maps({2, 2, grid.n_pixels()});
    std::int64_t k = 0;
    for (T& value : maps) value = static_cast<T>(std::sin(0.37 * static_cast<double>(k++ % 10007)));
    const Device cpu = Device::cpu(), cuda = Device::cuda(0);
    for (const int spin : {0, 2}) {
        const KernelSplit split = make_split(spin);
        const auto expected = convolved<T>(grid, split, {cpu, cpu}, precision, maps);
        for (const Devices& devices : {Devices{cuda, cuda}, {cuda, cpu}, {cpu, cuda}}) {
            const auto found = convolved<T>(grid, split, devices, precision, maps);
            EXPECT_LE(largest_difference(found, expected), tolerance * largest(expected))
                << "spin " << spin << ", pixels on " << to_string(devices.pixels) << ", harmonic on "
                << to_string(devices.harmonic);
        }
    }
}

// The same sums in another order: those over rings, and those of transforms up to degree 40.
TEST_F(SplitConvolutionOnCuda, EqualsTheCpuInDoublePrecision) {
    expect_same_on_all_devices<double>(Precision::double_, 1e-12);
}

TEST_F(SplitConvolutionOnCuda, EqualsTheCpuInSinglePrecision) {
    expect_same_on_all_devices<float>(Precision::single_, 1e-6);
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
