#pragma once

#include <memory>
#include <vector>

#include "zonal/planning/planner.hpp"

namespace zonal::split {

/// A map once it is convolved.
struct Convolved {
    /// Root of the variance above the request's lmax on pixels (spectra_on_pixels), over the map's own below.
    double beyond_lmax = 0;
    /// How much more white noise of the map's variance would leave (rms), at least 1: as much more do errors
    /// of arithmetic count, which are like noise, where the kernel leaves little of the map itself.
    double noise = 1;
    /// How many modes of equal variance it would take for its own.
    double modes = 1;
    /// Root of the map's own share of the variance on pixels.
    double own = 1;
    /// What white noise of the highest degree of spectra_on_pixels would leave, over the map's own (rms).
    double last_noise = 1;
};

/// Rings that sums over pixels read, and those that they fill.
struct SumGrids {
    const Grid &in, &out;
};

/// What the planner asks about the kernel of a request, be it for maps of spin 0 or for Q and U.
class PlannedKernel {
  public:
    virtual ~PlannedKernel() = default;

    virtual Convolved convolved() const = 0;
    /// support_for_error of the request's maps as pixels see them, of the map's own rms. map: convolved().
    virtual double support_for(double error, const Convolved& map) const = 0;
    /// Where the whole kernel ends.
    virtual double support() const = 0;
    /// What a cut takes from the kernel's window at its lowest degree, of that: the error of a map that has
    /// no other, and with it of one that hardly changes over the kernel. 0 where there is nothing but
    /// rounding.
    virtual double lost_by_cut(double theta_cut) const = 0;
    /// The largest of the kernel's values at each of these angles, 1/sr.
    virtual std::vector<double> values(const std::vector<double>& theta) const = 0;
    /// Of one map with the kernel up to theta_cut.
    virtual PixelConvolutionWork work(double theta_cut, const SumGrids& grids,
                                      const PixelConvolutionOptions& options) const = 0;
    virtual const ConvolutionCosts& costs(const DeviceCosts& device) const = 0;

    /// KernelSplitOptions::spin.
    virtual int spin() const = 0;
    /// Up to the request's lmax, of a kernel that can_be_split.
    virtual std::vector<double> window_to_split() const = 0;
    /// Of the request's maps, of all components; empty: white.
    virtual std::vector<double> spectrum() const = 0;
    /// As work, with the profile of a split in the kernel's place.
    virtual PixelConvolutionWork work_of_profile(const RadialKernel& profile, const SumGrids& grids,
                                                 const PixelConvolutionOptions& options) const = 0;
};

/// request: must outlive it.
std::unique_ptr<const PlannedKernel> planned_kernel(const ConvolutionRequest& request);

}  // namespace zonal::split
