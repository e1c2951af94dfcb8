#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "zonal/convolution.hpp"
#include "zonal/error.hpp"

/// What plans for radial kernels ask of their options and arrays.
namespace zonal::radial {

/// With accuracy and threads resolved; the device is as it was.
inline PixelConvolutionOptions resolve_numbers(const PixelConvolutionOptions& options) {
    constexpr double least_accuracy = 1e-14, worst_accuracy = 1e-2;
    PixelConvolutionOptions resolved = options;
    if (options.accuracy == 0)
        resolved.accuracy = options.precision == Precision::single_ ? 3e-8 : 1e-12;
    else if (!(options.accuracy >= least_accuracy && options.accuracy <= worst_accuracy))
        throw InvalidArgument(fmt::format("accuracy = {}: must be 0 (by the precision) or from {} to {}",
                                          options.accuracy, least_accuracy, worst_accuracy));
    resolved.threads = core::resolve_threads(options.threads);
    return resolved;
}

/// Whether the bytes that two views span meet: a convolution does not work in place.
template <class T, int N>
bool overlap(const View<const T, N>& a, const View<T, N>& b) {
    if (a.size() == 0 || b.size() == 0) return false;
    const auto span = [](const auto& view) {
        const auto first = reinterpret_cast<std::uintptr_t>(view.data());
        std::int64_t last_element = 0;
        for (int axis = 0; axis < N; ++axis) last_element += (view.extent(axis) - 1) * view.stride(axis);
        const auto last = reinterpret_cast<std::uintptr_t>(view.data() + last_element);
        return std::pair(std::min(first, last), std::max(first, last) + sizeof(T));
    };
    const auto [a_first, a_end] = span(a);
    const auto [b_first, b_end] = span(b);
    return a_first < b_end && b_first < a_end;
}

/// maps, convolved: [map, (component,) pixel]. Throws InvalidArgument.
template <class T, int N>
void check_maps(const View<const T, N>& maps, std::int64_t n_pixels, const View<T, N>& convolved,
                std::int64_t n_pixels_out, Device device) {
    if (maps.extent(0) != convolved.extent(0))
        throw InvalidArgument(fmt::format("maps and convolved: batch lengths {} and {} differ",
                                          maps.extent(0), convolved.extent(0)));
    const auto check = [&](const char* name, const auto& view, std::int64_t n) {
        if constexpr (N == 3) sht::check_extent(name, view, 1, "component", 2);
        sht::check_extent(name, view, N - 1, "pixel", n);
        sht::check_contiguous(name, view);
        if (view.space() != MemorySpace::host && device.kind() != Device::Kind::cuda)
            throw InvalidArgument(fmt::format("{}: is in device memory: a CPU plan needs host memory", name));
        if (view.size() > 0 && view.data() == nullptr)
            throw InvalidArgument(fmt::format("{}: null pointer", name));
    };
    check("maps", maps, n_pixels);
    check("convolved", convolved, n_pixels_out);
    if (overlap(maps, convolved)) throw InvalidArgument("convolved: overlaps maps: must be another array");
}

}  // namespace zonal::radial
