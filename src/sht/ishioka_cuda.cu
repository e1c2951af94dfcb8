#include "sht/ishioka_kernels.cuh"
#include "sht/warp_sums.cuh"

namespace zonal::sht::cuda {
namespace {

constexpr int warps = 4;
constexpr int threads = 32 * warps;
/// Steps that lie in shared memory at a time; the next ones are on their way meanwhile.
constexpr int chunk_steps = 32;

/// Sums that the adjoint folds over a warp at a time, and the steps that they are of: few enough that three
/// blocks' registers fit, at the same number of exchanges.
constexpr int fold_values = 16;
template <int Fields>
constexpr int fold_steps = fold_values / (4 * Fields);

/// Warps of a block that have pairs of the job; the others only help to copy.
template <int R>
__device__ int active_warps(const LegendreJob& job) {
    return min(warps, (job.end - job.first + 32 * R - 1) / (32 * R));
}

/// 1 / sin^s theta, the factor that the scalar form of a spin field leaves out.
__device__ double inverse_sine_power(const LegendreView& t, int pair) {
    double factor = 1;
    for (int k = 0; k < t.spin; ++k) factor /= t.sin_theta[pair];
    return factor;
}

/// Sums over steps: sum[4 f + 0..3] = even re, im, odd re, im of field f.
template <int R, int Fields>
struct SynthesisSums {
    double sum[4 * Fields][R];

    __device__ SynthesisSums() {
#pragma unroll
        for (int k = 0; k < 4 * Fields; ++k)
#pragma unroll
            for (int r = 0; r < R; ++r) sum[k][r] = 0;
    }

    /// step: A, B, then b re, b im, c re, c im per field.
    __device__ void add(const double* step, const double (&lam)[R]) {
#pragma unroll
        for (int k = 0; k < 4 * Fields; ++k)
#pragma unroll
            for (int r = 0; r < R; ++r) sum[k][r] = fma(step[2 + k], lam[r], sum[k][r]);
    }

    /// One group of steps.
    __device__ void add_group(Recurrence<R>& state, Visibility visibility, const double* step) {
        constexpr int stride = 2 + 4 * Fields;
        const auto skip = [](const double*, const double(&)[R]) {};
        const auto add_all = [&](const double* at, const double(&lam)[R]) { add(at, lam); };
        const auto add_some = [&](const double* at, const double(&lam)[R]) {
            double counted[R];
#pragma unroll
            for (int r = 0; r < R; ++r) counted[r] = state.scale[r] == 0 ? lam[r] : 0;
            add(at, counted);
        };
        if (visibility == Visibility::all) {
#pragma unroll
            for (int j = 0; j < step_group; j += 2) state.two_steps(step + j * stride, stride, add_all);
        } else if (visibility == Visibility::none) {
#pragma unroll
            for (int j = 0; j < step_group; j += 2) state.two_steps(step + j * stride, stride, skip);
        } else {
            for (int j = 0; j < step_group; j += 2) state.two_steps(step + j * stride, stride, add_some);
        }
    }

    __device__ void store(const LegendreView& t, int m, int first, int end, PairModes* fourier,
                          std::int64_t field_stride) const {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int pair = first + 32 * r;
            if (pair >= end) return;
            const double factor = inverse_sine_power(t, pair), odd_factor = factor * t.cos_theta[pair];
#pragma unroll
            for (int f = 0; f < Fields; ++f) {
                const double even_re = sum[4 * f][r] * factor, even_im = sum[4 * f + 1][r] * factor;
                const double odd_re = sum[4 * f + 2][r] * odd_factor, odd_im = sum[4 * f + 3][r] * odd_factor;
                fourier[f * field_stride + t.fourier_origin[m] + pair] = {
                    {even_re + odd_re, even_im + odd_im}, {even_re - odd_re, even_im - odd_im}};
            }
        }
    }
};

template <int R, int Fields>
__global__ void __launch_bounds__(threads)
    synthesis_kernel(LegendreView t, const LegendreJob* jobs, const double* coefficients, PairModes* fourier,
                     std::int64_t field_stride) {
    constexpr int stride = 2 + 4 * Fields;
    __shared__ alignas(16) double chunks[2][chunk_steps * stride];
    const LegendreJob job = jobs[blockIdx.x];
    const int warp = threadIdx.x / 32, first = job.first + warp * 32 * R + threadIdx.x % 32;
    const bool active = warp < active_warps<R>(job);
    const std::int64_t begin = t.first_step[job.m];
    const int n_steps = static_cast<int>(t.first_step[job.m + 1] - begin);
    copy_steps<threads>(coefficients, begin, min(chunk_steps, n_steps), stride, chunks[0]);

    Recurrence<R> state;
    state.start(t, job.m, first, job.end - 1);
    SynthesisSums<R, Fields> sums;
    Visibility visibility = state.visibility();
    for (int done = 0, k = 0; done < n_steps; done += chunk_steps, k ^= 1) {
        const int next = min(chunk_steps, n_steps - done - chunk_steps);
        __pipeline_wait_prior(0);
        __syncthreads();  // the chunk is there, and nobody reads the other one any more
        if (next > 0)
            copy_steps<threads>(coefficients, begin + done + chunk_steps, next, stride, chunks[k ^ 1]);
        const int count = active ? min(chunk_steps, n_steps - done) : 0;
        for (int j = 0; j < count; j += step_group) {
            sums.add_group(state, visibility, chunks[k] + j * stride);
            if (visibility != Visibility::all) {
                state.promote();
                visibility = state.visibility();
            }
        }
    }
    sums.store(t, job.m, first, job.end, fourier, field_stride);
}

/// The F_m of a thread's pairs, combined to what even and odd degrees see.
template <int R, int Fields>
struct AdjointModes {
    double f[4 * Fields][R];

    __device__ void load(const LegendreView& t, int m, int first, int end, const PairModes* fourier,
                         std::int64_t field_stride) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int pair = first + 32 * r;
#pragma unroll
            for (int k = 0; k < 4 * Fields; ++k) f[k][r] = 0;
            if (pair >= end) continue;
            const double factor = inverse_sine_power(t, pair), odd_factor = factor * t.cos_theta[pair];
#pragma unroll
            for (int field = 0; field < Fields; ++field) {
                const PairModes modes = fourier[field * field_stride + t.fourier_origin[m] + pair];
                f[4 * field][r] = (modes.north.x + modes.south.x) * factor;
                f[4 * field + 1][r] = (modes.north.y + modes.south.y) * factor;
                f[4 * field + 2][r] = (modes.north.x - modes.south.x) * odd_factor;
                f[4 * field + 3][r] = (modes.north.y - modes.south.y) * odd_factor;
            }
        }
    }

    /// out: [4 Fields], the sums over the thread's pairs.
    __device__ void project(const double (&lam)[R], double* out) const {
#pragma unroll
        for (int k = 0; k < 4 * Fields; ++k) {
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
        for (int j = 0; j < fold_steps<Fields>; j += 2) {
            int at = j;
            state.two_steps(step + j * stride, stride, [&](const double*, const double(&lam)[R]) {
                double counted[R];
#pragma unroll
                for (int r = 0; r < R; ++r) counted[r] = all_visible || state.scale[r] == 0 ? lam[r] : 0;
                project(counted, v + 4 * Fields * at++);
            });
        }
        return sum_over_lanes(v, lane);
    }

    /// One group of steps; out: its sums, [step_group][4 Fields].
    __device__ void sum_group(Recurrence<R>& state, Visibility visibility, const double* step, int lane,
                              double* out) const {
        constexpr int stride = 2, per_fold = fold_steps<Fields>;
        if (visibility == Visibility::none) {
#pragma unroll
            for (int j = 0; j < step_group; j += 2)
                state.two_steps(step + j * stride, stride, [](const double*, const double(&)[R]) {});
            for (int k = lane; k < step_group * 4 * Fields; k += 32) out[k] = 0;
        } else if (visibility == Visibility::all) {
#pragma unroll
            for (int j = 0; j < step_group; j += per_fold) {
                const double sum = sum_steps(state, true, step + j * stride, lane);
                if (lane < fold_values) out[j * 4 * Fields + lane] = sum;
            }
        } else {
            for (int j = 0; j < step_group; j += per_fold) {
                const double sum = sum_steps(state, false, step + j * stride, lane);
                if (lane < fold_values) out[j * 4 * Fields + lane] = sum;
            }
        }
    }
};

template <int R, int Fields>
__global__ void __launch_bounds__(threads, 3)
    adjoint_kernel(LegendreView t, const LegendreJob* jobs, const double* recurrence,
                   const PairModes* fourier, std::int64_t field_stride, double* sums) {
    constexpr int stride = 2, width = sums_per_step * Fields;
    __shared__ alignas(16) double chunks[2][chunk_steps * stride];
    __shared__ double partial[warps][chunk_steps * width];
    const LegendreJob job = jobs[blockIdx.x];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int first = job.first + warp * 32 * R + lane, n_active = active_warps<R>(job);
    const std::int64_t begin = t.first_step[job.m];
    const int n_steps = static_cast<int>(t.first_step[job.m + 1] - begin);
    copy_steps<threads>(recurrence, begin, min(chunk_steps, n_steps), stride, chunks[0]);

    Recurrence<R> state;
    state.start(t, job.m, first, job.end - 1);
    AdjointModes<R, Fields> modes;
    modes.load(t, job.m, first, job.end, fourier, field_stride);
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
            sums[Fields * job.sums + static_cast<std::int64_t>(done) * width + i] = sum;
        }
    }
}

}  // namespace

void synthesize_ishioka(const LegendreStage& stage, const double* coefficients, int n_fields,
                        PairModes* fourier, cudaStream_t stream) {
    const auto n_jobs = static_cast<unsigned>(stage.ishioka().jobs.size());
    if (n_jobs == 0) return;
    const auto kernel =
        n_fields == 1 ? synthesis_kernel<ishioka_pairs, 1> : synthesis_kernel<ishioka_pairs, 2>;
    kernel<<<n_jobs, threads, 0, stream>>>(stage.view(), stage.ishioka().jobs.data(), coefficients, fourier,
                                           stage.layout().size());
    core::check_launch("Ishioka synthesis");
}

void adjoint_ishioka(const LegendreStage& stage, const double* recurrence, int n_fields,
                     const PairModes* fourier, double* sums, cudaStream_t stream) {
    const JobList& list = n_fields == 1 ? stage.ishioka_adjoint() : stage.ishioka();
    const auto n_jobs = static_cast<unsigned>(list.jobs.size());
    if (n_jobs == 0) return;
    const auto kernel =
        n_fields == 1 ? adjoint_kernel<ishioka_adjoint_pairs, 1> : adjoint_kernel<ishioka_pairs, 2>;
    kernel<<<n_jobs, threads, 0, stream>>>(stage.view(), list.jobs.data(), recurrence, fourier,
                                           stage.layout().size(), sums);
    core::check_launch("Ishioka adjoint");
}

}  // namespace zonal::sht::cuda
