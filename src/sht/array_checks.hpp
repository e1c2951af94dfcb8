#pragma once

#include <fmt/core.h>

#include <complex>
#include <cstdint>

#include "zonal/error.hpp"
#include "zonal/sht.hpp"
#include "zonal/view.hpp"

namespace zonal::sht {

/// The options with defaults filled in. Throws InvalidArgument or BackendUnavailable as ShtPlan does.
ShtOptions resolve_options(const ShtOptions& options);

/// Throws InvalidArgument, naming the array and axis, unless alm and map have the shapes of the plan, the
/// same batch, host memory and a contiguous last axis.
template <class T>
void check_arrays(const ShtPlan& plan, View<const std::complex<T>, 3> alm, View<const T, 3> map);

/// Throws InvalidArgument unless alm have 1 (T), 2 (E, B) or 3 (T, E, B) components.
void check_components(std::int64_t components);

/// Throws InvalidArgument unless view.extent(axis) == extent. axis_name: for the message.
template <class T, int N>
void check_extent(const char* name, const View<T, N>& view, int axis, const char* axis_name,
                  std::int64_t extent) {
    if (view.extent(axis) != extent)
        throw InvalidArgument(name, fmt::format("axis {} ({}) has length {}: must be {}", axis, axis_name,
                                                view.extent(axis), extent));
}

/// Throws InvalidArgument unless the elements can be read and written by the CPU.
template <class T, int N>
void check_host(const char* name, const View<T, N>& view) {
    if (view.space() != MemorySpace::host)
        throw InvalidArgument(name, "is in device memory: must be in host memory");
    if (view.size() > 0 && view.data() == nullptr) throw InvalidArgument(name, "null pointer");
}

/// Throws InvalidArgument unless the last axis is contiguous.
template <class T, int N>
void check_contiguous(const char* name, const View<T, N>& view) {
    if (view.extent(N - 1) > 1 && view.stride(N - 1) != 1)
        throw InvalidArgument(
            name, fmt::format("stride of the last axis = {}: must be 1 (contiguous)", view.stride(N - 1)));
}

/// As check_host where the elements may also lie in `space`.
template <class T, int N>
void check_space(const char* name, const View<T, N>& view, MemorySpace space) {
    if (view.space() != space) return check_host(name, view);
    if (view.size() > 0 && view.data() == nullptr) throw InvalidArgument(name, "null pointer");
}

}  // namespace zonal::sht
