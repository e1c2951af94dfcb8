#pragma once

#include <memory>
#include <vector>

#include "core/cuda.cuh"

namespace zonal::core {

/// Host memory that the device copies from and to by itself: page-locked or managed.
bool is_page_locked(const void* memory, std::int64_t bytes);

/// An array of page-locked host memory.
class PageLockedArray {
  public:
    explicit PageLockedArray(std::int64_t bytes);
    ~PageLockedArray() { cudaFreeHost(data_); }
    PageLockedArray(const PageLockedArray&) = delete;
    PageLockedArray& operator=(const PageLockedArray&) = delete;
    char* data() const { return data_; }

  private:
    char* data_ = nullptr;
};

/// A point in a stream's work that others wait for; passed until it is first recorded.
class Event {
  public:
    Event() { check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    void record(cudaStream_t stream) { check_cuda(cudaEventRecord(event_, stream), "recording an event"); }
    void hold(cudaStream_t stream) const {
        check_cuda(cudaStreamWaitEvent(stream, event_), "waiting for an event");
    }
    void wait() const { check_cuda(cudaEventSynchronize(event_), "waiting for an event"); }

  private:
    cudaEvent_t event_ = nullptr;
};

/// Copies between host and device memory. Page-locked and managed memory the device copies itself; other
/// memory goes through page-locked buffers, two for each of a few threads, which fill or empty one while the
/// other is on its way.
class HostTransfer {
  public:
    HostTransfer(int device, int threads);

    /// In the order of the stream. Other than page-locked memory has been read on return.
    void to_device(const void* from, void* to, std::int64_t bytes, cudaStream_t stream);
    /// In the order of the stream. Other than page-locked memory has been written on return.
    void to_host(const void* from, void* to, std::int64_t bytes, cudaStream_t stream);

  private:
    /// Bytes of the host array that a buffer holds on their way.
    struct Piece {
        std::int64_t first = 0, bytes = 0;
    };
    /// One thread's buffers.
    struct Lane {
        Lane();
        PageLockedArray buffers[2];
        Event copied[2];
        Piece pieces[2];
    };
    /// work(lane, its buffer, piece) for all pieces, and finish(lane) at the end of each lane's, on the
    /// threads.
    template <class Work, class Finish>
    void for_each_piece(std::int64_t bytes, const Work& work, const Finish& finish);

    int device_, threads_;
    std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace zonal::core
