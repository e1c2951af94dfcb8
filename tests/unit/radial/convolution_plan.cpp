// What plans of pixel convolutions promise whatever their method: arguments, batches, threads, progress.
#include "zonal/convolution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convolution_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

using test::convolved;
using test::degree;
using test::options_of;
using test::random_map;

constexpr PixelMethod methods[] = {PixelMethod::pixel_sum, PixelMethod::ring_fft};
constexpr Precision precisions[] = {Precision::float32, Precision::float64};

TEST(PixelConvolution, BatchEqualsSingleMaps) {
    const Grid grid = Grid::healpix(16);
    const std::int64_t n_maps = 6, n = grid.n_pixels();
    const auto maps = random_map(n_maps * n);
    for (const PixelMethod method : methods)
        for (const Precision precision : precisions) {
            const PixelConvolutionPlan plan(grid, RadialKernel::gaussian(8 * degree), grid,
                                            options_of(method, precision));
            std::vector<double> batch(maps.size()), single(maps.size());
            plan.convolve<double>({maps.data(), {n_maps, n}}, {batch.data(), {n_maps, n}});
            for (std::int64_t k = 0; k < n_maps; ++k)
                plan.convolve<double>({maps.data() + k * n, {1, n}}, {single.data() + k * n, {1, n}});
            EXPECT_EQ(batch, single);
        }
}

TEST(PixelConvolution, DoesNotDependOnTheNumberOfThreads) {
    const Grid grid = Grid::healpix(32);
    const auto map = random_map(grid.n_pixels());
    const RadialKernel kernel = RadialKernel::gaussian(5 * degree).truncated(9 * degree);
    for (const PixelMethod method : methods)
        for (const Precision precision : precisions)
            EXPECT_EQ(convolved(grid, kernel, grid, map, options_of(method, precision, 1)),
                      convolved(grid, kernel, grid, map, options_of(method, precision, 3)));
}

TEST(PixelConvolution, LeavesOtherPixelsAsTheyAre) {
    const Grid whole = Grid::healpix(8), some = whole.subset({3, 20});
    const auto map = random_map(whole.n_pixels());
    for (const PixelMethod method : methods) {
        const PixelConvolutionPlan plan(whole, RadialKernel::gaussian(9 * degree), some, options_of(method));
        std::vector<double> out(map.size(), 7.0);
        plan.convolve<double>({map.data(), {1, whole.n_pixels()}}, {out.data(), {1, whole.n_pixels()}});
        std::int64_t changed = 0;
        for (const double value : out) changed += value != 7.0 ? 1 : 0;
        EXPECT_EQ(changed, some.rings()[0].n_pixels + some.rings()[1].n_pixels);
    }
}

TEST(PixelConvolution, WorksOnRowsThatStandApart) {
    const Grid grid = Grid::healpix(4);
    const std::int64_t n = grid.n_pixels(), stride = n + 5;
    const auto maps = random_map(2 * stride);
    for (const PixelMethod method : methods) {
        const PixelConvolutionPlan plan(grid, RadialKernel::gaussian(20 * degree), grid, options_of(method));
        std::vector<double> apart(2 * stride), second(n);
        plan.convolve<double>({maps.data(), {2, n}, {stride, 1}}, {apart.data(), {2, n}, {stride, 1}});
        plan.convolve<double>({maps.data() + stride, {1, n}}, {second.data(), {1, n}});
        EXPECT_EQ(std::vector<double>(apart.begin() + stride, apart.begin() + stride + n), second);
    }
}

TEST(PixelConvolution, RingFftSavesWhereOnlySomeRingsAreAskedFor) {
    const Grid whole = Grid::healpix(32);
    const RadialKernel kernel = RadialKernel::gaussian(6 * degree);
    const auto all = PixelConvolutionPlan(whole, kernel, whole, options_of(PixelMethod::ring_fft)).work();
    const auto some =
        PixelConvolutionPlan(whole, kernel, whole.subset({64}), options_of(PixelMethod::ring_fft)).work();
    EXPECT_LT(some.mode_products, all.mode_products / 30);
    EXPECT_LT(some.fft_pixels, all.fft_pixels / 3);
}

// On a fixed grid the sum over rings has as many terms as rings within the support.
TEST(PixelConvolution, RingFftsSumGrowsLinearlyWithTheSupport) {
    const Grid grid = Grid::equidistant_cylindrical(360, 720);
    const auto products = [&](double support) {
        const RadialKernel kernel = RadialKernel::top_hat(support * degree);
        return PixelConvolutionPlan(grid, kernel, grid, options_of(PixelMethod::ring_fft))
            .work()
            .mode_products;
    };
    const double once = products(5), twice = products(10), four_times = products(20);
    EXPECT_NEAR(twice / once, 2, 0.1);
    EXPECT_NEAR(four_times / twice, 2, 0.1);
}

TEST(PixelConvolution, ReportsProgressAndCanBeStopped) {
    const Grid grid = Grid::healpix(32);
    const auto map = random_map(grid.n_pixels());
    std::vector<double> out(map.size());
    for (const PixelMethod method : methods) {
        const PixelConvolutionPlan plan(grid, RadialKernel::gaussian(6 * degree), grid, options_of(method));
        std::vector<double> done;
        plan.convolve<double>({map.data(), {1, grid.n_pixels()}}, {out.data(), {1, grid.n_pixels()}},
                              [&](double share) {
                                  done.push_back(share);
                                  return true;
                              });
        ASSERT_FALSE(done.empty());
        EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
        EXPECT_EQ(done.back(), 1);
        EXPECT_THROW(plan.convolve<double>({map.data(), {1, grid.n_pixels()}},
                                           {out.data(), {1, grid.n_pixels()}}, [](double) { return false; }),
                     Cancelled);
    }
}

/// The message of the InvalidArgument that `act` throws.
template <class Act>
std::string message_of(const Act& act) {
    try {
        act();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "no InvalidArgument";
}

TEST(PixelConvolution, RejectsArgumentsThatAreNoGood) {
    const Grid grid = Grid::healpix(4);
    const RadialKernel kernel = RadialKernel::gaussian(0.3);
    PixelConvolutionOptions options = options_of(PixelMethod::ring_fft);
    for (const double accuracy : {-1.0, 1e-15, 0.1, std::nan("")}) {
        options.accuracy = accuracy;
        EXPECT_THAT(message_of([&] { PixelConvolutionPlan(grid, kernel, grid, options); }),
                    testing::StartsWith("accuracy = "));
    }
    options = options_of(PixelMethod::ring_fft);
    options.threads = -2;
    EXPECT_THAT(message_of([&] { PixelConvolutionPlan(grid, kernel, grid, options); }),
                testing::HasSubstr("threads = -2"));

    const PixelConvolutionPlan plan(grid, kernel, grid, options_of(PixelMethod::ring_fft));
    EXPECT_THAT(message_of([&] { (void)plan.make_workspace(0); }), testing::HasSubstr("n_maps = 0"));
    const std::int64_t n = grid.n_pixels();
    std::vector<double> in(2 * n), out(2 * n);
    const auto act = [&](View<const double, 2> maps, View<double, 2> convolved) {
        return message_of([&] { plan.convolve<double>(maps, convolved); });
    };
    EXPECT_THAT(act({in.data(), {1, n - 1}}, {out.data(), {1, n}}), testing::StartsWith("maps: axis 1"));
    EXPECT_THAT(act({in.data(), {1, n}}, {out.data(), {1, n + 1}}), testing::StartsWith("convolved: axis 1"));
    EXPECT_THAT(act({in.data(), {2, n}}, {out.data(), {1, n}}), testing::HasSubstr("batch lengths 2 and 1"));
    EXPECT_THAT(act({in.data(), {1, n}, {n, 2}}, {out.data(), {1, n}}), testing::HasSubstr("stride"));
    EXPECT_THAT(act({nullptr, {1, n}}, {out.data(), {1, n}}), testing::HasSubstr("null pointer"));
    EXPECT_THAT(act({in.data(), {1, n}}, {in.data(), {1, n}}), testing::HasSubstr("overlaps"));
    EXPECT_THAT(act({in.data(), {1, n}, MemorySpace::cuda}, {out.data(), {1, n}}),
                testing::HasSubstr("device memory"));
}

TEST(PixelConvolution, RejectsDevicesAndMemoryThatAreNoGood) {
    const Grid grid = Grid::healpix(4);
    const RadialKernel kernel = RadialKernel::gaussian(0.3);
    const auto message = [&](const PixelConvolutionOptions& options) {
        return message_of([&] { PixelConvolutionPlan(grid, kernel, grid, options); });
    };
    PixelConvolutionOptions options = options_of(PixelMethod::ring_fft);
    options.max_workspace_bytes = -1;
    EXPECT_THAT(message(options), testing::StartsWith("max_workspace_bytes = -1: must be 0"));
    options.max_workspace_bytes = 1 << 20;
    EXPECT_THAT(message(options), testing::HasSubstr("must be 0 on the CPU"));
    options = options_of(PixelMethod::ring_fft);
    options.devices = {Device::cuda(1)};
    EXPECT_THAT(message(options), testing::StartsWith("device = cpu: must be auto or the first of devices"));
    options.devices = {Device::cuda(0), Device::cpu()};
    EXPECT_THAT(message(options), testing::StartsWith("devices[1] = cpu: must be a CUDA device"));
}

TEST(PixelConvolution, SaysWhatItsDeviceTakes) {
    const Grid grid = Grid::healpix(4);
    const PixelConvolutionPlan plan(grid, RadialKernel::gaussian(0.3), grid,
                                    options_of(PixelMethod::ring_fft));
    const auto shares = plan.shares();
    ASSERT_EQ(shares.size(), 1U);
    EXPECT_EQ(shares[0].device, Device::cpu());
    EXPECT_EQ(shares[0].n_bands, 1);
    EXPECT_EQ(shares[0].memory_bytes, plan.workspace_bytes());
}

TEST(PixelConvolution, RejectsWorkspacesOfOtherPlans) {
    const Grid grid = Grid::healpix(4);
    const RadialKernel kernel = RadialKernel::gaussian(0.3);
    const PixelConvolutionPlan rings(grid, kernel, grid, options_of(PixelMethod::ring_fft));
    const PixelConvolutionPlan discs(grid, kernel, grid, options_of(PixelMethod::pixel_sum));
    std::vector<double> in(grid.n_pixels()), out(in.size());
    PixelConvolutionWorkspace workspace = discs.make_workspace();
    EXPECT_THROW(rings.convolve<double>({in.data(), {1, grid.n_pixels()}}, {out.data(), {1, grid.n_pixels()}},
                                        workspace),
                 InvalidArgument);
    EXPECT_THROW(workspace.use_stream(nullptr), InvalidArgument);
}

}  // namespace
}  // namespace zonal
