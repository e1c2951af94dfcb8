#pragma once

#include <span>

#include "chebyshev/planes_cuda.cuh"
#include "core/cuda.cuh"

namespace zonal::chebyshev::cuda {

/// The columns of arrays along one axis.
struct AxisColumns {
    int dimensions, axis;
    std::array<std::int64_t, 3> extents;  ///< of the arrays; the axis's own plays no part
    std::int64_t n_batch;
};

/// Between coefficients of an axis and its values at 2 half Gauss points, as CosineTransform on the CPU, with
/// dense matrices on the device.
class CosineAxis {
  public:
    /// points: at least so many; n_in, n_out: coefficients
    CosineAxis(std::int64_t n_in, std::int64_t n_out, std::int64_t points, ChebyshevConvention convention);

    std::int64_t points() const { return 2 * half_; }
    std::int64_t n_in() const { return n_in_; }
    std::int64_t n_out() const { return n_out_; }

    /// Coefficients to values, of as many arrays as there are; the arrays must not overlap.
    template <class R>
    void synthesize(std::span<const Plane<const R>> coefficients, std::span<const Plane<R>> values,
                    const AxisColumns& columns, cudaStream_t stream) const;
    /// values = weight * (those of one) * (those of the other)
    template <class R>
    void synthesize_product(const Plane<const R>& one, const Plane<const R>& other, double weight,
                            const Plane<R>& values, const AxisColumns& columns, cudaStream_t stream) const;
    template <class R>
    void analyze(std::span<const Plane<const R>> values, std::span<const Plane<R>> coefficients,
                 const AxisColumns& columns, cudaStream_t stream) const;

  private:
    /// [2][rows][inner], even and odd k.
    struct Matrices {
        std::int64_t rows, inner;
        core::DeviceArray<double> entries;
    };
    static Matrices make_synthesis(std::int64_t n_in, std::int64_t half, double first);
    static Matrices make_analysis(std::int64_t n_out, std::int64_t half, double first);

    std::int64_t n_in_, n_out_, half_;
    Matrices synthesis_, analysis_;
};

/// Lets the kernels have the shared memory that they use; once, by a plan.
template <class R>
void prepare_cosine_kernels();

}  // namespace zonal::chebyshev::cuda
