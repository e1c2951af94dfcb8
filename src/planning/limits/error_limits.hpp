#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "planning/certificate/request_bounds.hpp"
#include "planning/planned_kernel.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal::planning {

/// Tables and series stand for the profile of a split at least so well (PixelConvolutionOptions::accuracy):
/// more hardly makes its sums faster.
inline constexpr double least_accuracy_of_splits = 1e-5;

/// Knows bounds of the errors of the ways of a request, for every map with its gain
/// (docs/decisions/certificate.md). From these it says where kernels may be cut, and in which precision and
/// with which accuracy sums may be computed.
class ErrorLimits {
  public:
    /// request: complete; must outlive it.
    explicit ErrorLimits(const ConvolutionRequest& request);

    /// Says why no sum over pixels keeps the error; empty where one may.
    std::string why_no_sums() const;
    /// Returns PixelConvolutionOptions::accuracy.
    double accuracy(Precision precision) const;
    /// Returns where the profile of a sum may be cut, rad: one angle for both methods, because ring FFTs sum
    /// the caps pixel by pixel, too, if a kernel has a hard cut.
    double support(Precision precision) const;
    /// Says whether sums that end at `support`, in this precision, leave most of the error to the cut.
    /// is_cut: the profile ends with a step, not where it has faded away.
    bool allows(Precision precision, double support, bool is_cut) const;
    /// Says why no sum is allowed in any precision.
    std::string why_none() const;
    /// Sets the error of a way, and `excluded` if it may not be taken.
    void judge(ConvolutionChoice& choice) const;
    /// Sets lmax, iterations, tolerance and error of harmonic space, and `excluded` if it may not be taken.
    void complete_harmonic(ConvolutionChoice& choice) const;

    /// Sets l_cut, split, precision, accuracy and error of a split that has its device and support. Returns
    /// whether there is a split within the error.
    bool complete_split(ConvolutionChoice& choice, const std::vector<double>& window) const;

  private:
    bool is_continuous() const;
    double find_support(Precision precision) const;
    double request_support() const;
    ConvolutionChoice draft(ConvolutionMethod method, Precision precision, double support) const;
    double rest(const ConvolutionChoice& choice) const;
    std::int64_t lowest_lmax() const;
    void choose_sums(ConvolutionChoice& choice) const;
    void choose_iterations(ConvolutionChoice& choice) const;

    const ConvolutionRequest& request_;
    const ConvolutionOptions options_{};
    const RequestBounds bounds_;
    const double allowed_;                                  ///< the largest N(dK), over the rms of the input
    mutable std::array<std::optional<double>, 2> support_;  ///< in single and double precision
};

/// Returns the angle from which on the profile is below half of `accuracy` times its peak; `support` itself
/// if that angle is above four times `support`.
double faded_support(const split::PlannedKernel& kernel, double accuracy, double support);

}  // namespace zonal::planning
