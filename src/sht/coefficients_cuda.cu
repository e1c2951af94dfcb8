#include <algorithm>

#include "sht/coefficients_cuda.cuh"
#include "sht/ishioka_math.hpp"
#include "sht/spin_math.hpp"

namespace zonal::sht::cuda {
namespace {

constexpr int threads = 128;

/// First entry of order m among rows of degrees up to `lmax`, such that degree l lies at it + l.
__device__ std::int64_t row_origin(std::int64_t lmax, std::int64_t m) {
    return m * (2 * lmax + 1 - m) / 2;
}

/// Complex number k of an array, in one access (the arrays are aligned to their complex numbers).
__device__ double2 complex_at(const double* array, std::int64_t k) {
    return reinterpret_cast<const double2*>(array)[k];
}
__device__ double2 complex_at(const float* array, std::int64_t k) {
    const float2 value = reinterpret_cast<const float2*>(array)[k];
    return {value.x, value.y};
}
__device__ void store(double* to, double2 value) {
    *reinterpret_cast<double2*>(to) = value;
}
__device__ void store(float* to, double2 value) {
    *reinterpret_cast<float2*>(to) = {static_cast<float>(value.x), static_cast<float>(value.y)};
}

/// Blocks over (steps or degrees, order), enough for order 0.
dim3 grid_of(std::int64_t longest, std::int64_t per_block, std::int64_t mmax) {
    return {static_cast<unsigned>((longest + per_block - 1) / per_block), static_cast<unsigned>(mmax + 1)};
}

/// Blocks over the steps of every order, so many threads each.
dim3 step_blocks(const LegendreView& t, int per_step) {
    return grid_of(std::max(1, per_step) * ((t.lmax + t.spin) / 2 + 1 + step_group), threads, t.mmax);
}

/// One step of one field per thread, or of none; the first one's writes the recurrence, too.
template <class T>
__global__ void steps_kernel(LegendreView t, RowPointers<T> rows, int n_fields, StepLayout layout,
                             double* steps) {
    const std::int64_t m = blockIdx.y, first = t.first_step[m];
    // Below 2^31: a step's fields times the steps of an order.
    const unsigned index = blockIdx.x * threads + threadIdx.x, per_step = max(1, layout.n_fields);
    const std::int64_t i = index / per_step;
    const int f = static_cast<int>(index % per_step);
    if (first + i >= t.first_step[m + 1]) return;
    const std::int64_t lmax = t.lmax + t.spin, l = m + 2 * i, origin = row_origin(lmax, m);
    const double order = static_cast<double>(m), alpha = t.alpha[first + i];
    const double eps_1 = epsilon_lm(static_cast<double>(l + 1), order);
    const double eps_2 = epsilon_lm(static_cast<double>(l + 2), order);
    double* const out = steps + (first + i) * layout.stride;
    if (f == 0) {
        const IshiokaStep step = ishioka_step(i, alpha, eps_1, eps_2);
        store(out, {step.a, step.b});
        if (layout.first_field == 4) store(out + 2, {0, 0});  // copied with the rest
    }
    if (layout.n_fields == 0) return;
    double2 even{0, 0}, odd{0, 0};
    if (f < n_fields) {
        const auto at = [&](std::int64_t degree) {
            return degree <= lmax ? complex_at(rows.row[f], origin + degree) : double2{0, 0};
        };
        const double2 a_0 = at(l), a_1 = at(l + 1), a_2 = at(l + 2);
        const double even_0 = alpha * eps_1, even_2 = alpha * eps_2;
        even = {even_0 * a_0.x + even_2 * a_2.x, even_0 * a_0.y + even_2 * a_2.y};
        odd = {alpha * a_1.x, alpha * a_1.y};
    }
    store(out + layout.first_field + 4 * f, even);
    store(out + layout.first_field + 4 * f + 2, odd);
}

/// One step of one field per thread, fields next to each other as in the sums.
__global__ void rows_kernel(LegendreView t, int n_fields, const std::int64_t* first_sum,
                            const std::int32_t* n_tiles, const double* sums, double* rows,
                            std::int64_t n_rows) {
    const std::int64_t m = blockIdx.y, first = t.first_step[m], count = t.first_step[m + 1] - first;
    const unsigned index = blockIdx.x * threads + threadIdx.x, per_step = n_fields;
    const std::int64_t i = index / per_step, f = index % per_step;
    if (i >= count) return;
    const std::int64_t width = sums_per_step * n_fields;
    const double* order_sums = sums + n_fields * first_sum[m];
    const auto total = [&](std::int64_t step, std::int64_t k) {
        double2 sum{0, 0};
        for (int tile = 0; tile < n_tiles[m]; ++tile) {
            const double2 part = complex_at(order_sums + (tile * count + step) * width + k, 0);
            sum.x += part.x, sum.y += part.y;
        }
        return sum;
    };
    const std::int64_t lmax = t.lmax + t.spin, l = m + 2 * i;
    const double order = static_cast<double>(m), alpha = t.alpha[first + i];
    const double here = alpha * epsilon_lm(static_cast<double>(l + 1), order);
    const double below = i > 0 ? t.alpha[first + i - 1] * epsilon_lm(static_cast<double>(l), order) : 0;
    double* out = rows + 2 * (f * n_rows + row_origin(lmax, m) + l);
    const double2 even = total(i, 4 * f), odd = total(i, 4 * f + 2);
    const double2 carried = i > 0 ? total(i - 1, 4 * f) : double2{0, 0};
    if (l <= lmax) store(out, {here * even.x + below * carried.x, here * even.y + below * carried.y});
    if (l + 1 <= lmax) store(out + 2, {alpha * odd.x, alpha * odd.y});
}

__device__ SpinShifts shifts(const LegendreView& t, std::int64_t l, std::int64_t m) {
    if (l < m || l < t.spin || l > t.lmax) return {};
    const double degree = static_cast<double>(l), order = static_cast<double>(m);
    const double e0 = epsilon_lm(degree, order), e1 = epsilon_lm(degree + 1, order);
    if (t.spin == 1) return spin_1_shifts(degree, order, e0, e1);
    const double below = l > m ? epsilon_lm(degree - 1, order) : 0;
    return spin_2_shifts(degree, order, below, e0, e1, epsilon_lm(degree + 2, order));
}

/// Thread k of a block has the weights of degree first - 2 + k; all but two at each end have an output.
template <class T>
__global__ void to_scalar_kernel(LegendreView t, AlmPointers<T> alm, double* rows, std::int64_t n_rows) {
    __shared__ SpinShifts of_degree[threads];
    __shared__ double a[threads][2][2];
    const std::int64_t m = blockIdx.y;
    const std::int64_t l = m + static_cast<std::int64_t>(blockIdx.x) * (threads - 4) - 2 + threadIdx.x;
    of_degree[threadIdx.x] = shifts(t, l, m);
    const bool there = l >= m && l >= t.spin && l <= t.lmax;
    for (int c = 0; c < 2; ++c)
        for (int part = 0; part < 2; ++part)
            a[threadIdx.x][c][part] =
                there && alm.alm[c] != nullptr ? alm.alm[c][2 * (row_origin(t.lmax, m) + l) + part] : T(0);
    __syncthreads();
    const int k = threadIdx.x;
    if (k < 2 || k >= threads - 2 || l > t.lmax + t.spin) return;
    double q[2] = {}, u[2] = {};
    for (int offset = -2; offset <= 2; ++offset) {
        const double w = of_degree[k - offset].weight[offset + 2];
        const double *e = a[k - offset][0], *b = a[k - offset][1];
        if ((offset + t.spin) % 2 == 0) {
            q[0] += w * e[0], q[1] += w * e[1];
            u[0] += w * b[0], u[1] += w * b[1];
        } else {  // q += i w b, u -= i w e
            q[0] -= w * b[1], q[1] += w * b[0];
            u[0] += w * e[1], u[1] -= w * e[0];
        }
    }
    const std::int64_t at = row_origin(t.lmax + t.spin, m) + l;
    for (int part = 0; part < 2; ++part) {
        rows[2 * at + part] = q[part];
        rows[2 * (n_rows + at) + part] = u[part];
    }
}

/// Where one list's Jacobi sums of an order lie, of a pass over n_maps maps.
struct DegreeSums {
    const double* sums;
    int n_maps;
    const std::int64_t* first_sum;
    const std::int32_t* n_tiles;

    /// re, im at value k of an order; length of a tile's sums.
    __device__ double2 total(std::int64_t m, std::int64_t k, std::int64_t length) const {
        double2 sum{0, 0};
        if (sums == nullptr) return sum;
        for (int tile = 0; tile < n_tiles[m]; ++tile) {
            const double2 part = complex_at(sums + n_maps * first_sum[m] + tile * length + k, 0);
            sum.x += part.x, sum.y += part.y;
        }
        return sum;
    }
};

/// e, b: re, im of the transpose of to_scalar at degree l.
__device__ void add_from_scalar(const LegendreView& t, std::int64_t l, std::int64_t m, const double* q,
                                const double* u, double (&value)[2][2]) {
    const SpinShifts w = shifts(t, l, m);
    for (int offset = -2; offset <= 2; ++offset) {
        if (l + offset < m || l + offset > t.lmax + t.spin) continue;
        const double weight = w.weight[offset + 2];
        const double *x = q + 2 * offset, *y = u + 2 * offset;
        if ((offset + t.spin) % 2 == 0) {
            value[0][0] += weight * x[0], value[0][1] += weight * x[1];
            value[1][0] += weight * y[0], value[1][1] += weight * y[1];
        } else {  // e += i w u, b -= i w q
            value[0][0] -= weight * y[1], value[0][1] += weight * y[0];
            value[1][0] += weight * x[1], value[1][1] -= weight * x[0];
        }
    }
}

template <class T>
__global__ void store_kernel(LegendreView t, const double* rows_q, const double* rows_u, DegreeSums polar,
                             DegreeSums equatorial, int map_of_pass, AlmTargets<T> alm) {
    const std::int64_t m = blockIdx.y, l = m + static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (l > t.lmax) return;
    double value[2][2] = {};
    if (rows_q != nullptr) {
        const std::int64_t at = 2 * (row_origin(t.lmax + t.spin, m) + l);
        if (t.spin == 0)
            value[0][0] = rows_q[at], value[0][1] = rows_q[at + 1];
        else
            add_from_scalar(t, l, m, rows_q + at, rows_u + at, value);
    }
    const std::int64_t first_degree = max(m, static_cast<std::int64_t>(t.spin)), k = l - first_degree;
    const std::int64_t n_degrees = (t.lmax - first_degree + degree_group) / degree_group * degree_group;
    const int width = sums_per_degree * t.components * polar.n_maps;
    const double sign = t.spin == 0 ? 1 : -1;
    for (int c = 0; c < t.components; ++c) {
        if (alm.alm[c] == nullptr) continue;
        double2 sum{0, 0};
        if (k >= 0) {
            const std::int64_t entry = k * width + 2 * (map_of_pass * t.components + c);
            const double2 from_poles = polar.total(m, entry, n_degrees * width);
            const double2 from_equator = equatorial.total(m, entry, n_degrees * width);
            sum = {from_poles.x + from_equator.x, from_poles.y + from_equator.y};
        }
        store(alm.alm[c] + 2 * (row_origin(t.lmax, m) + l),
              {value[c][0] + sign * sum.x, value[c][1] + sign * sum.y});
    }
}

}  // namespace

std::int64_t n_rows(const LegendreView& t) {
    return AlmLayout(t.lmax + t.spin, t.mmax).size();
}

template <class T>
void write_steps(const LegendreStage& stage, RowPointers<T> rows, int n_fields, StepLayout layout,
                 double* steps, cudaStream_t stream) {
    const LegendreView& t = stage.view();
    steps_kernel<T>
        <<<step_blocks(t, layout.n_fields), threads, 0, stream>>>(t, rows, n_fields, layout, steps);
    core::check_launch("Ishioka coefficients");
}

void write_recurrence(const LegendreStage& stage, double* steps, cudaStream_t stream) {
    write_steps<double>(stage, {}, 0, StepLayout{2, 2, 0}, steps, stream);
}

void rows_from_sums(const LegendreStage& stage, const JobList& jobs, const double* sums, int n_fields,
                    double* rows, cudaStream_t stream) {
    const LegendreView& t = stage.view();
    rows_kernel<<<step_blocks(t, n_fields), threads, 0, stream>>>(t, n_fields, jobs.first_sum.data(),
                                                                  jobs.n_tiles.data(), sums, rows, n_rows(t));
    core::check_launch("Ishioka sums");
}

template <class T>
void spin_to_scalar(const LegendreStage& stage, AlmPointers<T> alm, double* rows, cudaStream_t stream) {
    const LegendreView& t = stage.view();
    const dim3 grid = grid_of(t.lmax + t.spin + 1, threads - 4, t.mmax);
    to_scalar_kernel<T><<<grid, threads, 0, stream>>>(t, alm, rows, n_rows(t));
    core::check_launch("spin to scalar");
}

template <class T>
void store_alm(const LegendreStage& stage, const AdjointSums& sums, AlmTargets<T> alm, cudaStream_t stream) {
    const LegendreView& t = stage.view();
    const MapsOfPass pass = maps_of_pass(sums.map, sums.n_maps, t.components);
    const auto view = [&](const double* values, const JobList& jobs) {
        return DegreeSums{values + pass.first * jobs.n_sums, pass.count, jobs.first_sum.data(),
                          jobs.n_tiles.data()};
    };
    store_kernel<T><<<grid_of(t.lmax + 1, threads, t.mmax), threads, 0, stream>>>(
        t, sums.rows[0], sums.rows[1], view(sums.polar, stage.polar()),
        view(sums.equatorial, stage.equatorial()), sums.map - pass.first, alm);
    core::check_launch("storing alm");
}

template void write_steps(const LegendreStage&, RowPointers<float>, int, StepLayout, double*, cudaStream_t);
template void write_steps(const LegendreStage&, RowPointers<double>, int, StepLayout, double*, cudaStream_t);
template void spin_to_scalar(const LegendreStage&, AlmPointers<float>, double*, cudaStream_t);
template void spin_to_scalar(const LegendreStage&, AlmPointers<double>, double*, cudaStream_t);
template void store_alm(const LegendreStage&, const AdjointSums&, AlmTargets<float>, cudaStream_t);
template void store_alm(const LegendreStage&, const AdjointSums&, AlmTargets<double>, cudaStream_t);

}  // namespace zonal::sht::cuda
