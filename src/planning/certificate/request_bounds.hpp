#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "zonal/planning/certificate.hpp"

namespace zonal::planning {

/// Bounds of the ways of a request, whose kernel is sampled once for all of them. One call at a time.
class RequestBounds {
  public:
    /// request: complete; both must outlive it.
    RequestBounds(const ConvolutionRequest& request, const ConvolutionOptions& options)
        : request_(request), options_(options) {}

    ErrorBound of(const ConvolutionChoice& choice) const;
    /// Returns the bounds of harmonic space once its analysis has ended.
    ErrorBound of(const ConvolutionChoice& choice, const AnalysisReport& report, double weight) const;
    /// Returns the bounds of sums over pixels without the cut of the profile.
    ErrorBound without_cut(const ConvolutionChoice& choice) const;

    const KernelNorms& norms() const;
    /// Returns a bound of N of the whole kernel: the smaller of those by its profile and by its window, if
    /// this ends.
    double norm() const;
    /// Returns the kernel's windows, [component][l], up to lmax and as far above as they are followed.
    const std::vector<std::vector<double>>& windows() const;
    /// Returns a bound of N of the windows above lmax.
    double above(std::int64_t lmax) const;
    std::int64_t lmax_of(const ConvolutionChoice& choice) const {
        return choice.lmax >= 0 ? choice.lmax : request_.lmax;
    }
    /// Returns a lower bound of the denominators of renormalised maps and of counts, with sums that err by
    /// `error`.
    double least_denominator(double error) const;

  private:
    /// Returns the norms of the kernel of spin 0; what it makes of masks and counts divides the result.
    const KernelNorms& scalar_norms() const;
    bool is_continuous() const { return *request_.reference == ConvolutionReference::continuous; }
    /// Returns the largest eigenvalue of the grid that results are on.
    double eigenvalue_out(std::int64_t lmax) const;
    double support() const;
    std::int64_t band_limit() const;
    std::int64_t last_degree() const;
    double norm_beyond(const std::vector<std::vector<double>>& difference, bool ends) const;
    double cut(double theta) const;
    double table(const ConvolutionChoice& choice, const KernelNorms& kernel, double accuracy) const;
    double accuracy(const ConvolutionChoice& choice, const KernelNorms& kernel, double norm) const;
    ErrorBound of_pixels(const ConvolutionChoice& choice, bool has_cut) const;
    ErrorBound of_harmonic(const ConvolutionChoice& choice) const;
    ErrorBound of_harmonic_quotient(std::int64_t lmax, ErrorBound bound) const;
    /// What bounds a split: N of its profile, and of what both parts miss of the kernel.
    struct SplitNorms {
        std::shared_ptr<const KernelSplit> split;
        KernelNorms profile;
        double whole, missed;
    };
    /// Returns those of the split that it was asked for last.
    const SplitNorms& norms_of(std::shared_ptr<const KernelSplit> split) const;
    ErrorBound of_split(const ConvolutionChoice& choice) const;
    ErrorBound of_quotient(const ConvolutionChoice& choice, ErrorBound bound) const;
    ErrorBound of_counts(ErrorBound bound) const;

    const ConvolutionRequest& request_;
    const ConvolutionOptions& options_;
    mutable std::optional<KernelNorms> norms_;
    mutable std::optional<KernelNorms> scalar_norms_;
    mutable std::optional<double> norm_;
    mutable std::vector<std::vector<double>> windows_;
    mutable std::vector<double> norms_above_;  ///< [l], for the windows from l on, as far as they are known
    mutable std::optional<SplitNorms> split_norms_;
    mutable std::map<double, double> tables_;       ///< bounds, by the accuracy
    mutable std::map<double, double> norm_of_cut_;  ///< by the angle
};

}  // namespace zonal::planning
