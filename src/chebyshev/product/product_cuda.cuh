#pragma once

#include <array>
#include <cstdint>

#include "chebyshev/product/product.hpp"
#include "chebyshev/series_lines.hpp"
#include "core/cuda.cuh"

namespace zonal::chebyshev::cuda {

/// Arrays that one launch takes: a kernel's parameters are at most 4 KiB.
inline constexpr int most_planes = 16;

/// One plane (real or imaginary part) of a batch of series; strides of [batch, axis 0, 1, 2], in elements
/// of R.
template <class R>
struct Plane {
    R* data = nullptr;
    std::int64_t strides[4] = {0, 0, 0, 0};
};

template <class T>
inline constexpr int n_planes = is_complex<T> ? 2 : 1;

/// Plane `plane` from series `first` on.
template <class T, class R = std::conditional_t<std::is_const_v<T>, const Real<T>, Real<T>>>
Plane<R> plane_of(const SeriesArray<T>& array, int plane, std::int64_t first = 0) {
    Plane<R> result{reinterpret_cast<R*>(array.data + first * array.strides[0]) + plane, {}};
    for (int axis = 0; axis <= array.dimensions; ++axis)
        result.strides[axis] = array.strides[static_cast<std::size_t>(axis)] * n_planes<T>;
    return result;
}

/// A row-major plane [batch, n[0], n[1], n[2]].
template <class R>
Plane<R> row_major_plane(R* data, const std::array<std::int64_t, 3>& n) {
    return {data, {n[0] * n[1] * n[2], n[1] * n[2], n[2], 1}};
}

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
/// Made for calls with about n_batch series; others are served, too, if not as fast.
template <class T>
std::unique_ptr<Method<T>> make_transform(const ProductShape& shape,
                                          const std::array<std::int64_t, 3>& extents_out,
                                          std::int64_t n_batch);

/// Series of the stages' own, each at a multiple of 32 elements: sectors begin with the first one.
inline std::int64_t aligned_size(std::int64_t size) {
    return (size + 31) / 32 * 32;
}

}  // namespace zonal::chebyshev::cuda
