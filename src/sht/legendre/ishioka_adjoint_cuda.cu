#include <algorithm>

#include "core/mma_fp64.cuh"
#include "sht/legendre/ishioka_kernels.cuh"

/// The adjoint by matrix products on the tensor cores, which do twice as many multiply-adds as the threads:
///   S_i[column] = sum_pair lambda_i[pair] F[pair][column], T_i[column] = sum_pair lambda_i[pair] x
///   F[pair][column]
/// with x = cos^2 theta and the columns even re, im, odd re, im of each field. Only even steps i go through
/// products. Ishioka's recurrence, summed over the pairs, gives the odd ones:
///   S_{i+1} = A_i T_i + B_i S_i + S_{i-1}
/// So the S and T of one field fill the eight columns of an instruction, and half of lambda never leaves the
/// registers. Each warp writes its pairs' lambda of 16 even steps to shared memory and reads them back as the
/// tensor cores take them.
namespace zonal::sht::cuda {
namespace {

constexpr int warps = 4;
constexpr int threads = 32 * warps;
/// Ring pairs per thread and warp.
constexpr int per_thread = 3;
constexpr int warp_pairs = 32 * per_thread;
static_assert(warps * warp_pairs == Tiles::large_adjoint && warp_pairs == Tiles::large_adjoint_grain);

/// Even steps and pairs of one instruction, how many a warp's pairs make, and columns: S and T of one field.
constexpr int product_rows = 16;
constexpr int block_pairs = 16;
constexpr int pair_blocks = warp_pairs / block_pairs;
constexpr int field_columns = 2 * sums_per_step;

/// Steps between two meetings of the block's warps. Many, as they wait for each other there.
template <int Fields>
constexpr int chunk_steps = Fields == 1 ? 128 : 64;
/// Blocks per multiprocessor: what registers and shared memory allow.
template <int Fields>
constexpr int blocks_at_once = Fields == 1 ? 3 : 2;
/// Doubles from one even step's sums to the next's, so that a warp finds a column in different banks.
template <int Fields>
constexpr int sums_stride = field_columns* Fields + 1;

/// Lambda of a warp's pairs at 16 even steps: at[g] has those of even steps 2 g and 2 g + 1, next to each
/// other as a lane reads them. The distance of rows: so that the two that a quarter of a warp reads at once
/// lie in different banks.
struct Lambda {
    double2 at[product_rows / 2][warp_pairs + 4];
};

template <int Fields>
struct Shared {
    double recurrence[2][chunk_steps<Fields>][2];
    Lambda lambda[warps];
    double sums[warps][chunk_steps<Fields> / 2][sums_stride<Fields>];
};

/// Advances by up to two product_rows steps and writes what counts of the even ones' lambda. False: nothing
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
    bool any = false;
    int row = 0;
    __syncwarp();  // the rows of the last product have been read
    for (int j = 0; j < count; j += step_group, row += step_group / 4) {
        any = any || visibility != Visibility::none;
        if (visibility == Visibility::all) {
#pragma unroll
            for (int i = 0; i < step_group; i += 4)
                write_four(step + j + i, lambda.at[row + i / 4], [&](int r) { return state.current[r]; });
        } else {
#pragma unroll 1
            for (int i = 0; i < step_group; i += 4)
                write_four(step + j + i, lambda.at[row + i / 4],
                           [&](int r) { return state.scale[r] == 0 ? state.current[r] : 0; });
            state.promote();
            visibility = state.visibility();
        }
    }
    for (; row < product_rows / 2; ++row)
#pragma unroll
        for (int r = 0; r < per_thread; ++r) lambda.at[row][32 * r + lane] = {0, 0};
    __syncwarp();
    return any;
}

/// What lane (g, t) holds of F: column g, of S below 4 and of T from 4 on, of pairs 16 p + 4 i + t.
template <int Fields>
struct AdjointModes {
    double f[pair_blocks][Fields][4];

    /// memory: the warp's.
    __device__ void load(const LegendreView& t, int m, int first, int end, const PairModes* fourier,
                         std::int64_t field_stride, Lambda& memory) {
        auto& rows = reinterpret_cast<double(&)[sums_per_step + 1][warp_pairs + 4]>(memory);
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int c = 0; c < Fields; ++c) {
            __syncwarp();
#pragma unroll
            for (int r = 0; r < per_thread; ++r) {
                const int here = lane + 32 * r, pair = first + here, there = min(pair, end - 1);
                const PairModes modes = fourier[c * field_stride + t.fourier_origin[m] + there];
                const double factor = pair < end ? t.scalar_factor[there] : 0;
                const double odd_factor = factor * t.cos_theta[there];
                rows[0][here] = (modes.north.x + modes.south.x) * factor;
                rows[1][here] = (modes.north.y + modes.south.y) * factor;
                rows[2][here] = (modes.north.x - modes.south.x) * odd_factor;
                rows[3][here] = (modes.north.y - modes.south.y) * odd_factor;
                rows[4][here] = t.cos2_theta[there];
            }
            __syncwarp();
#pragma unroll
            for (int p = 0; p < pair_blocks; ++p)
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int here = block_pairs * p + 4 * i + lane % 4;
                    f[p][c][i] = rows[lane / 4 % 4][here] * (lane < 16 ? 1 : rows[4][here]);
                }
        }
    }

    /// sums: [product_rows][sums_stride].
    __device__ void project(const Lambda& lambda, double (*sums)[sums_stride<Fields>]) const {
        const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
        constexpr int n_sums = Fields == 1 ? 2 : 1;  // two where one would wait for itself
        double sum[n_sums][Fields][4] = {};
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
            for (int c = 0; c < Fields; ++c) core::multiply_add_16x8x16(sum[p % n_sums][c], a, f[p][c]);
        }
#pragma unroll
        for (int c = 0; c < Fields; ++c)
#pragma unroll
            for (int h = 0; h < 2; ++h)
#pragma unroll
                for (int j = 0; j < 2; ++j)
                    sums[2 * g + h][field_columns * c + 2 * t + j] =
                        sum[0][c][2 * h + j] + (n_sums == 2 ? sum[n_sums - 1][c][2 * h + j] : 0);
    }
};

/// Adds up one column of S and T of a chunk's even steps over the block's warps, an even step a lane, makes S
/// of the odd steps, and stores both. last: S of the last odd step.
template <int Fields>
__device__ __forceinline__ void store_column(const Shared<Fields>& shared, int chunk, int count, int n_active,
                                             int column, int width, double& last, double* out) {
    const int lane = threadIdx.x % 32;
    const int at = column / sums_per_step * field_columns + column % sums_per_step;
#pragma unroll
    for (int first = 0; first < chunk_steps<Fields>; first += 64) {
        const int step = first + 2 * lane;
        const bool there = step < count;
        double s = 0, t = 0, odd = 0;
        if (there) {
#pragma unroll
            for (int w = 0; w < warps; ++w) {
                if (w >= n_active) break;
                s += shared.sums[w][step / 2][at];
                t += shared.sums[w][step / 2][at + sums_per_step];
            }
            odd = fma(shared.recurrence[chunk][step][0], t, shared.recurrence[chunk][step][1] * s);
        }
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            const double before = __shfl_up_sync(whole_warp, odd, distance);
            if (lane >= distance) odd += before;
        }
        odd += last;
        last = __shfl_sync(whole_warp, odd, 31);
        if (there) {
            out[step * width + column] = s;
            out[(step + 1) * width + column] = odd;
        }
    }
}

/// n_fields: of the sums, of which this kernel makes those from first_field on.
template <int Fields>
__global__ void __launch_bounds__(threads, blocks_at_once<Fields>)
    adjoint_kernel(LegendreView t, const LegendreJob* jobs, const double* recurrence, int n_fields,
                   int first_field, const PairModes* fourier, std::int64_t field_stride, double* sums) {
    constexpr int chunk_steps = cuda::chunk_steps<Fields>, columns = sums_per_step * Fields;
    extern __shared__ char memory[];
    auto& shared = *reinterpret_cast<Shared<Fields>*>(memory);
    const LegendreJob job = jobs[blockIdx.x];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = job.first + warp * warp_pairs;
    const int n_active = min(warps, (job.end - job.first + warp_pairs - 1) / warp_pairs);
    const int width = sums_per_step * n_fields;
    const std::int64_t begin = t.first_step[job.m];
    const int n_steps = static_cast<int>(t.first_step[job.m + 1] - begin);
    copy_steps<threads>(recurrence, begin, min(chunk_steps, n_steps), 2, shared.recurrence[0][0]);
    Recurrence<per_thread> state;
    state.start(t, job.m, [&](int r) { return min(first + lane + 32 * r, job.end - 1); });
    AdjointModes<Fields> modes;
    modes.load(t, job.m, first, job.end, fourier + first_field * field_stride, field_stride,
               shared.lambda[warp]);
    Visibility visibility = state.visibility();
    double last[columns / warps] = {};
    double* out = sums + n_fields * job.sums + sums_per_step * first_field;
    for (int done = 0, k = 0; done < n_steps; done += chunk_steps, k ^= 1, out += chunk_steps * width) {
        const int count = min(chunk_steps, n_steps - done),
                  next = min(chunk_steps, n_steps - done - chunk_steps);
        __pipeline_wait_prior(0);
        __syncthreads();
        if (next > 0)
            copy_steps<threads>(recurrence, begin + done + chunk_steps, next, 2, shared.recurrence[k ^ 1][0]);
        for (int j = 0; warp < n_active && j < count; j += 2 * product_rows) {
            auto* const rows = shared.sums[warp] + j / 2;
            if (write_lambda(state, visibility, shared.recurrence[k] + j, min(2 * product_rows, count - j),
                             shared.lambda[warp]))
                modes.project(shared.lambda[warp], rows);
            else
                for (int i = lane; i < product_rows * sums_stride<Fields>; i += 32) rows[0][i] = 0;
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < columns / warps; ++r)
            store_column<Fields>(shared, k, count, n_active, warp + r * warps, width, last[r], out);
    }
}

template <int Fields>
void launch(const LegendreStage& stage, Orders orders, const double* recurrence, int n_fields,
            int first_field, const PairModes* fourier, double* sums, cudaStream_t stream) {
    const auto kernel = &adjoint_kernel<Fields>;
    constexpr int bytes = sizeof(Shared<Fields>);
    core::check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                     "asking for shared memory");
    kernel<<<stage.ishioka(n_fields).count(orders), threads, bytes, stream>>>(
        stage.view(), stage.ishioka(n_fields).begin(orders), recurrence, n_fields, first_field, fourier,
        stage.layout().size(), sums);
    core::check_launch("Ishioka adjoint");
}

}  // namespace

void adjoint_ishioka(const LegendreStage& stage, Orders orders, const double* recurrence, int n_fields,
                     const PairModes* fourier, double* sums, cudaStream_t stream) {
    if (stage.ishioka(n_fields).count(orders) == 0) return;
    if (!stage.tiles().takes_passes(n_fields)) {
        const auto adjoint = n_fields == 1 ? &adjoint_ishioka_few : &adjoint_ishioka_products;
        return adjoint(stage, orders, recurrence, n_fields, fourier, sums, stream);
    }
    for (int first = 0; first < n_fields; first += 2) {
        const auto two = first + 1 < n_fields ? &launch<2> : &launch<1>;
        two(stage, orders, recurrence, n_fields, first, fourier, sums, stream);
    }
}

}  // namespace zonal::sht::cuda
