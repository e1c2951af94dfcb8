#pragma once

#include <cmath>

#include "core/host_device.hpp"
#include "sht/legendre/legendre_cuda.cuh"

namespace zonal::sht {

inline constexpr double scale_step = 800;

struct ScaledValue {
    double value;
    int scale;
};

/// A logarithm to base 2 as the sum of two doubles.
struct Log2 {
    double high, low;

    /// Adds power * (table_high + table_low); the product with table_high is exact (LogTable).
    ZONAL_HOST_DEVICE void add(double power, double table_high, double table_low) {
        const double product = power * table_high;
        const double sum = high + product;
        const double part = sum - high;  // Knuth's two-sum
        const double sum_error = (high - (sum - part)) + (product - part);
        high = sum;
        low += sum_error + power * table_low;
    }
};

/// sign * 2^log, with scale 0 from 2^visible up.
ZONAL_HOST_DEVICE inline ScaledValue exp2_scaled(Log2 log, double sign, double visible) {
    const double units = floor((log.high - visible) / scale_step);
    const double scale = units < 0 ? units : 0;
    // The fraction is taken before the scale's multiple is added to the whole part, so that both are exact.
    const double nearest = rint(log.high);
    const double fraction = (log.high - nearest) + log.low;
    const double whole = nearest - scale * scale_step;
    return {sign * ldexp(exp2(fraction), static_cast<int>(whole)), static_cast<int>(scale)};
}

}  // namespace zonal::sht

/// Ishioka's recurrence for R ring pairs per thread, 32 R per warp, in registers.
namespace zonal::sht::cuda {

/// Values from 2^visible up count. They are looked at every step_group steps, in which they grow by less than
/// 2^128 (A_i <= 2m + 3 < 2^16), and what is below 2^-66 when it becomes visible was not missed: -66 - 128.
inline constexpr double visible = -194;
inline constexpr double promotion = 0x1p606;  ///< 2^(visible + scale_step)
inline constexpr double demotion_factor = 0x1p-800;
inline constexpr unsigned whole_warp = ~0u;

/// How much of a warp's values count.
enum class Visibility { none, some, all };

template <int R>
struct Recurrence {
    double previous[R];  ///< lam_{i-1}
    double current[R];   ///< lam_i
    double cos2[R];
    int scale[R];

    /// pair_of(r): the thread's r-th ring pair.
    template <class PairOf>
    __device__ void start(const LegendreView& t, int m, const PairOf& pair_of) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int pair = pair_of(r);
            Log2 log{t.log2_scalar.high[m], t.log2_scalar.low[m]};
            log.add(m, t.log2_sin.high[pair], t.log2_sin.low[pair]);
            const ScaledValue value = exp2_scaled(log, m % 2 == 0 ? 1 : -1, visible);
            previous[r] = 0;
            current[r] = value.value;
            scale[r] = value.scale;
            cos2[r] = t.cos2_theta[pair];
        }
    }

    __device__ Visibility visibility() const {
        bool some = false, all = true;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            some = some || scale[r] == 0;
            all = all && scale[r] == 0;
        }
        if (__all_sync(whole_warp, all)) return Visibility::all;
        return __any_sync(whole_warp, some) ? Visibility::some : Visibility::none;
    }

    /// Moves values that have passed `promotion` up by one scale.
    __device__ void promote() {
#pragma unroll
        for (int r = 0; r < R; ++r)
            if (scale[r] < 0 && fabs(current[r]) >= promotion) {
                current[r] *= demotion_factor;
                previous[r] *= demotion_factor;
                ++scale[r];
            }
    }

    /// One step; the roles of the two arrays change: `older` becomes lam_{i+1}.
    static __device__ void advance(double a, double b, const double (&cos2)[R], double (&older)[R],
                                   const double (&newer)[R]) {
#pragma unroll
        for (int r = 0; r < R; ++r) older[r] = fma(fma(a, cos2[r], b), newer[r], older[r]);
    }

    /// Two steps at `step`, the next one `stride` further; visit(step, lam) sees lam_i of each.
    template <class Visit>
    __device__ void two_steps(const double* step, int stride, const Visit& visit) {
        visit(step, current);
        advance(step[0], step[1], cos2, previous, current);
        visit(step + stride, previous);
        advance(step[stride], step[stride + 1], cos2, current, previous);
    }
};

/// Copies steps [begin, begin + count) of `stride` doubles to shared memory, by the whole block, not waiting.
template <int Threads>
__device__ void copy_steps(const double* steps, std::int64_t begin, int count, int stride, double* chunk) {
    const double* from = steps + begin * stride;
    for (int k = 2 * threadIdx.x; k < count * stride; k += 2 * Threads)
        __pipeline_memcpy_async(chunk + k, from + k, 2 * sizeof(double));
    __pipeline_commit();
}

/// One job of a block of warps, each of which has WarpPairs of its pairs.
template <int Warps, int WarpPairs>
struct WarpsJob : LegendreJob {
    int warp, lane;
    int warp_first;      ///< pair
    int n_active;        ///< warps that have pairs; the others only help
    std::int64_t begin;  ///< the order's first step
    int n_steps;

    __device__ WarpsJob(const LegendreView& t, const LegendreJob& job)
        : LegendreJob(job),
          warp(threadIdx.x / 32),
          lane(threadIdx.x % 32),
          warp_first(job.first + warp * WarpPairs),
          n_active(min(Warps, (job.end - job.first + WarpPairs - 1) / WarpPairs)),
          begin(t.first_step[job.m]),
          n_steps(static_cast<int>(t.first_step[job.m + 1] - begin)) {}

    /// A pair of the job, this one or its last.
    __device__ int within(int pair) const { return min(pair, end - 1); }
};

/// Steps of an order that pass through a block's shared memory, `Count` of `stride` doubles at a time.
template <int Threads, int Count>
struct StepChunks {
    const double* steps;
    std::int64_t begin;
    int n_steps, stride;
    double* memory;  ///< [2][Count][stride]

    __device__ void start() const { copy(0, 0); }
    /// Calls work(chunk, done, count) for steps [done, done + count) after the other, by the whole block,
    /// while the next are on their way; all have left one before any comes to the next.
    template <class Work>
    __device__ void for_each(const Work& work) const {
        for (int done = 0, k = 0; done < n_steps; done += Count, k ^= 1) {
            __pipeline_wait_prior(0);
            __syncthreads();
            if (done + Count < n_steps) copy(done + Count, k ^ 1);
            work(memory + k * Count * stride, done, min(Count, n_steps - done));
        }
    }

  private:
    __device__ void copy(int done, int k) const {
        copy_steps<Threads>(steps, begin + done, min(Count, n_steps - done), stride,
                            memory + k * Count * stride);
    }
};

}  // namespace zonal::sht::cuda
