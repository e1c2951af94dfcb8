#include "sht/legendre/ishioka_kernels.cuh"
#include "sht/legendre/step_values.cuh"

namespace zonal::sht::cuda {
namespace {

/// One warp a block: none then waits for another that has more to do.
constexpr int threads = 32;
/// Steps that lie in shared memory at a time; the next ones are on their way meanwhile.
constexpr int chunk_steps = 32;

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
            const double factor = t.scalar_factor[pair], odd_factor = factor * t.cos_theta[pair];
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

/// Where a block has its steps from: from write_steps.
struct StoredSteps {
    const double* coefficients;

    /// Steps [begin, begin + count) of order m to shared memory.
    template <int Stride>
    __device__ void fetch(const LegendreView& t, int m, int begin, int count, double* chunk) const {
        copy_steps<threads>(coefficients, t.first_step[m] + begin, count, Stride, chunk);
    }
};

/// Made by the block itself, one by each thread.
template <class T>
struct OwnSteps {
    const T* alm;

    template <int Stride>
    __device__ void fetch(const LegendreView& t, int m, int begin, int count, double* chunk) const {
        static_assert(chunk_steps == threads && Stride == 6);
        if (static_cast<int>(threadIdx.x) >= count) return;
        const StepValues values = step_values<T>(t, m, begin + threadIdx.x, alm);
        double* const out = chunk + Stride * threadIdx.x;
        store(out, {values.step.a, values.step.b});
        store(out + 2, values.even);
        store(out + 4, values.odd);
    }
};

template <int R, int Fields, class Source>
__global__ void __launch_bounds__(threads)
    synthesis_kernel(LegendreView t, const LegendreJob* jobs, Source source, PairModes* fourier,
                     std::int64_t field_stride) {
    constexpr int stride = 2 + 4 * Fields;
    __shared__ alignas(16) double chunks[2][chunk_steps * stride];
    const LegendreJob job = jobs[blockIdx.x];
    const int first = job.first + threadIdx.x;
    const int n_steps = static_cast<int>(t.first_step[job.m + 1] - t.first_step[job.m]);
    source.template fetch<stride>(t, job.m, 0, min(chunk_steps, n_steps), chunks[0]);

    Recurrence<R> state;
    state.start(t, job.m, [&](int r) { return min(first + 32 * r, job.end - 1); });
    SynthesisSums<R, Fields> sums;
    Visibility visibility = state.visibility();
    for (int done = 0, k = 0; done < n_steps; done += chunk_steps, k ^= 1) {
        const int next = min(chunk_steps, n_steps - done - chunk_steps);
        __pipeline_wait_prior(0);
        __syncwarp();  // the chunk is there, and nobody reads the other one any more
        if (next > 0) source.template fetch<stride>(t, job.m, done + chunk_steps, next, chunks[k ^ 1]);
        const int count = min(chunk_steps, n_steps - done);
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

/// Pairs a thread.
constexpr int pairs = 4;

template <int Fields, class Source>
void launch(const LegendreStage& stage, Orders orders, const Source& source, PairModes* fourier,
            cudaStream_t stream) {
    const unsigned n_jobs = stage.ishioka_synthesis().count(orders);
    if (n_jobs == 0) return;
    synthesis_kernel<pairs, Fields><<<n_jobs, threads, 0, stream>>>(
        stage.view(), stage.ishioka_synthesis().begin(orders), source, fourier, stage.layout().size());
    core::check_launch("Ishioka synthesis");
}

}  // namespace

void synthesize_ishioka(const LegendreStage& stage, Orders orders, const double* coefficients, int n_fields,
                        PairModes* fourier, cudaStream_t stream) {
    const StoredSteps source{coefficients};
    if (n_fields == 1) return launch<1>(stage, orders, source, fourier, stream);
    if (n_fields == 2) return launch<2>(stage, orders, source, fourier, stream);
    synthesize_ishioka_products(stage, orders, coefficients, n_fields, fourier, stream);
}

template <class T>
void synthesize_ishioka_alm(const LegendreStage& stage, Orders orders, const T* alm, PairModes* fourier,
                            cudaStream_t stream) {
    launch<1>(stage, orders, OwnSteps<T>{alm}, fourier, stream);
}

template void synthesize_ishioka_alm(const LegendreStage&, Orders, const float*, PairModes*, cudaStream_t);
template void synthesize_ishioka_alm(const LegendreStage&, Orders, const double*, PairModes*, cudaStream_t);

}  // namespace zonal::sht::cuda
