#pragma once

#include <memory>
#include <vector>

#include "zonal/planning/planner.hpp"

namespace zonal::split {

/// Rings that sums over pixels read, and those that they fill.
struct SumGrids {
    const Grid &in, &out;
};

/// What the planner asks about the kernel of a request, be it for maps of spin 0 or for Q and U.
class PlannedKernel {
  public:
    virtual ~PlannedKernel() = default;

    /// Where the whole kernel ends.
    virtual double support() const = 0;
    /// The largest of the kernel's values at each of these angles, 1/sr.
    virtual std::vector<double> values(const std::vector<double>& theta) const = 0;
    /// The work for one map with the kernel up to theta_cut.
    virtual PixelConvolutionWork work(double theta_cut, const SumGrids& grids,
                                      const PixelConvolutionOptions& options) const = 0;
    virtual const ConvolutionCosts& costs(const DeviceCosts& device) const = 0;

    /// KernelSplitOptions::spin.
    virtual int spin() const = 0;
    /// Up to the request's lmax, of a kernel that can_be_split.
    virtual std::vector<double> window_to_split() const = 0;
    /// As work, with the profile of a split in the kernel's place.
    virtual PixelConvolutionWork work_of_profile(const RadialKernel& profile, const SumGrids& grids,
                                                 const PixelConvolutionOptions& options) const = 0;
};

/// request: must outlive it.
std::unique_ptr<const PlannedKernel> planned_kernel(const ConvolutionRequest& request);

}  // namespace zonal::split
