#pragma once

#include <algorithm>
#include <vector>

#include "core/cuda.cuh"
#include "gwrm/backend.hpp"
#include "gwrm/linear/elimination_math.hpp"
#include "gwrm/linear/inverses.hpp"

/// Inverses of several matrices of one size, and their products with vectors.
namespace zonal::gwrm::cuda {

inline cudaStream_t stream_of(const Backend& backend) {
    return static_cast<cudaStream_t>(backend.stream());
}

inline constexpr int step_threads = 512, step_warps = step_threads / 32;
inline constexpr int rows_per_thread = 8, columns_per_block = 128;
inline constexpr int product_threads = 256, product_warps = product_threads / 32;
/// Up to this size a block inverts a matrix alone: launches for each step would take longer.
inline constexpr std::int64_t most_rows_of_a_block = 64;

/// The row of the largest element from row k on in column k; all threads of the block get it. shared:
/// [step_warps]
template <class T>
__device__ std::int64_t find_pivot(const Elimination<T>& matrix, std::int64_t k, double* sizes,
                                   std::int64_t* rows) {
    double largest = -1;
    std::int64_t pivot = k;
    const auto take = [&](double size, std::int64_t row) {  // of equal ones the first
        if (size > largest || (size == largest && row < pivot)) largest = size, pivot = row;
    };
    for (std::int64_t i = k + threadIdx.x; i < matrix.n; i += blockDim.x) take(matrix.size(k, i), i);
    for (int distance = 16; distance > 0; distance /= 2) {
        const double size = __shfl_xor_sync(~0u, largest, distance);
        const std::int64_t row = __shfl_xor_sync(~0u, pivot, distance);
        take(size, row);
    }
    if (threadIdx.x % 32 == 0) {
        sizes[threadIdx.x / 32] = largest;
        rows[threadIdx.x / 32] = pivot;
    }
    __syncthreads();
    for (int warp = 0; warp < static_cast<int>(blockDim.x) / 32; ++warp) take(sizes[warp], rows[warp]);
    return pivot;
}

/// All of step k but the elimination, by one block.
template <class T>
__device__ void begin_step(const Elimination<T>& matrix, std::int64_t k) {
    __shared__ double sizes[step_warps];
    __shared__ std::int64_t rows[step_warps];
    const std::int64_t pivot = find_pivot(matrix, k, sizes, rows);
    const double size = matrix.size(k, pivot);
    const T inverse = matrix.inverse_pivot(k, pivot);
    __syncthreads();  // all have read the pivot
    for (std::int64_t j = threadIdx.x; j < matrix.n; j += blockDim.x) matrix.exchange(k, pivot, inverse, j);
    if (threadIdx.x == 0) matrix.record(k, pivot, size);
    __syncthreads();
    for (std::int64_t i = threadIdx.x; i < matrix.n; i += blockDim.x) matrix.take_column(k, i);
}

/// A block for each matrix.
template <class T>
__global__ void __launch_bounds__(step_threads) begin_steps(const EliminationSet<T> set, std::int64_t k) {
    begin_step(set[blockIdx.x], k);
}

/// Blocks x of columns, y of rows, z of matrices.
template <class T>
__global__ void __launch_bounds__(columns_per_block)
    eliminate_all(const EliminationSet<T> set, std::int64_t k) {
    const Elimination<T> matrix = set[blockIdx.z];
    const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * columns_per_block + threadIdx.x;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * rows_per_thread;
    if (j >= matrix.n) return;
#pragma unroll
    for (int row = 0; row < rows_per_thread; ++row)
        if (first + row < matrix.n) matrix.eliminate(k, first + row, j);
}

/// A block for each matrix, all steps.
template <class T>
__global__ void __launch_bounds__(step_threads) invert_by_blocks(const EliminationSet<T> set) {
    const Elimination<T> matrix = set[blockIdx.x];
    const auto n = static_cast<int>(matrix.n);
    for (int k = 0; k < n; ++k) {
        begin_step(matrix, k);
        __syncthreads();
        for (int i = threadIdx.x; i < n * n; i += step_threads) matrix.eliminate(k, i / n, i % n);
        __syncthreads();
    }
}

/// ranges[2 s], ranges[2 s + 1]: the smallest and the largest pivot of matrix s, NaN where one is. A warp
/// for each.
template <class T>
__global__ void __launch_bounds__(32) find_pivot_ranges(const EliminationSet<T> set, double* ranges) {
    const Elimination<T> matrix = set[blockIdx.x];
    double smallest = matrix.pivots[0], largest = smallest;
    const auto take = [&](double low, double high) {
        smallest = smallest <= low || smallest != smallest ? smallest : low;
        largest = largest >= high || largest != largest ? largest : high;
    };
    for (std::int64_t k = threadIdx.x; k < matrix.n; k += 32) take(matrix.pivots[k], matrix.pivots[k]);
    for (int distance = 16; distance > 0; distance /= 2) {
        const double low = __shfl_xor_sync(~0u, smallest, distance);
        const double high = __shfl_xor_sync(~0u, largest, distance);
        take(low, high);
    }
    if (threadIdx.x != 0) return;
    ranges[2 * blockIdx.x] = smallest;
    ranges[2 * blockIdx.x + 1] = largest;
}

__device__ inline double warp_sum(double value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
    return value;
}
__device__ inline Complex warp_sum(Complex value) {
    return {warp_sum(value.re), warp_sum(value.im)};
}

/// to = matrix from, of each matrix; with add, to += ... order: of the elements of from; null: as they are. A
/// warp for each row, blocks y for matrices.
template <class T, class X>
__global__ void __launch_bounds__(product_threads)
    multiply(const T* matrices, const std::int64_t* orders, std::int64_t n, const X* from, X* to, bool add) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * product_warps + threadIdx.x / 32;
    if (row >= n) return;
    const std::int64_t s = blockIdx.y;
    const T* const elements = matrices + (s * n + row) * n;
    X sum{};
    for (std::int64_t i = threadIdx.x % 32; i < n; i += 32)
        sum = sum + elements[i] * from[s * n + (orders == nullptr ? i : orders[s * n + i])];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 != 0) return;
    X& result = to[s * n + row];
    result = add ? result + sum : sum;
}

/// Several inverses, on a backend's stream.
template <class T>
class Inverses {
  public:
    /// matrices: not yet there
    Inverses(Backend& backend, std::int64_t n_matrices, std::int64_t n)
        : backend_(backend),
          n_matrices_(n_matrices),
          n_(n),
          matrices_(backend, n_matrices * n * n),
          lines_(backend, 2 * n_matrices * n),
          orders_(backend, n_matrices * n),
          pivots_(backend, n_matrices * n),
          ranges_(backend, 2 * n_matrices) {}

    EliminationSet<T> set() {
        return {n_,
                matrices_.data(),
                lines_.data(),
                lines_.data() + n_matrices_ * n_,
                orders_.data(),
                pivots_.data()};
    }

    /// Inverts the matrices of the set, whose orders are 0 .. n - 1, once they are there.
    void invert() {
        const cudaStream_t stream = stream_of(backend_);
        const auto count = static_cast<unsigned>(n_matrices_);
        if (n_ <= most_rows_of_a_block) {
            invert_by_blocks<<<count, step_threads, 0, stream>>>(set());
        } else {
            const dim3 grid(static_cast<unsigned>((n_ + columns_per_block - 1) / columns_per_block),
                            static_cast<unsigned>((n_ + rows_per_thread - 1) / rows_per_thread), count);
            for (std::int64_t k = 0; k < n_; ++k) {
                begin_steps<<<count, step_threads, 0, stream>>>(set(), k);
                eliminate_all<<<grid, columns_per_block, 0, stream>>>(set(), k);
            }
        }
        find_pivot_ranges<<<count, 32, 0, stream>>>(set(), ranges_.data());
        core::check_launch("inverses");
        std::vector<double> ranges(static_cast<std::size_t>(ranges_.size()));
        backend_.download(ranges_.data(), ranges_.size(), ranges.data());
        is_singular_ = false;
        for (std::size_t s = 0; s < ranges.size(); s += 2)
            is_singular_ = is_singular_ || has_small_pivot(ranges[s], ranges[s + 1]);
    }
    bool is_singular() const { return is_singular_; }

    /// x = A^-1 b for n_systems matrices from `first` on. b, x: [n_systems, n], not the same array
    template <class X>
    void apply(std::int64_t first, std::int64_t n_systems, const X* b, X* x) const {
        const dim3 grid(static_cast<unsigned>((n_ + product_warps - 1) / product_warps),
                        static_cast<unsigned>(n_systems));
        multiply<<<grid, product_threads, 0, stream_of(backend_)>>>(
            matrices_.data() + first * n_ * n_, orders_.data() + first * n_, n_, b, x, false);
        core::check_launch("products with inverses");
    }

  private:
    Backend& backend_;
    std::int64_t n_matrices_, n_;
    BackendArray<T> matrices_, lines_;
    BackendArray<std::int64_t> orders_;
    Vector pivots_, ranges_;
    bool is_singular_ = false;
};

}  // namespace zonal::gwrm::cuda
