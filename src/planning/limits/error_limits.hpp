#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planning/planned_kernel.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal::planning {

/// What the ways of a request may be wrong by, and so where their kernels may be cut and what they may be
/// computed with.
class ErrorLimits {
  public:
    virtual ~ErrorLimits() = default;

    /// Says why no sum over pixels keeps the error; empty where one may.
    virtual std::string why_no_sums() const = 0;
    /// What sums over pixels are wrong by whatever their cut, from the request's reference.
    virtual double error_of_sums() const = 0;
    /// PixelConvolutionOptions::accuracy.
    virtual double accuracy(Precision precision) const = 0;
    /// Where the profile of a sum may be cut, rad.
    virtual double support(ConvolutionMethod method, Precision precision) const = 0;
    /// Whether sums that end at `support` in this precision leave most of the error to the cut. is_cut: hard,
    /// not where the profile has faded away.
    virtual bool allows(Precision precision, double support, bool is_cut) const = 0;
    /// Says why no sum by a method is allowed in any precision; empty where the list need not tell.
    virtual std::string why_none(ConvolutionMethod) const { return ""; }
    /// Sets the error of a sum over pixels, and why it may not be taken.
    virtual void judge_sum(ConvolutionChoice& choice, bool is_cut) const = 0;
    /// Sets lmax, iterations, tolerance and error of harmonic space, and why it may not be taken.
    virtual void complete_harmonic(ConvolutionChoice& choice) const = 0;

    virtual Precision precision_of_splits() const = 0;
    /// Completes a split, of which device, precision and support are set: l_cut, split, accuracy and error.
    /// Returns whether there is one within the error.
    virtual bool complete_split(ConvolutionChoice& choice, const std::vector<double>& window) const = 0;

    /// Says why a choice that was made before cannot keep the error; empty where it can.
    virtual std::string why_not_kept(const ConvolutionChoice& choice) const = 0;
};

/// Of maps of the request's c_l, by docs/decisions/errors.md. Both must outlive it.
std::unique_ptr<const ErrorLimits> spectrum_limits(const ConvolutionRequest& request,
                                                   const split::PlannedKernel& kernel);
/// Of every map of the request's gain, by docs/decisions/certificate.md.
std::unique_ptr<const ErrorLimits> certified_limits(const ConvolutionRequest& request);

/// From where on the profile is below half of `accuracy`, of its peak; `support` itself where that is not
/// within four times of it.
double faded_support(const split::PlannedKernel& kernel, double accuracy, double support);

}  // namespace zonal::planning
