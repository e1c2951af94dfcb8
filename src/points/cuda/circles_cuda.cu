#include "points/cuda/circles_cuda.cuh"

#include <algorithm>

namespace zonal::points::cuda {
namespace {

constexpr int n_threads = 128;
/// The most memory for circles or bins at a time.
constexpr std::int64_t most_bytes = std::int64_t{128} << 20;
constexpr std::int64_t most_blocks = 65535;  // along y

dim3 blocks(std::int64_t n, std::int64_t n_rows, unsigned depth = 1) {
    return {static_cast<unsigned>((n + n_threads - 1) / n_threads),
            static_cast<unsigned>(std::clamp<std::int64_t>(n_rows, 1, most_blocks)), depth};
}

/// How many of `n` things of this many bytes to take at a time: as many as fit, in parts of about equal size.
std::int64_t part_of(std::int64_t n, std::int64_t bytes) {
    const std::int64_t most = std::clamp<std::int64_t>(most_bytes / bytes, 1, most_blocks);
    const std::int64_t parts = std::max<std::int64_t>(1, (n + most - 1) / most);
    return std::max<std::int64_t>(1, (n + parts - 1) / parts);
}

__device__ double2 sum(double2 a, double2 b) {
    return {a.x + b.x, a.y + b.y};
}
__device__ double2 difference(double2 a, double2 b) {
    return {a.x - b.x, a.y - b.y};
}
__device__ double2 scaled(double2 a, double factor) {
    return {a.x * factor, a.y * factor};
}
__device__ double2 product(double2 a, double2 b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
__device__ double2 conjugate(double2 a) {
    return {a.x, -a.y};
}

/// F_m of a ring.
__device__ double2 value_at(const CircleView& v, const PairModes* fourier, int m, int pair, bool south) {
    if (m > v.mmax || pair < v.first_pair[m]) return {0, 0};
    const PairModes& modes = fourier[v.origin[m] + pair];
    return south ? modes.south : modes.north;
}

/// Circles of 2 n_rings, blocks along y: pairs of orders.
__global__ void __launch_bounds__(n_threads)
    load_modes(CircleView v, std::int64_t first, const PairModes* fourier, double2* circles) {
    const int r = blockIdx.x * n_threads + threadIdx.x;
    if (r >= 2 * v.n_rings) return;
    const int m = static_cast<int>(2 * (first + blockIdx.y));
    const bool mirrored = r >= v.n_rings;
    const int ring = mirrored ? 2 * v.n_rings - 1 - r : r;
    const bool south = ring >= v.n_rings / 2;
    const int pair = south ? v.n_rings - 1 - ring : ring;
    const double2 a = value_at(v, fourier, m, pair, south), b = value_at(v, fourier, m + 1, pair, south);
    circles[static_cast<std::int64_t>(blockIdx.y) * 2 * v.n_rings + r] =
        mirrored ? scaled(difference(a, b), v.sign) : sum(a, b);
}

/// The transpose; along z: the orders of a pair.
__global__ void __launch_bounds__(n_threads)
    store_modes(CircleView v, std::int64_t first, const double2* circles, PairModes* fourier) {
    const int pair = blockIdx.x * n_threads + threadIdx.x;
    const int m = static_cast<int>(2 * (first + blockIdx.y) + blockIdx.z);
    if (pair >= v.n_rings / 2 || m > v.mmax || pair < v.first_pair[m]) return;
    const double2* const circle = circles + static_cast<std::int64_t>(blockIdx.y) * 2 * v.n_rings;
    const double sign = blockIdx.z == 0 ? v.sign : -v.sign;
    const auto of_ring = [&](int ring) {
        return sum(circle[ring], scaled(circle[2 * v.n_rings - 1 - ring], sign));
    };
    PairModes& modes = fourier[v.origin[m] + pair];
    modes.north = of_ring(pair);
    modes.south = of_ring(v.n_rings - 1 - pair);
}

/// Coefficients of the circles of rings go to those of the samples, divided by the window's transform.
__global__ void __launch_bounds__(n_threads) refine(CircleView v, const double2* circles, double2* fine) {
    const int k = blockIdx.x * n_threads + threadIdx.x;
    if (k >= v.n) return;
    const double2* const series = circles + static_cast<std::int64_t>(blockIdx.y) * 2 * v.n_rings;
    double2 value{0, 0};
    if (k <= v.lmax)
        value = product(series[k], v.phase[k]);
    else if (v.n - k <= v.lmax)
        value = product(series[2 * v.n_rings - (v.n - k)], conjugate(v.phase[v.n - k]));
    fine[static_cast<std::int64_t>(blockIdx.y) * v.n + k] = value;
}
__global__ void __launch_bounds__(n_threads) coarsen(CircleView v, const double2* fine, double2* circles) {
    const int k = blockIdx.x * n_threads + threadIdx.x, length = 2 * v.n_rings;
    if (k >= length) return;
    const double2* const series = fine + static_cast<std::int64_t>(blockIdx.y) * v.n;
    double2 value{0, 0};
    if (k <= v.lmax)
        value = product(series[k], conjugate(v.phase[k]));
    else if (length - k <= v.lmax)
        value = product(series[v.n - (length - k)], v.phase[length - k]);
    circles[static_cast<std::int64_t>(blockIdx.y) * length + k] = value;
}

/// A block for each pair of orders: their sums over the coefficients c_k = (G_k +- G_{-k}) / 2.
__global__ void __launch_bounds__(n_threads)
    sum_errors(CircleView v, std::int64_t first, const double2* fine, ErrorSums sums) {
    __shared__ double parts[4][n_threads];
    const double2* const series = fine + static_cast<std::int64_t>(blockIdx.x) * v.n;
    double found[4] = {0, 0, 0, 0};
    for (int k = threadIdx.x; k <= v.lmax; k += n_threads) {
        const double2 up = series[k], down = series[k == 0 ? 0 : v.n - k];
        for (int order = 0; order < 2; ++order) {
            const double2 c = sum(up, scaled(down, order == 0 ? v.sign : -v.sign));
            const double square = c.x * c.x + c.y * c.y;
            found[2 * order] += square * sums.power[k];
            found[2 * order + 1] += square * sums.alias[k];
        }
    }
    for (int i = 0; i < 4; ++i) parts[i][threadIdx.x] = found[i];
    for (int half = n_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            for (auto& part : parts) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    if (threadIdx.x < 2)
        sums.of_orders[2 * (first + blockIdx.x) + threadIdx.x] = {parts[2 * threadIdx.x][0],
                                                                  parts[2 * threadIdx.x + 1][0]};
}

/// Blocks along y: pairs of orders.
__global__ void __launch_bounds__(n_threads)
    store_rows(CircleView v, std::int64_t first, const double2* fine, SampleLayout layout, double* field) {
    const int i = blockIdx.x * n_threads + threadIdx.x;
    if (i >= layout.n_computed) return;
    const int j = layout.computed_first + i;
    const std::int64_t pair = first + blockIdx.y;
    const double2* const values = fine + static_cast<std::int64_t>(blockIdx.y) * v.n;
    const double2 up = values[j], down = scaled(values[j == 0 ? 0 : v.n - j], v.sign);
    auto* const out = reinterpret_cast<double2*>(layout.row(field, j)) + 2 * pair;
    out[0] = scaled(sum(up, down), v.factors[2 * pair]);
    out[1] = scaled(difference(up, down), v.factors[2 * pair + 1]);
}
__global__ void __launch_bounds__(n_threads)
    load_rows(CircleView v, std::int64_t first, SampleLayout layout, const double* field, double2* fine) {
    const int k = blockIdx.x * n_threads + threadIdx.x;
    if (k >= v.n) return;
    const bool mirrored = 2 * k > v.n;
    const int j = mirrored ? v.n - k : k;
    const std::int64_t pair = first + blockIdx.y;
    double2 value{0, 0};
    if (j >= layout.computed_first && j < layout.computed_first + layout.n_computed) {
        const auto* const in = reinterpret_cast<const double2*>(layout.row(field, j)) + 2 * pair;
        const double2 a = scaled(in[0], v.factors[2 * pair]), b = scaled(in[1], v.factors[2 * pair + 1]);
        const double2 up = sum(a, b), down = scaled(difference(a, b), v.sign);
        value = j == 0 || 2 * j == v.n ? sum(up, down) : mirrored ? down : up;
    }
    fine[static_cast<std::int64_t>(blockIdx.y) * v.n + k] = value;
}

/// Bins 0 .. n / 2 of rows from the F_m at their beginning; blocks along y: rows.
__global__ void __launch_bounds__(n_threads)
    load_bins(SampleLayout layout, std::int64_t mmax, std::int64_t first, const double* field,
              double2* bins) {
    const int m = blockIdx.x * n_threads + threadIdx.x, n_bins = layout.n / 2 + 1;
    if (m >= n_bins) return;
    double2 value{0, 0};
    if (m <= mmax) value = reinterpret_cast<const double2*>(layout.row(field, first + blockIdx.y))[m];
    if (m == 0) value.y = 0;
    bins[static_cast<std::int64_t>(blockIdx.y) * n_bins + m] = value;
}
/// The order behind the last one, which may share its circle, becomes 0.
__global__ void __launch_bounds__(n_threads)
    store_bins(SampleLayout layout, std::int64_t mmax, std::int64_t first, const double2* bins,
               double* field) {
    const int m = blockIdx.x * n_threads + threadIdx.x, n_bins = layout.n / 2 + 1;
    if (m > mmax + 1) return;
    double2 value{0, 0};
    if (m <= mmax) value = bins[static_cast<std::int64_t>(blockIdx.y) * n_bins + m];
    reinterpret_cast<double2*>(layout.row(field, first + blockIdx.y))[m] = value;
}

/// Copies at both ends of the rows [first, first + count).
__global__ void __launch_bounds__(n_threads)
    copy_columns(SampleLayout layout, std::int64_t first, std::int64_t count, double* field) {
    const int c = blockIdx.x * n_threads + threadIdx.x;
    if (c >= layout.border) return;
    for (std::int64_t i = blockIdx.y; i < count; i += gridDim.y) {
        double* const row = layout.row(field, first + i);
        row[c] = row[layout.n + c];
        row[layout.border + layout.n + c] = row[layout.border + c];
    }
}
/// The transpose. Targets of the two ends do not meet, as a circle is at least as long as both.
__global__ void __launch_bounds__(n_threads)
    fold_columns(SampleLayout layout, std::int64_t first, std::int64_t count, double* field) {
    const int c = blockIdx.x * n_threads + threadIdx.x;
    if (c >= layout.border) return;
    for (std::int64_t i = blockIdx.y; i < count; i += gridDim.y) {
        double* const row = layout.row(field, first + i);
        row[layout.n + c] += row[c];
        row[layout.border + c] += row[layout.border + layout.n + c];
    }
}

/// Rows beyond a pole, with all their columns, from the rows that they are copies of.
__global__ void __launch_bounds__(n_threads)
    copy_rows(SampleLayout layout, double sign, std::int64_t first, double* field) {
    const int c = blockIdx.x * n_threads + threadIdx.x;
    if (c >= layout.n + 2 * layout.border) return;
    const std::int64_t row = first + blockIdx.y, other = row < 0 ? -row : layout.n - row;
    const int from = (c - layout.border + layout.n + layout.n / 2) % layout.n;
    layout.row(field, row)[c] = sign * layout.row(field, other)[layout.border + from];
}
/// The transpose, of folded columns.
__global__ void __launch_bounds__(n_threads)
    fold_rows(SampleLayout layout, double sign, std::int64_t first, double* field) {
    const int c = blockIdx.x * n_threads + threadIdx.x;
    if (c >= layout.n) return;
    const std::int64_t row = first + blockIdx.y, other = row < 0 ? -row : layout.n - row;
    const int to = (c + layout.n / 2) % layout.n;
    layout.row(field, other)[layout.border + to] += sign * layout.row(field, row)[layout.border + c];
}

CircleView view_of(const SampleTables& tables, const sht::cuda::FourierLayout& fourier) {
    return {nullptr,
            nullptr,
            fourier.origin(),
            fourier.first_pairs(),
            static_cast<std::int32_t>(tables.lmax),
            static_cast<std::int32_t>(tables.mmax),
            static_cast<std::int32_t>(tables.n_rings),
            static_cast<std::int32_t>(tables.n),
            tables.sign()};
}

std::vector<double2> phases(const SampleTables& tables) {
    std::vector<double2> phases;
    for (std::size_t k = 0; k < tables.phase_re.size(); ++k)
        phases.push_back({tables.phase_re[k], tables.phase_im[k]});
    return phases;
}

}  // namespace

Circles::Circles(const SampleTables& tables, const sht::cuda::FourierLayout& fourier)
    : view_(view_of(tables, fourier)),
      phase_(phases(tables)),
      factors_(tables.factors),
      at_once_(part_of(n_pairs(), tables.n * std::int64_t{sizeof(double2)})),
      rings_(2 * tables.n_rings, at_once_, CUFFT_Z2Z, 2 * tables.n_rings, 2 * tables.n_rings),
      fine_(tables.n, at_once_, CUFFT_Z2Z, tables.n, tables.n) {
    view_.phase = phase_.data();
    view_.factors = factors_.data();
}

void Circles::fit(CircleScratch& scratch) const {
    scratch.circles.reserve(at_once_ * 2 * view_.n_rings);
    scratch.fine.reserve(at_once_ * view_.n);
    scratch.library.reserve(static_cast<std::int64_t>(std::max(rings_.work_bytes(), fine_.work_bytes())));
}

void Circles::clear_rest(double2* circles, std::int64_t length, std::int64_t count,
                         cudaStream_t stream) const {
    if (count == at_once_) return;
    core::check_cuda(
        cudaMemsetAsync(circles + count * length, 0,
                        static_cast<std::size_t>((at_once_ - count) * length) * sizeof(double2), stream),
        "clearing circles");
}

void Circles::to_rows(const PairModes* fourier, const SampleLayout& layout, double* field,
                      const ErrorSums* sums, const CircleScratch& scratch, cudaStream_t stream) const {
    double2 *const circles = scratch.circles.data(), *const fine = scratch.fine.data();
    void* const work = scratch.library.data();
    for (std::int64_t first = 0; first < n_pairs(); first += at_once_) {
        const std::int64_t count = std::min(at_once_, n_pairs() - first);
        load_modes<<<blocks(2 * view_.n_rings, count), n_threads, 0, stream>>>(view_, first, fourier,
                                                                               circles);
        core::check_launch("loading circles");
        clear_rest(circles, 2 * view_.n_rings, count, stream);
        const std::lock_guard lock(library_mutex_);
        rings_.transform(circles, CUFFT_FORWARD, work, stream);
        refine<<<blocks(view_.n, at_once_), n_threads, 0, stream>>>(view_, circles, fine);
        core::check_launch("refining circles");
        if (sums != nullptr) {
            sum_errors<<<static_cast<unsigned>(count), n_threads, 0, stream>>>(view_, first, fine, *sums);
            core::check_launch("summing errors");
        }
        fine_.transform(fine, CUFFT_INVERSE, work, stream);
        store_rows<<<blocks(layout.n_computed, count), n_threads, 0, stream>>>(view_, first, fine, layout,
                                                                               field);
        core::check_launch("storing rows");
    }
}

void Circles::from_rows(const double* field, const SampleLayout& layout, PairModes* fourier,
                        const CircleScratch& scratch, cudaStream_t stream) const {
    double2 *const circles = scratch.circles.data(), *const fine = scratch.fine.data();
    void* const work = scratch.library.data();
    for (std::int64_t first = 0; first < n_pairs(); first += at_once_) {
        const std::int64_t count = std::min(at_once_, n_pairs() - first);
        load_rows<<<blocks(view_.n, count), n_threads, 0, stream>>>(view_, first, layout, field, fine);
        core::check_launch("loading rows");
        clear_rest(fine, view_.n, count, stream);
        const std::lock_guard lock(library_mutex_);
        fine_.transform(fine, CUFFT_FORWARD, work, stream);
        coarsen<<<blocks(2 * view_.n_rings, at_once_), n_threads, 0, stream>>>(view_, fine, circles);
        core::check_launch("coarsening circles");
        rings_.transform(circles, CUFFT_INVERSE, work, stream);
        store_modes<<<blocks(view_.n_rings / 2, count, 2), n_threads, 0, stream>>>(view_, first, circles,
                                                                                   fourier);
        core::check_launch("storing circles");
    }
}

Rows::Rows(const SampleLayout& layout, std::int64_t mmax, double sign)
    : layout_(layout),
      mmax_(mmax),
      sign_(sign),
      at_once_(part_of(layout.n_computed, (layout.n / 2 + 1) * std::int64_t{sizeof(double2)})) {
    const std::int64_t rest = layout.n_computed % at_once_, bins = layout.n / 2 + 1;
    for (const std::int64_t count : {std::min<std::int64_t>(at_once_, layout.n_computed), rest}) {
        if (count == 0) break;
        to_values_.emplace_back(layout.n, count, CUFFT_Z2D, bins, layout.stride);
        to_bins_.emplace_back(layout.n, count, CUFFT_D2Z, layout.stride, bins);
    }
}

void Rows::fit(CircleScratch& scratch) const {
    scratch.fine.reserve(at_once_ * (layout_.n / 2 + 1));
    for (const auto* const handles : {&to_values_, &to_bins_})
        for (const auto& handle : *handles)
            scratch.library.reserve(static_cast<std::int64_t>(handle.work_bytes()));
}

template <class Work>
void Rows::for_parts(const Work& work) const {
    const std::int64_t end = layout_.computed_first + layout_.n_computed;
    for (std::int64_t first = layout_.computed_first; first < end; first += at_once_) {
        const Part part{first, std::min(at_once_, end - first)};
        work(part, part.count == at_once_ ? 0 : to_values_.size() - 1);
    }
}

template <class Work>
void Rows::for_poles(const Work& work) const {
    if (layout_.first < 0) work(layout_.first, -layout_.first);
    const std::int64_t south = layout_.computed_first + layout_.n_computed;
    const std::int64_t beyond = layout_.first + layout_.n_rows - south;
    if (beyond > 0) work(south, beyond);
}

void Rows::to_samples(double* field, const CircleScratch& scratch, cudaStream_t stream) const {
    double2* const bins = scratch.fine.data();
    const auto row = [&](std::int64_t j) { return field + (j - layout_.first) * layout_.stride; };
    for_parts([&](const Part& part, std::size_t handle) {
        load_bins<<<blocks(layout_.n / 2 + 1, part.count), n_threads, 0, stream>>>(layout_, mmax_, part.first,
                                                                                   field, bins);
        core::check_launch("loading bins");
        to_values_[handle].to_values(bins, row(part.first) + layout_.border, scratch.library.data(), stream);
    });
    copy_columns<<<blocks(layout_.border, layout_.n_computed), n_threads, 0, stream>>>(
        layout_, layout_.computed_first, layout_.n_computed, field);
    core::check_launch("copying columns");
    for_poles([&](std::int64_t first, std::int64_t count) {
        copy_rows<<<blocks(layout_.n + 2 * layout_.border, count), n_threads, 0, stream>>>(layout_, sign_,
                                                                                           first, field);
        core::check_launch("copying rows");
    });
}

void Rows::from_samples(double* field, const CircleScratch& scratch, cudaStream_t stream) const {
    double2* const bins = scratch.fine.data();
    const auto row = [&](std::int64_t j) { return field + (j - layout_.first) * layout_.stride; };
    fold_columns<<<blocks(layout_.border, layout_.n_rows), n_threads, 0, stream>>>(layout_, layout_.first,
                                                                                   layout_.n_rows, field);
    core::check_launch("folding columns");
    for_poles([&](std::int64_t first, std::int64_t count) {
        fold_rows<<<blocks(layout_.n, count), n_threads, 0, stream>>>(layout_, sign_, first, field);
        core::check_launch("folding rows");
    });
    for_parts([&](const Part& part, std::size_t handle) {
        to_bins_[handle].to_bins(row(part.first) + layout_.border, bins, scratch.library.data(), stream);
        store_bins<<<blocks(mmax_ + 2, part.count), n_threads, 0, stream>>>(layout_, mmax_, part.first, bins,
                                                                            field);
        core::check_launch("storing bins");
    });
}

}  // namespace zonal::points::cuda
