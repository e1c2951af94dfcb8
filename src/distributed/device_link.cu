#include "distributed/device_link.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>

#include "core/cuda_transfer.cuh"
#include "core/parallel.hpp"
#include "distributed/nccl.cuh"
#include "zonal/error.hpp"

namespace zonal::distributed {
namespace {

/// Messages whose end is an event.
class CudaExchange final : public Exchange {
  public:
    CudaExchange(int device, cudaStream_t from, cudaStream_t stream) : device_(device), stream_(stream) {
        over_.record(from);
    }
    ~CudaExchange() override {
        try {
            wait();
        } catch (const Error&) {  // of a device that later calls will find broken
        }
    }
    void wait() override {
        if (has_waited_) return;
        has_waited_ = true;
        const core::CurrentDevice current(device_);
        over_.hold(stream_);
    }

  private:
    const int device_;
    const cudaStream_t stream_;
    core::Event over_;
    bool has_waited_ = false;
};

class CudaLink final : public DeviceLink {
  public:
    CudaLink(Transport& job, int device, const std::string& id) : job_(job), device_(device) {
        const core::CurrentDevice current(device);
        streams_.emplace();
        if (!id.empty()) group_.emplace(device, job.rank(), job.size(), id, [&job] { job.check_ranks(); });
    }
    ~CudaLink() override {
        int before = 0;
        cudaGetDevice(&before);
        cudaSetDevice(device_);
        group_.reset();
        streams_.reset();
        cudaSetDevice(before);
    }

    int device() const override { return device_; }

    std::unique_ptr<Exchange> exchange(const std::vector<Message<const std::byte>>& send,
                                       const std::vector<Message<std::byte>>& receive,
                                       void* stream) override {
        const core::CurrentDevice current(device_);
        const auto of_work = static_cast<cudaStream_t>(stream);
        const cudaStream_t own = streams_->messages.get();
        return or_end([&]() -> std::unique_ptr<Exchange> {
            streams_->ready.record(of_work);
            streams_->ready.hold(own);
            if (group_ && (!send.empty() || !receive.empty())) {
                group_->begin();
                for (const auto& message : send)
                    group_->send(message.bytes.data(), message.bytes.size(), message.rank, own);
                for (const auto& message : receive)
                    group_->receive(message.bytes.data(), message.bytes.size(), message.rank, own);
                group_->end([this] { job_.check_ranks(); });
            }
            return std::make_unique<CudaExchange>(device_, own, of_work);
        });
    }

    void wait(void* stream, const std::function<void()>& between_looks) override {
        const core::CurrentDevice current(device_);
        // Transforms of small maps take less: there is no pause that would delay them.
        const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
        or_end([&] {
            while (true) {
                const cudaError_t status = cudaStreamQuery(static_cast<cudaStream_t>(stream));
                if (status == cudaSuccess) return;
                if (status != cudaErrorNotReady) core::check_cuda(status, "transform");
                if (group_) group_->check();
                job_.check_ranks();
                between_looks();
                if (std::chrono::steady_clock::now() > patience)
                    std::this_thread::sleep_for(std::chrono::microseconds(50));
            }
        });
    }

  private:
    struct Streams {
        core::OwnStream messages{core::OwnStream::Urgency::first};  // for which other ranks wait
        core::Event ready;
    };

    /// work(); where it fails, ends what is under way, as other ranks' parts of it may never come.
    template <class Work>
    std::invoke_result_t<Work> or_end(const Work& work) {
        try {
            return work();
        } catch (const CommunicationError&) {
            if (group_) group_->abort();
            throw;
        } catch (const DeviceError& error) {
            if (group_) group_->abort();
            throw CommunicationError("rank " + std::to_string(job_.rank()) + ": " + error.what());
        }
    }

    Transport& job_;  ///< which has this link
    const int device_;
    std::optional<Streams> streams_;
    std::optional<NcclGroup> group_;  ///< nothing for a rank that is alone
};

}  // namespace

RankLink cuda_rank_link(int device) {
    const core::CurrentDevice current(device);
    cudaDeviceProp properties{};
    core::check_cuda(cudaGetDeviceProperties(&properties, device), "looking at a device");
    return {core::machine_name() + ' ' + std::string(properties.uuid.bytes, sizeof properties.uuid.bytes),
            missing_nccl()};
}

std::shared_ptr<DeviceLink> make_cuda_link(Transport& job, int device, const std::string& id) {
    return std::make_shared<CudaLink>(job, device, id);
}

}  // namespace zonal::distributed
