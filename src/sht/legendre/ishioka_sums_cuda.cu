#include <algorithm>

#include "sht/legendre/adjoint_sums.cuh"
#include "sht/legendre/ishioka_kernels.cuh"

/// From the sums S and T of even steps, which passes of adjoint_ishioka leave behind, and the Jacobi kernels'
/// sums to a_lm. Ishioka's recurrence, summed over the pairs, makes the sums of the odd steps of both:
///   S_{i+1} = A_i T_i + B_i S_i + S_{i-1}
/// A block takes chunks of an order's steps one after the other. Orders that would not fill the device have
/// several blocks each: the tiles are then added up first, and each block begins with the sum over the steps
/// before its own.
namespace zonal::sht::cuda {
namespace {

/// Even steps of a chunk, two a lane, and degrees, two a step.
constexpr int chunk_rows = 64;
constexpr int chunk_degrees = 4 * chunk_rows;
/// A warp has one column of S and T.
template <int Fields>
constexpr int threads = 32 * sums_per_step* Fields;
/// Threads of a multiprocessor: many, as they mostly wait for memory.
template <bool Spin>
constexpr int threads_at_once = Spin ? 768 : 1024;
/// Tiles whose sums are on their way at a time.
constexpr int tiles_at_once = 4;

/// Degrees by which a chunk's last a_lm lag behind its last rows: those of a spin field need the rows of as
/// many neighbours on each side as it has steps to its spin. At most:
template <bool Spin>
constexpr int most_halo = Spin ? most_spin_steps : 0;

/// What a block shares: rows and eps_lm of degrees from the chunk's first - 2 halo on.
template <int Fields, bool Spin>
struct Shared {
    static constexpr int length = 2 * most_halo<Spin> + chunk_degrees;
    double2 rows[Fields][length];
    double epsilon[length + 2];
};
/// The same between the steps of spin fields: [map].
template <int Fields>
struct SharedSteps {
    SpinPair pairs[2][(Fields + 1) / 2][Shared<Fields, true>::length];
};

/// Fields whose a_lm of a degree one thread stores: a spin field's two, or as many scalars.
template <int Fields>
constexpr int fields_stored = Fields > 1 ? 2 : 1;
/// The first field of item k of a chunk: its degrees for some fields, then for the next.
template <int Fields>
__device__ int first_stored(int k) {
    return Fields > 2 ? k / chunk_degrees * fields_stored<Fields> : 0;
}

/// Where a pass's a_lm go, null where there is none, and what the Jacobi kernels add: [map].
template <int Fields, bool Spin, class T>
struct PassTargets {
    T* alm[Fields];
    JacobiSums jacobi[Spin ? Fields / 2 : Fields];

    /// The Jacobi kernels' sum of field f at degree l.
    __device__ double2 others(const LegendreView& t, std::int64_t m, std::int64_t l, int f) const {
        if (l > t.lmax || alm[f] == nullptr) return {0, 0};
        return Spin ? jacobi[f / 2].total(t, m, l, f % 2) : jacobi[f].total(t, m, l, 0);
    }
};

/// One pass's sums: [job][S, then T of each column][even step].
struct PassSums {
    double* sums;
    const std::int64_t* first_sum;
    const std::int32_t* n_tiles;
};

/// Adds up the sums of an order's tiles, into the first. Blocks: [order, part of the sums].
template <int Fields>
__global__ void __launch_bounds__(256)
    add_tiles_kernel(LegendreView t, std::int64_t first_order, PassSums sums) {
    const std::int64_t m = t.orders[first_order + blockIdx.x];
    const std::int64_t length = sums_per_step * Fields * (t.first_step[m + 1] - t.first_step[m]);
    const int n_tiles = sums.n_tiles[m];
    double* const first = sums.sums + Fields * sums.first_sum[m];
    const std::int64_t step = 2 * 256 * static_cast<std::int64_t>(gridDim.y);
    for (std::int64_t i = 2 * (256 * static_cast<std::int64_t>(blockIdx.y) + threadIdx.x); i < length;
         i += step) {
        double2 sum{0, 0};
        for (int tile = 0; tile < n_tiles; tile += tiles_at_once) {
            double2 some[tiles_at_once] = {};
#pragma unroll
            for (int k = 0; k < tiles_at_once; ++k)
                if (tile + k < n_tiles) some[k] = complex_at(first + (tile + k) * length, i / 2);
#pragma unroll
            for (int k = 0; k < tiles_at_once; ++k) add(sum, some[k]);
        }
        if (n_tiles > 0) store(first + i, sum);
    }
}

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

/// S of the last odd step before even step `row` of a column, of an order whose tiles are added up.
/// recurrence: of the order's steps.
template <int Fields>
__device__ double sum_before(const double* at, int n_rows, int column, int row, const double* recurrence) {
    const int to_t = sums_per_step * Fields * n_rows;
    const double* const from = at + column * n_rows;
    double sum = 0;
#pragma unroll 4
    for (int i = threadIdx.x % 32; i < min(row, n_rows); i += 32) {
        const double2 step = complex_at(recurrence, 2 * i);
        sum += fma(step.x, from[to_t + i], step.y * from[i]);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(whole_warp, sum, distance);
    return sum;
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

/// Stores a_lm of degree l and of the fields from `first` on. found: without the Jacobi kernels' sums, which
/// are `others`.
template <int Stored, bool Spin, class T>
__device__ __forceinline__ void store_degree(const LegendreView& t, std::int64_t m, std::int64_t l, int first,
                                             const double2 (&found)[Stored], const double2 (&others)[Stored],
                                             T* const* alm) {
    if (l < m || l > t.lmax) return;
    const double sign = Spin ? -1 : 1;
#pragma unroll
    for (int f = 0; f < Stored; ++f)
        if (alm[first + f] != nullptr)
            store(alm[first + f] + 2 * (t.alm_origin[m] + l),
                  {found[f].x + sign * others[f].x, found[f].y + sign * others[f].y});
}

template <int Fields, bool Spin, class T>
__global__ void __launch_bounds__(threads<Fields>, threads_at_once<Spin> / threads<Fields>)
    alm_kernel(LegendreView t, std::int64_t first_order, PassSums sums, const double* recurrence,
               PassTargets<Fields, Spin, T> targets) {
    constexpr int threads = cuda::threads<Fields>, stored = fields_stored<Fields>;
    constexpr int per_thread = chunk_degrees * (Fields / stored) / threads;
    static_assert(per_thread * threads == chunk_degrees * (Fields / stored));
    extern __shared__ char memory[];
    auto& shared = *reinterpret_cast<Shared<Fields, Spin>*>(memory);
    const int halo = Spin ? t.spin : 0, kept = max(1, 2 * halo);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int field = warp / sums_per_step, part = warp % 2;
    const bool odd = warp / 2 % 2 != 0;
    const std::int64_t m = t.orders[first_order + blockIdx.x], first_step = t.first_step[m];
    const int n_rows = static_cast<int>(t.first_step[m + 1] - first_step) / 2;
    const bool has_parts = gridDim.y > 1;
    const int n_tiles = has_parts ? min(sums.n_tiles[m], 1) : sums.n_tiles[m];
    const double* const order_sums = sums.sums + Fields * sums.first_sum[m];
    const int n_chunks = static_cast<int>((t.lmax + halo - m) / chunk_degrees) + 1;
    const int first_chunk = static_cast<int>(blockIdx.y * n_chunks / gridDim.y),
              end_chunk = static_cast<int>((blockIdx.y + 1) * n_chunks / gridDim.y);
    if (first_chunk == end_chunk) return;
    // The rows that a spin field's first degrees need are those of the chunk before.
    const int begin_chunk = Spin ? max(first_chunk - 1, 0) : first_chunk;
    double last = 0, last_alpha = 0;
    if (begin_chunk > 0) {
        const int row = begin_chunk * chunk_rows;
        if (n_tiles > 0)
            last = sum_before<Fields>(order_sums, n_rows, warp, row, recurrence + 2 * first_step);
        if (row <= n_rows) last_alpha = t.alpha[first_step + 2 * row - 1];
    }
    for (int k = threadIdx.x; k < 2 * halo * Fields; k += threads) shared.rows[k / kept][k % kept] = {0, 0};
    for (int chunk = begin_chunk; chunk < end_chunk; ++chunk) {
        const int done = chunk * chunk_rows;
        const std::int64_t base = m + static_cast<std::int64_t>(chunk) * chunk_degrees;
        const int row = done + 2 * lane;
        // What lies far away is asked for before it is needed.
        double2 step{0, 0}, next{0, 0}, alpha[2] = {};
        if (row < n_rows) {
            step = complex_at(recurrence, first_step + 2 * row);
            next = complex_at(recurrence, first_step + 2 * row + 2);
            for (int k = 0; k < 2; ++k) alpha[k] = complex_at(t.alpha, (first_step + 2 * row) / 2 + k);
        }
        double2 others[per_thread][stored];
#pragma unroll
        for (int i = 0; i < per_thread; ++i)
#pragma unroll
            for (int f = 0; f < stored; ++f) {
                const int k = threadIdx.x + i * threads;
                others[i][f] =
                    targets.others(t, m, base - halo + k % chunk_degrees, first_stored<Fields>(k) + f);
            }
        const FourSums four = four_sums<Fields>(order_sums, n_tiles, n_rows, warp, row, step, next, last);
        for (int k = threadIdx.x; k < chunk_degrees + 2 * halo + 2; k += threads)
            shared.epsilon[k] = epsilon_or_zero(base - 2 * halo + k, m);
        __syncthreads();
        double alpha_before = __shfl_up_sync(whole_warp, alpha[1].y, 1);
        if (lane == 0) alpha_before = last_alpha;
        last_alpha = __shfl_sync(whole_warp, alpha[1].y, 31);
        write_rows(four, odd, alpha, alpha_before, shared.epsilon + 2 * halo + 8 * lane, part,
                   reinterpret_cast<double(*)[2]>(&shared.rows[field][2 * halo + 8 * lane]));
        __syncthreads();
        const int length = chunk_degrees + 2 * halo;
        // Steps to spin s at place i of the chunk's degrees, of a map; all but the last go to shared memory.
        [[maybe_unused]] const auto step_to = [&](int s, int map, int i) {
            auto& steps = *reinterpret_cast<SharedSteps<Fields>*>(&shared + 1);
            const auto at = [&](int j) {
                return s == 1 ? SpinPair{shared.rows[2 * map][j], shared.rows[2 * map + 1][j]}
                              : steps.pairs[s % 2][map][j];
            };
            return SpinSteps{t, m}.step<false>(s, base - 2 * halo + i, shared.epsilon[i],
                                               shared.epsilon[i + 1], at(i - 1), at(i), at(i + 1));
        };
        if constexpr (Spin) {  // without these braces, nvcc 13.0 leaves out the loop after the next pragma
            for (int s = 1; s < halo; ++s) {
                auto& steps = *reinterpret_cast<SharedSteps<Fields>*>(&shared + 1);
                for (int k = threadIdx.x; k < Fields / 2 * length; k += threads) {
                    const int map = k / length, i = k % length;
                    if (s <= i && i < length - s) steps.pairs[(s + 1) % 2][map][i] = step_to(s, map, i);
                }
                __syncthreads();
            }
        }
#pragma unroll
        for (int i = 0; i < per_thread; ++i) {
            const int k = threadIdx.x + i * threads, degree = k % chunk_degrees;
            const int first = first_stored<Fields>(k);
            double2 found[stored];
            if constexpr (Spin) {
                const SpinPair pair = step_to(halo, first / 2, halo + degree);
                found[0] = pair.x, found[1] = pair.y;
            } else {
                for (int f = 0; f < stored; ++f) found[f] = shared.rows[first + f][degree];
            }
            if (chunk < first_chunk) continue;
            store_degree<stored, Spin>(t, m, base - halo + degree, first, found, others[i], targets.alm);
        }
        __syncthreads();
        for (int k = threadIdx.x; k < 2 * halo * Fields; k += threads) {
            double2* const rows = shared.rows[k / kept] + k % kept;
            rows[0] = rows[chunk_degrees];
        }
    }
}

/// How many blocks share an order. One block reads the tiles' sums only once, which is best if the orders are
/// at least a third of the blocks that the device has room for, `at_once` on each processor. Found on an H200
/// at lmax 16384.
unsigned parts_of_orders(unsigned n_orders, int at_once) {
    constexpr unsigned most = 16;
    const auto full = static_cast<unsigned>(core::device_limits().processors * at_once);
    if (n_orders == 0 || 3 * n_orders >= full) return 1;
    return std::min(most, (2 * full + n_orders - 1) / n_orders);
}

template <int Fields, bool Spin, class T>
void launch(const LegendreStage& stage, Orders orders, const double* recurrence, const AdjointSums& sums,
            FieldPass pass, const std::vector<AlmTargets<T>>& maps, cudaStream_t stream) {
    constexpr int components = Spin ? 2 : 1;
    const JobList& jobs = stage.ishioka();
    PassTargets<Fields, Spin, T> targets{};
    for (int f = 0; f < pass.count; ++f) {
        const int map = (pass.first + f) / components;
        targets.alm[f] = maps[map].alm[f % components];
        targets.jacobi[f / components] = jacobi_sums(stage, sums, map);
    }
    const PassSums found{sums_of_fields(stage, sums.steps, pass.first, Fields), jobs.first_sum.data(),
                         jobs.n_tiles.data()};
    const auto n_orders = static_cast<unsigned>(orders.count());
    const unsigned n_parts = parts_of_orders(n_orders, threads_at_once<Spin> / threads<Fields>);
    if (n_parts > 1) {
        constexpr unsigned parts_of_sums = 16;
        add_tiles_kernel<Fields>
            <<<dim3(n_orders, parts_of_sums), 256, 0, stream>>>(stage.view(), orders.first, found);
        core::check_launch("sums of tiles");
    }
    const auto kernel = &alm_kernel<Fields, Spin, T>;
    constexpr int bytes = sizeof(Shared<Fields, Spin>) + (Spin ? sizeof(SharedSteps<Fields>) : 0);
    core::check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                     "asking for shared memory");
    kernel<<<dim3(n_orders, n_parts), threads<Fields>, bytes, stream>>>(stage.view(), orders.first, found,
                                                                        recurrence, targets);
    core::check_launch("sums of even steps");
}

}  // namespace

template <class T>
void alm_from_passes(const LegendreStage& stage, Orders orders, const double* recurrence,
                     const AdjointSums& sums, const std::vector<AlmTargets<T>>& maps, cudaStream_t stream) {
    const bool spin = stage.view().components == 2;
    const int n_fields = stage.view().components * sums.n_maps;
    for (int first = 0; first < n_fields;) {
        const FieldPass pass(first, n_fields);
        const auto of_pass = pass.width == 4   ? (spin ? &launch<4, true, T> : &launch<4, false, T>)
                             : pass.width == 2 ? (spin ? &launch<2, true, T> : &launch<2, false, T>)
                                               : &launch<1, false, T>;
        of_pass(stage, orders, recurrence, sums, pass, maps, stream);
        first += pass.count;
    }
}

template void alm_from_passes(const LegendreStage&, Orders, const double*, const AdjointSums&,
                              const std::vector<AlmTargets<float>>&, cudaStream_t);
template void alm_from_passes(const LegendreStage&, Orders, const double*, const AdjointSums&,
                              const std::vector<AlmTargets<double>>&, cudaStream_t);

}  // namespace zonal::sht::cuda
