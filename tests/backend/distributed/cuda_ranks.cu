#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cuda_helpers.cuh"
#include "backend/distributed/ranks_of.cuh"
#include "core/cuda_host.hpp"
#include "distributed/device_link.hpp"
#include "distributed_convolution_helpers.hpp"
#include "sky/sky_part.hpp"

// Ranks that compute on a GPU, by themselves and beside ranks on the CPU, against one process on the CPU.
namespace zonal::test {
namespace {

using ::testing::Each, ::testing::HasSubstr;

class CudaRanks : public OnCuda {};

const Device cpu = Device::cpu(), gpu = Device::cuda(0);

TEST_F(CudaRanks, AgreeWithOneProcessOnTheCpu) {
    for (const int spin : {0, 1, 2, 3}) {
        const RanksOf<double> expected(Grid::healpix(32), cpu_options(80, 70, spin), 1);
        for (const Devices& devices :
             {Devices{gpu}, Devices{gpu, gpu}, Devices{gpu, gpu, gpu, gpu}, Devices{cpu, gpu, cpu}}) {
            SCOPED_TRACE(::testing::Message() << devices.size() << " ranks, spin " << spin);
            expected.expect_of(devices, std::vector<double>(devices.size(), 1.0));
        }
    }
}

TEST_F(CudaRanks, TakeBatchesFloatsAndPartsOfFields) {
    for (const auto& [spin, n_maps] : {std::pair{0, 11}, std::pair{2, 5}}) {
        const RanksOf<float> floats(Grid::healpix(24), cpu_options(60, 60, spin), n_maps);
        floats.expect_of({gpu, cpu, gpu}, {3, 1, 2});
        const RanksOf<double> doubles(Grid::healpix(24), cpu_options(60, 60, spin), n_maps);
        doubles.expect_of({gpu, cpu, gpu}, {3, 1, 2});
    }
    for (const SpinParts parts : {SpinParts::gradient, SpinParts::curl})
        RanksOf<double>(Grid::healpix(24), cpu_options(60, 40, 2, parts), 2).expect_of({gpu, gpu});
}

TEST_F(CudaRanks, TakeOtherGridsPartsOfTheSkyAndRanksWithoutOrders) {
    RanksOf<double>(Grid::gauss_legendre(65, 129), cpu_options(64, 64, 2), 1).expect_of({gpu, cpu, gpu});
    // Two half blocks, and rings without a mirror image.
    std::vector<std::int64_t> rings;
    for (std::int64_t ring = 20; ring < 101; ++ring) rings.push_back(ring);
    RanksOf<double>(Grid::healpix(32).subset(rings), cpu_options(60, 60, 0), 1).expect_of({gpu, gpu, cpu});
    RanksOf<double>(Grid::healpix(32), cpu_options(50, 3, 0), 1).expect_of({gpu, gpu, gpu, gpu});
}

TEST_F(CudaRanks, IntegrateExactlyOverTheta) {
    RanksOf<double>(Grid::fejer1(65, 129), cpu_options(64, 64, 0), 2).expect_of({gpu, cpu, gpu});
    RanksOf<double>(Grid::driscoll_healy(48, 96), cpu_options(47, 47, 2), 1).expect_of({gpu, gpu}, {1, 2});
    RanksOf<float>(Grid::mcewen_wiaux(48, 95), cpu_options(47, 40, 1), 1).expect_of({gpu, gpu, gpu});
}

/// Several chunks of orders, and rings that are resampled on the Legendre stage's side.
TEST_F(CudaRanks, AgreeWhereRingsAreResampled) {
    for (const int spin : {0, 2}) {
        ShtOptions options = cpu_options(700, 700, spin);
        options.threads = 8;
        const RanksOf<double> expected(Grid::healpix(512), options, 1);
        expected.expect_of({gpu, gpu});
        expected.expect_of({gpu, cpu});
    }
}

TEST_F(CudaRanks, ShareTheWorkBySpeed) {
    const auto errors = on_ranks({gpu, cpu, gpu}, [](const Communicator& ranks, Device device) {
        ShtOptions options = cpu_options(255, 255, 0);
        options.device = device;
        const DistributedPlan usual(ranks, Grid::healpix(128), {options, {}});
        EXPECT_GT(usual.shares()[0].legendre_flops, 20 * usual.shares()[1].legendre_flops);
        const DistributedPlan given(ranks, Grid::healpix(128), {options, {1, 1, 1}});
        EXPECT_LT(given.shares()[0].legendre_flops, 1.2 * given.shares()[1].legendre_flops);
        EXPECT_EQ(given.local().options().device, Device::cpu());
    });
    EXPECT_THAT(errors, Each(""));
}

const ExchangeWay nccl = ExchangeWay::nccl;

/// A plan of these ranks' exchange.
std::vector<std::string> exchange_of(const Devices& devices, ExchangeWay wanted, ExchangeReport& found) {
    return on_ranks(devices, [&](const Communicator& ranks, Device device) {
        ShtOptions options = cpu_options(30, 30, 0);
        options.device = device;
        const DistributedPlan plan(ranks, Grid::healpix(16), {options, {}, wanted});
        if (ranks.rank() == 0) found = plan.exchange();
    });
}

/// Skips where NCCL is missing; ranks that cannot use it for another reason are an error.
class NcclRanks : public CudaRanks {
  protected:
    void SetUp() override {
        CudaRanks::SetUp();
        if (HasFatalFailure() || IsSkipped()) return;
        ExchangeReport found;
        const auto errors = exchange_of({gpu}, nccl, found);
        if (errors[0].find("nccl") != std::string::npos) GTEST_SKIP() << errors[0];
        ASSERT_EQ(errors[0], "");
        ASSERT_EQ(found.way, nccl);
        EXPECT_EQ(found.reason, "");
    }
    static int n_devices() {
        int count = 0;
        core::check_cuda(cudaGetDeviceCount(&count), "counting devices");
        return count;
    }
};

TEST_F(NcclRanks, AgreeWithOneProcessWhereThereIsOne) {
    for (const int spin : {0, 2}) {
        const RanksOf<double> expected(Grid::healpix(32), cpu_options(80, 70, spin), 2);
        for (const bool on_device : {false, true}) expected.expect_of({gpu}, {}, nccl, on_device);
    }
}

TEST_F(NcclRanks, AgreeWithOneProcessOnTwoDevices) {
    if (n_devices() < 2) GTEST_SKIP() << "needs two devices";
    const Devices devices{Device::cuda(0), Device::cuda(1)};
    for (const bool on_device : {false, true}) {
        for (const int spin : {0, 1, 2})
            RanksOf<double>(Grid::healpix(32), cpu_options(80, 70, spin), 1)
                .expect_of(devices, {3, 1}, nccl, on_device);
        RanksOf<float>(Grid::healpix(24), cpu_options(60, 60, 2), 5).expect_of(devices, {}, nccl, on_device);
        RanksOf<double>(Grid::healpix(32), cpu_options(50, 0, 0), 1).expect_of(devices, {}, nccl, on_device);
        // Several chunks of orders, and rings that are resampled.
        ShtOptions options = cpu_options(700, 700, 2);
        options.threads = 8;
        RanksOf<double>(Grid::healpix(512), options, 1).expect_of(devices, {}, nccl, on_device);
    }
    ExchangeReport found;
    EXPECT_THAT(exchange_of(devices, ExchangeWay::automatic, found), Each(""));
    EXPECT_EQ(found.text(), "NCCL");
    EXPECT_THAT(exchange_of(devices, ExchangeWay::host, found), Each(""));
    EXPECT_EQ(found.text(), "host memory (it was asked for)");
}

TEST_F(NcclRanks, AreRefusedWhereTwoHaveOneDevice) {
    ExchangeReport found;
    EXPECT_THAT(exchange_of({gpu, gpu}, nccl, found),
                Each(HasSubstr("exchange = nccl: ranks 0 and 1 have the same GPU")));
    EXPECT_THAT(exchange_of({gpu, cpu}, nccl, found), Each(HasSubstr("rank 1 computes on the CPU")));
    EXPECT_THAT(exchange_of({gpu, gpu}, ExchangeWay::automatic, found), Each(""));
    EXPECT_EQ(found.text(), "host memory (ranks 0 and 1 have the same GPU, and each must have its own)");
}

/// What a rank throws in the middle ends the transform on all of them, and the plan can be used again.
TEST_F(NcclRanks, EndTogetherWhereOneFails) {
    if (n_devices() < 2) GTEST_SKIP() << "needs two devices";
    const auto errors =
        on_ranks(Devices{Device::cuda(0), Device::cuda(1)}, [](const Communicator& ranks, Device device) {
            ShtOptions options = cpu_options(700, 700, 0);
            options.device = device;
            const DistributedPlan plan(ranks, Grid::healpix(512), {options, {}, nccl});
            AlmArray alm({1, 1, plan.local().layout().size()});
            MapArray map({1, 1, plan.local().grid().n_pixels()});
            for (int attempt = 0; attempt < 3; ++attempt)
                EXPECT_THROW(plan.local().synthesize<double>(
                                 alm.view(), map.view(),
                                 [&](double share) { return ranks.rank() == 0 || share < 0.3; }),
                             Cancelled);
            plan.local().synthesize<double>(alm.view(), map.view());
            EXPECT_EQ(*std::max_element(map.data(), map.data() + map.size()), 0);
        });
    EXPECT_THAT(errors, Each(""));
}

/// A rank that is gone does not leave the other waiting for its message.
TEST_F(NcclRanks, NoticeARankThatHasLeft) {
    if (n_devices() < 2) GTEST_SKIP() << "needs two devices";
    const auto errors =
        on_ranks(Devices{Device::cuda(0), Device::cuda(1)}, [](const Communicator& ranks, Device device) {
            const auto link = distributed::choose_exchange(*ranks.transport(), device, nccl).link;
            const core::CurrentDevice current(device.index());
            const core::OwnStream stream;
            const core::DeviceArray<std::byte> here(1 << 20), there(1 << 20);
            const std::span out(here.data(), 1 << 20), in(there.data(), 1 << 20);
            const int other = 1 - ranks.rank();
            link->exchange({{other, out}}, {{other, in}}, stream.get())->wait();
            link->wait(stream.get(), [] {});
            if (ranks.rank() == 1) throw Error("leaves");
            link->exchange({{other, out}}, {{other, in}}, stream.get())->wait();
            link->wait(stream.get(), [] {});
        });
    EXPECT_THAT(errors[0], HasSubstr("rank 1: has left the job"));
    EXPECT_EQ(errors[1], "leaves");
}

TEST_F(CudaRanks, TakeArraysOnTheirDevice) {
    for (const int spin : {0, 2}) {
        const RanksOf<double> expected(Grid::healpix(32), cpu_options(80, 70, spin), 2);
        expected.expect_of({gpu}, {}, ExchangeWay::automatic, true);
        expected.expect_of({gpu, gpu}, {2, 1}, ExchangeWay::host, true);
    }
    const auto errors = on_ranks({gpu, cpu}, [](const Communicator& ranks, Device device) {
        ShtOptions options = cpu_options(30, 30, 0);
        options.device = device;
        const DistributedPlan plan(ranks, Grid::healpix(16), {options, {}});
        const OnDevice<double> map(MapArray({1, 1, plan.local().grid().n_pixels()}));
        AlmArray alm({1, 1, plan.local().layout().size()});
        plan.local().adjoint_synthesis<double>(map.view(), alm.view());
    });
    EXPECT_THAT(errors, Each(HasSubstr("rank 1: map: is in device memory: a CPU plan needs host memory")));
}

TEST_F(CudaRanks, TakeTheDevicesOfTheirMachineInTurn) {
    int count = 0;
    core::check_cuda(cudaGetDeviceCount(&count), "counting devices");
    const auto errors = on_ranks(3, [&](const Communicator& ranks) {
        const Device expected = Device::cuda(ranks.rank() % count);
        EXPECT_EQ(ranks.own_device(Device::Kind::cuda), expected);
        EXPECT_EQ(ranks.own_device(Device::Kind::automatic), expected);
        EXPECT_EQ(ranks.own_device(Device::Kind::cpu), Device::cpu());
        // A plan takes the same, as arrays on it show.
        ShtOptions options = cpu_options(30, 30, 0);
        options.device = Device::automatic();
        const DistributedPlan plan(ranks, Grid::healpix(16), {options, {}});
        const core::CurrentDevice current(expected.index());
        const OnDevice<double> map(MapArray({1, 1, plan.local().grid().n_pixels()}));
        AlmArray alm({1, 1, plan.local().layout().size()});
        plan.local().adjoint_synthesis<double>(map.view(), alm.view());
    });
    EXPECT_THAT(errors, Each(""));
}

TEST_F(CudaRanks, ServeSkies) {
    const auto errors = on_ranks({gpu, cpu}, [](const Communicator& ranks, Device device) {
        const DistributedSky sky(ranks, Grid::healpix(32), 64, 64, 1, {}, device);
        EXPECT_EQ(sky.devices(), (std::vector{gpu, cpu}));
        EXPECT_EQ(sky.exchange().text(), "host memory (rank 1 computes on the CPU)");
        EXPECT_GT(sky.shares(2)[0].legendre_flops, 20 * sky.shares(2)[1].legendre_flops);
        const auto up = sky.part()->transform({.lmax = 80});
        EXPECT_EQ(up->grid().n_pixels(), sky.grid().n_pixels());
    });
    EXPECT_THAT(errors, Each(""));
}

// Both kinds of arithmetic are within the accuracy of the sums of the largest pixel. Where a result is
// divided by the kernel's share of known pixels, so is its error.
TEST_F(CudaRanks, ConvolveAsOneProcessDoes) {
    const Device last = Device::cuda(std::max(0, core::cuda_devices().count - 1));
    for (const auto& one : rank_convolutions()) {
        const double least = one.options.mask.mode == MaskMode::renormalize ? one.options.mask.threshold : 1;
        const double tolerance = 4 * std::max(one.choice.accuracy, 1e-12) / least;
        expect_one_process(one, {gpu}, {}, tolerance);
        expect_one_process(one, {gpu, last}, {}, tolerance);
        expect_one_process(one, {last, cpu, gpu}, {2, 1, 3}, tolerance);
    }
}

TEST_F(CudaRanks, SayWhichRankHasNoSuchDevice) {
    const auto errors = on_ranks({cpu, Device::cuda(99)}, [](const Communicator& ranks, Device device) {
        ShtOptions options = cpu_options(30, 30, 0);
        options.device = device;
        DistributedPlan(ranks, Grid::healpix(16), {options, {}});
    });
    EXPECT_THAT(errors, Each(HasSubstr("rank 1: device = cuda:99: must be from cuda:0")));
}

}  // namespace
}  // namespace zonal::test
