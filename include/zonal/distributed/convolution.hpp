#pragma once

#include <memory>

#include "zonal/convolution.hpp"
#include "zonal/distributed/sky.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/progress.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// Convolves maps whose pixels the ranks of a job have in parts: a KernelConvolutionPlan of the whole sky.
/// Every rank sums over the pixels within the kernel's support of its own, for which others send it theirs:
/// between the memories of GPUs where each rank computes on one of its own, NCCL is there, and all maps are
/// on them; otherwise through host memory. A GPU sums rings from which the kernel reaches no other rank's
/// pixels while those of others are on their way.
///
/// If all ranks are on CPUs, results are those of one process to rounding and, of ring_fft with a kernel that
/// ends without a step, bit for bit. With ranks on GPUs they are the same to the accuracy of the options. It
/// keeps its scratch memory between calls, and takes one call at a time. Kernel: RadialKernel or
/// PolarizationKernel.
template <class Kernel>
class DistributedConvolutionPlan {
  public:
    /// The axes of an array of maps, as KernelConvolutionPlan has them.
    static constexpr int rank = KernelConvolutionPlan<Kernel>::rank;

    /// Collective: all ranks make it, with the same kernel, method, precision and accuracy. Threads and
    /// device are the sky's, whatever the options say; options.devices must be empty. Throws InvalidArgument,
    /// BackendUnavailable and OutOfDeviceMemory on all ranks.
    DistributedConvolutionPlan(const DistributedSky& sky, const Kernel& kernel,
                               const PixelConvolutionOptions& options = {});
    ~DistributedConvolutionPlan();
    DistributedConvolutionPlan(DistributedConvolutionPlan&&) noexcept;
    DistributedConvolutionPlan& operator=(DistributedConvolutionPlan&&) noexcept;

    const DistributedSky& sky() const;
    /// With this rank's threads and device.
    const PixelConvolutionOptions& options() const;

    /// Collective. maps: [map, (Q and U,) sky().grid().n_pixels()], of this rank's pixels; convolved: the
    /// same, last axis contiguous, not overlapping; in host memory or in that of the rank's GPU, where maps
    /// must be ready, or be written by work on the default stream. Returns when all is done. The number of
    /// maps and T, float or double, are the same on all ranks. An error on one rank is thrown on all of them:
    /// InvalidArgument, Cancelled, DeviceError and CommunicationError.
    template <class T>
    void convolve(ConstView<T, rank> maps, View<T, rank> convolved, const Progress& progress = {});

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

using DistributedPixelConvolutionPlan = DistributedConvolutionPlan<RadialKernel>;
using DistributedPolarizationConvolutionPlan = DistributedConvolutionPlan<PolarizationKernel>;

}  // namespace zonal
