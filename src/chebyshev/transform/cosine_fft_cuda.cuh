#pragma once

#include <mutex>
#include <vector>

#include "chebyshev/transform/cosine_launch.cuh"
#include "fft/fft_batch.cuh"
#include "zonal/chebyshev.hpp"

namespace zonal::chebyshev::cuda {

/// Between coefficients of an axis and its values at Gauss points, as CosineTransform::Algorithm::fft on the
/// CPU, by cuFFT: two lines at once, in double. Values are in the order x_0, x_2, .., x_3, x_1, which both
/// ways of the transform and products of values share.
class CosineFft {
  public:
    /// points: at least so many; n_in, n_out: coefficients, at most so many
    CosineFft(std::int64_t n_in, std::int64_t n_out, std::int64_t points, ChebyshevConvention convention);

    std::int64_t points() const { return m_; }
    /// Scratch memory for so many lines.
    std::int64_t scratch_bytes(std::int64_t n_lines) const;

    /// launch: arrays of coefficients to as many of values, or (`multiplies`) two of them to weight times
    /// their product
    template <class R>
    void synthesize(const AxisLaunch<R>& launch, bool multiplies, void* scratch, cudaStream_t stream) const;
    template <class R>
    void analyze(const AxisLaunch<R>& launch, void* scratch, cudaStream_t stream) const;

  private:
    /// Transforms of 2^k lines' pairs, for k = 0, 1, ..: any number of them is a few calls.
    struct Batch {
        std::int64_t count;
        fft::cuda::FftBatch transform;
    };
    void transform(double2* lines, std::int64_t count, int direction, void* library,
                   cudaStream_t stream) const;
    std::int64_t most_pairs() const { return batches_.front().count; }
    template <class Work>
    void for_parts(std::int64_t n_pairs, void* scratch, const Work& work) const;

    std::int64_t n_in_, n_out_, m_;
    double first_in_, first_out_;  ///< weights of a_0 and c_0
    std::vector<Batch> batches_;   ///< the largest first
    std::size_t library_bytes_ = 0;
    mutable std::mutex mutex_;  ///< a cuFFT plan's stream and work area are its state
};

}  // namespace zonal::chebyshev::cuda
