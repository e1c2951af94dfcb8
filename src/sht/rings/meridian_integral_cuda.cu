#include "sht/rings/meridian_integral_cuda.cuh"

#include <algorithm>

namespace zonal::sht::cuda {
namespace {

using Row = MeridianView::Row;
using Sample = MeridianView::Sample;

constexpr int circle_threads = 128;
/// The fine circles of one pass take at most this.
constexpr std::int64_t most_bytes = std::int64_t{256} << 20;

__device__ double sign_of(const MeridianView& v, int m) {
    return (m + v.spin) % 2 == 0 ? 1 : -1;
}

__device__ double2 value_at(const ModesView& from, int m, int pair, bool south) {
    if (pair < from.first_pair[m]) return {0, 0};
    const PairModes& modes = from.modes[from.origin[m] + pair];
    return south ? modes.south : modes.north;
}

__device__ void add_sample(const MeridianView& v, const ModesView& from, int m, const Sample& sample,
                           double2& sum) {
    const double sign = sign_of(v, m);
    if (sample.at_pole && sign < 0) return;  // an odd function vanishes there
    const double2 value = value_at(from, m, sample.pair, sample.south);
    const double factor = sample.mirrored ? sign : 1;
    sum.x += factor * value.x;
    sum.y += factor * value.y;
}

/// Blocks along y: rows.
__global__ void __launch_bounds__(circle_threads)
    load_kernel(MeridianView v, const Row* rows, ModesView from, double2* circles) {
    const int k = blockIdx.x * circle_threads + threadIdx.x;
    if (k >= v.length) return;
    const Row row = rows[blockIdx.y];
    const Sample sample = v.samples[k];
    double2 sum{0, 0};
    if (sample.pair >= 0) {
        add_sample(v, from, row.m, sample, sum);
        if (row.other >= 0) add_sample(v, from, row.other, sample, sum);
    }
    circles[static_cast<std::int64_t>(blockIdx.y) * v.length + k] = sum;
}

/// F_s at a pole without a ring, one block each; `circle` is that of order s.
__global__ void __launch_bounds__(circle_threads)
    pole_kernel(MeridianView v, ModesView from, double2* circle) {
    __shared__ double2 sums[circle_threads];
    double2 sum{0, 0};
    for (int pair = threadIdx.x; pair < v.n_pairs; pair += circle_threads) {
        const double2 factor = v.pole_factors[blockIdx.x * v.n_pairs + pair];
        const double2 north = value_at(from, v.spin, pair, false), south = value_at(from, v.spin, pair, true);
        if (v.pairs[pair].north >= 0) {
            sum.x += factor.x * north.x;
            sum.y += factor.x * north.y;
        }
        if (v.pairs[pair].south >= 0) {
            sum.x += factor.y * south.x;
            sum.y += factor.y * south.y;
        }
    }
    sums[threadIdx.x] = sum;
    for (int half = circle_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            sums[threadIdx.x].x += sums[threadIdx.x + half].x;
            sums[threadIdx.x].y += sums[threadIdx.x + half].y;
        }
    }
    if (threadIdx.x == 0) circle[v.missing[blockIdx.x]] = sums[0];
}

/// Copies degrees -length / 2 .. length / 2 of the circles to the fine ones; coarsen_kernel copies them back.
/// On an even circle the first and the last degree are the same term, and each gets half of it.
__global__ void __launch_bounds__(circle_threads)
    refine_kernel(MeridianView v, const double2* circles, double2* fine) {
    const int k = blockIdx.x * circle_threads + threadIdx.x, half = v.length / 2;
    if (k >= v.fine_length) return;
    const double2* const circle = circles + static_cast<std::int64_t>(blockIdx.y) * v.length;
    const int degree = 2 * k <= v.fine_length ? k : k - v.fine_length;
    double2 value{0, 0};
    if (abs(degree) <= half) {
        value = circle[degree >= 0 ? degree : v.length + degree];
        if (2 * abs(degree) == v.length) value = {value.x / 2, value.y / 2};
    }
    fine[static_cast<std::int64_t>(blockIdx.y) * v.fine_length + k] = value;
}
__global__ void __launch_bounds__(circle_threads)
    coarsen_kernel(MeridianView v, const double2* fine, double2* circles) {
    const int k = blockIdx.x * circle_threads + threadIdx.x;
    if (k >= v.length) return;
    const double2* const from = fine + static_cast<std::int64_t>(blockIdx.y) * v.fine_length;
    double2 value = from[2 * k <= v.length ? k : v.fine_length - (v.length - k)];
    if (2 * k == v.length) {
        const double2 other = from[v.fine_length - k];
        value = {(value.x + other.x) / 2, (value.y + other.y) / 2};
    }
    circles[static_cast<std::int64_t>(blockIdx.y) * v.length + k] = value;
}

__global__ void __launch_bounds__(circle_threads) weigh_kernel(MeridianView v, double2* fine) {
    const int k = blockIdx.x * circle_threads + threadIdx.x;
    if (k >= v.fine_length) return;
    double2& value = fine[static_cast<std::int64_t>(blockIdx.y) * v.fine_length + k];
    value.x *= v.weights[k];
    value.y *= v.weights[k];
}

__device__ double2 ring_value(const MeridianView& v, const double2* circle, int m, int sample, int mirror,
                              double2* factors, bool south, double scale) {
    if (sample < 0) return {0, 0};
    const double sign = sign_of(v, m);
    double2 value = circle[sample];
    if (sample == mirror) {
        value = sign > 0 ? double2{value.x / 2, value.y / 2} : double2{0, 0};
    } else {
        const double2 other = circle[mirror];
        value = {(value.x + sign * other.x) / 2, (value.y + sign * other.y) / 2};
    }
    for (int i = 0; i < v.n_missing && m == v.spin; ++i) {
        const double factor = (south ? factors[i].y : factors[i].x) / 2;
        const double2 pole = circle[v.missing[i]];
        value.x += factor * pole.x;
        value.y += factor * pole.y;
    }
    return {scale * value.x, scale * value.y};
}

/// Blocks along y: rows, along z: the orders of a row.
__global__ void __launch_bounds__(circle_threads)
    store_kernel(MeridianView v, const Row* rows, const double2* circles, ModesView to, double scale) {
    const int pair = blockIdx.x * circle_threads + threadIdx.x;
    const Row row = rows[blockIdx.y];
    const int m = blockIdx.z == 0 ? row.m : row.other;
    if (pair >= v.n_pairs || m < 0 || pair < to.first_pair[m]) return;
    const double2* const circle = circles + static_cast<std::int64_t>(blockIdx.y) * v.length;
    double2 factors[2] = {{0, 0}, {0, 0}};
    for (int i = 0; i < v.n_missing && m == v.spin; ++i) factors[i] = v.pole_factors[i * v.n_pairs + pair];
    const MeridianView::Pair places = v.pairs[pair];
    PairModes& modes = to.modes[to.origin[m] + pair];
    modes.north = ring_value(v, circle, m, places.north, places.north_mirror, factors, false, scale);
    modes.south = ring_value(v, circle, m, places.south, places.south_mirror, factors, true, scale);
}

std::vector<Row> rows_of(const AlmLayout& alm, std::vector<std::int64_t>& first_row) {
    std::vector<Row> rows;
    for (std::int64_t number = 0; number < alm.n_orders(); ++number) {
        const std::int64_t m = alm.order(number);
        const bool joins = m % 2 == 1 && !rows.empty() && rows.back().m == m - 1;
        first_row.push_back(static_cast<std::int64_t>(rows.size()) - (joins ? 1 : 0));
        if (joins)
            rows.back().other = static_cast<std::int32_t>(m);
        else
            rows.push_back({static_cast<std::int32_t>(m), -1});
    }
    first_row.push_back(static_cast<std::int64_t>(rows.size()));
    return rows;
}

std::int64_t rows_of_pass(const MeridianTables& tables, std::int64_t n_rows) {
    const std::int64_t row_bytes = tables.fine_length * static_cast<std::int64_t>(sizeof(double2));
    constexpr std::int64_t most_blocks = 65535;
    return std::clamp<std::int64_t>(std::min(most_bytes / row_bytes, most_blocks), 1,
                                    std::max<std::int64_t>(1, n_rows));
}

dim3 blocks_of_rows(std::int64_t n, std::int64_t n_rows, unsigned orders = 1) {
    return {static_cast<unsigned>((n + circle_threads - 1) / circle_threads), static_cast<unsigned>(n_rows),
            orders};
}

}  // namespace

CudaMeridianIntegral::CudaMeridianIntegral(const MeridianTables& tables, const RingPairs& pairs,
                                           const AlmLayout& alm)
    : view_{},
      rows_(rows_of(alm, first_row_)),
      weights_(tables.weights),
      rows_at_once_(rows_of_pass(tables, rows_.size())),
      circles_(tables.length, rows_at_once_, CUFFT_Z2Z, tables.length, tables.length),
      fine_(tables.fine_length, rows_at_once_, CUFFT_Z2Z, tables.fine_length, tables.fine_length) {
    const auto n_pairs = pairs.n_pairs();
    std::vector<Sample> samples(static_cast<std::size_t>(tables.length), {-1, 0, 0, 0});
    std::vector<MeridianView::Pair> places(static_cast<std::size_t>(n_pairs), {-1, -1, -1, -1});
    std::vector<double2> factors(tables.missing.size() * static_cast<std::size_t>(n_pairs), {0, 0});
    for (std::size_t i = 0; i < tables.places.size(); ++i) {
        const auto& place = tables.places[i];
        const bool south = place.offset >= 2 * block_size;
        const std::int64_t pair = place.block * block_size + place.offset % block_size;
        const auto sample = static_cast<std::int32_t>(place.sample),
                   mirror = static_cast<std::int32_t>(place.mirror);
        const auto at_pole = static_cast<std::int8_t>(sample == mirror),
                   in_south = static_cast<std::int8_t>(south);
        samples[static_cast<std::size_t>(mirror)] = {static_cast<std::int32_t>(pair), in_south, 1, at_pole};
        samples[static_cast<std::size_t>(sample)] = {static_cast<std::int32_t>(pair), in_south, 0, at_pole};
        auto& of_pair = places[static_cast<std::size_t>(pair)];
        (south ? of_pair.south : of_pair.north) = sample;
        (south ? of_pair.south_mirror : of_pair.north_mirror) = mirror;
        for (std::size_t k = 0; k < tables.missing.size(); ++k) {
            double2& factor = factors[k * static_cast<std::size_t>(n_pairs) + static_cast<std::size_t>(pair)];
            (south ? factor.y : factor.x) = tables.missing[k].from_rings[i];
        }
    }
    for (std::size_t k = 0; k < tables.missing.size(); ++k)
        view_.missing[k] = static_cast<std::int32_t>(tables.missing[k].sample);
    samples_ = core::DeviceArray<Sample>(samples);
    pairs_ = core::DeviceArray<MeridianView::Pair>(places);
    pole_factors_ = core::DeviceArray<double2>(factors);
    view_.rows = rows_.data();
    view_.samples = samples_.data();
    view_.pairs = pairs_.data();
    view_.weights = weights_.data();
    view_.pole_factors = pole_factors_.data();
    view_.n_missing = static_cast<int>(tables.missing.size());
    view_.spin = tables.spin;
    view_.length = static_cast<std::int32_t>(tables.length);
    view_.fine_length = static_cast<std::int32_t>(tables.fine_length);
    view_.n_pairs = static_cast<std::int32_t>(n_pairs);
    for (std::int64_t number = 0; number < alm.n_orders(); ++number)
        if (alm.order(number) == tables.spin)
            row_of_spin_.push_back(first_row_[static_cast<std::size_t>(number)]);
}

void CudaMeridianIntegral::fit(MeridianScratch& scratch) const {
    scratch.circles.reserve(rows_at_once_ * view_.length);
    scratch.fine.reserve(rows_at_once_ * view_.fine_length);
    scratch.library.reserve(static_cast<std::int64_t>(std::max(circles_.work_bytes(), fine_.work_bytes())));
}

std::int64_t CudaMeridianIntegral::scratch_bytes() const {
    return rows_at_once_ * (view_.length + view_.fine_length) * static_cast<std::int64_t>(sizeof(double2)) +
           static_cast<std::int64_t>(std::max(circles_.work_bytes(), fine_.work_bytes()));
}

void CudaMeridianIntegral::apply(Orders orders, ModesView from, ModesView to, double scale,
                                 const MeridianScratch& scratch, cudaStream_t stream) const {
    const std::int64_t begin = first_row_[static_cast<std::size_t>(orders.first)],
                       end = first_row_[static_cast<std::size_t>(orders.end)];
    double2 *const circles = scratch.circles.data(), *const fine = scratch.fine.data();
    void* const work = scratch.library.data();
    const std::lock_guard lock(library_mutex_);
    for (std::int64_t first = begin; first < end; first += rows_at_once_) {
        const std::int64_t n_rows = std::min(rows_at_once_, end - first);
        const Row* const rows = view_.rows + first;
        const dim3 of_circle = blocks_of_rows(view_.length, n_rows),
                   of_fine = blocks_of_rows(view_.fine_length, n_rows);
        // cuFFT transforms as many rows as it was made for.
        if (n_rows < rows_at_once_)
            core::check_cuda(
                cudaMemsetAsync(
                    circles + n_rows * view_.length, 0,
                    static_cast<std::size_t>((rows_at_once_ - n_rows) * view_.length) * sizeof(double2),
                    stream),
                "clearing circles");
        load_kernel<<<of_circle, circle_threads, 0, stream>>>(view_, rows, from, circles);
        core::check_launch("loading circles");
        for (const std::int64_t row : row_of_spin_)
            if (view_.n_missing > 0 && row >= first && row < first + n_rows) {
                pole_kernel<<<view_.n_missing, circle_threads, 0, stream>>>(
                    view_, from, circles + (row - first) * view_.length);
                core::check_launch("poles of circles");
            }
        circles_.transform(circles, CUFFT_FORWARD, work, stream);
        const dim3 of_all_fine = blocks_of_rows(view_.fine_length, rows_at_once_);
        refine_kernel<<<of_all_fine, circle_threads, 0, stream>>>(view_, circles, fine);
        core::check_launch("refining circles");
        fine_.transform(fine, CUFFT_INVERSE, work, stream);
        weigh_kernel<<<of_fine, circle_threads, 0, stream>>>(view_, fine);
        core::check_launch("weighing circles");
        fine_.transform(fine, CUFFT_FORWARD, work, stream);
        coarsen_kernel<<<blocks_of_rows(view_.length, rows_at_once_), circle_threads, 0, stream>>>(
            view_, fine, circles);
        core::check_launch("coarsening circles");
        circles_.transform(circles, CUFFT_INVERSE, work, stream);
        store_kernel<<<blocks_of_rows(view_.n_pairs, n_rows, 2), circle_threads, 0, stream>>>(
            view_, rows, circles, to, scale);
        core::check_launch("storing circles");
    }
}

}  // namespace zonal::sht::cuda
