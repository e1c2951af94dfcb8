#pragma once

#include <mutex>
#include <vector>

#include "fft/fft_batch.cuh"
#include "points/sample_stage.hpp"
#include "sht/legendre/legendre_cuda.cuh"

/// The stages between F_m of equidistant rings and samples of the torus, as on the CPU (sample_stage.hpp):
/// two orders of opposite parity share a circle in theta, and cuFFT transforms many circles, or rows, at
/// once.
namespace zonal::points::cuda {

using sht::cuda::PairModes;

/// Where a field's samples lie: rows as SampleRows counts them, and columns with copies at both ends.
struct SampleLayout {
    std::int32_t n;               ///< samples of a circle
    std::int32_t border;          ///< copies at each end of a row
    std::int32_t first, n_rows;   ///< stored
    std::int32_t computed_first;  ///< of those that are no copies: 0 <= j <= n / 2
    std::int32_t n_computed;
    std::int64_t stride;  ///< doubles from row to row

    std::int64_t field_size() const { return n_rows * stride; }
    __device__ double* row(double* field, std::int64_t j) const { return field + (j - first) * stride; }
    __device__ const double* row(const double* field, std::int64_t j) const {
        return field + (j - first) * stride;
    }
};

/// What the kernels of circles read; device pointers.
struct CircleView {
    const double2* phase;   ///< [lmax + 1], as in SampleTables
    const double* factors;  ///< [order], 0 beyond mmax
    const std::int64_t *origin, *first_pair;
    std::int32_t lmax, mmax, n_rings, n;
    double sign;  ///< F_m(-theta) = sign F_m(theta) for even orders, and the opposite for odd ones
};

/// Scratch of the stages.
struct CircleScratch {
    core::DeviceArray<double2> circles, fine;  ///< `fine` holds the bins of rows, too
    core::DeviceArray<char> library;
};

/// What to_rows sums for PointErrors: weights of |c_k|^2, and of each order the two sums.
struct ErrorSums {
    const double *power, *alias;  ///< [lmax + 1]
    OrderErrors* of_orders;       ///< [2 n_pairs()]
};

/// The stage in theta.
class Circles {
  public:
    Circles(const SampleTables& tables, const sht::cuda::FourierLayout& fourier);

    /// Pairs of orders.
    std::int64_t n_pairs() const { return (view_.mmax + 2) / 2; }
    void fit(CircleScratch& scratch) const;

    /// Rows of F_m where their samples will be. sums: null, or what to find errors with.
    void to_rows(const PairModes* fourier, const SampleLayout& layout, double* field, const ErrorSums* sums,
                 const CircleScratch& scratch, cudaStream_t stream) const;
    /// The transpose.
    void from_rows(const double* field, const SampleLayout& layout, PairModes* fourier,
                   const CircleScratch& scratch, cudaStream_t stream) const;

  private:
    /// Zeros the circles after the last pair's, which would otherwise hold arbitrary numbers.
    void clear_rest(double2* circles, std::int64_t length, std::int64_t count, cudaStream_t stream) const;

    CircleView view_;
    core::DeviceArray<double2> phase_;
    core::DeviceArray<double> factors_;
    std::int64_t at_once_;
    fft::cuda::FftBatch rings_, fine_;
    mutable std::mutex library_mutex_;  ///< of the handles
};

/// The stage in phi, of the rows of one array, with their copies.
class Rows {
  public:
    /// sign: of a row beyond a pole, which is a copy of one on this side, half a turn away.
    Rows(const SampleLayout& layout, std::int64_t mmax, double sign);

    void fit(CircleScratch& scratch) const;
    /// In place: samples from F_m, and the copies of rows and columns.
    void to_samples(double* field, const CircleScratch& scratch, cudaStream_t stream) const;
    /// The transpose.
    void from_samples(double* field, const CircleScratch& scratch, cudaStream_t stream) const;

  private:
    /// Rows that are transformed together: at_once_ of them, or what is left at the end.
    struct Part {
        std::int64_t first, count;
    };
    /// Calls work(part, index of its transforms) for each part.
    template <class Work>
    void for_parts(const Work& work) const;
    /// Calls work(first row, rows) for the copies beyond each pole, one pole after the other: when they are
    /// folded, a row may get something from both.
    template <class Work>
    void for_poles(const Work& work) const;

    SampleLayout layout_;
    std::int64_t mmax_;
    double sign_;
    std::int64_t at_once_;
    std::vector<fft::cuda::FftBatch> to_values_, to_bins_;  ///< of at_once_ rows, and of the last ones
};

}  // namespace zonal::points::cuda
