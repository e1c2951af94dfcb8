#include "core/mma_fp64.cuh"
#include "sht/legendre/ishioka_kernels.cuh"

/// Several fields at once: matrix products whose one factor is lambda[step][pair], made on the way. Each warp
/// writes its pairs' lambda of 16 steps to shared memory and reads them back as the tensor cores take them,
/// for all fields. Columns of the other factor: even re, im, odd re, im of each field, two fields a block.
///   synthesis: F[pair][column] = sum_step lambda[step][pair] coefficient[step][column]
///   adjoint:   sums[step][column] = sum_pair lambda[step][pair] F[pair][column]
namespace zonal::sht::cuda {
namespace {

/// Ring pairs per thread and warp.
constexpr int per_thread = 2;
constexpr int warp_pairs = 32 * per_thread;
/// Steps of one product.
constexpr int product_steps = 16;
/// Steps of which what the block shares lies in shared memory at a time; the next are on their way meanwhile.
constexpr int chunk_steps = 32;
/// Pairs of one instruction, how many a warp's make, and columns of one.
constexpr int block_pairs = 16;
constexpr int pair_blocks = warp_pairs / block_pairs;
constexpr int block_columns = 8;
/// Warps of a block, as many as a job's pairs are for.
constexpr int synthesis_warps = 2;
constexpr int adjoint_warps = Tiles::small_adjoint / warp_pairs;

/// One step's lambda after the other. The distance of rows: so that what a quarter of a warp reads at once
/// lies in different banks: of two rows in the adjoint, of four in the synthesis.
template <int Padding>
struct Lambda {
    static constexpr int stride = warp_pairs + Padding;
    double row[product_steps][stride];
};
using SynthesisLambda = Lambda<4>;
using AdjointLambda = Lambda<8>;

template <int Blocks>
struct SynthesisShared {
    static constexpr int step_stride = 4 + block_columns * Blocks;  ///< step_layout
    double steps[2][chunk_steps][step_stride];
    SynthesisLambda lambda[synthesis_warps];
};

template <int Blocks>
struct AdjointShared {
    double recurrence[2][chunk_steps][2];
    AdjointLambda lambda[adjoint_warps];
    double sums[adjoint_warps][chunk_steps][block_columns * Blocks];
};

/// Advances by up to product_steps steps and writes what counts of lambda; `stride` doubles from one step's
/// A, B to the next's. False: nothing counts, and not all was written.
template <class Rows>
__device__ bool write_lambda(Recurrence<per_thread>& state, Visibility& visibility, const double* step,
                             int stride, int count, Rows& lambda) {
    const int lane = threadIdx.x % 32;
    int row = 0;
    const auto write = [&](double first, double second) {
        *reinterpret_cast<double2*>(&lambda.row[row++][per_thread * lane]) = {first, second};
    };
    const auto write_all = [&](const double*, const double(&lam)[per_thread]) { write(lam[0], lam[1]); };
    const auto write_some = [&](const double*, const double(&lam)[per_thread]) {
        write(state.scale[0] == 0 ? lam[0] : 0, state.scale[1] == 0 ? lam[1] : 0);
    };
    bool any = false;
    __syncwarp();  // the rows of the last product have been read
    for (int j = 0; j < count; j += step_group, step += step_group * stride) {
        any = any || visibility != Visibility::none;
        if (visibility == Visibility::all) {
#pragma unroll
            for (int i = 0; i < step_group; i += 2) state.two_steps(step + i * stride, stride, write_all);
            continue;
        }
        for (int i = 0; i < step_group; i += 2) state.two_steps(step + i * stride, stride, write_some);
        state.promote();
        visibility = state.visibility();
    }
    while (row < product_steps) write(0, 0);
    __syncwarp();
    return any;
}

/// What a warp's lane (g, t) has of F: rows 16 b + 2 g + h, columns 8 c + 2 t + j at sum[b][c][2 h + j].
template <int Blocks>
struct SynthesisSums {
    double sum[pair_blocks][Blocks][4] = {};

    /// count: steps that there are; what lies behind them in shared memory may be anything, and lambda's
    /// zeros would not make zero of it.
    __device__ void add(const SynthesisLambda& lambda, const double* coefficients, int stride, int count) {
        const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
        double b[Blocks][4];
#pragma unroll
        for (int c = 0; c < Blocks; ++c)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int step = t + 4 * i;
                b[c][i] = step < count ? coefficients[step * stride + block_columns * c + g] : 0;
            }
#pragma unroll
        for (int p = 0; p < pair_blocks; ++p) {
            double a[8];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const double2 two =
                    *reinterpret_cast<const double2*>(&lambda.row[t + 4 * i][block_pairs * p + 2 * g]);
                a[2 * i] = two.x;
                a[2 * i + 1] = two.y;
            }
#pragma unroll
            for (int c = 0; c < Blocks; ++c) core::multiply_add_16x8x16(sum[p][c], a, b[c]);
        }
    }

    __device__ void store(const LegendreView& t, int m, int first, int end, int n_fields, PairModes* fourier,
                          std::int64_t field_stride) const {
        const int lane = threadIdx.x % 32, g = lane / 4;
        const bool odd = lane % 2 != 0;  // this lane has the odd sums, its neighbour the even ones
#pragma unroll
        for (int p = 0; p < pair_blocks; ++p)
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const int pair = first + block_pairs * p + 2 * g + h;
                const int there = min(pair, end - 1);
                const double factor = t.scalar_factor[there] * (odd ? t.cos_theta[there] : 1);
#pragma unroll
                for (int c = 0; c < Blocks; ++c) {
                    const int field = 2 * c + lane % 4 / 2;
                    const double2 mine{sum[p][c][2 * h] * factor, sum[p][c][2 * h + 1] * factor};
                    const double2 other{__shfl_xor_sync(whole_warp, mine.x, 1),
                                        __shfl_xor_sync(whole_warp, mine.y, 1)};
                    if (pair >= end || field >= n_fields) continue;
                    PairModes& modes = fourier[field * field_stride + t.fourier_origin[m] + pair];
                    if (odd)
                        modes.south = {other.x - mine.x, other.y - mine.y};
                    else
                        modes.north = {mine.x + other.x, mine.y + other.y};
                }
            }
    }
};

template <int Blocks>
__global__ void __launch_bounds__(32 * synthesis_warps)
    synthesis_kernel(LegendreView t, const LegendreJob* jobs, const double* coefficients, int n_fields,
                     PairModes* fourier, std::int64_t field_stride) {
    using Shared = SynthesisShared<Blocks>;
    constexpr int stride = Shared::step_stride, threads = 32 * synthesis_warps;
    extern __shared__ char memory[];
    auto& shared = *reinterpret_cast<Shared*>(memory);
    const WarpsJob<synthesis_warps, warp_pairs> job(t, jobs[blockIdx.x]);
    const bool active = job.warp < job.n_active;
    const StepChunks<threads, chunk_steps> chunks{coefficients, job.begin, job.n_steps, stride,
                                                  shared.steps[0][0]};
    chunks.start();
    Recurrence<per_thread> state;
    state.start(t, job.m, [&](int r) { return job.within(job.warp_first + per_thread * job.lane + r); });
    Visibility visibility = state.visibility();
    SynthesisSums<Blocks> sums;
    chunks.for_each([&](const double* chunk, int, int count) {
        for (int j = 0; active && j < count; j += product_steps) {
            const double* const step = chunk + j * stride;
            const int here = min(product_steps, count - j);
            if (write_lambda(state, visibility, step, stride, here, shared.lambda[job.warp]))
                sums.add(shared.lambda[job.warp], step + stride - block_columns * Blocks, stride, here);
        }
    });
    if (active) sums.store(t, job.m, job.warp_first, job.end, n_fields, fourier, field_stride);
}

/// What lane (g, t) holds of F: column 8 c + g of pairs 16 p + 8 (i / 2) + 2 t + i % 2.
template <int Blocks>
struct AdjointModes {
    double f[pair_blocks][Blocks][4];

    __device__ void load(const LegendreView& t, int m, int first, int end, int n_fields,
                         const PairModes* fourier, std::int64_t field_stride) {
        const int lane = threadIdx.x % 32, part = lane / 4 % 4;
#pragma unroll
        for (int p = 0; p < pair_blocks; ++p)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int pair = first + block_pairs * p + 8 * (i / 2) + 2 * (lane % 4) + i % 2;
                const int there = min(pair, end - 1);
                const double factor = t.scalar_factor[there] * (part < 2 ? 1 : t.cos_theta[there]);
#pragma unroll
                for (int c = 0; c < Blocks; ++c) {
                    const int field = 2 * c + lane / 16;
                    f[p][c][i] = 0;
                    if (pair >= end || field >= n_fields) continue;
                    const PairModes modes = fourier[field * field_stride + t.fourier_origin[m] + pair];
                    const double north = part % 2 == 0 ? modes.north.x : modes.north.y;
                    const double south = part % 2 == 0 ? modes.south.x : modes.south.y;
                    f[p][c][i] = (part < 2 ? north + south : north - south) * factor;
                }
            }
    }

    /// sums: [product_steps][8 Blocks].
    __device__ void project(const AdjointLambda& lambda, double (*sums)[block_columns * Blocks]) const {
        const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
        constexpr int n_sums = Blocks == 1 ? 2 : 1;  // two where one would wait for itself
        double sum[n_sums][Blocks][4] = {};
#pragma unroll
        for (int p = 0; p < pair_blocks; ++p) {
            double a[8];
            core::load_in_twos(lambda.row, block_pairs * p, a);
#pragma unroll
            for (int c = 0; c < Blocks; ++c) core::multiply_add_16x8x16(sum[p % n_sums][c], a, f[p][c]);
        }
#pragma unroll
        for (int c = 0; c < Blocks; ++c)
#pragma unroll
            for (int h = 0; h < 2; ++h)
                *reinterpret_cast<double2*>(&sums[g + 8 * h][block_columns * c + 2 * t]) = {
                    sum[0][c][2 * h] + (n_sums == 2 ? sum[n_sums - 1][c][2 * h] : 0),
                    sum[0][c][2 * h + 1] + (n_sums == 2 ? sum[n_sums - 1][c][2 * h + 1] : 0)};
    }
};

template <int Blocks>
__global__ void __launch_bounds__(32 * adjoint_warps, (Blocks == 1 ? 16 : 8) / adjoint_warps)
    adjoint_kernel(LegendreView t, const LegendreJob* jobs, const double* recurrence, int n_fields,
                   const PairModes* fourier, std::int64_t field_stride, double* sums) {
    constexpr int threads = 32 * adjoint_warps, columns = block_columns * Blocks;
    extern __shared__ char memory[];
    auto& shared = *reinterpret_cast<AdjointShared<Blocks>*>(memory);
    const WarpsJob<adjoint_warps, warp_pairs> job(t, jobs[blockIdx.x]);
    const int width = sums_per_step * n_fields;
    const StepChunks<threads, chunk_steps> chunks{recurrence, job.begin, job.n_steps, 2,
                                                  shared.recurrence[0][0]};
    chunks.start();
    Recurrence<per_thread> state;
    state.start(t, job.m, [&](int r) { return job.within(job.warp_first + per_thread * job.lane + r); });
    AdjointModes<Blocks> modes;
    modes.load(t, job.m, job.warp_first, job.end, n_fields, fourier, field_stride);
    Visibility visibility = state.visibility();
    chunks.for_each([&](const double* chunk, int done, int count) {
        auto& mine = shared.sums[job.warp];
        for (int j = 0; job.warp < job.n_active && j < count; j += product_steps) {
            if (write_lambda(state, visibility, chunk + 2 * j, 2, min(product_steps, count - j),
                             shared.lambda[job.warp]))
                modes.project(shared.lambda[job.warp], mine + j);
            else
                for (int i = job.lane; i < product_steps * columns; i += 32)
                    mine[j + i / columns][i % columns] = 0;
        }
        __syncthreads();
        double* const out = sums + n_fields * job.sums + static_cast<std::int64_t>(done) * width;
        for (int i = threadIdx.x; i < count * columns; i += threads) {
            const int step = i / columns, column = i % columns;
            if (column >= width) continue;
            double sum = shared.sums[0][step][column];
            for (int w = 1; w < job.n_active; ++w) sum += shared.sums[w][step][column];
            out[step * width + column] = sum;
        }
    });
}

/// Calls visit with the number of column blocks as a constant.
template <class Visit>
void with_blocks(int n_fields, const Visit& visit) {
    switch ((n_fields + 1) / 2) {
        case 1:
            return visit(std::integral_constant<int, 1>());
        case 2:
            return visit(std::integral_constant<int, 2>());
        case 3:
            return visit(std::integral_constant<int, 3>());
        default:
            return visit(std::integral_constant<int, 4>());
    }
}

/// One block for each of the jobs.
template <class Shared, class Kernel, class... Arguments>
void launch(Kernel* kernel, int warps, const LegendreView& view, const JobList& list, Orders orders,
            cudaStream_t stream, Arguments... arguments) {
    const unsigned n_jobs = list.count(orders);
    if (n_jobs == 0) return;
    core::check_cuda(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)),
        "asking for shared memory");
    kernel<<<n_jobs, 32 * warps, sizeof(Shared), stream>>>(view, list.begin(orders), arguments...);
    core::check_launch("Ishioka products");
}

}  // namespace

void synthesize_ishioka_products(const LegendreStage& stage, Orders orders, const double* coefficients,
                                 int n_fields, PairModes* fourier, cudaStream_t stream) {
    with_blocks(n_fields, [&](auto blocks) {
        launch<SynthesisShared<blocks>>(&synthesis_kernel<blocks>, synthesis_warps, stage.view(),
                                        stage.ishioka_synthesis(), orders, stream, coefficients, n_fields,
                                        fourier, stage.layout().size());
    });
}

void adjoint_ishioka_products(const LegendreStage& stage, Orders orders, const double* recurrence,
                              int n_fields, const PairModes* fourier, double* sums, cudaStream_t stream) {
    with_blocks(n_fields, [&](auto blocks) {
        launch<AdjointShared<blocks>>(&adjoint_kernel<blocks>, adjoint_warps, stage.view(), stage.ishioka(),
                                      orders, stream, recurrence, n_fields, fourier, stage.layout().size(),
                                      sums);
    });
}

}  // namespace zonal::sht::cuda
