#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string_view>

#include "core/parallel.hpp"
#include "grids/batch/pixel_kernels.hpp"
#include "zonal/error.hpp"
#include "zonal/view.hpp"

/// How batches of pixels are cut into blocks for the kernels.
namespace zonal::healpix {

/// Fits the first cache with all of a kernel's arrays, and costs nothing against its work.
inline constexpr std::int64_t block_size = 512;
/// Elements that a thread takes at once: longer than a thread takes to start.
inline constexpr std::int64_t task_size = 64 * block_size;

/// An array of a batch and its argument's name.
template <class T>
struct Named {
    std::string_view name;
    View<T, 1> values;
};

/// Throws InvalidArgument unless the arrays lie in host memory and are n long.
template <class T, std::size_t n_arrays>
void check_arrays(const std::array<Named<T>, n_arrays>& arrays, std::int64_t n) {
    for (const auto& [name, values] : arrays) {
        if (values.size() != n)
            throw InvalidArgument(
                std::string(name),
                fmt::format("{} elements: must be {}, as many as the first argument has", values.size(), n));
        if (values.space() != MemorySpace::host && n > 0)
            throw InvalidArgument(std::string(name), "must be in host memory");
    }
}

/// A kernel's arrays for one block.
template <class T, std::size_t n_arrays>
struct alignas(64) BlockRows {
    std::array<std::array<T, block_size>, n_arrays> rows;
};

/// Calls body(in, begin, count, padded) for blocks of count <= block_size elements, where in are rows of
/// `padded` elements: count, rounded up to whole vectors with copies of the block's first. Where a body
/// returns false, calls complain(index) for the elements of the first such block and those behind it; it
/// throws for the first that is not valid.
template <class In, std::size_t n_in, class Body, class Complain>
void for_input_blocks(const std::array<Named<const In>, n_in>& in, int threads, const Body& body,
                      const Complain& complain) {
    const std::int64_t n = in[0].values.size();
    check_arrays(in, n);
    std::atomic<std::int64_t> first_bad{n};
    auto one_block = [&](std::int64_t begin, BlockRows<In, n_in>& from) {
        const std::int64_t count = std::min(block_size, n - begin);
        const std::int64_t padded = (count + kernel_multiple - 1) / kernel_multiple * kernel_multiple;
        for (std::size_t row = 0; row < n_in; ++row) {
            for (std::int64_t k = 0; k < count; ++k) from.rows[row][k] = in[row].values[begin + k];
            std::fill_n(from.rows[row].begin() + count, padded - count, from.rows[row][0]);
        }
        return body(from.rows, begin, count, padded);
    };
    core::parallel_for((n + task_size - 1) / task_size, core::resolve_threads(threads),
                       [&](std::int64_t task, int) {
                           BlockRows<In, n_in> from;
                           const std::int64_t end = std::min(n, (task + 1) * task_size);
                           for (std::int64_t begin = task * task_size; begin < end; begin += block_size) {
                               if (begin > first_bad) return;
                               if (one_block(begin, from)) continue;
                               for (auto before = first_bad.load();
                                    begin < before && !first_bad.compare_exchange_weak(before, begin);) {
                               }
                               return;
                           }
                       });
    for (std::int64_t index = first_bad; index < n; ++index) complain(index);
}

/// The same for kernel(in, out, padded), which fills rows of the output.
template <class In, std::size_t n_in, class Out, std::size_t n_out, class Kernel, class Complain>
void for_blocks(const std::array<Named<const In>, n_in>& in, const std::array<Named<Out>, n_out>& out,
                int threads, const Kernel& kernel, const Complain& complain) {
    check_arrays(out, in[0].values.size());
    for_input_blocks(
        in, threads,
        [&](const auto& from, std::int64_t begin, std::int64_t count, std::int64_t padded) {
            BlockRows<Out, n_out> to;
            if (!kernel(from, to.rows, padded)) return false;
            for (std::size_t row = 0; row < n_out; ++row)
                for (std::int64_t k = 0; k < count; ++k) out[row].values[begin + k] = to.rows[row][k];
            return true;
        },
        complain);
}

}  // namespace zonal::healpix
