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

class SkyPart;

/// Where and how the two parts of a split convolution are done.
struct SplitConvolutionOptions {
    Precision precision = Precision::float64;  ///< of the sum over pixels
    /// This is PixelConvolutionOptions::accuracy; 0 for 1e-7. A hundredth of the error that you want will do.
    /// The profile is a spline of four continuous derivatives and its modes do not converge much beyond 1e-8;
    /// there the ring FFT would leave the polar caps to sums over pixels.
    double accuracy = 0;
    int threads = 0;  ///< 0: available_cpus()
    /// Devices of the two parts. These work at the same time, unless both are on the CPU. A rank's part has a
    /// device of its own, on which they work one after the other.
    Device pixel_device = Device::automatic();
    Device harmonic_device = Device::automatic();
    /// A rank's part of the sky, whose grid the plan is made for: calls are then collective.
    std::shared_ptr<const SkyPart> part = nullptr;
};

/// Wall-clock seconds of the parts of one call, which overlap where the parts work at the same time.
struct SplitConvolutionSeconds {
    double pixels = 0, harmonic = 0;
};

/// Convolves maps with a split kernel: it applies the profile by sums over pixels (ring FFT) and the window
/// to the quadrature alm up to l_cut, and adds both. The result is the sum over the map's pixels with the
/// whole kernel, within the split's errors. A plan is immutable, and many threads may use it at the same
/// time. Rank: 2 for maps of one field, [map, pixel], 3 for maps of Q and U, [map, 2, pixel], with a split of
/// spin 2.
template <int Rank>
class BasicSplitConvolutionPlan {
  public:
    /// grid: of input and output, with its weights. Throws InvalidArgument and BackendUnavailable.
    BasicSplitConvolutionPlan(const Grid& grid, const KernelSplit& split,
                              const SplitConvolutionOptions& options = {});
    ~BasicSplitConvolutionPlan();
    BasicSplitConvolutionPlan(BasicSplitConvolutionPlan&&) noexcept;
    BasicSplitConvolutionPlan& operator=(BasicSplitConvolutionPlan&&) noexcept;

    const Grid& grid() const;
    /// With accuracy, threads and devices resolved.
    const SplitConvolutionOptions& options() const;

    /// Convolves maps. maps, convolved: [map, (Q and U,) grid.n_pixels()], in host memory, last axis
    /// contiguous, not the same array; T: float or double; conventions as KernelConvolutionPlan's. Pixels in
    /// no ring of the grid are left as they are. progress: of the sum over pixels. Throws InvalidArgument,
    /// Cancelled and DeviceError.
    template <class T>
    SplitConvolutionSeconds convolve(ConstView<T, Rank> maps, View<T, Rank> convolved,
                                     const Progress& progress = {}) const;
    /// The memory of the host that this takes beside its arrays, in double precision.
    double scratch_bytes(std::int64_t n_maps) const;

  private:
    struct Implementation;
    std::unique_ptr<const Implementation> implementation_;
};

using SplitConvolutionPlan = BasicSplitConvolutionPlan<2>;
using PolarizationSplitConvolutionPlan = BasicSplitConvolutionPlan<3>;

}  // namespace zonal
