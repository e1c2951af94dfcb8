#pragma once

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "zonal/view.hpp"

namespace zonal::python {

namespace nb = nanobind;

/// An array of the caller's, of any rank and strides; the last axis of maps and alm is contiguous.
template <class T>
using HostArray = nb::ndarray<T, nb::device::cpu>;
template <class T, int N>
using HostArrayOfRank = nb::ndarray<T, nb::ndim<N>, nb::device::cpu>;

/// An array in the memory of the host or of a GPU.
template <class T>
using AnyArray = nb::ndarray<T>;

/// Where the elements of an array lie. Managed memory is a GPU's.
template <class T, class... Constraints>
MemorySpace space_of(const nb::ndarray<T, Constraints...>& array) {
    const int type = array.device_type();
    if (type == nb::device::cuda::value || type == nb::device::cuda_managed::value) return MemorySpace::cuda;
    if (type == nb::device::cpu::value || type == nb::device::cuda_host::value) return MemorySpace::host;
    throw nb::type_error("an array is neither in the memory of the host nor in that of a CUDA device");
}

/// array: of rank N.
template <int N, class T, class... Constraints>
View<T, N> view_of(const nb::ndarray<T, Constraints...>& array) {
    typename View<T, N>::Extents extents, strides;
    for (int axis = 0; axis < N; ++axis) {
        extents[axis] = static_cast<std::int64_t>(array.shape(axis));
        strides[axis] = array.stride(axis);
    }
    return {array.data(), extents, strides, space_of(array)};
}

/// One map, [pixel], or several, [map, pixel], as several.
template <class T>
View<T, 2> rows_of(const AnyArray<T>& maps) {
    if (maps.ndim() == 2) return view_of<2>(maps);
    const auto map = view_of<1>(maps);
    return {map.data(), {1, map.extent(0)}, {map.extent(0), map.stride(0)}, map.space()};
}

/// Writes all elements in order; returns where the next one goes.
template <class T, int N>
T* write_elements(const View<const T, N>& from, T* to) {
    for (std::int64_t i = 0; i < from.extent(0); ++i)
        if constexpr (N == 1)
            *to++ = from[i];
        else
            to = write_elements<T, N - 1>(from[i], to);
    return to;
}

/// A copy that outlives what a caller does to the array.
template <class T, int N>
Array<T, N> copy_of(const View<const T, N>& from) {
    Array<T, N> made(from.extents());
    write_elements(from, made.data());
    return made;
}

/// Returns maps or alm as [batch, component, n] where they come as that, or without the axis of the batch, or
/// without that of one component.
template <class T, class... Constraints>
View<T, 3> batch_of(const nb::ndarray<T, Constraints...>& array, bool has_components) {
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
    return {array.data(), extents, strides, space_of(array)};
}

/// Throws unless an output of a GPU has a place of its own for each element, and none of the input's. (Arrays
/// of the host have been checked in Python.)
template <class In, class Out, int N>
void require_apart(const View<In, N>& in, const View<Out, N>& out) {
    if (out.space() != MemorySpace::cuda || out.size() == 0) return;
    std::vector<std::pair<std::int64_t, std::int64_t>> axes;
    for (int axis = 0; axis < N; ++axis)
        if (out.extent(axis) > 1) axes.emplace_back(std::abs(out.stride(axis)), out.extent(axis));
    std::sort(axes.begin(), axes.end());
    std::int64_t span = 1;
    for (const auto& [stride, extent] : axes) {
        if (stride < span)
            throw nb::value_error(
                "out: has elements that share memory, such as those of a broadcast array: give an "
                "array whose elements all have a place of their own");
        span += stride * (extent - 1);
    }
    const auto bytes = [](const auto& view) {
        const auto first = reinterpret_cast<std::uintptr_t>(view.data());
        std::int64_t low = 0, high = 1;
        for (int axis = 0; axis < N; ++axis) {
            const std::int64_t reach = (view.extent(axis) - 1) * view.stride(axis);
            (reach < 0 ? low : high) += reach;
        }
        constexpr auto size = static_cast<std::int64_t>(sizeof(*view.data()));
        return std::pair(first + static_cast<std::uintptr_t>(low * size),
                         first + static_cast<std::uintptr_t>(high * size));
    };
    const auto read = bytes(in), written = bytes(out);
    if (read.first < written.second && written.first < read.second)
        throw nb::value_error("out: must not share memory with the input");
}

/// The values of a contiguous vector.
template <class T>
std::vector<T> vector_of(const HostArrayOfRank<const T, 1>& values) {
    const auto view = view_of<1>(values);
    std::vector<T> copy(static_cast<std::size_t>(view.size()));
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
