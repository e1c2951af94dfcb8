#pragma once

#include <memory>
#include <mutex>
#include <span>
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
    /// points: the fewest that will do; n_in, n_out: the most coefficients
    CosineFft(std::int64_t n_in, std::int64_t n_out, std::int64_t points, ChebyshevConvention convention);

    std::int64_t points() const { return m_; }
    /// Returns the scratch memory that n_lines lines take.
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

/// Between coefficients of an axis and its values at Gauss points, as CosineTransform on the CPU, with dense
/// matrices on the device or by FFTs.
class CosineAxis {
  public:
    enum class Algorithm { dense, fft };

    /// points: the fewest that will do; n_in, n_out: numbers of coefficients
    CosineAxis(std::int64_t n_in, std::int64_t n_out, std::int64_t points, ChebyshevConvention convention,
               Algorithm algorithm);

    std::int64_t points() const { return fft_ ? fft_->points() : 2 * half_; }
    std::int64_t n_out() const { return n_out_; }
    /// Returns the scratch memory of a call, for this number of lines of all arrays.
    std::int64_t scratch_bytes(std::int64_t n_lines) const { return fft_ ? fft_->scratch_bytes(n_lines) : 0; }

    /// Coefficients to values, of as many arrays as there are; the arrays must not overlap.
    template <class R>
    void synthesize(std::span<const Plane<const R>> coefficients, std::span<const Plane<R>> values,
                    const AxisColumns& columns, void* scratch, cudaStream_t stream) const;
    /// values = weight * (those of one) * (those of the other)
    template <class R>
    void synthesize_product(const Plane<const R>& one, const Plane<const R>& other, double weight,
                            const Plane<R>& values, const AxisColumns& columns, void* scratch,
                            cudaStream_t stream) const;
    template <class R>
    void analyze(std::span<const Plane<const R>> values, std::span<const Plane<R>> coefficients,
                 const AxisColumns& columns, void* scratch, cudaStream_t stream) const;

  private:
    /// [2][rows][inner], even and odd k.
    struct Matrices {
        std::int64_t rows = 0, inner = 0;
        core::DeviceArray<double> entries;
    };
    static Matrices make_synthesis(std::int64_t n_in, std::int64_t half, double first);
    static Matrices make_analysis(std::int64_t n_out, std::int64_t half, double first);

    std::int64_t n_in_, n_out_, half_;
    Matrices synthesis_, analysis_;   ///< where dense
    std::unique_ptr<CosineFft> fft_;  ///< where not
};

/// Lets the kernels have the shared memory that they use; once, by a plan.
template <class R>
void prepare_cosine_kernels();

}  // namespace zonal::chebyshev::cuda
