#pragma once

// The CUDA toolkit, for every .cu file of the project.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <cufft.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>
#include "zonal/view.hpp"

namespace zonal::core {

/// The device whose memory this is; of managed memory the current one. Throws InvalidArgument where it is
/// none.
int device_of(const char* name, const void* data);

/// Throws InvalidArgument for memory that is said to lie on the device and does not, or the other way round,
/// and for memory on it that is not aligned to `alignment` bytes.
void require_place(const char* name, const void* data, MemorySpace space, int device, std::size_t alignment);
/// The same for an array; one without elements may lie anywhere.
template <class T, int N>
void require_place(const char* name, const View<T, N>& view, int device) {
    if (view.size() > 0)
        require_place(name, view.data(), view.space(), device, sizeof(std::remove_const_t<T>));
}

/// Throw DeviceError, naming what was tried, unless all is well.
void check_cuda(cudaError_t status, const char* what);
void check_cufft(cufftResult status, const char* what);

/// Makes a device current and, at the end of the scope, the caller's again.
class CurrentDevice {
  public:
    explicit CurrentDevice(int index);
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

  private:
    int before_ = 0;
    bool changed_ = false;
};

/// What limits kernels on a device.
struct DeviceLimits {
    int processors;
    int architecture;  ///< major number of the compute capability
    /// Bytes that a block may ask for: 64 KiB on sm_75, 99 on sm_86, 89 and 120, 163 on sm_80, 227 on sm_90
    /// and 100.
    std::int64_t shared_memory_per_block;
};
/// The current device's limits, which are asked for once.
const DeviceLimits& device_limits();

/// Bytes of device memory; throws OutOfDeviceMemory with the bytes asked for and free.
void* allocate_device(std::int64_t bytes);

/// The same from the current device's memory pool: there from the present point in the stream's work on, and
/// free again when the stream has come to where it was released.
void* allocate_in_stream(std::int64_t bytes, cudaStream_t stream);

/// An array of device memory for work on one stream; not initialised.
template <class T>
class StreamArray {
  public:
    StreamArray(std::int64_t size, cudaStream_t stream)
        : stream_(stream),
          data_(size == 0 ? nullptr
                          : static_cast<T*>(
                                allocate_in_stream(size * static_cast<std::int64_t>(sizeof(T)), stream))) {}
    ~StreamArray() {
        if (data_ != nullptr) cudaFreeAsync(data_, stream_);
    }
    StreamArray(const StreamArray&) = delete;
    StreamArray& operator=(const StreamArray&) = delete;
    T* data() const { return data_; }

  private:
    cudaStream_t stream_;
    T* data_;
};

/// An array of device memory that it owns; not initialised. Knows its device.
template <class T>
class DeviceArray {
  public:
    DeviceArray() = default;
    explicit DeviceArray(std::int64_t size) : size_(size) {
        if (size > 0) data_ = static_cast<T*>(allocate_device(size * static_cast<std::int64_t>(sizeof(T))));
    }
    /// A copy of host memory.
    template <class Allocator>
    explicit DeviceArray(const std::vector<T, Allocator>& host)
        : DeviceArray(static_cast<std::int64_t>(host.size())) {
        copy_from(host.data());
    }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(DeviceArray&& other) noexcept { swap(other); }
    DeviceArray& operator=(DeviceArray&& other) noexcept {
        swap(other);
        return *this;
    }

    T* data() const { return data_; }
    std::int64_t size() const { return size_; }
    std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(T)); }
    /// Makes room for at least `size` elements; what was there is lost.
    void reserve(std::int64_t size) {
        if (size <= size_) return;
        *this = DeviceArray();
        DeviceArray larger(size);
        swap(larger);
    }

  private:
    void swap(DeviceArray& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    void copy_from(const T* host) {
        if (size_ == 0) return;
        check_cuda(cudaMemcpy(data_, host, bytes(), cudaMemcpyHostToDevice), "copying a table");
        // From pageable memory the copy returns before all is there; streams of their own would not wait.
        check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "copying a table");
    }

    T* data_ = nullptr;
    std::int64_t size_ = 0;
};

/// A stream of its own that does not wait for the default one.
class OwnStream {
  public:
    /// first: blocks of its kernels begin before those of other streams' that have not begun.
    enum class Urgency { usual, first };
    explicit OwnStream(Urgency urgency = Urgency::usual) {
        int least = 0, greatest = 0;
        check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "making a stream");
        check_cuda(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                                urgency == Urgency::first ? greatest : least),
                   "making a stream");
    }
    ~OwnStream() { cudaStreamDestroy(stream_); }
    OwnStream(const OwnStream&) = delete;
    OwnStream& operator=(const OwnStream&) = delete;
    cudaStream_t get() const { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
};

/// A second stream for work that may run beside another's.
class SideStream {
  public:
    explicit SideStream(OwnStream::Urgency urgency = OwnStream::Urgency::usual) : side_(urgency) {
        for (cudaEvent_t* event : {&fork_, &join_})
            check_cuda(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "making an event");
    }
    ~SideStream() {
        cudaEventDestroy(fork_);
        cudaEventDestroy(join_);
    }
    SideStream(const SideStream&) = delete;
    SideStream& operator=(const SideStream&) = delete;

    /// The side stream, after what `stream` has been given so far.
    cudaStream_t fork(cudaStream_t stream) {
        check_cuda(cudaEventRecord(fork_, stream), "recording an event");
        check_cuda(cudaStreamWaitEvent(side_.get(), fork_), "waiting for an event");
        return side_.get();
    }
    /// `stream` goes on when the side stream's work is done.
    void join(cudaStream_t stream) {
        check_cuda(cudaEventRecord(join_, side_.get()), "recording an event");
        check_cuda(cudaStreamWaitEvent(stream, join_), "waiting for an event");
    }

  private:
    OwnStream side_;
    cudaEvent_t fork_ = nullptr, join_ = nullptr;
};

/// Points in time of a stream's work.
class EventList {
  public:
    EventList() = default;
    ~EventList() {
        for (cudaEvent_t event : events_) cudaEventDestroy(event);
    }
    EventList(const EventList&) = delete;
    EventList& operator=(const EventList&) = delete;

    void clear() { used_ = 0; }
    /// Now, or, while the stream is captured, whenever the graph is launched.
    void record(cudaStream_t stream) {
        if (used_ == events_.size()) {
            cudaEvent_t event = nullptr;
            check_cuda(cudaEventCreate(&event), "making an event");
            events_.push_back(event);
        }
        cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
        check_cuda(cudaStreamIsCapturing(stream, &capture), "recording an event");
        const unsigned flags =
            capture == cudaStreamCaptureStatusActive ? cudaEventRecordExternal : cudaEventRecordDefault;
        check_cuda(cudaEventRecordWithFlags(events_[used_++], stream, flags), "recording an event");
    }
    /// From event k to the next one, once the stream has passed both.
    double seconds(std::size_t k) const {
        float milliseconds = 0;
        check_cuda(cudaEventElapsedTime(&milliseconds, events_[k], events_[k + 1]), "reading an event");
        return 1e-3 * milliseconds;
    }
    std::size_t size() const { return used_; }

  private:
    std::vector<cudaEvent_t> events_;
    std::size_t used_ = 0;
};

/// Reports the launch of a kernel that failed.
inline void check_launch(const char* kernel) {
    check_cuda(cudaGetLastError(), kernel);
}

/// What lies there, in a device's memory, once work on the default stream is done.
template <class T>
T value_at(const T* there) {
    T value{};
    check_cuda(cudaMemcpy(&value, there, sizeof value, cudaMemcpyDeviceToHost), "reading a value");
    return value;
}

/// Has a kernel run on processors that are set up for the most shared memory. Where a kernel that takes much
/// of it is to run beside, processors would else first have to be rid of this one's blocks.
template <class Kernel>
void set_up_for_shared_memory(Kernel kernel) {
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared),
               "asking for shared memory");
}

// Launches whose preparations run beside the end of the work before them.

/// In a kernel launched by launch_overlapped: lets the next such one begin, once every block has come here.
__device__ __forceinline__ void let_next_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// In such a kernel: all earlier work of the stream is done, and what it wrote is there. Before this call the
/// kernel reads only what no work of the stream writes, and writes no global memory.
__device__ __forceinline__ void wait_for_earlier_work() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Puts a kernel on a stream that calls wait_for_earlier_work() in each of its threads; `name` is for errors.
/// Devices before sm_90 begin it when all before it is done.
template <class Argument, class... More>
void launch_overlapped(const char* name, void (*kernel)(Argument, More...), dim3 grid, int threads,
                       std::int64_t shared_bytes, cudaStream_t stream, const Argument& argument,
                       const More&... more) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = device_limits().architecture >= 9 ? 1 : 0;
    check_cuda(cudaLaunchKernelEx(&config, kernel, argument, more...), name);
}

}  // namespace zonal::core
