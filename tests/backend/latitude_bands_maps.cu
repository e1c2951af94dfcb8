// Convolutions in latitude bands, where memory is short or devices are several, are those of the whole map.
#include <cmath>
#include <string>

#include "convolution_helpers.hpp"
#include "cuda_helpers.cuh"
#include "zonal/buffer.hpp"

namespace zonal::test {
namespace {

class LatitudeBandsOnCuda : public OnCuda {};

// A band may sum a ring's pixels in another way than the whole: both are right to 1e-12 of the largest
// weight, and sums of random terms are about as much larger.
constexpr double tolerance = 2e-11;
constexpr double single_tolerance = 1e-6;

PixelConvolutionOptions options_of(PixelMethod method, Precision precision = Precision::float64) {
    PixelConvolutionOptions options;
    options.method = method;
    options.precision = precision;
    options.device = Device::cuda(0);
    return options;
}

constexpr PixelMethod methods[] = {PixelMethod::pixel_sum, PixelMethod::ring_fft};

/// Maps of type T from the host and back; 7 in pixels of no ring.
template <class T>
std::vector<double> convolved(const PixelConvolutionPlan& plan, const std::vector<double>& maps) {
    const std::int64_t n_in = plan.grid().n_pixels(), n_out = plan.grid_out().n_pixels();
    const auto n_maps = static_cast<std::int64_t>(maps.size()) / n_in;
    const std::vector<T> in(maps.begin(), maps.end());
    std::vector<T> out(static_cast<std::size_t>(n_maps * n_out), T(7));
    plan.convolve<T>({in.data(), {n_maps, n_in}}, {out.data(), {n_maps, n_out}});
    return {out.begin(), out.end()};
}

std::int64_t n_bands(const PixelConvolutionPlan& plan) {
    std::int64_t sum = 0;
    for (const auto& share : plan.shares()) sum += share.n_bands;
    return sum;
}

/// With what the device's memory pool has kept of arrays that are gone.
std::int64_t free_bytes() {
    cudaMemPool_t pool{};
    core::check_cuda(cudaDeviceSynchronize(), "memory");
    core::check_cuda(cudaDeviceGetDefaultMemPool(&pool, 0), "memory");
    core::check_cuda(cudaMemPoolTrimTo(pool, 0), "memory");
    std::size_t free = 0, total = 0;
    core::check_cuda(cudaMemGetInfo(&free, &total), "memory");
    return static_cast<std::int64_t>(free);
}

/// With ever more bands, until there may be no more.
template <class T>
void expect_whole(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                  PixelConvolutionOptions options, double bound) {
    SCOPED_TRACE(grid.name() + " to " + grid_out.name() + ", " + kernel.name() +
                 (options.method == PixelMethod::ring_fft ? ", ring FFT" : ", pixel sum"));
    const auto maps = random_map(3 * grid.n_pixels());
    const PixelConvolutionPlan whole(grid, kernel, grid_out, options);
    ASSERT_EQ(n_bands(whole), 1);
    const auto expected = convolved<T>(whole, maps);
    options.max_workspace_bytes = whole.shares()[0].memory_bytes - 1;
    int n_plans = 0;
    try {
        for (;; ++n_plans) {
            const PixelConvolutionPlan banded(grid, kernel, grid_out, options);
            ASSERT_EQ(banded.shares().size(), 1U);
            const auto share = banded.shares()[0];
            EXPECT_GT(share.n_bands, 1);
            ASSERT_LE(share.memory_bytes, options.max_workspace_bytes);
            EXPECT_LT(largest_difference(convolved<T>(banded, maps), expected), bound * largest(expected))
                << share.n_bands << " bands";
            options.max_workspace_bytes = share.memory_bytes - 1;
        }
    } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find("max_workspace_bytes"), std::string::npos) << error.what();
    }
    EXPECT_GE(n_plans, 2);
}

TEST_F(LatitudeBandsOnCuda, GiveTheConvolutionOfTheWhole) {
    const RadialKernel kernel = RadialKernel::gaussian(2 * degree).truncated(5 * degree);
    for (const PixelMethod method : methods)
        for (const Grid& grid :
             {Grid::healpix(scaled(64)), Grid::gauss_legendre(scaled(128), scaled(257), 0.1),
              Grid::equidistant_cylindrical(scaled(120), scaled(240))})
            expect_whole<double>(grid, kernel, grid, options_of(method), tolerance);
}

TEST_F(LatitudeBandsOnCuda, GiveTheConvolutionOfTheWholeInSinglePrecision) {
    const Grid grid = Grid::healpix(scaled(128));
    const RadialKernel kernel = RadialKernel::gaussian(degree).truncated(3 * degree);
    for (const PixelMethod method : methods) {
        const auto options = options_of(method, Precision::float32);
        expect_whole<float>(grid, kernel, grid, options, single_tolerance);
        expect_whole<double>(grid, kernel, grid, options, single_tolerance);
    }
}

TEST_F(LatitudeBandsOnCuda, GiveTheConvolutionOfSomeRingsAndOfOtherGrids) {
    const Grid grid = Grid::healpix(scaled(64));
    const RadialKernel kernel = RadialKernel::gaussian(2 * degree).truncated(5 * degree);
    std::vector<std::int64_t> north, some;
    for (std::int64_t ring = 0; ring < scaled(90); ++ring) north.push_back(ring);
    for (std::int64_t ring = 3; ring < scaled(250); ring += 1 + ring % 5) some.push_back(ring);
    for (const PixelMethod method : methods) {
        expect_whole<double>(grid, kernel, grid.subset(north), options_of(method), tolerance);
        expect_whole<double>(grid, kernel, grid.subset(some), options_of(method), tolerance);
        expect_whole<double>(grid.subset(some), kernel, grid, options_of(method), tolerance);
        expect_whole<double>(grid, kernel, Grid::gauss_legendre(scaled(150), scaled(301)), options_of(method),
                             tolerance);
    }
}

// Kernels that do not converge, and such as reach over several bands and beyond the pole and the equator.
TEST_F(LatitudeBandsOnCuda, GiveTheConvolutionOfTheWholeForKernelsOfManyKinds) {
    const Grid grid = Grid::healpix(scaled(32));
    for (const RadialKernel& kernel :
         {RadialKernel::top_hat(0.1 * degree), RadialKernel::top_hat(4.3 * degree),
          RadialKernel::gaussian(6 * degree).truncated(25 * degree)})
        for (const PixelMethod method : methods)
            expect_whole<double>(grid, kernel, grid, options_of(method), tolerance);
}

/// A plan of several bands at nside 128, and the whole.
struct Plans {
    const Grid grid = Grid::healpix(scaled(128));
    const RadialKernel kernel = RadialKernel::gaussian(degree).truncated(3 * degree);
    PixelConvolutionOptions options;
    const PixelConvolutionPlan whole, banded;

    explicit Plans(PixelMethod method)
        : options(options_of(method)),
          whole(grid, kernel, grid, options),
          banded(grid, kernel, grid, with_limit(options, whole.shares()[0].memory_bytes / 3)) {}

    static PixelConvolutionOptions with_limit(PixelConvolutionOptions options, std::int64_t bytes) {
        options.max_workspace_bytes = bytes;
        return options;
    }
};

TEST_F(LatitudeBandsOnCuda, TakeArraysInAnyMemory) {
    for (const PixelMethod method : methods) {
        const Plans plans(method);
        ASSERT_GT(n_bands(plans.banded), 2);
        const std::int64_t n_maps = 2, n = plans.grid.n_pixels();
        const auto maps = random_map(n_maps * n);
        const auto expected = convolved<double>(plans.banded, maps);

        const core::DeviceArray<double> in(maps), out(n_maps * n);
        const View<const double, 2> in_there(in.data(), {n_maps, n}, MemorySpace::cuda);
        const View<double, 2> out_there(out.data(), {n_maps, n}, MemorySpace::cuda);
        std::vector<double> found(maps.size());
        const auto copy_back = [&] {
            core::check_cuda(cudaMemcpy(found.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost),
                             "copy");
        };
        plans.banded.convolve<double>(in_there, out_there);
        copy_back();
        EXPECT_EQ(found, expected);
        plans.banded.convolve<double>(in_there, {found.data(), {n_maps, n}});
        EXPECT_EQ(found, expected);
        plans.banded.convolve<double>({maps.data(), {n_maps, n}}, out_there);
        copy_back();
        EXPECT_EQ(found, expected);

        const Buffer locked_in = Buffer::page_locked(Device::cuda(0), in.bytes());
        const Buffer locked_out = Buffer::page_locked(Device::cuda(0), out.bytes());
        std::copy(maps.begin(), maps.end(), static_cast<double*>(locked_in.data()));
        plans.banded.convolve<double>(locked_in.view<const double, 2>({n_maps, n}),
                                      locked_out.view<double, 2>({n_maps, n}));
        const auto* const result = static_cast<const double*>(locked_out.data());
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), result));
    }
}

TEST_F(LatitudeBandsOnCuda, WorkOnTheCallersStreamAndAllocateNothing) {
    for (const PixelMethod method : methods) {
        const Plans plans(method);
        const std::int64_t n = plans.grid.n_pixels();
        const auto map = random_map(n);
        const auto expected = convolved<double>(plans.banded, map);  // kernels are loaded now
        const core::DeviceArray<double> in(map), out(n);
        const core::OwnStream stream;
        PixelConvolutionWorkspace workspace = plans.banded.make_workspace();
        workspace.use_stream(stream.get());
        const std::int64_t before = free_bytes();
        plans.banded.convolve<double>({in.data(), {1, n}, MemorySpace::cuda},
                                      {out.data(), {1, n}, MemorySpace::cuda}, workspace);
        EXPECT_EQ(free_bytes(), before);
        core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
        std::vector<double> found(map.size());
        core::check_cuda(cudaMemcpy(found.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost), "copy");
        EXPECT_EQ(found, expected);
        PixelConvolutionWorkspace of_whole = plans.whole.make_workspace();
        EXPECT_THROW(plans.banded.convolve<double>({map.data(), {1, n}}, {found.data(), {1, n}}, of_whole),
                     InvalidArgument);
        EXPECT_THROW(plans.whole.convolve<double>({map.data(), {1, n}}, {found.data(), {1, n}}, workspace),
                     InvalidArgument);
    }
}

TEST_F(LatitudeBandsOnCuda, TakeTheMemoryThatTheyReport) {
    for (const PixelMethod method : methods) {
        const Grid grid = Grid::healpix(1024);
        const RadialKernel kernel = RadialKernel::gaussian(0.2 * degree).truncated(0.5 * degree);
        PixelConvolutionOptions options = options_of(method);
        const PixelConvolutionPlan whole(grid, kernel, grid, options);
        options.max_workspace_bytes = whole.shares()[0].memory_bytes / 4;
        const PixelConvolutionPlan plan(grid, kernel, grid, options);
        const std::int64_t reported = plan.shares()[0].memory_bytes;
        EXPECT_LE(reported, options.max_workspace_bytes);
        const std::int64_t before = free_bytes();
        const PixelConvolutionWorkspace workspace = plan.make_workspace();
        // The driver hands out pieces of 2 MiB, to a dozen arrays.
        EXPECT_NEAR(static_cast<double>(before - free_bytes()), static_cast<double>(reported),
                    12 * 2097152.0);
    }
}

TEST_F(LatitudeBandsOnCuda, FitIntoWhatIsFree) {
    const Grid grid = Grid::healpix(1024);
    const RadialKernel kernel = RadialKernel::gaussian(0.2 * degree).truncated(0.5 * degree);
    const auto map = random_map(grid.n_pixels());
    for (const PixelMethod method : methods) {
        PixelConvolutionPlan(grid, kernel, grid, options_of(method));  // what libraries take once and keep
        const std::int64_t without = free_bytes();
        const PixelConvolutionPlan whole(grid, kernel, grid, options_of(method));
        const std::int64_t tables = without - free_bytes();
        const auto expected = convolved<double>(whole, map);
        // Beside tables of its own, less than the whole takes and enough for two bands.
        const std::int64_t left = tables + 3 * whole.shares()[0].memory_bytes / 4;
        const core::DeviceArray<char> hoard(free_bytes() - left);
        const PixelConvolutionPlan banded(grid, kernel, grid, options_of(method));
        ASSERT_GT(n_bands(banded), 1);
        EXPECT_LT(largest_difference(convolved<double>(banded, map), expected),
                  tolerance * largest(expected));
    }
}

// As two devices do.
TEST_F(LatitudeBandsOnCuda, WorkAtTheSameTime) {
    for (const PixelMethod method : methods) {
        Plans plans(method);
        plans.options.devices = {Device::cuda(0), Device::cuda(0), Device::cuda(0)};
        const PixelConvolutionPlan plan(plans.grid, plans.kernel, plans.grid, plans.options);
        ASSERT_EQ(plan.shares().size(), 3U);
        EXPECT_EQ(n_bands(plan), 3);
        EXPECT_EQ(plan.options().device, Device::cuda(0));
        const std::int64_t n = plans.grid.n_pixels();
        const auto maps = random_map(2 * n);
        const auto expected = convolved<double>(plans.whole, maps);
        EXPECT_LT(largest_difference(convolved<double>(plan, maps), expected), tolerance * largest(expected));

        const core::DeviceArray<double> there(maps);
        std::vector<double> found(maps.size());
        EXPECT_THROW(plan.convolve<double>({there.data(), {2, n}, MemorySpace::cuda}, {found.data(), {2, n}}),
                     InvalidArgument);
        PixelConvolutionWorkspace workspace = plan.make_workspace();
        EXPECT_THROW(workspace.use_stream(nullptr), InvalidArgument);
    }
}

TEST_F(LatitudeBandsOnCuda, ReportProgressAndCanBeStopped) {
    Plans plans(PixelMethod::ring_fft);
    const std::int64_t n = plans.grid.n_pixels();
    const auto map = random_map(n);
    std::vector<double> out(map.size());
    plans.options.devices = {Device::cuda(0), Device::cuda(0)};
    const PixelConvolutionPlan together(plans.grid, plans.kernel, plans.grid, plans.options);
    for (const PixelConvolutionPlan* plan : {&plans.banded, &together}) {
        std::vector<double> done;
        plan->convolve<double>({map.data(), {1, n}}, {out.data(), {1, n}}, [&](double share) {
            done.push_back(share);
            return true;
        });
        EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
        EXPECT_EQ(done.back(), 1);
        EXPECT_THROW(
            plan->convolve<double>({map.data(), {1, n}}, {out.data(), {1, n}}, [](double) { return false; }),
            Cancelled);
    }
}

TEST_F(LatitudeBandsOnCuda, RefuseLimitsThatBandsDoNotKeep) {
    const Grid grid = Grid::healpix(scaled(32));
    PixelConvolutionOptions options = options_of(PixelMethod::ring_fft);
    options.max_workspace_bytes = 1000;
    // The whole input is within the support of each ring.
    for (const double width : {60 * degree, 2 * degree})
        EXPECT_THROW(PixelConvolutionPlan(grid, RadialKernel::gaussian(width), grid, options),
                     InvalidArgument);
    options.device = Device::automatic();
    options.max_workspace_bytes = 0;
    options.devices = {Device::cuda(99)};
    EXPECT_THROW(PixelConvolutionPlan(grid, RadialKernel::gaussian(degree), grid, options),
                 BackendUnavailable);
}

}  // namespace
}  // namespace zonal::test
