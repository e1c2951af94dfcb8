#pragma once

#include <cstdio>

#include "cuda/chebyshev_factors.cuh"
#include "zonal/chebyshev/roots.hpp"

/// What the roots of batches of Chebyshev series take, on the device and on the host.
namespace zonal::bench {

/// One batch of real series with normally distributed coefficients; "seconds": from coefficients on the
/// device to roots on the host, "host_seconds": the same from and on the host with all its CPUs.
inline void measure_roots_of(std::int64_t n_rows, std::int64_t n_batch, int rounds) {
    auto values = random_values<double>(n_batch * (n_rows + 1), 1);
    const core::DeviceArray<double> there(values);
    const View<double, 2>::Extents extents{n_batch, n_rows + 1};
    const auto seconds = [&](double* data, MemorySpace space) {
        const ChebyshevView<double, 1> series(View<double, 2>(data, extents, space));
        return wall_seconds(rounds, [&] { all_roots(series); });
    };
    std::printf("  {\"rows\": %lld, \"batch\": %lld, \"seconds\": %.4g, \"host_seconds\": %.4g}",
                static_cast<long long>(n_rows), static_cast<long long>(n_batch),
                seconds(there.data(), MemorySpace::cuda), seconds(values.data(), MemorySpace::host));
}

inline void measure_roots(int rounds) {
    const std::int64_t shapes[][2] = {{32, 1},  {32, 1000},  {64, 1}, {64, 1000},
                                      {100, 1}, {100, 1000}, {400, 1}};
    const char* separator = "";
    for (const auto& [n_rows, n_batch] : shapes) {
        std::printf("%s", separator);
        measure_roots_of(n_rows, n_batch, std::min(rounds, 3));
        separator = ",\n";
    }
}

}  // namespace zonal::bench
