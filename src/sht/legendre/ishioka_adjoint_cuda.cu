#include <algorithm>

#include "core/mma_fp64.cuh"
#include "core/split_barrier.cuh"
#include "sht/legendre/ishioka_kernels.cuh"
#include "sht/legendre/step_values.cuh"

/// The adjoint by matrix products on the tensor cores, which do twice as many multiply-adds as the threads:
///   S_i[column] = sum_pair lambda_i[pair] F[pair][column]
///   T_i[column] = sum_pair lambda_i[pair] x F[pair][column]
/// with x = cos^2 theta and the columns even re, im, odd re, im of each field. Only even steps i go through
/// products; S of the odd ones follows from both (ishioka_sums_cuda.cu), so that half of lambda never leaves
/// the registers. An instruction has eight columns: S and T of one field, or S or T of two. Each warp writes
/// its pairs' lambda of 16 even steps to shared memory and reads them back as the tensor cores take them.
namespace zonal::sht::cuda {
namespace {

constexpr int warps = 4;
constexpr int threads = 32 * warps;
/// Blocks per multiprocessor, as registers and shared memory allow.
template <int Fields>
constexpr int blocks_at_once = Fields == 4 ? 2 : 3;
/// Ring pairs per thread and warp.
constexpr int per_thread = 3;
constexpr int warp_pairs = 32 * per_thread;
static_assert(warps * warp_pairs == Tiles::large_adjoint && warp_pairs == Tiles::large_adjoint_grain);

/// Even steps, pairs and columns of one instruction, how many a warp's pairs make, and all steps.
constexpr int product_rows = 16;
constexpr int block_pairs = 16;
constexpr int block_columns = 8;
constexpr int pair_blocks = warp_pairs / block_pairs;
constexpr int product_steps = 2 * product_rows;
/// Instructions that take S of all fields: two fields each, and T of one beside its S.
template <int Fields>
constexpr int column_blocks = (Fields + 1) / 2;

/// Lambda of a warp's pairs at 16 even steps: at[g] has those of even steps 2 g and 2 g + 1, next to each
/// other as a lane reads them. The distance of rows: so that the two that a quarter of a warp reads at once
/// lie in different banks.
struct Lambda {
    double2 at[product_rows / 2][warp_pairs + 4];
};

/// Sums of a warp's pairs at 16 even steps, [column]: S of all fields, then T. The distance of columns: so
/// that a quarter of a warp writes to all banks.
template <int Fields>
struct ProductSums {
    double column[block_columns * Fields][product_rows + 2];
};

/// How many products later a warp adds up its share of one's sums: meanwhile the others' are on their way.
/// Then as many sums as shared memory has room for, twice as many products, as those who are behind read
/// theirs still while others write the next.
template <int Fields>
constexpr int lag = Fields == 1 ? 2 : 1;

template <int Fields>
struct Shared {
    double recurrence[warps][product_steps][2];  ///< each warp's own
    Lambda lambda[warps];
    ProductSums<Fields> sums[2 * lag<Fields>][warps];  ///< of product k at k % (2 lag)
    double cos2[warps][Fields == 1 ? 1 : warp_pairs];  ///< of several fields: four pairs after the other as
                                                       ///< a lane reads them
    core::SplitBarrier summed[lag<Fields>];  ///< by all threads: turn k / lag of number k % lag of product k
};

/// Advances by up to product_steps steps and writes what counts of the even ones' lambda. False: nothing
/// counts, and not all was written.
__device__ bool write_lambda(Recurrence<per_thread>& state, Visibility& visibility, const double (*step)[2],
                             int count, Lambda& lambda) {
    const int lane = threadIdx.x % 32;
    const auto advance = [&](const double(*at)[2]) {
        state.advance(at[0][0], at[0][1], state.cos2, state.previous, state.current);
        state.advance(at[1][0], at[1][1], state.cos2, state.current, state.previous);
    };
    const auto write_four = [&](const double(*at)[2], double2* to, const auto& counted) {
        double first[per_thread];
#pragma unroll
        for (int r = 0; r < per_thread; ++r) first[r] = counted(r);
        advance(at);
#pragma unroll
        for (int r = 0; r < per_thread; ++r) to[32 * r + lane] = {first[r], counted(r)};
        advance(at + 2);
    };
    __syncwarp();  // the steps are there, and the rows of the last product have been read
    if (visibility == Visibility::all && count == product_steps) {
#pragma unroll
        for (int i = 0; i < product_steps; i += 4)
            write_four(step + i, lambda.at[i / 4], [&](int r) { return state.current[r]; });
        __syncwarp();
        return true;
    }
    bool any = false;
    int row = 0;
    for (int j = 0; j < count; j += step_group, row += step_group / 4) {
        any = any || visibility != Visibility::none;
#pragma unroll 1
        for (int i = 0; i < step_group; i += 4)
            write_four(step + j + i, lambda.at[row + i / 4],
                       [&](int r) { return state.scale[r] == 0 ? state.current[r] : 0; });
        if (visibility == Visibility::all) continue;
        state.promote();
        visibility = state.visibility();
    }
    for (; row < product_rows / 2; ++row)
#pragma unroll
        for (int r = 0; r < per_thread; ++r) lambda.at[row][32 * r + lane] = {0, 0};
    __syncwarp();
    return any;
}

/// What lane (g, t) holds of F of pairs 16 p + 4 i + t: of one field column g % 4, as S takes it below
/// g = 4 and as T does from there on; of more, column g % 4 of field 2 b + g / 4, as S takes it.
template <int Fields>
struct AdjointModes {
    static constexpr int blocks = column_blocks<Fields>;
    double f[pair_blocks][blocks][4];

    /// memory, cos2: the warp's; the first is used on the way, the second made.
    __device__ void load(const LegendreView& t, const WarpsJob<warps, warp_pairs>& job, int n_fields,
                         const PairModes* fourier, std::int64_t field_stride, Lambda& memory, double* cos2) {
        auto& rows = reinterpret_cast<double(&)[sums_per_step + 1][warp_pairs + 4]>(memory);
#pragma unroll
        for (int c = 0; c < Fields; ++c) {
            __syncwarp();
#pragma unroll
            for (int r = 0; r < per_thread; ++r) {
                const int here = job.lane + 32 * r, pair = job.warp_first + here, there = job.within(pair);
                PairModes modes{};
                if (c < n_fields) modes = fourier[c * field_stride + t.fourier_origin[job.m] + there];
                const double factor = pair < job.end ? t.scalar_factor[there] : 0;
                const double odd_factor = factor * t.cos_theta[there];
                rows[0][here] = (modes.north.x + modes.south.x) * factor;
                rows[1][here] = (modes.north.y + modes.south.y) * factor;
                rows[2][here] = (modes.north.x - modes.south.x) * odd_factor;
                rows[3][here] = (modes.north.y - modes.south.y) * odd_factor;
                rows[4][here] = t.cos2_theta[there];
                if (Fields > 1 && c == 0)
                    cos2[here / block_pairs * block_pairs + here % 4 * 4 + here / 4 % 4] =
                        t.cos2_theta[there];
            }
            __syncwarp();
#pragma unroll
            for (int p = 0; p < pair_blocks; ++p)
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int here = block_pairs * p + 4 * i + job.lane % 4;
                    const double value = rows[job.lane / 4 % 4][here];
                    if (Fields == 1)
                        f[p][0][i] = value * (job.lane < 16 ? 1 : rows[4][here]);
                    else if (c % 2 == job.lane / 16)
                        f[p][c / 2][i] = value;
                }
        }
    }

    __device__ void project(const Lambda& lambda, const double* cos2, ProductSums<Fields>& sums) const {
        const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
        // S and T of each two fields; of one field two, as one would wait for itself.
        double sum[2][blocks][4] = {};
#pragma unroll
        for (int p = 0; p < pair_blocks; ++p) {
            double a[8];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const double2 two = lambda.at[g][block_pairs * p + 4 * i + t];
                a[2 * i] = two.x;
                a[2 * i + 1] = two.y;
            }
#pragma unroll
            for (int b = 0; b < blocks; ++b)
                core::multiply_add_16x8x16(sum[Fields == 1 ? p % 2 : 0][b], a, f[p][b]);
            if constexpr (Fields > 1) {
                double x[4];
#pragma unroll
                for (int i = 0; i < 4; i += 2)
                    store(x + i, complex_at(cos2 + block_pairs * p + 4 * t + i, 0));
#pragma unroll
                for (int b = 0; b < blocks; ++b) {
                    double of_t[4];
#pragma unroll
                    for (int i = 0; i < 4; ++i) of_t[i] = f[p][b][i] * x[i];
                    core::multiply_add_16x8x16(sum[1][b], a, of_t);
                }
            }
        }
#pragma unroll
        for (int k = 0; Fields == 1 && k < 4; ++k) sum[0][0][k] += sum[1][0][k];
#pragma unroll
        for (int k = 0; k < Fields; ++k)
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const double* const of = sum[k / blocks][k % blocks];
                store(&sums.column[block_columns * k + 2 * t + j][2 * g], {of[j], of[2 + j]});
            }
    }
};

/// A thread's share of adding up the warps' sums of one product after the other: Fields even steps of one
/// column.
template <int Fields>
struct SumOfWarps {
    int column, row;
    double* out;  ///< where those of the next product go

    __device__ SumOfWarps(int n_steps, double* sums)
        : column(static_cast<int>(threadIdx.x) * Fields / product_rows),
          row(static_cast<int>(threadIdx.x) * Fields % product_rows),
          out(sums + column * (n_steps / 2) + row) {
        static_assert(block_columns * product_rows == threads);
    }
    /// left: steps of the product.
    __device__ void store_next(const ProductSums<Fields> (&parts)[warps], int n_active, int left) {
        double sum[Fields] = {};
#pragma unroll
        for (int w = 0; w < warps; ++w) {
            if (w >= n_active) break;
#pragma unroll
            for (int k = 0; k < Fields; ++k) sum[k] += parts[w].column[column][row + k];
        }
#pragma unroll
        for (int k = 0; k < Fields; ++k)
            if (2 * row < left) out[k] = sum[k];
        out += product_rows;
    }
};

template <int Fields>
__global__ void __launch_bounds__(threads, blocks_at_once<Fields>)
    adjoint_kernel(LegendreView t, const LegendreJob* jobs, const double* recurrence, int n_fields,
                   const PairModes* fourier, std::int64_t field_stride, double* sums) {
    constexpr int lag = cuda::lag<Fields>;
    extern __shared__ char memory[];
    auto& shared = *reinterpret_cast<Shared<Fields>*>(memory);
    const WarpsJob<warps, warp_pairs> job(t, jobs[blockIdx.x]);
    const int warp = job.warp, lane = job.lane, n_steps = job.n_steps;
    if (threadIdx.x < lag) shared.summed[threadIdx.x].begin(threads);
    __syncthreads();
    const double* from = recurrence + 2 * (job.begin + lane);
    const auto fetch = [&](int done) {  // a step a lane
        if (done + lane < n_steps)
            __pipeline_memcpy_async(shared.recurrence[warp][lane], from, 2 * sizeof(double));
        __pipeline_commit();
        from += 2 * product_steps;
    };
    fetch(0);
    Recurrence<per_thread> state;
    state.start(t, job.m, [&](int r) { return job.within(job.warp_first + lane + 32 * r); });
    AdjointModes<Fields> modes;
    modes.load(t, job, n_fields, fourier, field_stride, shared.lambda[warp], shared.cos2[warp]);
    Visibility visibility = state.visibility();
    SumOfWarps<Fields> adder(n_steps, sums + Fields * job.sums);
    const auto add_up = [&](int product) {
        shared.summed[product % lag].wait(product / lag);
        adder.store_next(shared.sums[product % (2 * lag)], job.n_active, n_steps - product * product_steps);
    };
    int product = 0;
    for (int done = 0; done < n_steps; done += product_steps, ++product) {
        const bool active = warp < job.n_active;
        bool any = false;
        if (active) {
            __pipeline_wait_prior(0);
            any = write_lambda(state, visibility, shared.recurrence[warp], min(product_steps, n_steps - done),
                               shared.lambda[warp]);
            fetch(done + product_steps);
        }
        if (product >= lag) add_up(product - lag);
        auto& mine = shared.sums[product % (2 * lag)][warp];
        if (any)
            modes.project(shared.lambda[warp], shared.cos2[warp], mine);
        else if (active)
            for (int i = lane; i < block_columns * Fields * product_rows; i += 32)
                mine.column[i / product_rows][i % product_rows] = 0;
        shared.summed[product % lag].arrive();
    }
    for (int k = max(0, product - lag); k < product; ++k) add_up(k);
}

template <int Fields>
void launch(const LegendreStage& stage, Orders orders, const double* recurrence, int n_fields,
            const PairModes* fourier, double* sums, cudaStream_t stream) {
    const auto kernel = &adjoint_kernel<Fields>;
    constexpr int bytes = sizeof(Shared<Fields>);
    core::check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                     "asking for shared memory");
    const JobList& jobs = stage.ishioka();
    kernel<<<jobs.count(orders), threads, bytes, stream>>>(stage.view(), jobs.begin(orders), recurrence,
                                                           n_fields, fourier, stage.layout().size(), sums);
    core::check_launch("Ishioka adjoint");
}

}  // namespace

void adjoint_ishioka(const LegendreStage& stage, Orders orders, const double* recurrence, int n_fields,
                     const PairModes* fourier, StepSumsRoom room, cudaStream_t stream) {
    if (stage.ishioka().count(orders) == 0) return;
    if (!stage.tiles().takes_passes()) {
        const auto adjoint = n_fields == 1 ? &adjoint_ishioka_few : &adjoint_ishioka_products;
        double* const of_all = sums_of_fields(stage, room, 0, n_fields);
        return adjoint(stage, orders, recurrence, n_fields, fourier, of_all, stream);
    }
    for (int first = 0; first < n_fields;) {
        const FieldPass pass(first, n_fields);
        const auto adjoint = pass.width == 4 ? &launch<4> : pass.width == 2 ? &launch<2> : &launch<1>;
        adjoint(stage, orders, recurrence, pass.count, fourier + first * stage.layout().size(),
                sums_of_fields(stage, room, first, pass.width), stream);
        first += pass.count;
    }
}

}  // namespace zonal::sht::cuda
