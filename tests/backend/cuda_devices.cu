#include "backend/cuda_helpers.cuh"
#include "zonal/convolution.hpp"
#include "zonal/sky/smoothing.hpp"

// Plans of a second device: the same bits as the first one's, and the caller's current device stays what it
// is.
namespace zonal::test {
namespace {

class TwoCudaDevices : public OnCuda {
  protected:
    void SetUp() override {
        OnCuda::SetUp();
        int count = 0;
        core::check_cuda(cudaGetDeviceCount(&count), "counting devices");
        if (count < 2) GTEST_SKIP() << "one device";
    }
    static int current() {
        int device = -1;
        core::check_cuda(cudaGetDevice(&device), "asking for the current device");
        return device;
    }
};

/// Synthesis and its adjoint from and to host memory.
struct Transformed {
    MapArray map;
    AlmArray alm;

    Transformed(Device device, const Grid& grid, std::int64_t lmax, int spin) {
        const ShtPlan plan(grid, on(device, lmax, spin));
        const AlmArray from = random_spin_alm(plan.layout(), 1, plan.alm_components(), spin, 3);
        map = synthesis(plan, from);
        alm = adjoint(plan, map);
    }
};

TEST_F(TwoCudaDevices, TransformAlike) {
    for (const int spin : {0, 2}) {
        const Transformed first(Device::cuda(0), Grid::healpix(256), 512, spin);
        const Transformed second(Device::cuda(1), Grid::healpix(256), 512, spin);
        EXPECT_EQ(largest_difference(first.map, second.map), 0);
        EXPECT_EQ(largest_difference(first.alm, second.alm), 0);
    }
    EXPECT_EQ(current(), 0);
}

TEST_F(TwoCudaDevices, SmoothAndConvolveAlike) {
    const Grid grid = Grid::healpix(64);
    const auto n = grid.n_pixels();
    Array<double, 2> map({1, n}), results[2];
    for (std::int64_t p = 0; p < n; ++p) map(0, p) = std::sin(0.37 * static_cast<double>(p));
    const Array<double, 2>& input = map;
    for (int k = 0; k < 2; ++k) {
        Array<double, 2> smoothed({1, n});
        SmoothingOptions options;
        options.lmax = 128;
        options.device = Device::cuda(k);
        smooth<double>(grid, input.view(), Fields::scalars, {}, gaussian_beam(0.05, 128), grid,
                       smoothed.view(), options);
        for (const PixelMethod method : {PixelMethod::pixel_sum, PixelMethod::ring_fft}) {
            PixelConvolutionOptions pixels;
            pixels.method = method;
            pixels.device = Device::cuda(k);
            Array<double, 2> convolved({1, n});
            PixelConvolutionPlan(grid, RadialKernel::gaussian(0.05).truncated(0.2), grid, pixels)
                .convolve<double>(input.view(), convolved.view());
            for (std::int64_t p = 0; p < n; ++p) smoothed(0, p) += convolved(0, p);
        }
        results[k] = smoothed;
    }
    for (std::int64_t p = 0; p < n; ++p) ASSERT_EQ(results[0](0, p), results[1](0, p)) << p;
    EXPECT_EQ(current(), 0);
}

TEST_F(TwoCudaDevices, ConvolveBandsTogether) {
    const Grid grid = Grid::healpix(64);
    const std::int64_t n_maps = 3, n = grid.n_pixels();
    const RadialKernel kernel = RadialKernel::gaussian(0.03).truncated(0.08);
    Array<double, 2> maps({n_maps, n});
    for (std::int64_t k = 0; k < maps.size(); ++k) maps.data()[k] = std::sin(0.37 * static_cast<double>(k));
    const Array<double, 2>& input = maps;
    for (const PixelMethod method : {PixelMethod::pixel_sum, PixelMethod::ring_fft}) {
        PixelConvolutionOptions options;
        options.method = method;
        options.device = Device::cuda(0);
        Array<double, 2> whole({n_maps, n}), together({n_maps, n});
        const PixelConvolutionPlan on_one(grid, kernel, grid, options);
        on_one.convolve<double>(input.view(), whole.view());
        options.devices = {Device::cuda(0), Device::cuda(1)};
        // Of each device once one band, once several.
        for (const std::int64_t share : {1, 4}) {
            options.max_workspace_bytes = share == 1 ? 0 : on_one.shares()[0].memory_bytes / share;
            const PixelConvolutionPlan on_both(grid, kernel, grid, options);
            const auto shares = on_both.shares();
            ASSERT_EQ(shares.size(), 2U);
            for (int k = 0; k < 2; ++k) {
                EXPECT_EQ(shares[k].device, Device::cuda(k));
                EXPECT_EQ(shares[k].n_bands > 1, share > 1);
                EXPECT_LT(shares[k].memory_bytes, on_one.shares()[0].memory_bytes / share + 1);
            }
            on_both.convolve<double>(input.view(), together.view());
            // Both are right to the plans' accuracy, 1e-12, of weights as large as the largest.
            EXPECT_LT(relative_difference(together, whole), 2e-11);
            const core::DeviceArray<double> there(n);
            EXPECT_THROW(on_both.convolve<double>({there.data(), {1, n}, MemorySpace::cuda},
                                                  {together.data(), {1, n}}),
                         InvalidArgument);
        }
    }
    EXPECT_EQ(current(), 0);
}

TEST_F(TwoCudaDevices, RefuseEachOthersMemory) {
    const ShtPlan plan(Grid::healpix(8), on(Device::cuda(1), 16, 0));
    const AlmArray alm({1, 1, plan.layout().size()});
    const OnDevice<Complex> on_first(alm);
    MapArray map({1, 1, plan.grid().n_pixels()});
    EXPECT_THROW(plan.synthesize<double>(on_first.view(), map.view()), InvalidArgument);
    EXPECT_EQ(current(), 0);
}

}  // namespace
}  // namespace zonal::test
