#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/distributed/ranks_of.cuh"
#include "distributed/device_link.hpp"

// Ranks that exchange F_m between the memories of devices, on one GPU: in place of NCCL, which wants one for
// each rank, copies carry the messages.
namespace zonal::test {
namespace {

using distributed::DeviceLink, distributed::Message;

/// What ranks that are threads have to send: [rank]
using Sent = std::vector<std::vector<Message<const std::byte>>>;

/// All is over when exchange() returns.
class CopyingLink final : public DeviceLink {
  public:
    CopyingLink(distributed::Transport& job, std::shared_ptr<Sent> sent)
        : job_(job), sent_(std::move(sent)) {}

    int device() const override { return 0; }
    std::unique_ptr<distributed::Exchange> exchange(const std::vector<Message<const std::byte>>& send,
                                                    const std::vector<Message<std::byte>>& receive,
                                                    void* stream) override {
        wait(stream, [] {});
        (*sent_)[static_cast<std::size_t>(job_.rank())] = send;
        meet();
        std::vector<std::size_t> next(sent_->size());
        for (const auto& message : receive) {
            const auto& theirs = (*sent_)[static_cast<std::size_t>(message.rank)];
            auto& k = next[static_cast<std::size_t>(message.rank)];
            while (theirs.at(k).rank != job_.rank()) ++k;
            EXPECT_EQ(theirs[k].bytes.size(), message.bytes.size());
            core::check_cuda(cudaMemcpy(message.bytes.data(), theirs[k].bytes.data(), message.bytes.size(),
                                        cudaMemcpyDeviceToDevice),
                             "copying a message");
            ++k;
        }
        core::check_cuda(cudaDeviceSynchronize(), "copying messages");
        meet();
        return std::make_unique<Over>();
    }
    void wait(void* stream, const std::function<void()>&) override {
        core::check_cuda(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "waiting for a stream");
    }

  private:
    struct Over final : distributed::Exchange {
        void wait() override {}
    };
    void meet() { job_.gather(""); }  // throws where a rank is gone

    distributed::Transport& job_;
    const std::shared_ptr<Sent> sent_;
};

class DeviceBands : public OnCuda {
  protected:
    template <class Real>
    static void expect_of(const RanksOf<Real>& expected, std::size_t n_ranks,
                          const std::vector<double>& speeds = {}) {
        for (const bool on_device : {false, true}) {
            const auto sent = std::make_shared<Sent>(n_ranks);
            expected.expect_of(Devices(n_ranks, Device::cuda(0)), speeds, ExchangeWay::nccl, on_device,
                               [&](const Communicator& ranks) {
                                   ranks.transport()->device_link =
                                       std::make_shared<CopyingLink>(*ranks.transport(), sent);
                               });
        }
    }
};

TEST_F(DeviceBands, HoldWhatOneProcessHas) {
    for (const int spin : {0, 1, 2, 3})
        for (const std::size_t n_ranks : {2, 3, 4}) {
            SCOPED_TRACE(::testing::Message() << n_ranks << " ranks, spin " << spin);
            expect_of(RanksOf<double>(Grid::healpix(32), cpu_options(80, 70, spin), 1), n_ranks);
        }
    expect_of(RanksOf<double>(Grid::gauss_legendre(65, 129), cpu_options(64, 64, 2), 1), 3);
    expect_of(RanksOf<double>(Grid::healpix(32), cpu_options(50, 0, 0), 1), 2);
}

TEST_F(DeviceBands, TakeBatches) {
    expect_of(RanksOf<float>(Grid::healpix(24), cpu_options(60, 60, 0), 11), 3, {3, 1, 2});
    expect_of(RanksOf<double>(Grid::healpix(24), cpu_options(60, 60, 2), 5), 2, {1, 3});
}

TEST_F(DeviceBands, IntegrateExactlyOverTheta) {
    expect_of(RanksOf<double>(Grid::fejer1(65, 129), cpu_options(64, 64, 0), 2), 3);
    expect_of(RanksOf<double>(Grid::driscoll_healy(48, 96), cpu_options(47, 47, 2), 1), 2, {1, 2});
}

/// Several chunks of orders, and rings that are resampled.
TEST_F(DeviceBands, ComeInChunks) {
    for (const int spin : {0, 2}) {
        ShtOptions options = cpu_options(700, 700, spin);
        options.threads = 8;
        expect_of(RanksOf<double>(Grid::healpix(512), options, 1), 2);
    }
}

}  // namespace
}  // namespace zonal::test
