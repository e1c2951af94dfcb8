#include "chebyshev/roots/colleague_math.hpp"
#include "chebyshev/roots/roots.hpp"
#include "core/cuda.cuh"

namespace zonal::chebyshev::cuda {
namespace {

using core::Complex;

/// What became of a series.
struct Outcome {
    enum What : int { found, not_finite, all_zero, not_converged } what;
    int number;  ///< of roots, of the coefficient that is not finite, or of rows
};

template <class T>
struct Batch {
    const T* first;
    std::int64_t series_stride, stride;
    std::int64_t n_coefficients;
    double first_factor;  ///< of a_0, to be plain
};

__device__ Complex widened(float a) {
    return {a, 0};
}
__device__ Complex widened(double a) {
    return {a, 0};
}
template <class R>
__device__ Complex widened(const std::complex<R>& a) {
    const auto* const parts = reinterpret_cast<const R*>(&a);
    return {parts[0], parts[1]};
}

/// One warp.
struct Warp {
    static constexpr unsigned all = 0xffffffff;
    __device__ int rank() const { return static_cast<int>(threadIdx.x); }
    __device__ int size() const { return 32; }
    __device__ void meet() const { __syncwarp(); }
    __device__ double sum(double value) const {
        for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(all, value, distance);
        return value;
    }
    template <class Condition>
    __device__ std::int64_t first_where(std::int64_t count, const Condition& condition) const {
        for (std::int64_t start = 0; start < count; start += 32) {
            const std::int64_t k = start + rank();
            const unsigned holds = __ballot_sync(all, k < count && condition(k));
            if (holds != 0) return start + __ffs(static_cast<int>(holds)) - 1;
        }
        return count;
    }
};

/// Elements of shared memory for matrices of n rows: the matrix and the coefficients.
__host__ __device__ inline std::int64_t shared_elements(std::int64_t n) {
    return HessenbergMatrix<Warp>::size(n) + n + 1;
}

/// A warp and a block for each series; roots: [series][n_coefficients - 1]
template <class T>
__global__ void __launch_bounds__(32)
    find_roots_kernel(const __grid_constant__ Batch<T> batch, Complex* roots, Outcome* outcomes) {
    extern __shared__ double2 memory[];
    const Warp warp;
    const std::int64_t series = blockIdx.x, n = batch.n_coefficients;
    auto* const a = reinterpret_cast<Complex*>(memory);
    for (std::int64_t k = warp.rank(); k < n; k += warp.size()) {
        const Complex value = widened(batch.first[series * batch.series_stride + k * batch.stride]);
        a[k] = k == 0 ? batch.first_factor * value : value;
    }
    warp.meet();
    const auto end = [&](Outcome::What what, std::int64_t number) {
        if (warp.rank() == 0) outcomes[series] = {what, static_cast<int>(number)};
    };
    const std::int64_t bad =
        warp.first_where(n, [&](std::int64_t k) { return !isfinite(a[k].re) || !isfinite(a[k].im); });
    if (bad < n) return end(Outcome::not_finite, bad);
    const std::int64_t zeros =
        warp.first_where(n, [&](std::int64_t k) { return a[n - 1 - k].re != 0 || a[n - 1 - k].im != 0; });
    if (zeros == n) return end(Outcome::all_zero, 0);
    const std::int64_t degree = n - 1 - zeros;
    HessenbergMatrix<Warp> matrix(warp, a + n, degree);
    matrix.set_colleague(a);
    matrix.balance();
    if (!matrix.diagonalize()) return end(Outcome::not_converged, degree);
    for (std::int64_t k = warp.rank(); k < n - 1; k += warp.size())
        roots[series * (n - 1) + k] = k < degree ? matrix.diagonal(k) : Complex{};
    end(Outcome::found, degree);
}

}  // namespace

std::int64_t most_rows(const void* data) {
    const core::CurrentDevice current(core::device_of("f", data));
    const std::int64_t elements =
        core::device_limits().shared_memory_per_block / static_cast<std::int64_t>(sizeof(Complex));
    std::int64_t n = 1;
    while (shared_elements(n + 1) <= elements) ++n;
    return n;
}

template <class T>
std::vector<std::vector<std::complex<double>>> find_roots(const SeriesArray<const T>& f, void* cuda_stream) {
    const std::int64_t n_series = f.extents[0], most = f.extents[1] - 1;
    std::vector<std::vector<std::complex<double>>> roots(static_cast<std::size_t>(n_series));
    const core::CurrentDevice current(core::device_of("f", f.data));
    const auto stream = static_cast<cudaStream_t>(cuda_stream);
    const core::StreamArray<Complex> found(n_series * most, stream);
    const core::StreamArray<Outcome> outcomes(n_series, stream);
    const Batch<T> batch{f.data, f.strides[0], f.strides[1], f.extents[1],
                         f.convention == ChebyshevConvention::primed ? 0.5 : 1.0};
    const auto bytes = static_cast<int>(shared_elements(most) * static_cast<std::int64_t>(sizeof(Complex)));
    // All that there is, not `bytes`: another thread may find the roots of longer series at the same time.
    core::check_cuda(cudaFuncSetAttribute(find_roots_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(core::device_limits().shared_memory_per_block)),
                     "asking for shared memory");
    find_roots_kernel<T>
        <<<static_cast<unsigned>(n_series), 32, bytes, stream>>>(batch, found.data(), outcomes.data());
    core::check_launch("roots of Chebyshev series");
    const auto fetch = [&](void* to, const void* from, std::size_t size) {
        core::check_cuda(cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToHost, stream), "copying roots");
        core::check_cuda(cudaStreamSynchronize(stream), "finding roots");
    };
    std::vector<Outcome> became(static_cast<std::size_t>(n_series));
    fetch(became.data(), outcomes.data(), became.size() * sizeof(Outcome));
    for (std::int64_t series = 0; series < n_series; ++series) {
        const auto [what, number] = became[static_cast<std::size_t>(series)];
        if (what == Outcome::not_finite) refuse_not_finite(series, n_series, number);
        if (what == Outcome::all_zero) refuse_all_zero(series, n_series);
        if (what == Outcome::not_converged) refuse_not_converged(series, n_series, number);
    }
    std::vector<std::complex<double>> all(static_cast<std::size_t>(n_series * most));
    fetch(all.data(), found.data(), all.size() * sizeof(Complex));
    for (std::size_t series = 0; series < roots.size(); ++series) {
        const auto first = all.begin() + static_cast<std::int64_t>(series) * most;
        roots[series].assign(first, first + became[series].number);
    }
    return roots;
}

using Roots = std::vector<std::vector<std::complex<double>>>;
template Roots find_roots(const SeriesArray<const float>&, void*);
template Roots find_roots(const SeriesArray<const double>&, void*);
template Roots find_roots(const SeriesArray<const std::complex<float>>&, void*);
template Roots find_roots(const SeriesArray<const std::complex<double>>&, void*);

}  // namespace zonal::chebyshev::cuda
