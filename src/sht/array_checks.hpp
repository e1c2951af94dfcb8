#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "zonal/error.hpp"
#include "zonal/view.hpp"

namespace zonal::sht {

/// Throws InvalidArgument unless view.extent(axis) == extent. axis_name: for the message.
template <class T, int N>
void check_extent(const char* name, const View<T, N>& view, int axis, const char* axis_name,
                  std::int64_t extent) {
    if (view.extent(axis) != extent)
        throw InvalidArgument(fmt::format("{}: axis {} ({}) has length {}: must be {}", name, axis, axis_name,
                                          view.extent(axis), extent));
}

/// Throws InvalidArgument unless the elements can be read and written by the CPU.
template <class T, int N>
void check_host(const char* name, const View<T, N>& view) {
    if (view.space() != MemorySpace::host)
        throw InvalidArgument(fmt::format("{}: is in device memory: must be in host memory", name));
    if (view.size() > 0 && view.data() == nullptr)
        throw InvalidArgument(fmt::format("{}: null pointer", name));
}

}  // namespace zonal::sht
