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

// Bounds of errors that hold for every map. A convolution in practice applies K + dK in place of K, so that
//   rms(error) <= N(dK) rms(f) + rounding,   N(dK) = sup_f rms(dK f) / rms(f),
// whatever the map f is. rms: over the pixels, weighted with the grid's weights (on HEALPix: not weighted).
// docs/decisions/certificate.md has the proofs, the tables and how tight they are.

namespace zonal {

/// Bounds of N for a kernel and for parts of its profile, summed over the pixels of a grid. By Schur's test N
/// is at most the largest row sum, sum_p' w(p') |K(theta(p, p'))|. f is what goes into the sums: the map
/// times its ring weights, pixel weights or mask. Immutable; copies share their data.
class KernelNorms {
  public:
    /// Samples some thousand values of the kernel's profile.
    KernelNorms(const Grid& grid, const RadialKernel& kernel);
    /// Does the same for P = Q + iU, with the row sums of |K+| + |K-|.
    KernelNorms(const Grid& grid, const PolarizationKernel& kernel);

    /// Returns a bound of N of the whole kernel.
    double whole() const;
    /// Returns a bound of N of the profile beyond theta (rad, 0 to pi): what a cut there leaves out.
    double beyond(double theta) const;
    /// Returns the same for the profile from `first` to `last`, rad.
    double between(double first, double last) const;
    /// Returns a bound of N of scale K[up to theta] - K: the kernel is cut, and scaled to restore its
    /// integral.
    double cut(double theta, double scale = 1) const;
    /// Returns about the smallest angle where beyond() is at most `norm`, or the end of the kernel's profile.
    /// Throws InvalidArgument unless norm > 0.
    double support_for(double norm) const;
    /// Returns a bound of N for errors of the profile's values of up to `accuracy` times the peak. A table of
    /// the profile has such errors; from some angle on it drops what is below a hundredth of them.
    double table(double accuracy) const;
    /// Returns a bound of N for errors of the profile that are about these values (1/sr) at these ascending
    /// angles (rad), and nothing beyond the last.
    double errors(const std::vector<double>& theta, const std::vector<double>& error) const;
    /// Returns the largest |K|, 1/sr.
    double peak() const;
    /// Returns a lower bound, perhaps 0, of the absolute value of every sum_p' w(p') K(theta(p, p')).
    double least_row_sum() const;
    /// Returns about how much the kernel leaves of white noise, rms over rms.
    double gain_of_noise() const;
    /// Returns whole() over the row sum of one pixel with the peak's value: about the pixels in the beam.
    double pixels_in_beam() const;

  private:
    struct Samples;
    std::shared_ptr<const Samples> samples_;
};

/// Returns a bound of the largest eigenvalue of S^T W S up to lmax, with the grid's weights, for spin 0
/// and 2. It is the square of the factor by which synthesis may raise the norm of alm, and the factor by
/// which quadrature and then synthesis may raise the rms of a map. 1 where the quadrature is exact, never
/// less.
double largest_eigenvalue(const Grid& grid, std::int64_t lmax);

/// Returns a lower bound s of the smallest eigenvalue of S^T W S up to lmax: with a the least-squares alm of
/// the map f, |a - a_k| <= |S^T W (f - S a_k)| / s. 0 where there is no such bound: on HEALPix the eigenvalue
/// falls to 0 with growing nside from lmax = 2.45 nside on, so that no residual tells how far an analysis has
/// converged.
double smallest_eigenvalue(const Grid& grid, std::int64_t lmax);

/// Returns the largest lmax with a smallest_eigenvalue above 0; -1 where there is none.
std::int64_t certifiable_lmax(const Grid& grid);

/// Returns a bound of the error that the iterations of an analysis have left: rms(S (a - a_k)) over rms(f),
/// with a the least-squares alm up to lmax of the map f and a_k those of the analysis. For a convolved map,
/// multiply it by the window's largest value. Infinite above certifiable_lmax. report: of the analysis,
/// however many iterations it had. weight: the largest of the ring or pixel weights that it had.
double analysis_norm(const Grid& grid, std::int64_t lmax, const AnalysisReport& report, double weight = 1);

/// Returns the same before the map is known, for Jacobi iterations without weights: the bound holds for any
/// map.
double analysis_norm(const Grid& grid, std::int64_t lmax, int iterations);

/// Returns a bound of N for an analysis by quadrature, multiplication of the alm by these values and a
/// synthesis. difference: [component][l], from l = 0 on, all values that are not zero.
double window_norm(const Grid& grid, const std::vector<std::vector<double>>& difference);

/// Returns the bounds of a choice's error from the request's reference; infinite where there is no bound. The
/// choice is one of plan_convolution or made by hand. The input is the map times ring weights, pixel weights
/// and mask, or the counts. For renormalised maps the rms is over pixels that are hidden neither in the
/// result nor in the reference. In the continuous reference `quadrature` is infinite for sums over pixels,
/// because it depends on the map; in harmonic space it is what the choice's tolerance or iterations leave of
/// any map.
ErrorBound bound_of(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                    const ConvolutionOptions& options = {});

/// Returns the bounds of harmonic space once its analysis has ended. weight: the largest of the ring or pixel
/// weights that it had.
ErrorBound bound_of(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                    const ConvolutionOptions& options, const AnalysisReport& report, double weight = 1);

/// Returns a little less than the gain of white noise, to plan by before a map is known. For counts and
/// renormalised maps it is 1 at most.
double gain_of_noise(const ConvolutionRequest& request, const ConvolutionOptions& options = {});

/// Returns the degree up to which harmonic space serves the continuous reference with a certified error. It
/// is the highest that the grid certifies and the kernel has, but not above the degree where the window has
/// fallen below a tenth of the request's error times its largest value. The request's lmax plays no part.
std::int64_t certified_lmax(const ConvolutionRequest& request);

/// Returns the request with all that it leaves open: reference, lmax and gain. Throws InvalidArgument if the
/// request contradicts itself, and if a kernel is so narrow that its sums over the pixels, which the discrete
/// reference consists of, are no convolution: more than 0.2 off its integral. Counts are kept all the same.
ConvolutionRequest completed(ConvolutionRequest request, const ConvolutionOptions& options = {});

/// Returns the gain to plan by if masks are renormalised or counts kept. Small denominators raise the bounds
/// of the sums, and the gain is smaller by the same factor. gain: rms of the result over the rms of the
/// input.
double effective_gain(const ConvolutionRequest& request, const ConvolutionOptions& options, double gain);

}  // namespace zonal
