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
    /// PixelConvolutionOptions::accuracy. Profiles of splits, splines of four continuous derivatives, do not
    /// converge much beyond 1e-8, where sums over pixels in the polar caps take the ring FFT's place: a
    /// hundredth of the error that is wanted does. 0: 1e-7.
    double accuracy = 0;
    int threads = 0;  ///< 0: available_cpus()
    /// Of the two parts, which work at the same time unless both are on the CPU, of which each takes all.
    Device pixel_device = Device::automatic();
    Device harmonic_device = Device::automatic();
};

/// Wall-clock seconds of the parts of one call, which overlap unless both are on the CPU.
struct SplitConvolutionSeconds {
    double pixels = 0, harmonic = 0;
};

/// Convolution of maps with a split kernel: the profile by sums over pixels (ring FFT), the window on the
/// quadrature alm up to l_cut, and both added. It stands for the sum over the map's pixels with the whole
/// kernel, within the split's errors. Immutable: any number of threads may use one plan at the same time.
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

    /// maps, convolved: [map, grid.n_pixels()], in host memory, last axis contiguous, not the same array.
    /// Pixels in no ring of the grid are left as they are. T: float or double. progress: of the sum over
    /// pixels. Throws InvalidArgument, Cancelled and DeviceError.
    template <class T>
    SplitConvolutionSeconds convolve(View<const T, 2> maps, View<T, 2> convolved,
                                     const Progress& progress = {}) const;

  private:
    std::unique_ptr<const split::ConvolutionParts<2>> parts_;
};

/// The same of maps of Q and U with a split of spin 2.
class PolarizationSplitConvolutionPlan {
  public:
    PolarizationSplitConvolutionPlan(const Grid& grid, const KernelSplit& split,
                                     const SplitConvolutionOptions& options = {});
    ~PolarizationSplitConvolutionPlan();
    PolarizationSplitConvolutionPlan(PolarizationSplitConvolutionPlan&&) noexcept;
    PolarizationSplitConvolutionPlan& operator=(PolarizationSplitConvolutionPlan&&) noexcept;

    const Grid& grid() const;
    const SplitConvolutionOptions& options() const;

    /// maps, convolved: [map, 2 (Q, U), grid.n_pixels()], conventions as PolarizationConvolutionPlan's, all
    /// else as SplitConvolutionPlan's.
    template <class T>
    SplitConvolutionSeconds convolve(View<const T, 3> maps, View<T, 3> convolved,
                                     const Progress& progress = {}) const;

  private:
    std::unique_ptr<const split::ConvolutionParts<3>> parts_;
};

}  // namespace zonal
