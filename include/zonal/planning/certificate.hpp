#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "zonal/analysis.hpp"
#include "zonal/grid.hpp"
#include "zonal/kernel.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/planning/error_bound.hpp"
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
    /// Returns an angle where beyond() is at most `norm`, about the smallest, or the end of the kernel's
    /// profile. Throws InvalidArgument unless norm > 0.
    double support_for(double norm) const;
    /// Returns a bound of N for errors of the profile's values of up to `accuracy` of the peak: so a table of
    /// the profile errs, which drops what is below a hundredth of that from some angle on.
    double table(double accuracy) const;
    /// Returns the largest |K|, 1/sr.
    double peak() const;
    /// Returns a lower bound, perhaps 0, of the row sums of a kernel that is not negative.
    double least_row_sum() const;
    /// Returns about what the kernel leaves of white noise, rms over rms.
    double gain_of_noise() const;
    /// Returns how many pixels the kernel's peak would take to make up whole(): about those in its beam.
    double pixels_in_beam() const;

  private:
    struct Samples;
    std::shared_ptr<const Samples> samples_;
};

/// Returns a bound of the largest eigenvalue of S^T W S up to lmax, of spin 0 or 2, in the grid's weights: of
/// the square of how much synthesis may raise the norm of alm, and of how much quadrature and then synthesis
/// may raise the rms of a map. 1 where the quadrature is exact, never less.
double largest_eigenvalue(const Grid& grid, std::int64_t lmax);

/// Returns a lower bound of the smallest eigenvalue of S^T W S up to lmax: |a - a_k| <= |S^T W (f - S a_k)|
/// over it, a the least-squares alm of the map f. 0 where there is none: HEALPix's falls to 0 with growing
/// nside from lmax = 2.45 nside on, so that no residual tells how far an analysis has converged.
double smallest_eigenvalue(const Grid& grid, std::int64_t lmax);

/// Returns the largest lmax with a smallest_eigenvalue above 0; -1 where there is none.
std::int64_t certifiable_lmax(const Grid& grid);

/// Returns a bound of what the iterations of an analysis have left: rms(S (a - a_k)) over rms(f), a the
/// least-squares alm up to lmax of the map f and a_k those that it ended with. A window's largest value
/// multiplies it for the map convolved. Infinite above certifiable_lmax. weight: the largest of the ring or
/// pixel weights that the analysis had. report: of whatever analysis ended, with few iterations or many.
double analysis_norm(const Grid& grid, std::int64_t lmax, const AnalysisReport& report, double weight = 1);

/// Returns the same before the map is known, for Jacobi iterations without weights: what they leave of any
/// map.
double analysis_norm(const Grid& grid, std::int64_t lmax, int iterations);

/// Returns a bound of N of analysis by quadrature, multiplication of the alm by these values and synthesis.
/// difference: [component][l], from l = 0 on, all that is not zero.
double window_norm(const Grid& grid, const std::vector<std::vector<double>>& difference);

/// Returns the bounds for a choice of plan_convolution, or one made by hand, from the request's reference:
/// infinite where there is no bound. The input is the map times ring weights, pixel weights and mask, or the
/// counts. Renormalised maps: over pixels that are neither hidden in the result nor in the reference.
/// Continuous reference: of sums over pixels `quadrature` is infinite, as it depends on the map; in harmonic
/// space it is what the choice's tolerance or iterations leave of any map.
ErrorBound bound_of(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                    const ConvolutionOptions& options = {});

/// Returns the bounds of harmonic space once its analysis has ended. weight: the largest of the ring or pixel
/// weights that it had.
ErrorBound bound_of(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                    const ConvolutionOptions& options, const AnalysisReport& report, double weight = 1);

/// Returns about the gain that white noise has, a little less: what to plan by before a map is known. Of
/// counts and renormalised maps it is 1 at most.
double gain_of_noise(const ConvolutionRequest& request, const ConvolutionOptions& options = {});

/// Returns the degree up to which harmonic space serves the continuous reference with a certified error: what
/// the grid certifies and the kernel has, and no further than to where its window has fallen below a tenth of
/// the request's error, of its largest value. The request's lmax plays no part.
std::int64_t certified_lmax(const ConvolutionRequest& request);

/// Returns the gain to plan by where masks are renormalised or counts kept: the bounds of the sums grow by
/// what their denominators may be, and the gain is as much smaller. gain: of the result, rms over the rms of
/// what goes in.
double effective_gain(const ConvolutionRequest& request, const ConvolutionOptions& options, double gain);

}  // namespace zonal
