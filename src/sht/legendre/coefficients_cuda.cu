#include <algorithm>

#include "sht/legendre/adjoint_sums.cuh"
#include "sht/legendre/step_values.cuh"

namespace zonal::sht::cuda {
namespace {

constexpr int threads = 128;

/// Blocks over (steps or degrees, order), enough for the first order.
dim3 grid_of(std::int64_t longest, std::int64_t per_block, Orders orders) {
    return {static_cast<unsigned>((longest + per_block - 1) / per_block),
            static_cast<unsigned>(orders.count())};
}

/// Blocks that cover per_step values of every step of every order, per_thread of them a thread.
dim3 step_blocks(const LegendreStage& stage, Orders orders, int per_step, int per_thread) {
    const LegendreView& t = stage.view();
    const std::int64_t steps = (t.lmax + t.spin - stage.alm().order(orders.first)) / 2 + 1 + step_group;
    return grid_of(std::max(1, per_step) * steps, threads * per_thread, orders);
}

/// Steps of one field, or of none, that a thread makes: one would spend its time waiting for memory.
constexpr int steps_per_thread = 2;

/// The first field's threads write the recurrence, too.
template <class T>
__global__ void __launch_bounds__(threads)
    steps_kernel(LegendreView t, std::int64_t first_order, RowPointers<T> rows, int n_fields,
                 StepLayout layout, double* steps) {
    const std::int64_t m = t.orders[first_order + blockIdx.y], first = t.first_step[m];
    const unsigned count = static_cast<unsigned>(t.first_step[m + 1] - first);
    // Below 2^31: a step's fields times the steps of an order.
    const unsigned index = blockIdx.x * threads * steps_per_thread + threadIdx.x;
    const unsigned per_step = max(1, layout.n_fields);
    if (blockIdx.x * threads * steps_per_thread / per_step >= count) return;
    StepValues values[steps_per_thread];
#pragma unroll
    for (unsigned k = 0; k < steps_per_thread; ++k) {
        const unsigned i = min((index + k * threads) / per_step, count - 1),
                       f = (index + k * threads) % per_step;
        values[k] = step_values<T>(t, m, i, static_cast<int>(f) < n_fields ? rows.row[f] : nullptr);
    }
#pragma unroll
    for (unsigned k = 0; k < steps_per_thread; ++k) {
        const unsigned i = (index + k * threads) / per_step, f = (index + k * threads) % per_step;
        if (i >= count) return;
        double* const out = steps + (first + i) * layout.stride;
        if (f == 0) {
            store(out, {values[k].step.a, values[k].step.b});
            if (layout.first_field == 4) store(out + 2, {0, 0});  // copied with the rest
        }
        if (layout.n_fields == 0) continue;
        store(out + layout.first_field + 4 * f, values[k].even);
        store(out + layout.first_field + 4 * f + 2, values[k].odd);
    }
}

/// Ishioka's sums of an order, of all its tiles.
struct StepSums {
    const double* sums;  ///< [job][step][4 n_fields]
    const std::int64_t* first_sum;
    const std::int32_t* n_tiles;
    int n_fields;

    /// The transpose of a step of write_steps, of field f at step i: the coefficients of degrees m + 2 i and
    /// m + 2 i + 1.
    struct Rows {
        double2 even, odd;
    };
    __device__ Rows rows(const LegendreView& t, std::int64_t m, std::int64_t i, std::int64_t f) const {
        const std::int64_t first = t.first_step[m], l = m + 2 * i;
        const double order = static_cast<double>(m), alpha = t.alpha[first + i];
        const double here = alpha * epsilon_lm(static_cast<double>(l + 1), order);
        const double below = i > 0 ? t.alpha[first + i - 1] * epsilon_lm(static_cast<double>(l), order) : 0;
        const Totals sum = totals(t, m, i, f);
        return {{here * sum.even.x + below * sum.carried.x, here * sum.even.y + below * sum.carried.y},
                {alpha * sum.odd.x, alpha * sum.odd.y}};
    }

  private:
    struct Totals {
        double2 even{0, 0}, odd{0, 0}, carried{0, 0};  ///< carried: even of the step before
    };
    /// Adds up all tiles; several reads are on their way at a time.
    __device__ Totals totals(const LegendreView& t, std::int64_t m, std::int64_t i, std::int64_t f) const {
        const std::int64_t width = sums_per_step * n_fields, count = t.first_step[m + 1] - t.first_step[m];
        const double* at = sums + n_fields * first_sum[m] + i * width + 4 * f;
        const std::int64_t before = i > 0 ? -width : 0;
        const int n = n_tiles[m];
        Totals sum;
#pragma unroll 4
        for (int tile = 0; tile < n; ++tile, at += count * width) {
            add(sum.even, complex_at(at, 0));
            add(sum.odd, complex_at(at, 1));
            add(sum.carried, complex_at(at + before, 0));
        }
        return sum;
    }
    static __device__ void add(double2& sum, double2 part) {
        sum.x += part.x, sum.y += part.y;
    }
};

/// One step of one field per thread, fields next to each other as in the sums.
__global__ void rows_kernel(LegendreView t, std::int64_t first_order, StepSums sums, double* rows,
                            std::int64_t n_rows) {
    const std::int64_t m = t.orders[first_order + blockIdx.y], lmax = t.lmax + t.spin;
    const unsigned index = blockIdx.x * threads + threadIdx.x, per_step = sums.n_fields;
    const std::int64_t i = index / per_step, f = index % per_step, l = m + 2 * i;
    if (i >= t.first_step[m + 1] - t.first_step[m]) return;
    const StepSums::Rows found = sums.rows(t, m, i, f);
    double* out = rows + 2 * (f * n_rows + t.row_origin[m] + l);
    if (l <= lmax) store(out, found.even);
    if (l + 1 <= lmax) store(out + 2, found.odd);
}

/// One degree of a spin field's scalars per thread, but for `spin` threads at each end of a block.
template <class T>
__global__ void to_scalar_kernel(LegendreView t, std::int64_t first_order, AlmPointers<T> alm, double* rows,
                                 std::int64_t n_rows) {
    __shared__ SpinPair memory[2][threads];
    const std::int64_t m = t.orders[first_order + blockIdx.y];
    const int k = threadIdx.x, spin = t.spin;
    const std::int64_t first = m + static_cast<std::int64_t>(blockIdx.x) * (threads - 2 * spin) - spin;
    if (first + spin > t.lmax + spin) return;
    const std::int64_t l = first + k;
    const auto at = [&](const T* of) {
        const bool there = of != nullptr && l >= m && l >= spin && l <= t.lmax;
        return there ? complex_at(of, t.alm_origin[m] + l) : double2{0, 0};
    };
    const SpinPair found = SpinSteps{t, m}.all<true>(l, {at(alm.alm[0]), at(alm.alm[1])}, memory);
    if (k < spin || k >= threads - spin || l > t.lmax + spin) return;
    double* const out = rows + 2 * (t.row_origin[m] + l);
    store(out, found.x);
    store(out + 2 * n_rows, found.y);
}

/// Steps of two degrees of one scalar map, steps_per_thread a thread, straight from Ishioka's sums of field
/// f.
template <class T>
__global__ void store_scalar_kernel(LegendreView t, std::int64_t first_order, StepSums steps, int f,
                                    JacobiSums jacobi, T* alm) {
    const std::int64_t m = t.orders[first_order + blockIdx.y], last = (t.lmax - m) / 2;
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads * steps_per_thread + threadIdx.x;
    if (i - threadIdx.x > last) return;
    StepSums::Rows found[steps_per_thread];
#pragma unroll
    for (int k = 0; k < steps_per_thread; ++k) {
        const std::int64_t here = min(i + k * threads, last), l = m + 2 * here;
        found[k] = steps.rows(t, m, here, f);
        add(found[k].even, jacobi.total(t, m, l, 0));
        if (l < t.lmax) add(found[k].odd, jacobi.total(t, m, l + 1, 0));
    }
#pragma unroll
    for (int k = 0; k < steps_per_thread; ++k) {
        const std::int64_t l = m + 2 * (i + k * threads);
        T* const out = alm + 2 * (t.alm_origin[m] + l);
        if (l <= t.lmax) store(out, found[k].even);
        if (l + 1 <= t.lmax) store(out + 2, found[k].odd);
    }
}

/// rows: [2][n_rows] of a spin field's scalars, or null. One degree per thread, but for `halo` threads at
/// each end of a block.
template <class T>
__global__ void store_kernel(LegendreView t, std::int64_t first_order, int halo, const double* rows,
                             JacobiSums jacobi, AlmTargets<T> alm) {
    __shared__ SpinPair memory[2][threads];
    const std::int64_t m = t.orders[first_order + blockIdx.y];
    const int k = threadIdx.x;
    const std::int64_t first = m + static_cast<std::int64_t>(blockIdx.x) * (threads - 2 * halo) - halo;
    if (first + halo > t.lmax) return;
    const std::int64_t l = first + k;
    SpinPair value;
    if (rows != nullptr) {
        const double* const here = rows + 2 * (t.row_origin[m] + l);
        if (l >= m && l <= t.lmax + t.spin) value = {complex_at(here, 0), complex_at(here + 2 * t.n_rows, 0)};
        value = SpinSteps{t, m}.all<false>(l, value, memory);
    }
    if (k < halo || k >= threads - halo || l > t.lmax) return;
    const double sign = t.spin == 0 ? 1 : -1;
    for (int c = 0; c < t.components; ++c) {
        if (alm.alm[c] == nullptr) continue;
        const double2 sum = jacobi.total(t, m, l, c), of = c == 0 ? value.x : value.y;
        store(alm.alm[c] + 2 * (t.alm_origin[m] + l), {of.x + sign * sum.x, of.y + sign * sum.y});
    }
}

/// Ishioka's sums as the kernels read them.
StepSums step_sums(const LegendreStage& stage, StepSumsRoom sums, int n_fields) {
    const JobList& jobs = stage.ishioka();
    return {sums_of_fields(stage, sums, 0, n_fields), jobs.first_sum.data(), jobs.n_tiles.data(), n_fields};
}

template <class T>
void launch_store(const LegendreStage& stage, Orders orders, const double* rows, const JacobiSums& jacobi,
                  AlmTargets<T> alm, cudaStream_t stream) {
    const LegendreView& t = stage.view();
    const int halo = rows != nullptr ? t.spin : 0;
    const dim3 grid = grid_of(t.lmax + 1 - stage.alm().order(orders.first), threads - 2 * halo, orders);
    store_kernel<T><<<grid, threads, 0, stream>>>(t, orders.first, halo, rows, jacobi, alm);
}

}  // namespace

template <class T>
void write_steps(const LegendreStage& stage, Orders orders, RowPointers<T> rows, int n_fields,
                 StepLayout layout, double* steps, cudaStream_t stream) {
    const LegendreView& t = stage.view();
    steps_kernel<T><<<step_blocks(stage, orders, layout.n_fields, steps_per_thread), threads, 0, stream>>>(
        t, orders.first, rows, n_fields, layout, steps);
    core::check_launch("Ishioka coefficients");
}

void write_recurrence(const LegendreStage& stage, Orders orders, double* steps, cudaStream_t stream) {
    write_steps<double>(stage, orders, {}, 0, StepLayout{2, 2, 0}, steps, stream);
}

void rows_from_sums(const LegendreStage& stage, Orders orders, StepSumsRoom sums, int n_fields, double* rows,
                    cudaStream_t stream) {
    const LegendreView& t = stage.view();
    rows_kernel<<<step_blocks(stage, orders, n_fields, 1), threads, 0, stream>>>(
        t, orders.first, step_sums(stage, sums, n_fields), rows, t.n_rows);
    core::check_launch("Ishioka sums");
}

template <class T>
void spin_to_scalar(const LegendreStage& stage, Orders orders, AlmPointers<T> alm, double* rows,
                    cudaStream_t stream) {
    const LegendreView& t = stage.view();
    const dim3 grid =
        grid_of(t.lmax + t.spin + 1 - stage.alm().order(orders.first), threads - 2 * t.spin, orders);
    to_scalar_kernel<T><<<grid, threads, 0, stream>>>(t, orders.first, alm, rows, t.n_rows);
    core::check_launch("spin to scalar");
}

template <class T>
void store_alm(const LegendreStage& stage, Orders orders, const AdjointSums& sums, int map,
               const double* rows, AlmTargets<T> alm, cudaStream_t stream) {
    const LegendreView& t = stage.view();
    const JacobiSums jacobi = jacobi_sums(stage, sums, map);
    if (t.spin == 0 && sums.steps.sums != nullptr)
        store_scalar_kernel<T><<<step_blocks(stage, orders, 1, steps_per_thread), threads, 0, stream>>>(
            t, orders.first, step_sums(stage, sums.steps, sums.n_maps), map, jacobi, alm.alm[0]);
    else
        launch_store<T>(stage, orders, rows, jacobi, alm, stream);
    core::check_launch("storing alm");
}

template void write_steps(const LegendreStage&, Orders, RowPointers<float>, int, StepLayout, double*,
                          cudaStream_t);
template void write_steps(const LegendreStage&, Orders, RowPointers<double>, int, StepLayout, double*,
                          cudaStream_t);
template void spin_to_scalar(const LegendreStage&, Orders, AlmPointers<float>, double*, cudaStream_t);
template void spin_to_scalar(const LegendreStage&, Orders, AlmPointers<double>, double*, cudaStream_t);
template void store_alm(const LegendreStage&, Orders, const AdjointSums&, int, const double*,
                        AlmTargets<float>, cudaStream_t);
template void store_alm(const LegendreStage&, Orders, const AdjointSums&, int, const double*,
                        AlmTargets<double>, cudaStream_t);

}  // namespace zonal::sht::cuda
