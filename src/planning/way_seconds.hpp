#pragma once

#include <cstdint>

#include "planning/planned_kernel.hpp"
#include "sky/sky_part.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal::planning {

/// Predicted seconds of a way.
struct WaySeconds {
    double all = 0;
    double exchange = 0;  ///< of all: in which a rank waits for messages
};

/// What messages add to a stage that works on one of n_chunks while the one before is on its way. stage,
/// exchange: of all chunks, s.
double exposed_seconds(double stage, double exchange, std::int64_t n_chunks);

/// Predicts the seconds of ways by their costs: in one process or, for maps in parts, on this rank. Where the
/// method is given, and costs only order the cuts and precisions that it may take, a job plans as one process
/// does by the costs of the first rank, so that it finds the same bits.
class WayPredictor {
  public:
    /// Collective. All must outlive it.
    WayPredictor(const ConvolutionRequest& request, const split::PlannedKernel& kernel, const SkyPart& part);

    /// Predicts harmonic space for all maps, with `iterations` of the analysis and the window up to lmax.
    WaySeconds harmonic(const DeviceCosts& device, std::int64_t lmax, int iterations) const;
    /// Predicts sums over pixels with the kernel up to `support`.
    WaySeconds sums(const DeviceCosts& device, double support, const PixelConvolutionOptions& options) const;
    /// Predicts sums over pixels with the profile of a split, or one that ends as softly.
    WaySeconds sums_of_profile(const DeviceCosts& device, const RadialKernel& profile,
                               const PixelConvolutionOptions& options) const;
    /// Collective. What all ranks plan by: what the slowest takes.
    WaySeconds slowest(const WaySeconds& here) const;

  private:
    template <class Work>
    WaySeconds of_pixels(double support, const PixelCost& cost, const Work& work_on) const;

    const ConvolutionRequest& request_;
    const split::PlannedKernel& kernel_;
    const SkyPart& ranks_;
    const bool chooses_method_;
    const WholeSky whole_;
    const SkyPart& part_;  ///< that ways are predicted for
    MessageCosts messages_;
};

}  // namespace zonal::planning
