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

/// Where and how the two parts of a split convolution are done.
struct SplitConvolutionOptions {
    Precision precision = Precision::double_;  ///< of the sum over pixels
    /// PixelConvolutionOptions::accuracy. Profiles of splits, splines of four continuous derivatives, do not
    /// converge much beyond 1e-8, where sums over pixels in the polar caps take the ring FFT's place: a
    /// hundredth of the error that is wanted does. 0: 1e-7.
    double accuracy = 0;
    int threads = 0;  ///< 0: available_cpus()
    /// Of the two parts; on different devices they work at the same time.
    Device pixel_device = Device::automatic();
    Device harmonic_device = Device::automatic();
};

/// Wall-clock seconds of the parts of one call, which overlap on different devices.
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
    struct Parts;
    std::unique_ptr<const Parts> parts_;
};

}  // namespace zonal
