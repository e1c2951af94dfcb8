#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "fft/complex.cuh"

namespace zonal::fft::cuda {

/// A batch of cuFFT's transforms of one length, which does not own its work area: calls bring one. A call
/// sets the plan's stream and work area, so that calls of several threads need a lock around them.
class FftBatch {
  public:
    /// Between rows of input_row and of output_row values each.
    FftBatch(std::int64_t length, std::int64_t n_rows, cufftType type, std::int64_t input_row,
             std::int64_t output_row);
    ~FftBatch();
    FftBatch(FftBatch&& other) noexcept
        : plan_(std::exchange(other.plan_, no_plan)),
          work_bytes_(other.work_bytes_),
          to_clear_(other.to_clear_) {}
    FftBatch& operator=(FftBatch&&) = delete;

    /// Bytes of the work area.
    std::size_t work_bytes() const { return work_bytes_; }

    /// Complex to complex, in place, not normalised. direction: CUFFT_FORWARD or CUFFT_INVERSE
    void transform(float2* rows, int direction, void* work, cudaStream_t stream) const;
    void transform(double2* rows, int direction, void* work, cudaStream_t stream) const;
    /// Between real rows and their bins 0 .. length / 2; `values` and `bins` do not overlap. to_values
    /// overwrites the bins.
    void to_bins(float* values, float2* bins, void* work, cudaStream_t stream) const;
    void to_bins(double* values, double2* bins, void* work, cudaStream_t stream) const;
    void to_values(float2* bins, float* values, void* work, cudaStream_t stream) const;
    void to_values(double2* bins, double* values, void* work, cudaStream_t stream) const;

  private:
    static constexpr cufftHandle no_plan = -1;
    cufftHandle prepared(void* work, cudaStream_t stream) const;

    cufftHandle plan_ = no_plan;
    std::size_t work_bytes_ = 0;
    std::int64_t to_clear_;  ///< bins: cuFFT leaves their imaginary parts as they were where length is 1
};

/// cuFFT's names for transforms in precision R.
template <class R>
inline constexpr cufftType complex_to_complex = sizeof(R) == sizeof(float) ? CUFFT_C2C : CUFFT_Z2Z;
template <class R>
inline constexpr cufftType real_to_complex = sizeof(R) == sizeof(float) ? CUFFT_R2C : CUFFT_D2Z;
template <class R>
inline constexpr cufftType complex_to_real = sizeof(R) == sizeof(float) ? CUFFT_C2R : CUFFT_Z2D;

}  // namespace zonal::fft::cuda
