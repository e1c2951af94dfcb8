#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>
#include <vector>

#include "zonal/view.hpp"

namespace zonal::python {

namespace nb = nanobind;

/// An array of the caller's, of any rank and strides; the last axis of maps and alm is contiguous.
template <class T>
using HostArray = nb::ndarray<T, nb::device::cpu>;
template <class T, int N>
using HostArrayOfRank = nb::ndarray<T, nb::ndim<N>, nb::device::cpu>;

/// array: HostArrayOfRank<T, N>.
template <int N, class T, class... Constraints>
View<T, N> view_of(const nb::ndarray<T, Constraints...>& array) {
    typename View<T, N>::Extents extents, strides;
    for (int axis = 0; axis < N; ++axis) {
        extents[axis] = static_cast<std::int64_t>(array.shape(axis));
        strides[axis] = array.stride(axis);
    }
    return {array.data(), extents, strides};
}

/// Returns maps or alm as [batch, component, n] where they come as that, or without the axis of the batch, or
/// without that of one component.
template <class T>
View<T, 3> batch_of(const HostArray<T>& array, bool has_components) {
    typename View<T, 3>::Extents extents{1, 1, 1}, strides{0, 0, 1};
    int axis = 2;
    for (int from = static_cast<int>(array.ndim()) - 1; from >= 0; --from, --axis) {
        if (axis == 1 && !has_components) axis = 0;
        if (axis < 0)
            throw nb::value_error("an array has more axes than batch, component and pixel or coefficient");
        extents[axis] = static_cast<std::int64_t>(array.shape(from));
        strides[axis] = array.stride(from);
    }
    if (array.size() == 0) strides[2] = 1;  // Python leaves the strides of an empty batch open
    return {array.data(), extents, strides};
}

/// The values of a contiguous vector.
inline std::vector<double> vector_of(const HostArrayOfRank<const double, 1>& values) {
    const auto view = view_of<1>(values);
    std::vector<double> copy(static_cast<std::size_t>(view.size()));
    for (std::int64_t i = 0; i < view.size(); ++i) copy[static_cast<std::size_t>(i)] = view[i];
    return copy;
}

/// A vector as a NumPy array, which takes over its memory.
template <class T>
auto to_numpy(std::vector<T> values) {
    auto* const owned = new std::vector<T>(std::move(values));
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

/// A matrix, likewise.
template <class T>
auto to_numpy(Array<T, 2> values) {
    auto* const owned = new Array<T, 2>(std::move(values));
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Array<T, 2>*>(p); });
    const auto size = [&](int axis) { return static_cast<std::size_t>(owned->extent(axis)); };
    return nb::ndarray<nb::numpy, T, nb::ndim<2>>(owned->data(), {size(0), size(1)}, owner);
}

}  // namespace zonal::python
