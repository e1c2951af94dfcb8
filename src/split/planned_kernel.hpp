#pragma once

#include <memory>
#include <vector>

#include "zonal/planner.hpp"

namespace zonal::split {

/// What the planner asks about the kernel of a request, be it for maps of spin 0 or for Q and U.
class PlannedKernel {
  public:
    virtual ~PlannedKernel() = default;

    /// Root of the variance that the convolved map has above the request's lmax, over what it has below; the
    /// map is taken to go on with its last C_l.
    virtual double beyond_lmax() const = 0;
    /// support_for_error of the request's maps.
    virtual double support_for(double error) const = 0;
    /// Where the whole kernel ends.
    virtual double support() const = 0;
    /// What a cut takes from the kernel's window at its lowest degree, of that: the error of a map that has
    /// no other, and with it of one that hardly changes over the kernel. 0 where there is nothing but
    /// rounding.
    virtual double lost_by_cut(double theta_cut) const = 0;
    /// The largest of the kernel's values at each of these angles, 1/sr.
    virtual std::vector<double> values(const std::vector<double>& theta) const = 0;
    /// Of one map with the kernel up to theta_cut.
    virtual PixelConvolutionWork work(double theta_cut, const PixelConvolutionOptions& options) const = 0;
    virtual const ConvolutionCosts& costs(const DeviceCosts& device) const = 0;

    /// KernelSplitOptions::spin.
    virtual int spin() const = 0;
    /// Up to the request's lmax, of a kernel that can_be_split.
    virtual std::vector<double> window_to_split() const = 0;
    /// Of the request's maps, of all components; empty: white.
    virtual std::vector<double> spectrum() const = 0;
    /// As work, with the profile of a split in the kernel's place.
    virtual PixelConvolutionWork work_of_profile(const RadialKernel& profile,
                                                 const PixelConvolutionOptions& options) const = 0;
};

/// request: must outlive it.
std::unique_ptr<const PlannedKernel> planned_kernel(const ConvolutionRequest& request);

}  // namespace zonal::split
