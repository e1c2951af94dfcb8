#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "zonal/chebyshev.hpp"

namespace zonal::chebyshev {

template <class T>
struct RealOf {
    using Type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
    using Type = T;
};
/// float or double, of T and of std::complex<T>.
template <class T>
using Real = typename RealOf<std::remove_const_t<T>>::Type;

template <class T>
inline constexpr bool is_complex = !std::is_same_v<Real<T>, std::remove_const_t<T>>;

inline constexpr const char* axis_names[] = {"batch", "axis 0", "axis 1", "axis 2"};

/// What a_0 is multiplied with to be primed.
template <class T>
Real<T> to_primed(const SeriesArray<T>& f) {
    return f.convention == ChebyshevConvention::plain ? 2 : 1;
}

/// Calls body(offset of the line's first element in `a`, in `b`) for all lines along `axis` (0: the batch) of
/// two arrays whose other extents are equal.
template <class A, class B, class Body>
void for_each_line(const SeriesArray<A>& a, const SeriesArray<B>& b, int axis, const Body& body) {
    std::array<std::int64_t, 4> n = a.extents;
    n[axis] = 1;
    for (std::int64_t i = 0; i < n[0]; ++i)
        for (std::int64_t j = 0; j < n[1]; ++j)
            for (std::int64_t k = 0; k < n[2]; ++k)
                for (std::int64_t l = 0; l < n[3]; ++l)
                    body(i * a.strides[0] + j * a.strides[1] + k * a.strides[2] + l * a.strides[3],
                         i * b.strides[0] + j * b.strides[1] + k * b.strides[2] + l * b.strides[3]);
}

/// body(element of a, element of b) for arrays of equal extents
template <class A, class B, class Body>
void for_each_pair(const SeriesArray<A>& a, const SeriesArray<B>& b, const Body& body) {
    const auto last = static_cast<std::size_t>(a.dimensions);
    for_each_line(a, b, a.dimensions, [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t k = 0; k < a.extents[last]; ++k)
            body(a.data[from + k * a.strides[last]], b.data[to + k * b.strides[last]]);
    });
}

/// A row-major array that somebody else owns, of the dimension, convention and memory space of `like`.
template <class T, class Like>
SeriesArray<T> row_major_like(const SeriesArray<Like>& like, T* data,
                              const std::array<std::int64_t, 4>& extents) {
    SeriesArray<T> array{data, like.dimensions, like.convention, like.space, extents, {}};
    std::int64_t stride = 1;
    for (int axis = like.dimensions; axis >= 0; --axis) {
        array.strides[axis] = stride;
        stride *= extents[axis];
    }
    return array;
}

/// Throw InvalidArgument, which names the argument and the axis.
template <class T>
void require_not_empty(const SeriesArray<T>& array, const char* name);  ///< but for the batch
template <class T>
void require_host(const SeriesArray<T>& array, const char* name);
void require_axis(int axis, int dimensions);
void require_extent(const char* name, int axis, std::int64_t extent, std::int64_t expected);

}  // namespace zonal::chebyshev
