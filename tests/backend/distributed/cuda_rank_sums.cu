#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "backend/cuda_helpers.cuh"
#include "core/cuda_host.hpp"
#include "distributed_sums_helpers.hpp"

// Sums over pixels by ranks that compute on a GPU, with maps in its memory and in the host's, against one
// process on the CPU.
namespace zonal::test {
namespace {

using ::testing::Each, ::testing::HasSubstr;

class CudaRankSums : public OnCuda {};

const Grid grid = Grid::healpix(32);
const Device cpu = Device::cpu(), gpu = Device::cuda(0);

// Both kinds of arithmetic are within the accuracy of the sums of the largest pixel, and rounded once to T.
template <class Kernel, class T>
double tolerance_of(const RankSums<Kernel, T>&) {
    return 4e-10 + std::numeric_limits<T>::epsilon();
}

TEST_F(CudaRankSums, AreThoseOfOneProcessThroughHostMemory) {
    for_all_sums(grid, [](const auto& sums, PixelMethod) {
        const double tolerance = tolerance_of(sums);
        for (const bool is_there : {false, true}) {
            sums.expect_of({gpu}, tolerance, {}, {is_there});
            sums.expect_of({gpu, gpu}, tolerance, {}, {is_there, is_there});
            sums.expect_of({gpu, gpu, gpu}, tolerance, {1, 3, 2}, {true, is_there, true});
            sums.expect_of({gpu, cpu, gpu}, tolerance, {2, 1, 3}, {true, false, is_there});
        }
    });
}

TEST_F(CudaRankSums, AreThoseOfOneProcessOnTwoDevices) {
    if (core::cuda_devices().count < 2) GTEST_SKIP() << "needs two devices";
    const Devices devices{Device::cuda(0), Device::cuda(1)};
    std::string exchange;
    const auto errors = on_ranks(devices, [&](const Communicator& ranks, Device device) {
        const DistributedSky sky(ranks, grid, 64, 64, 1, {}, device);
        if (ranks.rank() == 0) exchange = sky.exchange().text();
    });
    ASSERT_THAT(errors, Each(""));
    if (exchange != "NCCL") GTEST_SKIP() << exchange;
    for_all_sums(grid, [&](const auto& sums, PixelMethod) {
        const double tolerance = tolerance_of(sums);
        for (const bool is_there : {false, true}) {
            sums.expect_of(devices, tolerance, {}, {is_there, is_there});
            sums.expect_of(devices, tolerance, {3, 1}, {true, is_there});
        }
    });
}

// Rings of a kernel that reaches all of them, and of one that reaches nothing.
TEST_F(CudaRankSums, ReachTheWholeSkyAndNothing) {
    const auto options = rank_sum_options(PixelMethod::ring_fft);
    const Device last = Device::cuda(core::cuda_devices().count - 1);
    for (const auto& kernel : {RadialKernel::gaussian(0.6), RadialKernel::top_hat(0.001)}) {
        const RankSums<RadialKernel, double> sums(grid, kernel, options, 3);
        sums.expect_of({gpu, last}, tolerance_of(sums), {}, {true, true});
    }
}

/// Arrays of ranks that may lie in the wrong place.
std::vector<std::string> errors_of(const Devices& devices, const Devices& places) {
    return on_ranks(devices, [&](const Communicator& ranks, Device device) {
        const DistributedSky sky(ranks, grid, 64, 64, 1, {}, device);
        DistributedPixelConvolutionPlan plan(sky, RadialKernel::gaussian(0.1).truncated(0.3));
        const auto n = sky.grid().n_pixels(), bytes = n * static_cast<std::int64_t>(sizeof(double));
        const Device place = places[static_cast<std::size_t>(ranks.rank())];
        Buffer maps(place, bytes), convolved(place, bytes);
        maps.clear();
        plan.convolve<double>(maps.view<const double, 2>({1, n}), convolved.view<double, 2>({1, n}));
    });
}

TEST_F(CudaRankSums, SayWhichRanksMapsAreInTheWrongPlace) {
    EXPECT_THAT(errors_of({gpu, cpu}, {gpu, gpu}),
                Each(HasSubstr("rank 1: maps: is in device memory: a rank on the CPU needs host memory")));
    if (core::cuda_devices().count < 2) GTEST_SKIP() << "needs two devices";
    EXPECT_THAT(errors_of({gpu, Device::cuda(1)}, {gpu, gpu}),
                Each(HasSubstr("rank 1: maps: is not in device memory of cuda:1")));
}

TEST_F(CudaRankSums, EndTogetherWhereOneIsCancelled) {
    const Device last = Device::cuda(core::cuda_devices().count - 1);
    const auto errors = on_ranks({gpu, last}, [](const Communicator& ranks, Device device) {
        const DistributedSky sky(ranks, grid, 64, 64, 1, {}, device);
        DistributedPixelConvolutionPlan plan(sky, RadialKernel::gaussian(0.1).truncated(0.3));
        const auto n = sky.grid().n_pixels(), bytes = n * static_cast<std::int64_t>(sizeof(double));
        Buffer maps(device, bytes), convolved(device, bytes);
        maps.clear();
        const auto from = maps.view<const double, 2>({1, n});
        const auto to = convolved.view<double, 2>({1, n});
        for (int attempt = 0; attempt < 3; ++attempt)
            EXPECT_THROW(plan.convolve<double>(from, to, [&](double) { return ranks.rank() == 0; }),
                         Cancelled);
        plan.convolve<double>(from, to);
    });
    EXPECT_THAT(errors, Each(""));
}

}  // namespace
}  // namespace zonal::test
