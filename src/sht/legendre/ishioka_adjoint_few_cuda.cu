#include "core/warp_sums.cuh"
#include "sht/legendre/ishioka_kernels.cuh"

/// The adjoint of one field where there are few blocks: each thread sums over its ring pairs, a butterfly of
/// exchanges over the warp's. Its blocks need fewer pairs to be busy than those of ishioka_adjoint_cuda.cu.
namespace zonal::sht::cuda {
namespace {

/// Few, as those at the end of an order have less to do.
constexpr int warps = 2;
constexpr int threads = 32 * warps;
/// Steps that lie in shared memory at a time; the next ones are on their way meanwhile. Many, as the warps
/// wait for each other at the end of each chunk.
constexpr int chunk_steps = 64;
constexpr int most_pairs = 4;
static_assert(threads * most_pairs == Tiles::small_adjoint && threads == Tiles::small_adjoint_grain);

/// What a block shares.
struct Shared {
    alignas(16) double chunks[2][chunk_steps * 2];  ///< A, B
    double partial[warps][chunk_steps * sums_per_step];
};

/// The F_m of a thread's pairs, combined to what even and odd degrees see. Which of the four sums a slot
/// holds depends on the lane, f[k] the one numbered k ^ own_sum(lane): then the lane's own sum is always in
/// slot 0 and what lane ^ 16 and lane ^ 8 want of it always in the same other slots, so that no exchange has
/// to select.
template <int R>
struct AdjointModes {
    double f[sums_per_step][R];

    static __device__ int own_sum(int lane) { return lane / 8; }

    __device__ void load(const LegendreView& t, int m, int first, int end, int lane,
                         const PairModes* fourier) {
        const bool odd = (lane & 16) != 0, imaginary = (lane & 8) != 0;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const int pair = first + 32 * r;
#pragma unroll
            for (int k = 0; k < sums_per_step; ++k) f[k][r] = 0;
            if (pair >= end) continue;
            const double factor = t.scalar_factor[pair], odd_factor = factor * t.cos_theta[pair];
            const PairModes modes = fourier[t.fourier_origin[m] + pair];
            const double even_re = (modes.north.x + modes.south.x) * factor;
            const double even_im = (modes.north.y + modes.south.y) * factor;
            const double odd_re = (modes.north.x - modes.south.x) * odd_factor;
            const double odd_im = (modes.north.y - modes.south.y) * odd_factor;
            const double own_re = odd ? odd_re : even_re, own_im = odd ? odd_im : even_im;
            const double other_re = odd ? even_re : odd_re, other_im = odd ? even_im : odd_im;
            f[0][r] = imaginary ? own_im : own_re;
            f[1][r] = imaginary ? own_re : own_im;
            f[2][r] = imaginary ? other_im : other_re;
            f[3][r] = imaginary ? other_re : other_im;
        }
    }

    /// The lane's own sum of a step over its pairs and those of the three lanes that differ in bits 8 and 16.
    __device__ double project(const double (&lam)[R]) const {
        double sum[sums_per_step];
#pragma unroll
        for (int k = 0; k < sums_per_step; ++k) {
            sum[k] = f[k][0] * lam[0];
#pragma unroll
            for (int r = 1; r < R; ++r) sum[k] = fma(f[k][r], lam[r], sum[k]);
        }
        const double re = sum[0] + __shfl_xor_sync(whole_warp, sum[2], 16);
        const double im = sum[1] + __shfl_xor_sync(whole_warp, sum[3], 16);
        return re + __shfl_xor_sync(whole_warp, im, 8);
    }

    /// Sums over the warp of the next Steps steps; out: [Steps][sums_per_step].
    template <int Steps>
    __device__ void sum_steps(Recurrence<R>& state, bool all_visible, const double* step, int lane,
                              double* out) const {
        constexpr int stride = 2, lanes = 32 / sums_per_step;
        double own[Steps];
#pragma unroll
        for (int j = 0; j < Steps; j += 2) {
            int at = j;
            state.two_steps(step + j * stride, stride, [&](const double*, const double(&lam)[R]) {
                double counted[R];
#pragma unroll
                for (int r = 0; r < R; ++r) counted[r] = all_visible || state.scale[r] == 0 ? lam[r] : 0;
                own[at++] = project(counted);
            });
        }
        const double sum = sum_over_lanes<Steps, lanes>(own, lane);
        if (lane % lanes < Steps) out[lane % Steps * sums_per_step + own_sum(lane)] = sum;
    }

    /// One group of steps; out: its sums, [step_group][sums_per_step]. Loops that are short enough for the
    /// instruction cache.
    __device__ void sum_group(Recurrence<R>& state, Visibility visibility, const double* step, int lane,
                              double* out) const {
        constexpr int stride = 2, at_once = 8;
        if (visibility == Visibility::none) {
#pragma unroll 2
            for (int j = 0; j < step_group; j += 2)
                state.two_steps(step + j * stride, stride, [](const double*, const double(&)[R]) {});
            for (int k = lane; k < step_group * sums_per_step; k += 32) out[k] = 0;
        } else if (visibility == Visibility::all) {
#pragma unroll 1
            for (int j = 0; j < step_group; j += at_once)
                sum_steps<at_once>(state, true, step + j * stride, lane, out + j * sums_per_step);
        } else {
#pragma unroll 1
            for (int j = 0; j < step_group; j += 2)
                sum_steps<2>(state, false, step + j * stride, lane, out + j * sums_per_step);
        }
    }
};
static_assert(step_group * sums_per_step == 32, "a group's sums are one for each lane");

/// A job of at most R ring pairs a thread.
template <int R>
__device__ void project_job(const LegendreView& t, const LegendreJob& job, const double* recurrence,
                            const PairModes* fourier, Shared& shared, double* sums) {
    constexpr int stride = 2, width = sums_per_step;
    const WarpsJob<warps, 32 * R> here(t, job);
    const int first = here.warp_first + here.lane;
    const StepChunks<threads, chunk_steps> chunks{recurrence, here.begin, here.n_steps, stride,
                                                  shared.chunks[0]};
    chunks.start();
    Recurrence<R> state;
    state.start(t, job.m, [&](int r) { return here.within(first + 32 * r); });
    AdjointModes<R> modes;
    modes.load(t, job.m, first, job.end, here.lane, fourier);
    Visibility visibility = state.visibility();
    chunks.for_each([&](const double* chunk, int done, int count) {
        for (int j = 0; j < count; j += step_group) {
            modes.sum_group(state, visibility, chunk + j * stride, here.lane,
                            shared.partial[here.warp] + j * width);
            if (visibility != Visibility::all) {
                state.promote();
                visibility = state.visibility();
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < count * width; i += threads) {
            double sum = shared.partial[0][i];
            for (int w = 1; w < warps; ++w) sum += shared.partial[w][i];
            sums[job.sums + static_cast<std::int64_t>(done) * width + i] = sum;
        }
    });
}

/// Each thread takes up to most_pairs, so that it adds up as much as possible before an exchange; smaller
/// jobs have fewer.
__global__ void __launch_bounds__(threads, 8)
    adjoint_kernel(LegendreView t, const LegendreJob* jobs, const double* recurrence,
                   const PairModes* fourier, double* sums) {
    __shared__ Shared shared;
    const LegendreJob job = jobs[blockIdx.x];
    const auto project = [&](auto pairs) { project_job<pairs>(t, job, recurrence, fourier, shared, sums); };
    const int pairs = (job.end - job.first + threads - 1) / threads;
    if (pairs == most_pairs)
        project(std::integral_constant<int, most_pairs>());
    else if (pairs == most_pairs - 1)
        project(std::integral_constant<int, most_pairs - 1>());
    else
        project(std::integral_constant<int, most_pairs - 2>());
}

}  // namespace

void adjoint_ishioka_few(const LegendreStage& stage, Orders orders, const double* recurrence, int,
                         const PairModes* fourier, double* sums, cudaStream_t stream) {
    adjoint_kernel<<<stage.ishioka().count(orders), threads, 0, stream>>>(
        stage.view(), stage.ishioka().begin(orders), recurrence, fourier, sums);
    core::check_launch("Ishioka adjoint");
}

}  // namespace zonal::sht::cuda
