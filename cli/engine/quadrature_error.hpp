#pragma once

#include <cstdint>
#include <vector>

#include "zonal/planner.hpp"

namespace zonal::cli {

/// How far sums over HEALPix pixels are from the integrals that they stand for.
class PixelQuadrature {
  public:
    /// Of the request's kernel, whatever its grid.
    PixelQuadrature(const ConvolutionRequest& request, std::int64_t nside);
    PixelQuadrature(const RadialKernel& kernel, std::int64_t nside, int threads);

    /// By how much the sum of the kernel's core over pixels is not its integral, over the largest value of
    /// its window: what a constant map is wrong by, at worst, next to the poles. Small for kernels as wide as
    /// a pixel; narrower ones stand on the centre of one pixel with their peak, many times their integral, or
    /// miss all centres.
    double defect() const { return defect_; }
    /// Whether the defect leaves something of a convolution to sums over the pixels.
    bool is_sum() const;

    /// Of the result, rms over its rms: measured on a random sky of these spectra ([component], white up to 3
    /// nside - 1 where they are empty), of Q and U together. Beyond nside 128 on pixels of nside 128 with
    /// kernel and spectrum as much wider, which has no smaller error, as the poles' share of the sky is
    /// larger there. Of kernels narrower than a pixel, whose error is not that of degrees, at least the
    /// defect.
    double error(const std::vector<std::vector<double>>& spectra) const;

  private:
    double find_defect() const;

    ConvolutionRequest request_;  ///< of which only the kernel and the threads are used
    std::int64_t nside_;
    double defect_;
};

}  // namespace zonal::cli
