#pragma once

#include <array>

#include "sht/transform.hpp"

/// Maps and alm in the memory that a workspace's transforms work in.
namespace zonal::sht {

/// An array there, contents unspecified; the same memory at every call.
template <class T, int N>
View<T, N> scratch_array(ShtWorkspace::Storage& storage, const ScratchArray& array,
                         const std::array<std::int64_t, N>& extents) {
    std::int64_t bytes = sizeof(T);
    for (const std::int64_t extent : extents) bytes *= extent;
    return {static_cast<T*>(storage.reserve(array, bytes)), extents, storage.space()};
}

/// to = from, each wherever it is; [.., .., contiguous].
template <class T>
void copy_fields(ShtWorkspace::Storage& storage, View<const T, 3> from, View<T, 3> to) {
    if (from.size() == 0) return;
    constexpr std::int64_t unit = sizeof(T);
    for (std::int64_t b = 0; b < from.extent(0); ++b)
        storage.copy({&from(b, 0, 0), from.stride(1) * unit, from.space()},
                     {&to(b, 0, 0), to.stride(1) * unit, to.space()}, from.extent(2) * unit, from.extent(1));
}

/// The array itself where the transforms can use it, else its copy there.
template <class T>
View<const T, 3> resident(ShtWorkspace::Storage& storage, const ScratchArray& array, View<const T, 3> view) {
    if (view.space() == storage.space()) return view;
    const auto copy = scratch_array<T, 3>(storage, array, view.extents());
    copy_fields<T>(storage, view, copy);
    return copy;
}

/// The array itself where the transforms can use it, else room for it there.
template <class T>
View<T, 3> resident_target(ShtWorkspace::Storage& storage, const ScratchArray& array, View<T, 3> view) {
    if (view.space() == storage.space()) return view;
    return scratch_array<T, 3>(storage, array, view.extents());
}

}  // namespace zonal::sht
