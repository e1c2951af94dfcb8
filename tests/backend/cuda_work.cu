#include <gtest/gtest.h>

#include "backend/cuda_helpers.cuh"
#include "convolution_helpers.hpp"
#include "radial/cuda_work.hpp"

namespace zonal::test {
namespace {

class CudaWork : public OnCuda {};

constexpr double accuracy = 1e-9;

template <class Kernel>
void expect_work_of_plan(const Kernel& kernel) {
    const Grid grid = Grid::healpix(64), few = grid.subset({0, 1, 5, 6, 7, 130});
    for (const auto& [method, grid_out] : {std::pair{PixelMethod::pixel_sum, grid},
                                           {PixelMethod::pixel_sum, few},
                                           {PixelMethod::ring_fft, grid},
                                           {PixelMethod::ring_fft, few}}) {
        PixelConvolutionOptions options;
        options.method = method;
        options.accuracy = accuracy;
        options.device = Device::cuda(0);
        const auto counted = radial::cuda_work(grid, kernel, grid_out, method, accuracy);
        const auto work = KernelConvolutionPlan<Kernel>(grid, kernel, grid_out, options).work();
        for (const auto count : {&PixelConvolutionWork::kernel_values, &PixelConvolutionWork::row_products,
                                 &PixelConvolutionWork::mode_products, &PixelConvolutionWork::pixel_products,
                                 &PixelConvolutionWork::uneven_products, &PixelConvolutionWork::longest_sum,
                                 &PixelConvolutionWork::pixel_rows, &PixelConvolutionWork::pixel_weights,
                                 &PixelConvolutionWork::fft_pixels})
            EXPECT_EQ(counted.*count, work.*count);
        EXPECT_EQ(counted.maps_per_pass, work.maps_per_pass);
        EXPECT_GT(counted.pixel_products + counted.mode_products, 0);
    }
}

// A cut kernel leaves the rings near the poles to the sum over pixels.
TEST_F(CudaWork, IsThatOfPlans) {
    for (const auto& kernel : {RadialKernel::gaussian(3 * degree), RadialKernel::top_hat(7 * degree),
                               RadialKernel::gaussian(4 * degree).truncated(5 * degree)})
        expect_work_of_plan(kernel);
    for (const auto& kernel : {PolarizationKernel::gaussian(3 * degree),
                               PolarizationKernel::gaussian(4 * degree).truncated(5 * degree)})
        expect_work_of_plan(kernel);
}

}  // namespace
}  // namespace zonal::test
