#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planning/planned_kernel.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal::planning {

/// Knows the errors of the ways of a request. From these it says where kernels may be cut, and in which
/// precision and with which accuracy sums may be computed.
class ErrorLimits {
  public:
    virtual ~ErrorLimits() = default;

    /// Says why no sum over pixels keeps the error; empty where one may.
    virtual std::string why_no_sums() const = 0;
    /// Returns the error of sums over pixels from the request's reference that no cut can avoid.
    virtual double error_of_sums() const = 0;
    /// Returns PixelConvolutionOptions::accuracy.
    virtual double accuracy(Precision precision) const = 0;
    /// Returns where the profile of a sum may be cut, rad.
    virtual double support(ConvolutionMethod method, Precision precision) const = 0;
    /// Says whether sums that end at `support`, in this precision, leave most of the error to the cut.
    /// is_cut: the profile ends with a step, not where it has faded away.
    virtual bool allows(Precision precision, double support, bool is_cut) const = 0;
    /// Says why no sum by a method is allowed in any precision; empty if the list of ways need not tell.
    virtual std::string why_none(ConvolutionMethod) const { return ""; }
    /// Sets the error of a sum over pixels, and `excluded` if it may not be taken.
    virtual void judge_sum(ConvolutionChoice& choice, bool is_cut) const = 0;
    /// Sets lmax, iterations, tolerance and error of harmonic space, and `excluded` if it may not be taken.
    virtual void complete_harmonic(ConvolutionChoice& choice) const = 0;

    virtual Precision precision_of_splits() const = 0;
    /// Sets l_cut, split, accuracy and error of a split that has its device, precision and support. Returns
    /// whether there is a split within the error.
    virtual bool complete_split(ConvolutionChoice& choice, const std::vector<double>& window) const = 0;

    /// Says why a choice that was made before cannot keep the error; empty where it can.
    virtual std::string why_not_kept(const ConvolutionChoice& choice) const = 0;
};

/// Returns limits for maps with the request's c_l, by docs/decisions/errors.md. Both arguments must outlive
/// it.
std::unique_ptr<const ErrorLimits> spectrum_limits(const ConvolutionRequest& request,
                                                   const split::PlannedKernel& kernel);
/// Returns limits for every map with the request's gain, by docs/decisions/certificate.md. The request must
/// outlive it.
std::unique_ptr<const ErrorLimits> certified_limits(const ConvolutionRequest& request);

/// Returns the angle from which on the profile is below half of `accuracy` times its peak; `support` itself
/// if that angle is above four times `support`.
double faded_support(const split::PlannedKernel& kernel, double accuracy, double support);

}  // namespace zonal::planning
