#include "radial/cuda_work.hpp"

#include <gtest/gtest.h>

#include "convolution_helpers.hpp"

namespace zonal::test {
namespace {

template <class Kernel>
void expect_products_of_cpu(const Kernel& kernel, const Grid& grid_out, PixelMethod method) {
    const Grid grid = Grid::healpix(32);
    PixelConvolutionOptions options;
    options.method = method;
    options.accuracy = 1e-9;
    options.device = Device::cpu();
    const auto cuda = radial::cuda_work(grid, kernel, grid_out, method, options.accuracy);
    const auto cpu = KernelConvolutionPlan<Kernel>(grid, kernel, grid_out, options).work();
    EXPECT_EQ(cuda.pixel_products, cpu.pixel_products);
    EXPECT_EQ(cuda.mode_products, cpu.mode_products);
    EXPECT_EQ(cuda.fft_pixels, cpu.fft_pixels);
}

// Both backends multiply the same pixels and modes; tests/backend compares all counts with those of plans.
TEST(CudaWork, HasTheProductsOfTheCpu) {
    for (const auto method : {PixelMethod::pixel_sum, PixelMethod::ring_fft}) {
        for (const Grid& grid_out : {Grid::healpix(32), Grid::healpix(32).subset({0, 1, 30, 31, 70})}) {
            expect_products_of_cpu(RadialKernel::gaussian(6 * degree), grid_out, method);
            expect_products_of_cpu(RadialKernel::gaussian(6 * degree).truncated(7 * degree), grid_out,
                                   method);
            expect_products_of_cpu(PolarizationKernel::gaussian(6 * degree), grid_out, method);
        }
    }
}

}  // namespace
}  // namespace zonal::test
