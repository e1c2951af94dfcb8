#include <algorithm>

#include "core/cuda.cuh"
#include "core/cuda_transfer.cuh"
#include "core/interruption.hpp"
#include "spectra/coupling_diagonals.hpp"
#include "zonal/error.hpp"

namespace zonal::coupling {
namespace {

/// Pairs of a diagonal that a block sums, a thread each, and terms that it sums before it makes the next
/// weights.
constexpr int n_pairs = 128, n_terms = 128;
constexpr int n_shared = n_pairs + n_terms;

struct Tables {
    const double *c, *k, *inverse;  ///< c(n), k(n), 1 / ((2n+1) c(n))
};

/// M of one mask, [kind, l, l'].
struct Matrices {
    double* data;
    const int* kinds;
    int n_kinds;
    std::int64_t stride_of_kind, stride_of_row, stride;

    __device__ void set(int kind, std::int64_t l, std::int64_t p, double sum) const {
        double* const matrix = data + kind * stride_of_kind;
        matrix[l * stride_of_row + p * stride] = static_cast<double>(2 * p + 1) * sum;
        matrix[p * stride_of_row + l * stride] = static_cast<double>(2 * l + 1) * sum;
    }
};

struct Sums {
    double spin00 = 0, spin02 = 0, plus = 0, minus = 0;
    __device__ void add(const Sums& other) {
        spin00 += other.spin00;
        spin02 += other.spin02;
        plus += other.plus;
        minus += other.minus;
    }
};

/// What the pairs of a block share for the terms j = j_first, ..., of which g = l' + j. A pair reads
/// neighbours of those that the next one reads: c in two halves, of even and odd numbers, as n = l' - l + j
/// changes by two from pair to pair.
struct Shared {
    double even[n_shared], odd[n_shared];  ///< as in Diagonal, by g
    double c_of_n[2][n_shared];
    double c_of_j[n_terms];
};

template <bool Even, bool Odd>
__device__ void fill(Shared& shared, const Tables& tables, const double* weights, std::int64_t degrees,
                     std::int64_t s, std::int64_t l_first, std::int64_t j_first) {
    const std::int64_t g_first = s - l_first - (n_pairs - 1) + j_first;
    for (int i = static_cast<int>(threadIdx.x); i < n_shared; i += n_pairs) {
        const std::int64_t g = g_first + i, degree = 2 * g - s;
        if constexpr (Even)
            shared.even[i] = degree >= 0 && g <= s && degree < degrees
                                 ? weights[degree] * tables.c[s - g] * tables.inverse[g]
                                 : 0;
        if constexpr (Odd)
            shared.odd[i] = degree + 1 >= 0 && g < s && degree + 1 < degrees
                                ? weights[degree + 1] * tables.k[s - 1 - g] * static_cast<double>(g + 1) *
                                      tables.inverse[g] / 2
                                : 0;
        const std::int64_t n_first = s - 2 * l_first - 2 * (n_pairs - 1) + j_first;
        for (int half = 0; half < 2; ++half) {
            const std::int64_t n = n_first + 2 * i + half;
            shared.c_of_n[half][i] = n >= 0 && n <= s ? tables.c[n] : 0;
        }
    }
    // j up to l, which is at most s / 2
    const std::int64_t j = j_first + threadIdx.x;
    shared.c_of_j[threadIdx.x] = j <= s ? tables.c[j] : 0;
}

/// Sums of the pairs l, l' = s - l, l = l_first + thread, over the terms that Shared has.
template <bool Even, bool Spin, bool Odd>
__device__ Sums sums_of(const Shared& shared, std::int64_t s, std::int64_t l, std::int64_t j_first) {
    const std::int64_t p = s - l;
    const double a = static_cast<double>(l * (l + 1)), b = static_cast<double>(p * (p + 1));
    const double sum_ab = a + b, twice_ab = 2 * a * b;
    const int back = n_pairs - 1 - static_cast<int>(threadIdx.x);
    double n = static_cast<double>(p - l + j_first);  // g - l
    double j = static_cast<double>(j_first);
    Sums sums;
#pragma unroll 4
    for (int term = 0; term < n_terms; ++term) {
        const double both = shared.c_of_j[term] * shared.c_of_n[term % 2][back + term / 2];
        const double degree = n + j;  // L of even l + l' + L
        const double x = degree * (degree + 1) - sum_ab;
        if constexpr (Even) {
            const double plain = shared.even[back + term] * both;
            sums.spin00 += plain;
            if constexpr (Spin) {
                const double y = x * (x + 2) - twice_ab, with_y = plain * y;
                sums.spin02 += with_y;
                sums.plus += with_y * y;
            }
        }
        if constexpr (Odd) {
            const double odd_x = x + 2 * degree + 4;  // x + 2 of L + 1
            const double both_k = both * ((2 * j + 1) * (2 * n + 1));
            sums.minus += shared.odd[back + term] * both_k * (odd_x * odd_x);
        }
        n += 1;
        j += 1;
    }
    return sums;
}

__device__ double of_kind(const Sums& sums, CouplingKind kind, std::int64_t l, std::int64_t p) {
    if (kind == CouplingKind::spin00) return sums.spin00;
    if (l < 2) return 0;
    const double a = static_cast<double>(l * (l + 1)), b = static_cast<double>(p * (p + 1));
    const double norm = a * b * (a - 2) * (b - 2);  // N^2
    if (kind == CouplingKind::spin02) return sums.spin02 / (2 * sqrt(norm));
    return kind == CouplingKind::plus ? sums.plus / (4 * norm) : sums.minus / norm;
}

/// A block for each diagonal and n_pairs of its pairs.
template <bool Even, bool Spin, bool Odd>
__global__ void __launch_bounds__(n_pairs)
    coupling_kernel(Tables tables, const double* weights, std::int64_t degrees, std::int64_t lmax,
                    std::int64_t s_first, Matrices matrices) {
    const std::int64_t s = s_first + blockIdx.x, l_end = s / 2 + 1;
    const std::int64_t l_first = (s > lmax ? s - lmax : 0) + static_cast<std::int64_t>(blockIdx.y) * n_pairs;
    if (l_first >= l_end) return;
    __shared__ Shared shared;
    const std::int64_t l = l_first + threadIdx.x;
    const std::int64_t l_last = l_first + n_pairs < l_end ? l_first + n_pairs - 1 : l_end - 1;
    Sums sums;
    for (std::int64_t j = 0; j <= l_last; j += n_terms) {
        if (s - 2 * l_last + 2 * j >= degrees) break;  // the least L that is left
        __syncthreads();
        fill<Even, Odd>(shared, tables, weights, degrees, s, l_first, j);
        __syncthreads();
        sums.add(sums_of<Even, Spin, Odd>(shared, s, l, j));
    }
    if (l > l_last) return;
    for (int k = 0; k < matrices.n_kinds; ++k)
        matrices.set(k, l, s - l, of_kind(sums, static_cast<CouplingKind>(matrices.kinds[k]), l, s - l));
}

struct Work {
    Tables tables;
    std::int64_t degrees, lmax;
    bool even = false, spin = false, odd = false;

    void launch(const double* weights, std::int64_t s, std::int64_t count, const Matrices& matrices) const {
        const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>((lmax / 2 + n_pairs) / n_pairs));
        const auto run = [&](auto* kernel) {
            kernel<<<grid, n_pairs>>>(tables, weights, degrees, lmax, s, matrices);
        };
        if (!even)
            run(coupling_kernel<false, false, true>);
        else if (!spin && !odd)
            run(coupling_kernel<true, false, false>);
        else if (!odd)
            run(coupling_kernel<true, true, false>);
        else
            run(coupling_kernel<true, true, true>);
        core::check_launch("summing a coupling matrix");
    }

    /// All diagonals, and asks in between, some hundredths of a second apart, whether to stop.
    void run(const double* weights, const Matrices& matrices) const {
        const double all = static_cast<double>(lmax) * static_cast<double>(lmax) * static_cast<double>(lmax);
        const std::int64_t n = 2 * lmax + 1, step = n / (1 + static_cast<std::int64_t>(all / 1e11)) + 1;
        const core::InterruptionPoll poll;
        for (std::int64_t s = 0; s < n; s += step) {
            launch(weights, s, std::min(step, n - s), matrices);
            core::check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "summing a coupling matrix");
            poll();
        }
    }
};

std::vector<double> inverse_of(const CouplingTables& tables) {
    std::vector<double> inverse;
    inverse.reserve(tables.c.size());
    for (std::size_t n = 0; n < tables.c.size(); ++n)
        inverse.push_back(1 / (static_cast<double>(2 * n + 1) * tables.c[n]));
    return inverse;
}

}  // namespace

void coupling_matrices_on_cuda(const CouplingTables& tables, const core::AlignedVector<double>& weights,
                               std::int64_t degrees, const std::vector<CouplingKind>& kinds,
                               const View<double, 4>& matrices, int device, int threads) {
    const core::CurrentDevice current(device);
    const bool is_there = matrices.space() == MemorySpace::cuda;
    core::require_place("matrices", matrices, device);
    const std::int64_t size = matrices.extent(2), of_mask = std::ssize(kinds) * size * size;
    if (!is_there && matrices[0].strides() != View<double, 3>(nullptr, matrices[0].extents()).strides())
        throw InvalidArgument("matrices", "are not row-major: must be so for a GPU, or in its memory");
    const core::DeviceArray<double> c(tables.c), k(tables.k), inverse(inverse_of(tables)), w(weights);
    std::vector<int> numbers;
    for (const auto kind : kinds) numbers.push_back(static_cast<int>(kind));
    const core::DeviceArray<int> kinds_there(numbers);
    core::DeviceArray<double> one;
    if (!is_there) one = core::DeviceArray<double>(of_mask);
    core::HostTransfer transfer(device, threads);

    Work work{.tables = {c.data(), k.data(), inverse.data()}, .degrees = degrees, .lmax = size - 1};
    for (const auto kind : kinds) {
        (kind == CouplingKind::minus ? work.odd : work.even) = true;
        work.spin = work.spin || kind == CouplingKind::spin02 || kind == CouplingKind::plus;
    }
    for (std::int64_t mask = 0; mask < matrices.extent(0); ++mask) {
        const auto to = is_there ? matrices[mask] : View<double, 3>(one.data(), matrices[mask].extents());
        work.run(w.data() + mask * degrees, {to.data(), kinds_there.data(), static_cast<int>(kinds.size()),
                                             to.stride(0), to.stride(1), to.stride(2)});
        if (is_there) continue;
        transfer.to_host(one.data(), matrices[mask].data(), of_mask * std::int64_t{sizeof(double)},
                         cudaStreamLegacy);
        core::check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "copying coupling matrices");
    }
}

}  // namespace zonal::coupling
