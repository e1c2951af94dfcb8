#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "zonal/grid.hpp"
#include "zonal/kernel.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/planning/planner.hpp"
#include "zonal/polarization_convolution.hpp"

// Bounds of errors that hold for every map. A way of convolving applies K + dK in place of K, so that
//   rms(error) <= N(dK) rms(f) + rounding,   N(dK) = sup_f rms(dK f) / rms(f),
// whatever the map f is. rms: over the pixels, weighted with the grid's weights (on HEALPix: not weighted).
// docs/decisions/certificate.md has the proofs, the tables and how tight they are.

namespace zonal {

/// Bounds of N for a kernel and for parts of its profile, summed over the pixels of a grid. By Schur's test N
/// is at most the largest row sum, sum_p' w(p') |K(theta(p, p'))|. The bounds hold where the sums' input is
/// f: a map times ring weights, pixel weights or a mask is the f of these bounds. Immutable; copies share.
class KernelNorms {
  public:
    /// Samples the kernel: some thousand values of its profile.
    KernelNorms(const Grid& grid, const RadialKernel& kernel);
    /// Of P = Q + iU: the row sums of |K+| + |K-|.
    KernelNorms(const Grid& grid, const PolarizationKernel& kernel);

    /// Returns a bound of N of the whole kernel.
    double whole() const;
    /// Returns a bound of N of the profile beyond theta (rad, 0 to pi): what a cut there leaves out.
    double beyond(double theta) const;
    /// Returns the same for the profile from `first` to `last`, rad.
    double between(double first, double last) const;
    /// Returns a bound of N of scale K[up to theta] - K: a cut, and a scale that gives the integral back.
    double cut(double theta, double scale = 1) const;
    /// Returns the smallest angle (to 1e-3 of itself) where beyond() is at most `norm`, or the end of the
    /// kernel's profile. Throws InvalidArgument unless norm > 0.
    double support_for(double norm) const;
    /// Returns a bound of N for errors of the profile's values of up to `accuracy` of the peak: so a table of
    /// the profile errs, which drops what is below a hundredth of that from some angle on.
    double table(double accuracy) const;
    /// Returns the largest |K|, 1/sr.
    double peak() const;

  private:
    struct Samples;
    std::shared_ptr<const Samples> samples_;
};

}  // namespace zonal
