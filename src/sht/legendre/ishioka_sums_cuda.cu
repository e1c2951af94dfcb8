#include <algorithm>

#include "sht/legendre/adjoint_sums.cuh"
#include "sht/legendre/ishioka_kernels.cuh"

/// From the sums S and T of even steps, which passes of adjoint_ishioka leave behind, and the Jacobi kernels'
/// sums to a_lm. Ishioka's recurrence, summed over the pairs, makes the sums of the odd steps of both:
///   S_{i+1} = A_i T_i + B_i S_i + S_{i-1}
/// A block has an order, of which it takes chunks of steps one after the other.
namespace zonal::sht::cuda {
namespace {

/// Even steps of a chunk, two a lane, and degrees, two a step.
constexpr int chunk_rows = 64;
constexpr int chunk_degrees = 4 * chunk_rows;
/// A warp has one column of S and T.
template <int Fields>
constexpr int threads = 32 * sums_per_step* Fields;
/// Threads of a multiprocessor: many, as they mostly wait for memory.
constexpr int threads_at_once = 1024;
/// Tiles whose sums are on their way at a time.
constexpr int tiles_at_once = 4;

/// Degrees by which a chunk's last a_lm lag behind its last rows: those of a spin field need the rows of
/// their neighbours.
template <bool Spin>
constexpr int halo = Spin ? 2 : 0;

/// What a block shares: rows of degrees from the chunk's first - 2 halo on, eps_lm from its first - halo - 1
/// on.
template <int Fields, bool Spin>
struct Shared {
    double2 rows[Fields][2 * halo<Spin> + chunk_degrees];
    double epsilon[chunk_degrees + halo<Spin> + 2];
};

/// One pass's sums: [job][S, then T of each column][even step].
struct PassSums {
    const double* sums;
    const std::int64_t* first_sum;
    const std::int32_t* n_tiles;
};

/// A column's sums of a lane's four steps, and of the one before them.
struct FourSums {
    double before, value[4];
};

/// Adds up a column's sums at the lane's even steps row and row + 1 and makes those of the odd steps. step,
/// next: A and B of the even steps. at: the order's first tile. last: S of the last odd step so far.
template <int Fields>
__device__ FourSums four_sums(const double* at, int n_tiles, int n_rows, int column, int row, double2 step,
                              double2 next, double& last) {
    const int lane = threadIdx.x % 32;
    double2 s{0, 0}, t{0, 0};
    double first = 0, second = 0;
    if (row < n_rows) {
        const double* from = at + column * n_rows + row;
        const int to_t = sums_per_step * Fields * n_rows;
        for (int tile = 0; tile < n_tiles; tile += tiles_at_once, from += 2 * tiles_at_once * to_t) {
            double2 some_s[tiles_at_once] = {}, some_t[tiles_at_once] = {};
#pragma unroll
            for (int k = 0; k < tiles_at_once; ++k) {
                if (tile + k >= n_tiles) continue;
                some_s[k] = complex_at(from + 2 * k * to_t, 0);
                some_t[k] = complex_at(from + (2 * k + 1) * to_t, 0);
            }
#pragma unroll
            for (int k = 0; k < tiles_at_once; ++k) add(s, some_s[k]), add(t, some_t[k]);
        }
        first = fma(step.x, t.x, step.y * s.x);
        second = first + fma(next.x, t.y, next.y * s.y);
    }
    double sum = second;  // over the lanes up to this one
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const double before = __shfl_up_sync(whole_warp, sum, distance);
        if (lane >= distance) sum += before;
    }
    const double before = __shfl_up_sync(whole_warp, sum, 1), start = last + (lane > 0 ? before : 0);
    last += __shfl_sync(whole_warp, sum, 31);
    return {start, {s.x, start + first, s.y, start + second}};
}

/// The rows of a lane's four steps: the transpose of a step of write_steps. first: of its first degree.
/// epsilon: of that degree on. alpha_before: of the step before.
__device__ __forceinline__ void write_rows(const FourSums& sums, bool odd, const double2 (&alpha)[2],
                                           double alpha_before, const double* epsilon, int part,
                                           double (*first)[2]) {
    double below = sums.before;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const double alpha_here = i % 2 == 0 ? alpha[i / 2].x : alpha[i / 2].y;
        if (odd)
            first[2 * i + 1][part] = alpha_here * sums.value[i];
        else
            first[2 * i][part] =
                alpha_here * epsilon[2 * i + 1] * sums.value[i] + alpha_before * epsilon[2 * i] * below;
        alpha_before = alpha_here;
        below = sums.value[i];
    }
}

/// Stores a_lm of degree l, whose rows are at `row` of the chunk's. others: the Jacobi kernels' sums.
template <int Fields, bool Spin, class T>
__device__ __forceinline__ void store_degree(const LegendreView& t, std::int64_t m, std::int64_t l,
                                             const Shared<Fields, Spin>& shared, int row,
                                             const double2 (&others)[Fields], const AlmTargets<T>& alm) {
    if (l < m || l > t.lmax) return;
    double value[2][2] = {};
    if constexpr (Spin) {
        const double* const epsilon = shared.epsilon + 1 + row - halo<Spin>;
        const SpinShifts w = shifts(t, l, m, [&](int offset) { return epsilon[offset]; });
        add_from_scalar(w, t.spin, -2, 2, &shared.rows[0][row].x, &shared.rows[Fields - 1][row].x, value);
    }
#pragma unroll
    for (int f = 0; f < Fields; ++f) {
        if (alm.alm[f] == nullptr) continue;
        double2 sum = others[f];
        if constexpr (Spin)
            sum = {value[f][0] - sum.x, value[f][1] - sum.y};
        else
            add(sum, shared.rows[f][row]);
        store(alm.alm[f] + 2 * (t.alm_origin[m] + l), sum);
    }
}

template <int Fields, bool Spin, class T>
__global__ void __launch_bounds__(threads<Fields>, threads_at_once / threads<Fields>)
    alm_kernel(LegendreView t, std::int64_t first_order, PassSums sums, const double* recurrence,
               JacobiSums jacobi, AlmTargets<T> alm) {
    constexpr int threads = cuda::threads<Fields>, halo = cuda::halo<Spin>;
    constexpr int per_thread = chunk_degrees / threads, kept = halo > 0 ? 2 * halo : 1;
    __shared__ Shared<Fields, Spin> shared;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int field = warp / sums_per_step, part = warp % 2;
    const bool odd = warp / 2 % 2 != 0;
    const std::int64_t m = t.orders[first_order + blockIdx.x], first_step = t.first_step[m];
    const int n_rows = static_cast<int>(t.first_step[m + 1] - first_step) / 2, n_tiles = sums.n_tiles[m];
    const double* const order_sums = sums.sums + Fields * sums.first_sum[m];
    double last = 0, last_alpha = 0;
    for (int k = threadIdx.x; k < 2 * halo * Fields; k += threads) shared.rows[k / kept][k % kept] = {0, 0};
    std::int64_t base = m;
    for (int done = 0; base - halo <= t.lmax; done += chunk_rows, base += chunk_degrees) {
        const int row = done + 2 * lane;
        // What lies far away is asked for before it is needed.
        double2 step{0, 0}, next{0, 0}, alpha[2] = {};
        if (row < n_rows) {
            step = complex_at(recurrence, first_step + 2 * row);
            next = complex_at(recurrence, first_step + 2 * row + 2);
            for (int k = 0; k < 2; ++k) alpha[k] = complex_at(t.alpha, (first_step + 2 * row) / 2 + k);
        }
        double2 others[per_thread][Fields];
#pragma unroll
        for (int i = 0; i < per_thread; ++i)
#pragma unroll
            for (int f = 0; f < Fields; ++f) {
                const std::int64_t l = base - halo + threadIdx.x + i * threads;
                others[i][f] = l <= t.lmax ? jacobi.total(t, m, l, f) : double2{0, 0};
            }
        const FourSums four = four_sums<Fields>(order_sums, n_tiles, n_rows, warp, row, step, next, last);
        for (int k = threadIdx.x; k < chunk_degrees + halo + 2; k += threads)
            shared.epsilon[k] = epsilon_or_zero(base - halo - 1 + k, m);
        __syncthreads();
        double alpha_before = __shfl_up_sync(whole_warp, alpha[1].y, 1);
        if (lane == 0) alpha_before = last_alpha;
        last_alpha = __shfl_sync(whole_warp, alpha[1].y, 31);
        write_rows(four, odd, alpha, alpha_before, shared.epsilon + halo + 1 + 8 * lane, part,
                   reinterpret_cast<double(*)[2]>(&shared.rows[field][2 * halo + 8 * lane]));
        __syncthreads();
#pragma unroll
        for (int i = 0; i < per_thread; ++i) {
            const int k = threadIdx.x + i * threads;
            store_degree(t, m, base - halo + k, shared, halo + k, others[i], alm);
        }
        __syncthreads();
        for (int k = threadIdx.x; k < 2 * halo * Fields; k += threads)
            shared.rows[k / kept][k % kept] = shared.rows[k / kept][chunk_degrees + k % kept];
    }
}

template <int Fields, bool Spin, class T>
void launch(const LegendreStage& stage, Orders orders, const double* recurrence, const double* sums,
            const JacobiSums& jacobi, AlmTargets<T> alm, cudaStream_t stream) {
    const JobList& jobs = stage.ishioka(Fields);
    alm_kernel<Fields, Spin, T><<<static_cast<unsigned>(orders.count()), threads<Fields>, 0, stream>>>(
        stage.view(), orders.first, {sums, jobs.first_sum.data(), jobs.n_tiles.data()}, recurrence, jacobi,
        alm);
    core::check_launch("sums of even steps");
}

}  // namespace

template <class T>
void alm_from_passes(const LegendreStage& stage, Orders orders, const double* recurrence,
                     const AdjointSums& sums, const std::vector<AlmTargets<T>>& maps, cudaStream_t stream) {
    const int components = stage.view().components, n_fields = components * sums.n_maps;
    for (int first = 0; first < n_fields; first += 2) {
        const int map = first / components, fields = std::min(2, n_fields - first);
        const JacobiSums jacobi = jacobi_sums(stage, sums, map);
        const double* const of_pass = sums_of_fields(stage, sums.steps, first, fields);
        if (components == 2)
            launch<2, true, T>(stage, orders, recurrence, of_pass, jacobi, maps[map], stream);
        else if (fields == 2)
            launch<2, false, T>(stage, orders, recurrence, of_pass, jacobi,
                                {{maps[map].alm[0], maps[map + 1].alm[0]}}, stream);
        else
            launch<1, false, T>(stage, orders, recurrence, of_pass, jacobi, maps[map], stream);
    }
}

template void alm_from_passes(const LegendreStage&, Orders, const double*, const AdjointSums&,
                              const std::vector<AlmTargets<float>>&, cudaStream_t);
template void alm_from_passes(const LegendreStage&, Orders, const double*, const AdjointSums&,
                              const std::vector<AlmTargets<double>>&, cudaStream_t);

}  // namespace zonal::sht::cuda
