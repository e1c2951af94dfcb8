#pragma once

#include "chebyshev/product/planes_cuda.cuh"
#include "chebyshev/product/product.hpp"
#include "core/cuda.cuh"

namespace zonal::chebyshev::cuda {

/// Sums of products by one method, of arrays on the device that is current.
template <class T>
class Method {
  public:
    virtual ~Method() = default;
    /// Scratch memory for calls of so many series.
    virtual std::int64_t scratch_bytes(std::int64_t n_batch) const = 0;
    /// Puts the work on the stream. fields: as in a product plan; sums may be fields.
    virtual void run(std::span<const SeriesArray<const T>> fields, std::span<const SeriesArray<T>> sums,
                     void* scratch, cudaStream_t stream) const = 0;
};

template <class T>
std::unique_ptr<Method<T>> make_direct(const ProductShape& shape,
                                       const std::array<std::int64_t, 3>& extents_out);
/// Of calls with about n_batch series: others are served as well, if not as fast.
template <class T>
std::unique_ptr<Method<T>> make_transform(const ProductShape& shape,
                                          const std::array<std::int64_t, 3>& extents_out,
                                          std::int64_t n_batch);

/// Series of the stages' own, each at a multiple of 32 elements: sectors begin with the first one.
inline std::int64_t aligned_size(std::int64_t size) {
    return (size + 31) / 32 * 32;
}

}  // namespace zonal::chebyshev::cuda
