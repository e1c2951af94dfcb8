
#include "chebyshev/transform/cosine_transform_cuda.cuh"

#include "chebyshev/transform/cosine_launch.cuh"
#include "fft/complex_fft.hpp"

namespace zonal::chebyshev::cuda {

/// Lines are columns of one array after another, a pair two neighbours of them; or (multiplies) the same
/// columns of two arrays.
template <class R>
struct FftLaunch {
    AxisLaunch<R> axis;
    double2* lines;  ///< [pair, m], from pair `first_pair` on
    std::int64_t m, n, first_pair, n_pairs;
    double first_weight;  ///< of a_0 or c_0
    bool multiplies;
};

inline constexpr int fft_threads = 256;

/// Which array and column line `which` (0 or 1) of a pair is; array -1 beyond the last.
struct LinePlace {
    int array;
    std::int64_t column;
};

template <class R>
__device__ LinePlace line_place(const FftLaunch<R>& launch, std::int64_t pair, int which) {
    if (launch.multiplies) return {which, pair};
    const std::int64_t line = 2 * pair + which;
    if (line >= launch.axis.n_arrays * launch.axis.n_columns) return {-1, 0};
    return {static_cast<int>(line / launch.axis.n_columns), line % launch.axis.n_columns};
}

/// Where a line begins in its array, and the stride along it; null beyond the last.
template <class Element>
struct Line {
    Element* data = nullptr;
    std::int64_t stride = 0;
};

template <class R>
__device__ Line<const R> source_line(const FftLaunch<R>& launch, std::int64_t pair, int which) {
    const LinePlace place = line_place(launch, pair, which);
    if (place.array < 0) return {};
    const auto& plane = launch.axis.in[place.array];
    return {plane.data + column_offset(launch.axis, plane, place.column), plane.strides[launch.axis.axis]};
}

template <class R>
__device__ Line<R> target_line(const FftLaunch<R>& launch, std::int64_t pair, int which) {
    const LinePlace place = line_place(launch, pair, which);
    if (place.array < 0) return {};
    const auto& plane = launch.axis.out[place.array];
    return {plane.data + column_offset(launch.axis, plane, place.column), plane.strides[launch.axis.axis]};
}

template <class R>
__device__ double element(const Line<const R>& line, std::int64_t k, std::int64_t n) {
    return line.data == nullptr || k >= n ? 0.0 : static_cast<double>(line.data[k * line.stride]);
}

/// exp(i pi k / 2m)
__device__ inline LinePairValue mode_root(std::int64_t k, std::int64_t m) {
    const double turns = static_cast<double>(k) / static_cast<double>(2 * m);
    return {cospi(turns), sinpi(turns)};
}

/// Says which entry of a line and which pair of lines a thread works on; the launch has blocks along both.
struct LineThread {
    std::int64_t k, pair;

    static __device__ LineThread here() {
        return {static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
                static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y};
    }
};

/// Coefficients to Fourier modes.
template <class R>
__global__ void __launch_bounds__(fft_threads) load_modes(const __grid_constant__ FftLaunch<R> launch) {
    const auto [k, pair] = LineThread::here();
    if (k >= launch.m || pair >= launch.n_pairs) return;
    const auto first = source_line(launch, launch.first_pair + pair, 0);
    const auto second = source_line(launch, launch.first_pair + pair, 1);
    LinePairValue mode{element(first, k, launch.n), element(second, k, launch.n)};
    if (k == 0) {
        mode = {mode.re * launch.first_weight, mode.im * launch.first_weight};
    } else {
        const std::int64_t mirrored = launch.m - k;
        mode = synthesis_mode(mode, {element(first, mirrored, launch.n), element(second, mirrored, launch.n)},
                              mode_root(k, launch.m));
    }
    launch.lines[pair * launch.m + k] = make_double2(mode.re, mode.im);
}

/// Lines to values, or to their product.
template <class R>
__global__ void __launch_bounds__(fft_threads) store_values(const __grid_constant__ FftLaunch<R> launch) {
    const auto [j, pair] = LineThread::here();
    if (j >= launch.m || pair >= launch.n_pairs) return;
    const double2 value = launch.lines[pair * launch.m + j];
    const auto first = target_line(launch, launch.first_pair + pair, 0);
    if (launch.multiplies) {
        first.data[j * first.stride] = static_cast<R>(launch.axis.weight * value.x * value.y);
        return;
    }
    const auto second = target_line(launch, launch.first_pair + pair, 1);
    first.data[j * first.stride] = static_cast<R>(value.x);
    if (second.data != nullptr) second.data[j * second.stride] = static_cast<R>(value.y);
}

template <class R>
__global__ void __launch_bounds__(fft_threads) load_values(const __grid_constant__ FftLaunch<R> launch) {
    const auto [j, pair] = LineThread::here();
    if (j >= launch.m || pair >= launch.n_pairs) return;
    const auto first = source_line(launch, launch.first_pair + pair, 0);
    const auto second = source_line(launch, launch.first_pair + pair, 1);
    launch.lines[pair * launch.m + j] =
        make_double2(element(first, j, launch.m), element(second, j, launch.m));
}

/// Fourier modes to coefficients.
template <class R>
__global__ void __launch_bounds__(fft_threads)
    store_coefficients(const __grid_constant__ FftLaunch<R> launch) {
    const auto [k, pair] = LineThread::here();
    if (k >= launch.n || pair >= launch.n_pairs) return;
    const double2* const line = launch.lines + pair * launch.m;
    const double2 low = line[k], mirrored = line[k == 0 ? 0 : launch.m - k];
    const double weight = (k == 0 ? launch.first_weight : 1) / static_cast<double>(launch.m);
    const LinePairValue mode =
        analysis_mode({low.x, low.y}, {mirrored.x, mirrored.y}, mode_root(k, launch.m), weight);
    const auto first = target_line(launch, launch.first_pair + pair, 0);
    const auto second = target_line(launch, launch.first_pair + pair, 1);
    first.data[k * first.stride] = static_cast<R>(mode.re);
    if (second.data != nullptr) second.data[k * second.stride] = static_cast<R>(mode.im);
}

namespace {

/// Points of all lines that go through together: 32 MiB, which an H200's second-level cache holds from one
/// step to the next. Longer lines go one pair at a time.
constexpr std::int64_t most_points_at_once = std::int64_t{1} << 21;
/// Scratch memory begins with the lines, what follows is aligned for the library.
constexpr std::int64_t alignment = 256;

std::int64_t lines_bytes(std::int64_t n_pairs, std::int64_t m) {
    const auto bytes = n_pairs * m * static_cast<std::int64_t>(sizeof(double2));
    return (bytes + alignment - 1) / alignment * alignment;
}

/// A launch over entries of lines and pairs; blocks have several pairs where there are some, whose lines
/// then share what they read of neighbouring columns.
template <class R, class Kernel>
void launch_over(Kernel kernel, const FftLaunch<R>& launch, std::int64_t n_entries, cudaStream_t stream) {
    int pairs = 1;
    while (pairs < 8 && 2 * pairs <= launch.n_pairs) pairs *= 2;
    const dim3 block(static_cast<unsigned>(fft_threads / pairs), static_cast<unsigned>(pairs));
    const dim3 grid(static_cast<unsigned>((n_entries + block.x - 1) / block.x),
                    static_cast<unsigned>((launch.n_pairs + pairs - 1) / pairs));
    kernel<<<grid, block, 0, stream>>>(launch);
    core::check_launch("cosine transform by FFT");
}

}  // namespace

CosineFft::CosineFft(std::int64_t n_in, std::int64_t n_out, std::int64_t points,
                     ChebyshevConvention convention)
    : n_in_(n_in),
      n_out_(n_out),
      m_(fft::good_length(points)),
      first_in_(convention == ChebyshevConvention::primed ? 0.5 : 1),
      first_out_(convention == ChebyshevConvention::primed ? 1 : 0.5) {
    std::int64_t largest = 1;
    while (2 * largest * m_ <= most_points_at_once) largest *= 2;
    for (std::int64_t count = largest; count > 0; count /= 2)
        batches_.push_back({count, fft::cuda::FftBatch(m_, count, CUFFT_Z2Z, m_, m_)});
    for (const Batch& batch : batches_)
        library_bytes_ = std::max(library_bytes_, batch.transform.work_bytes());
}

std::int64_t CosineFft::scratch_bytes(std::int64_t n_lines) const {
    return lines_bytes(std::min((n_lines + 1) / 2, most_pairs()), m_) +
           static_cast<std::int64_t>(library_bytes_);
}

void CosineFft::transform(double2* lines, std::int64_t count, int direction, void* library,
                          cudaStream_t stream) const {
    const std::lock_guard lock(mutex_);
    for (const Batch& batch : batches_) {
        if (batch.count > count) continue;
        batch.transform.transform(lines, direction, library, stream);
        lines += batch.count * m_;
        count -= batch.count;
    }
}

/// work(lines, library, first pair, pairs) for as many pairs at once as there is memory for.
template <class Work>
void CosineFft::for_parts(std::int64_t n_pairs, void* scratch, const Work& work) const {
    const std::int64_t most = std::min(n_pairs, most_pairs());
    auto* const lines = static_cast<double2*>(scratch);
    void* const library = static_cast<char*>(scratch) + lines_bytes(most, m_);
    for (std::int64_t first = 0; first < n_pairs; first += most)
        work(lines, library, first, std::min(most, n_pairs - first));
}

template <class R>
void CosineFft::synthesize(const AxisLaunch<R>& axis, bool multiplies, void* scratch,
                           cudaStream_t stream) const {
    const std::int64_t n_pairs = multiplies ? axis.n_columns : (axis.n_arrays * axis.n_columns + 1) / 2;
    for_parts(n_pairs, scratch, [&](double2* lines, void* library, std::int64_t first, std::int64_t count) {
        const FftLaunch<R> launch{axis, lines, m_, n_in_, first, count, first_in_, multiplies};
        launch_over(load_modes<R>, launch, m_, stream);
        transform(lines, count, CUFFT_INVERSE, library, stream);
        launch_over(store_values<R>, launch, m_, stream);
    });
}

template <class R>
void CosineFft::analyze(const AxisLaunch<R>& axis, void* scratch, cudaStream_t stream) const {
    for_parts((axis.n_arrays * axis.n_columns + 1) / 2, scratch,
              [&](double2* lines, void* library, std::int64_t first, std::int64_t count) {
                  const FftLaunch<R> launch{axis, lines, m_, n_out_, first, count, first_out_, false};
                  launch_over(load_values<R>, launch, m_, stream);
                  transform(lines, count, CUFFT_FORWARD, library, stream);
                  launch_over(store_coefficients<R>, launch, n_out_, stream);
              });
}

template void CosineFft::synthesize(const AxisLaunch<float>&, bool, void*, cudaStream_t) const;
template void CosineFft::synthesize(const AxisLaunch<double>&, bool, void*, cudaStream_t) const;
template void CosineFft::analyze(const AxisLaunch<float>&, void*, cudaStream_t) const;
template void CosineFft::analyze(const AxisLaunch<double>&, void*, cudaStream_t) const;

}  // namespace zonal::chebyshev::cuda
