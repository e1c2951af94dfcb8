#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "zonal/buffer.hpp"
#include "zonal/view.hpp"

namespace zonal::points {

/// The memory that a device computes in.
inline MemorySpace space_on(Device device) {
    return device.kind() == Device::Kind::cuda ? MemorySpace::cuda : MemorySpace::host;
}

/// An array in the memory that a device computes in. Not initialised.
template <class T, int N>
class WorkArray {
  public:
    WorkArray() = default;
    WorkArray(Device device, const std::array<std::int64_t, N>& extents)
        : buffer_(device, View<T, N>(nullptr, extents).size() * static_cast<std::int64_t>(sizeof(T))),
          extents_(extents),
          space_(space_on(device)) {}

    View<T, N> view() { return {data(), extents_, space_}; }
    View<const T, N> view() const { return {data(), extents_, space_}; }
    T* data() const { return static_cast<T*>(buffer_.data()); }
    std::int64_t size() const { return view().size(); }
    std::int64_t extent(int axis) const { return extents_[static_cast<std::size_t>(axis)]; }
    void clear() { buffer_.clear(); }
    void copy_from(const T* host) { buffer_.copy_from(host); }
    void copy_to(T* host) const { buffer_.copy_to(host); }

    /// On the CPU.
    template <std::integral... Index>
    T& operator()(Index... index) const {
        return View<T, N>(data(), extents_)(index...);
    }

  private:
    Buffer buffer_;
    std::array<std::int64_t, N> extents_{};
    MemorySpace space_ = MemorySpace::host;
};

}  // namespace zonal::points
