// The ring FFT on the device against the CPU's.
#include <cmath>
#include <numbers>

#include "convolution_helpers.hpp"
#include "cuda_helpers.cuh"

namespace zonal::test {
namespace {

class RingFftOnCuda : public OnCuda {};

/// Whose rows all have transforms, and one that leaves rings to the sum over pixels.
std::vector<RadialKernel> soft_and_cut(double radians) {
    return {RadialKernel::gaussian(radians), RadialKernel::top_hat(radians)};
}

// The same sums in another order: roundings add up over the rows of the support with random signs.
constexpr double tolerance = 1e-12;
// Single precision: roundings of 6e-8, a few for each of the transforms' passes.
constexpr double single_tolerance = 1e-6;

PixelConvolutionOptions options_on(Device device, Precision precision) {
    PixelConvolutionOptions options;
    options.device = device;
    options.precision = precision;
    return options;
}

/// n_maps maps of type T, from host memory or, copied there, from the device's.
template <class T>
std::vector<double> convolved(const PixelConvolutionPlan& plan, const std::vector<double>& maps,
                              std::int64_t n_maps, bool on_device) {
    const std::int64_t n_in = plan.grid().n_pixels(), n_out = plan.grid_out().n_pixels();
    std::vector<T> in(maps.begin(), maps.end()), out(static_cast<std::size_t>(n_maps * n_out), T(7));
    if (!on_device) {
        plan.convolve<T>({in.data(), {n_maps, n_in}}, {out.data(), {n_maps, n_out}});
    } else {
        const core::DeviceArray<T> device_in(in), device_out(out);
        plan.convolve<T>({device_in.data(), {n_maps, n_in}, MemorySpace::cuda},
                         {device_out.data(), {n_maps, n_out}, MemorySpace::cuda});
        core::check_cuda(
            cudaMemcpy(out.data(), device_out.data(), device_out.bytes(), cudaMemcpyDeviceToHost), "copy");
    }
    return {out.begin(), out.end()};
}

/// The largest difference from the CPU in double precision, of the maximum.
template <class T>
double error_of(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out, Precision precision,
                bool on_device = true) {
    const auto map = random_map(grid.n_pixels());
    const PixelConvolutionPlan cpu(grid, kernel, grid_out, options_on(Device::cpu(), Precision::float64));
    const PixelConvolutionPlan cuda(grid, kernel, grid_out, options_on(Device::cuda(0), precision));
    const auto expected = convolved<double>(cpu, map, 1, false);
    return relative_difference(convolved<T>(cuda, map, 1, on_device), expected);
}

TEST_F(RingFftOnCuda, EqualsTheCpuOnEveryGrid) {
    const RadialKernel kernel = RadialKernel::gaussian(7 * degree);
    for (const Grid& grid : {Grid::healpix(1), Grid::healpix(2), Grid::healpix(32), Grid::healpix(33),
                             Grid::gauss_legendre(40, 85), Grid::clenshaw_curtis(41, 80, 0.1),
                             Grid::equidistant_cylindrical(45, 90)}) {
        EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64), tolerance) << grid.name();
        EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float32), single_tolerance) << grid.name();
        EXPECT_LT(error_of<double>(grid, kernel, Grid::healpix(16), Precision::float64), tolerance)
            << grid.name();
    }
}

TEST_F(RingFftOnCuda, EqualsTheCpuForKernelsOfEveryKind) {
    const Grid grid = Grid::healpix(32);
    for (const RadialKernel& kernel :
         {RadialKernel::gaussian(3 * degree).truncated(10 * degree), RadialKernel::gaussian(60 * degree),
          RadialKernel::top_hat(9.7 * degree), RadialKernel::top_hat(0.01 * degree),
          RadialKernel::gaussian(10 * degree).truncated(8.3 * degree), random_window(24, 3)}) {
        EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64), tolerance) << kernel.name();
        // One more rounding for each ring of the support, of random signs: single_tolerance is for 30 of
        // them.
        const double rings = kernel.support() / std::numbers::pi * static_cast<double>(grid.n_rings());
        const double more = std::sqrt(std::max(1., rings / 30));
        EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float32), more * single_tolerance)
            << kernel.name();
    }
}

TEST_F(RingFftOnCuda, EqualsTheCpuAtNside512) {
    const Grid grid = Grid::healpix(512);
    const RadialKernel kernel = RadialKernel::gaussian(20 * degree / 60).truncated(degree);
    // Many modes: each of the two is right to `accuracy` = 1e-12.
    EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64), 2e-12);
    EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float32), single_tolerance);
}

TEST_F(RingFftOnCuda, TakesMapsOfTheOtherPrecisionAndFromTheHost) {
    const Grid grid = Grid::healpix(32);
    for (const RadialKernel& kernel : soft_and_cut(5 * degree)) {
        EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float64), single_tolerance);
        EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float32), single_tolerance);
        EXPECT_LT(error_of<double>(grid, kernel, grid, Precision::float64, false), tolerance);
        EXPECT_LT(error_of<float>(grid, kernel, grid, Precision::float32, false), single_tolerance);
    }
}

TEST_F(RingFftOnCuda, ComputesSubsetsAndLeavesOtherPixels) {
    const Grid whole = Grid::healpix(32), some = whole.subset({0, 1, 2, 30, 31, 32, 40, 70, 100, 126});
    const auto map = random_map(whole.n_pixels());
    std::int64_t asked = 0;
    for (const Ring& ring : some.rings()) asked += ring.n_pixels;
    for (const RadialKernel& kernel : soft_and_cut(9 * degree)) {
        const PixelConvolutionPlan plan(whole, kernel, some, options_on(Device::cuda(0), Precision::float64));
        const PixelConvolutionPlan all(whole, kernel, whole, options_on(Device::cpu(), Precision::float64));
        const auto expected = convolved<double>(all, map, 1, false);
        for (const bool on_device : {true, false}) {
            auto out = convolved<double>(plan, map, 1, on_device);
            std::int64_t left = 0;
            for (std::size_t k = 0; k < out.size(); ++k)
                if (out[k] == 7) ++left, out[k] = expected[k];
            EXPECT_EQ(left, whole.n_pixels() - asked);
            EXPECT_LT(largest_difference(out, expected), tolerance * largest(expected));
        }
    }
}

TEST_F(RingFftOnCuda, BatchEqualsSingleMaps) {
    const Grid grid = Grid::healpix(32);
    // On the device four maps of a batch are summed together, then two, then one; in double two, two, two,
    // one.
    const std::int64_t n_maps = 7, n = grid.n_pixels();
    const auto maps = random_map(n_maps * n);
    // The rings below the pole, with other pixels that stay as they are.
    const Grid northern = grid.subset({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 60, 61, 62});
    for (const RadialKernel& kernel : soft_and_cut(4 * degree))
        for (const Grid& grid_out : {grid, northern})
            for (const Precision precision : {Precision::float32, Precision::float64}) {
                const PixelConvolutionPlan plan(grid, kernel, grid_out,
                                                options_on(Device::cuda(0), precision));
                for (const bool on_device : {true, false}) {
                    const auto batch = convolved<float>(plan, maps, n_maps, on_device);
                    for (std::int64_t k = 0; k < n_maps; ++k) {
                        const std::vector<double> map(maps.begin() + k * n, maps.begin() + (k + 1) * n);
                        const auto single = convolved<float>(plan, map, 1, true);
                        EXPECT_EQ(single,
                                  std::vector<double>(batch.begin() + k * n, batch.begin() + (k + 1) * n));
                    }
                }
            }
}

TEST_F(RingFftOnCuda, WorksOnTheCallersStream) {
    const Grid grid = Grid::healpix(64);
    const auto map = random_map(grid.n_pixels());
    const core::DeviceArray<double> in(map), out(grid.n_pixels());
    const core::OwnStream stream;
    for (const RadialKernel& kernel : soft_and_cut(2 * degree)) {
        const PixelConvolutionPlan plan(grid, kernel, grid, options_on(Device::cuda(0), Precision::float64));
        const auto expected = convolved<double>(plan, map, 1, true);
        PixelConvolutionWorkspace workspace = plan.make_workspace();
        workspace.use_stream(stream.get());
        plan.convolve<double>({in.data(), {1, grid.n_pixels()}, MemorySpace::cuda},
                              {out.data(), {1, grid.n_pixels()}, MemorySpace::cuda}, workspace);
        core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
        std::vector<double> result(map.size());
        core::check_cuda(cudaMemcpy(result.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost), "copy");
        EXPECT_EQ(result, expected);
        // From and to the host: done on return.
        std::vector<double> on_host(map.size());
        plan.convolve<double>({map.data(), {1, grid.n_pixels()}}, {on_host.data(), {1, grid.n_pixels()}},
                              workspace);
        EXPECT_EQ(on_host, expected);
    }
}

// The ringing of a point source beyond the kernel's support, of the peak.
TEST_F(RingFftOnCuda, RingsLittleAroundPointSources) {
    const Grid grid = Grid::healpix(512);
    const RadialKernel kernel = RadialKernel::gaussian(18.8 * degree / 60).truncated(degree);
    const PixelConvolutionPlan plan(grid, kernel, grid, options_on(Device::cuda(0), Precision::float32));
    const PixelConvolutionPlan exact(grid, RadialKernel::top_hat(degree), grid,
                                     options_on(Device::cpu(), Precision::float64));
    for (const auto& [pixel, bound] : {std::pair<std::int64_t, double>{grid.n_pixels() / 2 + 100, 1e-7},
                                       std::pair<std::int64_t, double>{2 * 400 * 399 + 50, 1e-5},
                                       std::pair<std::int64_t, double>{1, 1e-5}}) {
        std::vector<double> map(static_cast<std::size_t>(grid.n_pixels()));
        map[pixel] = 1;
        const auto disc = convolved<double>(exact, map, 1, false);
        auto result = convolved<float>(plan, map, 1, true);
        const double peak = largest(result), inside = 0.5 * largest(disc);
        for (std::size_t k = 0; k < result.size(); ++k)
            if (disc[k] > inside) result[k] = 0;
        EXPECT_LT(largest(result), bound * peak) << pixel;
    }
}

}  // namespace
}  // namespace zonal::test
