#pragma once

#include "core/cuda.cuh"

namespace zonal::sht::cuda {

/// Sums N values per lane over `Lanes` neighbouring lanes: returns the sum of value lane % N. N, Lanes:
/// powers of 2, N <= Lanes <= 32. A transposing butterfly, about one exchange for each sum; v is used up.
template <int N, int Lanes = 32>
__device__ __forceinline__ double sum_over_lanes(double (&v)[N], int lane) {
#pragma unroll
    for (int half = N / 2; half > 0; half /= 2) {
        const bool upper = (lane & half) != 0;
#pragma unroll
        for (int k = 0; k < N / 2; ++k) {
            if (k >= half) break;
            const double keep = upper ? v[k + half] : v[k];
            const double give = upper ? v[k] : v[k + half];
            v[k] = keep + __shfl_xor_sync(~0u, give, half);
        }
    }
#pragma unroll
    for (int step = N; step < Lanes; step *= 2) v[0] += __shfl_xor_sync(~0u, v[0], step);
    return v[0];
}

}  // namespace zonal::sht::cuda
