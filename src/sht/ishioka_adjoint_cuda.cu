#include "sht/ishioka_kernels.cuh"
#include "sht/warp_sums.cuh"

/// The adjoint of one field: each thread sums over its ring pairs, a butterfly of exchanges over the warp's.
namespace zonal::sht::cuda {
namespace {

/// Few, as those at the end of an order have less to do.
constexpr int warps = 2;
constexpr int threads = 32 * warps;
/// Steps that lie in shared memory at a time; the next ones are on their way meanwhile.
constexpr int chunk_steps = 32;

/// Sums that are folded over a warp at a time, and the steps that they are of: few enough that twelve warps'
/// registers fit, at the same number of exchanges.
constexpr int fold_values = 16;
constexpr int fold_steps = fold_values / sums_per_step;

/// Warps of a block that have pairs of the job; the others only help to copy.
template <int R>
__device__ int active_warps(const LegendreJob& job) {
    return min(warps, (job.end - job.first + 32 * R - 1) / (32 * R));
}

/// The F_m of a thread's pairs, combined to what even and odd degrees see.
template <int R>
struct AdjointModes {
    double f[sums_per_step][R];

    __device__ void load(const LegendreView& t, int m, int first, int end, const PairModes* fourier) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int pair = first + 32 * r;
#pragma unroll
            for (int k = 0; k < sums_per_step; ++k) f[k][r] = 0;
            if (pair >= end) continue;
            const double factor = inverse_sine_power(t, pair), odd_factor = factor * t.cos_theta[pair];
            const PairModes modes = fourier[t.fourier_origin[m] + pair];
            f[0][r] = (modes.north.x + modes.south.x) * factor;
            f[1][r] = (modes.north.y + modes.south.y) * factor;
            f[2][r] = (modes.north.x - modes.south.x) * odd_factor;
            f[3][r] = (modes.north.y - modes.south.y) * odd_factor;
        }
    }

    /// out: [4 Fields], the sums over the thread's pairs.
    __device__ void project(const double (&lam)[R], double* out) const {
#pragma unroll
        for (int k = 0; k < sums_per_step; ++k) {
            double sum = f[k][0] * lam[0];
#pragma unroll
            for (int r = 1; r < R; ++r) sum = fma(f[k][r], lam[r], sum);
            out[k] = sum;
        }
    }

    /// Sums over the warp of the next steps, fold_values of them, lane k's the k-th; step: [..][2 + 4
    /// Fields].
    __device__ double sum_steps(Recurrence<R>& state, bool all_visible, const double* step, int lane) const {
        constexpr int stride = 2;
        double v[fold_values];
#pragma unroll
        for (int j = 0; j < fold_steps; j += 2) {
            int at = j;
            state.two_steps(step + j * stride, stride, [&](const double*, const double(&lam)[R]) {
                double counted[R];
#pragma unroll
                for (int r = 0; r < R; ++r) counted[r] = all_visible || state.scale[r] == 0 ? lam[r] : 0;
                project(counted, v + sums_per_step * at++);
            });
        }
        return sum_over_lanes(v, lane);
    }

    /// One group of steps; out: its sums, [step_group][4 Fields].
    __device__ void sum_group(Recurrence<R>& state, Visibility visibility, const double* step, int lane,
                              double* out) const {
        constexpr int stride = 2, per_fold = fold_steps;
        if (visibility == Visibility::none) {
#pragma unroll
            for (int j = 0; j < step_group; j += 2)
                state.two_steps(step + j * stride, stride, [](const double*, const double(&)[R]) {});
            for (int k = lane; k < step_group * sums_per_step; k += 32) out[k] = 0;
        } else if (visibility == Visibility::all) {
#pragma unroll
            for (int j = 0; j < step_group; j += per_fold) {
                const double sum = sum_steps(state, true, step + j * stride, lane);
                if (lane < fold_values) out[j * sums_per_step + lane] = sum;
            }
        } else {
            for (int j = 0; j < step_group; j += per_fold) {
                const double sum = sum_steps(state, false, step + j * stride, lane);
                if (lane < fold_values) out[j * sums_per_step + lane] = sum;
            }
        }
    }
};

template <int R>
__global__ void __launch_bounds__(threads, R == 8 ? 6 : 8)
    adjoint_kernel(LegendreView t, const LegendreJob* jobs, const double* recurrence,
                   const PairModes* fourier, double* sums) {
    constexpr int stride = 2, width = sums_per_step;
    __shared__ alignas(16) double chunks[2][chunk_steps * stride];
    __shared__ double partial[warps][chunk_steps * width];
    const LegendreJob job = jobs[blockIdx.x];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int first = job.first + warp * 32 * R + lane, n_active = active_warps<R>(job);
    const std::int64_t begin = t.first_step[job.m];
    const int n_steps = static_cast<int>(t.first_step[job.m + 1] - begin);
    copy_steps<threads>(recurrence, begin, min(chunk_steps, n_steps), stride, chunks[0]);

    Recurrence<R> state;
    state.start(t, job.m, [&](int r) { return min(first + 32 * r, job.end - 1); });
    AdjointModes<R> modes;
    modes.load(t, job.m, first, job.end, fourier);
    Visibility visibility = state.visibility();
    for (int done = 0, k = 0; done < n_steps; done += chunk_steps, k ^= 1) {
        const int count = min(chunk_steps, n_steps - done),
                  next = min(chunk_steps, n_steps - done - chunk_steps);
        __pipeline_wait_prior(0);
        __syncthreads();
        if (next > 0)
            copy_steps<threads>(recurrence, begin + done + chunk_steps, next, stride, chunks[k ^ 1]);
        for (int j = 0; warp < n_active && j < count; j += step_group) {
            modes.sum_group(state, visibility, chunks[k] + j * stride, lane, partial[warp] + j * width);
            if (visibility != Visibility::all) {
                state.promote();
                visibility = state.visibility();
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < count * width; i += threads) {
            double sum = partial[0][i];
            for (int w = 1; w < n_active; ++w) sum += partial[w][i];
            sums[job.sums + static_cast<std::int64_t>(done) * width + i] = sum;
        }
    }
}

}  // namespace

void adjoint_ishioka(const LegendreStage& stage, const double* recurrence, int n_fields,
                     const PairModes* fourier, double* sums, cudaStream_t stream) {
    const auto n_jobs = static_cast<unsigned>(stage.ishioka().jobs.size());
    if (n_jobs == 0) return;
    if (n_fields > 1) return adjoint_ishioka_products(stage, recurrence, n_fields, fourier, sums, stream);
    // Eight pairs per thread, where the registers still hold them beside the sums.
    const auto kernel = stage.tiles().adjoint == 4 * threads ? adjoint_kernel<4> : adjoint_kernel<8>;
    kernel<<<n_jobs, threads, 0, stream>>>(stage.view(), stage.ishioka().jobs.data(), recurrence, fourier,
                                           sums);
    core::check_launch("Ishioka adjoint");
}

}  // namespace zonal::sht::cuda
