#include "chebyshev/transform/cosine_fft_cuda.cuh"

#include "chebyshev/transform/cosine_fft_kernels.cuh"
#include "fft/complex_fft.hpp"

namespace zonal::chebyshev::cuda {
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
