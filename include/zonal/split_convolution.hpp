#pragma once

#include <cstdint>
#include <memory>

#include "zonal/convolution.hpp"
#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/progress.hpp"
#include "zonal/split.hpp"
#include "zonal/view.hpp"

namespace zonal {

namespace split {
template <int Rank>
struct ConvolutionParts;
}

/// Where and how the two parts of a split convolution are done.
struct SplitConvolutionOptions {
    Precision precision = Precision::double_;  ///< of the sum over pixels
    /// This is PixelConvolutionOptions::accuracy; 0 for 1e-7. A hundredth of the error that you want will do.
    /// The profile is a spline of four continuous derivatives and its modes do not converge much beyond 1e-8;
    /// there the ring FFT would leave the polar caps to sums over pixels.
    double accuracy = 0;
    int threads = 0;  ///< 0: available_cpus()
    /// Devices of the two parts. These work at the same time, unless both are on the CPU.
    Device pixel_device = Device::automatic();
    Device harmonic_device = Device::automatic();
};

/// Wall-clock seconds of the parts of one call, which overlap unless both are on the CPU.
struct SplitConvolutionSeconds {
    double pixels = 0, harmonic = 0;
};

/// Convolves maps with a split kernel: it applies the profile by sums over pixels (ring FFT) and the window
/// to the quadrature alm up to l_cut, and adds both. The result is the sum over the map's pixels with the
/// whole kernel, within the split's errors. A plan is immutable, and many threads may use it at the same
/// time.
class SplitConvolutionPlan {
  public:
    /// grid: of input and output, with its weights. Throws InvalidArgument and BackendUnavailable.
    SplitConvolutionPlan(const Grid& grid, const KernelSplit& split,
                         const SplitConvolutionOptions& options = {});
    ~SplitConvolutionPlan();
    SplitConvolutionPlan(SplitConvolutionPlan&&) noexcept;
    SplitConvolutionPlan& operator=(SplitConvolutionPlan&&) noexcept;

    const Grid& grid() const;
    /// With accuracy, threads and devices resolved.
    const SplitConvolutionOptions& options() const;

    /// Convolves maps. maps, convolved: [map, grid.n_pixels()], in host memory, last axis contiguous, not the
    /// same array; T: float or double. Pixels in no ring of the grid are left as they are. progress: of the
    /// sum over pixels. Throws InvalidArgument, Cancelled and DeviceError.
    template <class T>
    SplitConvolutionSeconds convolve(View<const T, 2> maps, View<T, 2> convolved,
                                     const Progress& progress = {}) const;

  private:
    std::unique_ptr<const split::ConvolutionParts<2>> parts_;
};

/// Convolves maps of Q and U in the same way, with a split of spin 2.
class PolarizationSplitConvolutionPlan {
  public:
    PolarizationSplitConvolutionPlan(const Grid& grid, const KernelSplit& split,
                                     const SplitConvolutionOptions& options = {});
    ~PolarizationSplitConvolutionPlan();
    PolarizationSplitConvolutionPlan(PolarizationSplitConvolutionPlan&&) noexcept;
    PolarizationSplitConvolutionPlan& operator=(PolarizationSplitConvolutionPlan&&) noexcept;

    const Grid& grid() const;
    const SplitConvolutionOptions& options() const;

    /// Convolves maps. maps, convolved: [map, 2 (Q, U), grid.n_pixels()], with the conventions of
    /// PolarizationConvolutionPlan and all else as in SplitConvolutionPlan.
    template <class T>
    SplitConvolutionSeconds convolve(View<const T, 3> maps, View<T, 3> convolved,
                                     const Progress& progress = {}) const;

  private:
    std::unique_ptr<const split::ConvolutionParts<3>> parts_;
};

}  // namespace zonal
