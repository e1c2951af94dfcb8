#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/planning/planner.hpp"

namespace zonal {

/// Tells how far sums over HEALPix pixels are from the integrals that they stand for.
class PixelQuadrature {
  public:
    /// Takes the request's kernel and threads; its grid is not looked at. nside: from 1 to 2^29.
    PixelQuadrature(const ConvolutionRequest& request, std::int64_t nside);
    PixelQuadrature(const RadialKernel& kernel, std::int64_t nside, int threads);

    /// Returns by how much the kernel's core, summed over pixels, misses its integral, over the largest value
    /// of its window: the error of a constant map where it is worst, next to the poles. It is small for
    /// kernels as wide as a pixel. A narrower kernel has its peak on the centre of one pixel, where it is
    /// many times the integral, or misses all centres.
    double defect() const { return defect_; }
    /// Returns whether the defect is small enough (0.2) for a sum over the pixels to be a convolution at all.
    bool is_sum() const;
    /// Says that the kernel is too narrow, and what the defect is: for messages where is_sum() is false.
    std::string explanation() const;

    /// Measures the error of the convolved map, rms over its rms, on a random sky of these spectra
    /// ([component], l = 0 .. 3 nside - 1 at most; an empty one is white up to there). Q and U count
    /// together. Beyond nside 128 it measures on pixels of nside 128 with kernel and spectrum as much wider;
    /// the error is no smaller there, as the poles have a larger share of the sky. Kernels narrower than a
    /// pixel have at least the defect.
    double error(const std::vector<std::vector<double>>& spectra) const;

  private:
    double find_defect() const;

    ConvolutionRequest request_;  ///< of which only the kernel and the threads are used
    std::int64_t nside_;
    double defect_;
};

/// Returns what an iteration of the analysis of a HEALPix map leaves of its error, in (0, 1): 1/15, 1/8 and
/// 1/4.7 at lmax = 1.5, 2 and 2.5 nside.
double iteration_gain(std::int64_t lmax, std::int64_t nside);

/// Fills in the request's quadrature_error and iteration_gain where they are empty and the reference is
/// continuous. Throws InvalidArgument where the grid is not HEALPix: these are known for HEALPix alone.
ConvolutionRequest with_quadrature(ConvolutionRequest request);

}  // namespace zonal
