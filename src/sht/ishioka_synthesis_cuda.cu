#include "sht/ishioka_kernels.cuh"

namespace zonal::sht::cuda {
namespace {

/// Few, as those at the end of an order have less to do.
constexpr int warps = 2;
constexpr int threads = 32 * warps;
/// Steps that lie in shared memory at a time; the next ones are on their way meanwhile.
constexpr int chunk_steps = 32;

/// Warps of a block that have pairs of the job; the others only help to copy.
template <int R>
__device__ int active_warps(const LegendreJob& job) {
    return min(warps, (job.end - job.first + 32 * R - 1) / (32 * R));
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
    state.start(t, job.m, [&](int r) { return min(first + 32 * r, job.end - 1); });
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

}  // namespace

void synthesize_ishioka(const LegendreStage& stage, const double* coefficients, int n_fields,
                        PairModes* fourier, cudaStream_t stream) {
    const auto n_jobs = static_cast<unsigned>(stage.ishioka_synthesis().jobs.size());
    if (n_jobs == 0) return;
    if (n_fields > 2) return synthesize_ishioka_products(stage, coefficients, n_fields, fourier, stream);
    const bool few = stage.tiles().synthesis == 2 * threads;  // pairs per thread
    const auto kernel = n_fields == 1 ? (few ? synthesis_kernel<2, 1> : synthesis_kernel<4, 1>)
                                      : (few ? synthesis_kernel<2, 2> : synthesis_kernel<4, 2>);
    kernel<<<n_jobs, threads, 0, stream>>>(stage.view(), stage.ishioka_synthesis().jobs.data(), coefficients,
                                           fourier, stage.layout().size());
    core::check_launch("Ishioka synthesis");
}

}  // namespace zonal::sht::cuda
