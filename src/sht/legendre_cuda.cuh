#pragma once

#include <memory>

#include "core/cuda.cuh"
#include "sht/legendre.hpp"

/// The Legendre stage on CUDA: between coefficients a_lm and the Fourier coefficients F_m(theta) of the ring
/// pairs, as on the CPU (legendre_cpu.cpp): Ishioka's recurrence for spin 0 and, through scalars, 1 and 2;
/// differences of Jacobi polynomials near the poles, the three-term recurrence near the equator and for s
/// > 2.
namespace zonal::sht::cuda {

/// F_m of a ring pair: re and im of each ring.
struct alignas(32) PairModes {
    double2 north, south;
};

/// log2 in two parts per entry (sht/ring_pairs.hpp).
struct LogView {
    const double *high, *low;
};

/// What the kernels read of a plan; device pointers.
struct LegendreView {
    std::int64_t lmax, mmax;
    int spin, components;
    /// [pair]
    const double *cos_theta, *cos2_theta, *h, *sin_theta;
    LogView log2_sin, log2_cos_half, log2_sin_half;
    /// [mmax + 1]
    LogView log2_scalar, log2_wigner;
    /// [mmax + 2]: order m has the Ishioka steps first_step[m] .. first_step[m+1], a multiple of step_group.
    const std::int64_t* first_step;
    /// [steps]
    const double* alpha;
    /// [mmax + 1]: F_m of pair p lies at fourier_origin[m] + p.
    const std::int64_t* fourier_origin;
};

/// One block's work: order m at the pairs [first, end). Adjoint: its sums start at `sums` (in doubles, per
/// field for Ishioka, per map for Jacobi).
struct LegendreJob {
    std::int32_t m, first, end;
    std::int64_t sums;
};

/// Jobs of one kind and, per order, where its jobs lie: jobs of order m are first_job[m] .. first_job[m+1].
struct JobList {
    core::DeviceArray<LegendreJob> jobs;        ///< longest first
    core::DeviceArray<std::int64_t> first_sum;  ///< [mmax + 1], where the order's first job's sums start
    core::DeviceArray<std::int32_t> n_tiles;    ///< [mmax + 1]
    std::int64_t n_sums = 0;                    ///< doubles per field of all jobs
};

/// Doubles per field that the adjoint's sums of a step (even re, im, odd re, im) and of a degree (re, im)
/// take.
inline constexpr int sums_per_step = 4;
inline constexpr int sums_per_degree = 2;
/// Steps and degrees come in whole groups.
inline constexpr int step_group = 8;
inline constexpr int degree_group = 16;

/// Ring pairs per thread, where the registers hold them beside the sums.
inline constexpr int ishioka_pairs = 4;
inline constexpr int ishioka_adjoint_pairs = 8;  ///< of one field

/// Ring pairs of a block of the Jacobi kernels, one per thread.
inline constexpr int jacobi_pairs = 64;

/// Where the F_m of a field's ring pairs lie: order by order, those of the pairs that an order reaches.
class FourierLayout {
  public:
    FourierLayout(const RingPairs& rings, std::int64_t mmax);

    /// Pairs that hold a ring: without those that fill up the last block.
    std::int64_t n_pairs() const { return n_pairs_; }
    /// The first pair that order m reaches, at most n_pairs().
    std::int64_t first_pair(std::int64_t m) const { return first_pair_[m]; }
    /// Entries of one field.
    std::int64_t size() const { return size_; }
    /// On the device, [mmax + 1]: F_m of pair p lies at origin[m] + p.
    const std::int64_t* origin() const { return device_origin_.data(); }
    const std::int64_t* first_pairs() const { return device_first_pair_.data(); }
    std::int64_t bytes() const { return device_origin_.bytes() + device_first_pair_.bytes(); }

  private:
    std::int64_t n_pairs_ = 0, size_ = 0;
    std::vector<std::int64_t> first_pair_;
    core::DeviceArray<std::int64_t> device_origin_, device_first_pair_;
};

/// A plan's tables on the device, and its work in blocks.
class LegendreStage {
  public:
    LegendreStage(const RingPairs& rings, const LegendreTable& table);

    const LegendreView& view() const { return view_; }
    const FourierLayout& layout() const { return layout_; }
    std::int64_t n_steps() const { return n_steps_; }
    std::int64_t bytes() const;
    const JobList& ishioka() const { return ishioka_; }
    const JobList& ishioka_adjoint() const { return ishioka_adjoint_; }
    const JobList& polar() const { return polar_; }
    const JobList& equatorial() const { return equatorial_; }

  private:
    FourierLayout layout_;
    std::int64_t n_steps_ = 0;
    core::DeviceArray<double> cos_theta_, cos2_theta_, h_, sin_theta_, alpha_;
    core::DeviceArray<double> logs_[10];
    core::DeviceArray<std::int64_t> first_step_;
    JobList ishioka_, ishioka_adjoint_, polar_, equatorial_;
    LegendreView view_{};
};

/// Scalar fields that one pass of Ishioka's recurrence serves at most.
inline constexpr int max_fields = 2;

/// coefficients: [step][2 + 4 n_fields], see write_steps; fourier: [n_fields] of layout().size() each, the
/// part of the Ishioka pairs overwritten. n_fields: 1 or 2.
void synthesize_ishioka(const LegendreStage& stage, const double* coefficients, int n_fields,
                        PairModes* fourier, cudaStream_t stream);

/// recurrence: [step][2], see write_recurrence. sums: [job][step][4 n_fields], overwritten.
void adjoint_ishioka(const LegendreStage& stage, const double* recurrence, int n_fields,
                     const PairModes* fourier, double* sums, cudaStream_t stream);

/// A map's coefficients as the Jacobi kernels read them: component c at alm[c], null where it is zero.
template <class T>
struct AlmPointers {
    const T* alm[2];  ///< complex: re, im
};

/// fourier: [components] of layout().size() each; the parts of the polar and the equatorial pairs
/// overwritten.
template <class T>
void synthesize_jacobi(const LegendreStage& stage, AlmPointers<T> alm, PairModes* fourier,
                       cudaStream_t stream);

/// polar, equatorial: [job][degree][2 components], overwritten.
void adjoint_jacobi(const LegendreStage& stage, const PairModes* fourier, double* polar, double* equatorial,
                    cudaStream_t stream);

}  // namespace zonal::sht::cuda
