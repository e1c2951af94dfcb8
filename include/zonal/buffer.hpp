#pragma once

#include <cstdint>

#include "zonal/device.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// Memory where a plan's device works best on it, for callers without the device's own tools. Not
/// initialised.
class Buffer {
  public:
    Buffer() = default;
    /// `bytes` of a device's memory, or of the host's for the CPU. Throws BackendUnavailable and
    /// OutOfDeviceMemory.
    Buffer(Device device, std::int64_t bytes);
    /// Page-locked memory of the host, which a device copies from and to fastest; ordinary memory for the
    /// CPU.
    static Buffer page_locked(Device device, std::int64_t bytes);
    ~Buffer();
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }

    void* data() const { return data_; }
    std::int64_t bytes() const { return bytes_; }
    MemorySpace space() const { return space_; }
    /// The whole as a row-major array; its bytes must be those of the buffer or fewer.
    template <class T, int N>
    View<T, N> view(const typename View<T, N>::Extents& extents) const {
        return {static_cast<T*>(data_), extents, space_};
    }

    /// Copies all of it from or to host memory, and waits for that.
    void copy_from(const void* host);
    void copy_to(void* host) const;
    /// Makes all bytes 0, and waits for that.
    void clear();

  private:
    enum class Kind { host, device, page_locked };
    Buffer(Kind kind, Device device, std::int64_t bytes);
    void swap(Buffer& other) noexcept;

    Kind kind_ = Kind::host;
    Device device_ = Device::cpu();
    MemorySpace space_ = MemorySpace::host;
    void* data_ = nullptr;
    std::int64_t bytes_ = 0;
};

/// Copies rows between the memory of the host and that of a device, and waits for that. It is done on the
/// device's default stream, which what other streams do with the device's array must be ordered with.
///
/// from, to: [row, element], each row contiguous; at most one is a device's. Throws InvalidArgument for other
/// extents and strides, and BackendUnavailable without CUDA code.
template <class T>
void copy_rows(View<const T, 2> from, View<T, 2> to);

}  // namespace zonal
