#pragma once

#include "chebyshev/product/product.hpp"
#include "core/cuda_transfer.cuh"

namespace zonal::chebyshev::cuda {

/// Device memory of a call, and what fills it.
struct CudaStorage final : DeviceStorage {
    CudaStorage(int device, int threads) : device(device), transfer(device, threads) {}

    const int device;
    core::HostTransfer transfer;
    core::OwnStream own;
    core::DeviceArray<char> scratch;  ///< of the method
    core::DeviceArray<char> staging;  ///< host arrays while they are on the device
};

/// Host arrays of one call, row-major copies of them in the staging memory.
template <class T>
class StagedArrays {
  public:
    explicit StagedArrays(CudaStorage& storage) : storage_(storage) {}

    /// Bytes of the copy; 0 for arrays that lie on the device.
    template <class Element>
    static std::int64_t bytes(const SeriesArray<Element>& array) {
        if (array.space == MemorySpace::cuda) return 0;
        const std::int64_t size = n_elements(array) * static_cast<std::int64_t>(sizeof(T));
        return (size + 255) / 256 * 256;
    }

    /// The array itself, or its place on the device, contents unspecified.
    template <class Element>
    SeriesArray<Element> place(const SeriesArray<Element>& array) {
        if (array.space == MemorySpace::cuda) return array;
        auto* const data = reinterpret_cast<T*>(storage_.staging.data() + used_);
        used_ += bytes(array);
        return row_major(array, static_cast<Element*>(data), MemorySpace::cuda);
    }

    void fetch(const SeriesArray<const T>& from, const SeriesArray<const T>& to, cudaStream_t stream) {
        if (from.space == MemorySpace::cuda) return;
        auto* const target = const_cast<T*>(to.data);  // our own memory
        const auto size = n_elements(from) * static_cast<std::int64_t>(sizeof(T));
        if (is_row_major(from)) return storage_.transfer.to_device(from.data, target, size, stream);
        std::vector<T> packed(static_cast<std::size_t>(n_elements(from)));
        for_each_pair(from, row_major(from, packed.data(), MemorySpace::host),
                      [](const T& source, T& copy) { copy = source; });
        storage_.transfer.to_device(packed.data(), target, size, stream);
        core::check_cuda(cudaStreamSynchronize(stream), "copying to the device");
    }

    /// The array has been written on return.
    void deliver(const SeriesArray<T>& from, const SeriesArray<T>& to, cudaStream_t stream) {
        if (to.space == MemorySpace::cuda) return;
        const auto size = n_elements(to) * static_cast<std::int64_t>(sizeof(T));
        std::vector<T> packed(is_row_major(to) ? 0 : static_cast<std::size_t>(n_elements(to)));
        storage_.transfer.to_host(from.data, is_row_major(to) ? to.data : packed.data(), size, stream);
        core::check_cuda(cudaStreamSynchronize(stream), "copying to the host");
        if (is_row_major(to)) return;
        for_each_pair(to, row_major(to, packed.data(), MemorySpace::host),
                      [](T& target, const T& copy) { target = copy; });
    }

  private:
    template <class Element>
    static std::int64_t n_elements(const SeriesArray<Element>& array) {
        return array.extents[0] * array.extents[1] * array.extents[2] * array.extents[3];
    }
    template <class Element, class Like>
    static SeriesArray<Element> row_major(const SeriesArray<Like>& like, Element* data, MemorySpace space) {
        auto array = row_major_like(like, data, like.extents);
        array.space = space;
        return array;
    }
    template <class Element>
    static bool is_row_major(const SeriesArray<Element>& array) {
        std::int64_t stride = 1;
        for (int axis = array.dimensions; axis >= 0; --axis) {
            const auto at = static_cast<std::size_t>(axis);
            if (array.extents[at] > 1 && array.strides[at] != stride) return false;
            stride *= array.extents[at];
        }
        return true;
    }

    CudaStorage& storage_;
    std::int64_t used_ = 0;
};

}  // namespace zonal::chebyshev::cuda
