#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/constants.hpp"
#include "planning/error_model.hpp"
#include "planning/limits/error_limits.hpp"
#include "zonal/error.hpp"
#include "zonal/split.hpp"

namespace zonal::planning {
namespace {

using core::pi;

/// Share of the error that iterations and the cut of the profile, or of the window at lmax, may take. These
/// are estimated by a mean over skies and over pixels. For discs of few pixels the error was up to 1.5 times
/// the estimate (bench/planner.py). For single skies of which fewer modes than `enough_modes` are left, it
/// may be more.
constexpr double most_of_cut = 0.5, enough_modes = 30;
/// Splits seldom cut their profiles further out, rad.
constexpr double most_split_support = 0.05;

class SpectrumLimits final : public ErrorLimits {
  public:
    SpectrumLimits(const ConvolutionRequest& request, const split::PlannedKernel& kernel)
        : request_(request), kernel_(kernel), convolved_(kernel.convolved()) {}

    std::string why_no_sums() const override {
        if (error_of_sums() > request_.error / 2)
            return fmt::format("sums over these pixels are wrong by {:.1e}", error_of_sums());
        const double least = rounding_of_sums(Precision::float64, 0, false) * convolved_.noise;
        return is_allowed(least) ? "" : fmt::format("rounding alone may be {:.0e}", least);
    }

    double error_of_sums() const override {
        return is_continuous() ? std::hypot(*request_.quadrature_error, convolved_.beyond_lmax) : 0;
    }

    double accuracy(Precision precision) const override {
        return accuracy_of_sums(precision, request_.error / convolved_.noise);
    }

    /// Keeps the error and the integral together. For a Gaussian and white maps both give the same support.
    double support(ConvolutionMethod, Precision) const override {
        if (!support_) support_ = find_support();
        return *support_;
    }

    bool allows(Precision precision, double support, bool is_cut) const override {
        const bool is_wanted = request_.allow_single || precision == Precision::float64;
        return is_wanted && is_allowed(rounding_of(precision, support, is_cut));
    }

    void judge_sum(ConvolutionChoice& choice, bool is_cut) const override {
        choice.error =
            std::hypot(cut_error(), error_of_sums(), rounding_of(choice.precision, choice.support, is_cut));
    }

    void complete_harmonic(ConvolutionChoice& choice) const override {
        constexpr int most_iterations = 30;
        const double allowed = share_of_cut() * request_.error;
        while (is_continuous() && harmonic_error(choice.iterations) > allowed &&
               choice.iterations < most_iterations)
            ++choice.iterations;
        choice.excluded = why_not_harmonic(choice.iterations);
        choice.error = std::max(harmonic_error(choice.iterations), transform_rounding * convolved_.noise);
    }

    /// The sums over pixels of splits end softly, at discs of a few degrees.
    Precision precision_of_splits() const override {
        return allows(Precision::float32, most_split_support, false) ? Precision::float32
                                                                     : Precision::float64;
    }

    bool complete_split(ConvolutionChoice& choice, const std::vector<double>& window) const override {
        const double error = fit_error(choice.precision);
        if (!(error > 0)) return false;
        KernelSplitOptions options;
        options.spin = kernel_.spin();
        options.theta_cut = choice.support;
        options.input_spectrum = kernel_.spectrum();
        options.spectrum_beyond = spectrum_beyond(options.input_spectrum);
        options.alpha = 1;  // what single precision adds is counted separately
        options.threads = request_.threads;
        const KernelSplitter splitter(window, options);
        const auto l_cut = splitter.find_l_cut(error, 0);
        if (!l_cut) return false;
        const auto split = std::make_shared<const KernelSplit>(splitter.split(*l_cut));
        choice.l_cut = *l_cut;
        choice.accuracy = accuracy(choice.precision);
        choice.error = std::hypot(std::hypot(split->quality.estimated_error, split->quality.leakage),
                                  std::hypot(rounding_of_split(choice.precision), convolved_.beyond_lmax),
                                  error_of_sums());
        choice.split = split;
        return true;
    }

    std::string why_not_kept(const ConvolutionChoice& choice) const override {
        constexpr double rounding_of_supports = 1e-3;  // they are found to 1e-4 relative
        if (choice.method == ConvolutionMethod::harmonic) return why_not_harmonic(choice.iterations);
        if (auto why = why_no_sums(); !why.empty()) return why;
        if (const double most = accuracy(choice.precision); choice.accuracy > most)
            return fmt::format("accuracy = {}: must be at most {:.3g}", choice.accuracy, most);
        if (choice.method == ConvolutionMethod::split)
            return is_allowed(rounding_of_split(choice.precision)) ? "" : too_coarse;
        const double hard = support(choice.method, choice.precision);
        const double least = hard * (1 - rounding_of_supports);
        if (!(choice.support >= least))
            return fmt::format("support_rad = {}: must be at least {:.4g}", choice.support, least);
        const bool is_cut = choice.method == ConvolutionMethod::pixel_sum ||
                            choice.support < faded_support(kernel_, accuracy(choice.precision), hard);
        return is_allowed(rounding_of(choice.precision, choice.support, is_cut)) ? "" : too_coarse;
    }

  private:
    static constexpr const char* too_coarse = "precision = float: must be double";

    double find_support() const {
        constexpr int attempts = 12;
        constexpr double share = 0.45;
        double wanted = cut_error();
        for (int i = 0; i < attempts; ++i, wanted *= share) {
            const double theta = kernel_.support_for(wanted, convolved_);
            if (wanted + kernel_.lost_by_cut(theta) <= cut_error()) return theta;
        }
        return kernel_.support();  // the tail never ends
    }

    bool is_continuous() const { return request_.reference == ConvolutionReference::continuous; }
    double cut_error() const {
        return share_of_cut() *
               std::sqrt(request_.error * request_.error - error_of_sums() * error_of_sums());
    }
    double share_of_cut() const { return most_of_cut * std::min(1.0, convolved_.modes / enough_modes); }

    /// Returns the error that this number of iterations leaves, without rounding.
    double harmonic_error(int iterations) const {
        if (!is_continuous()) return convolved_.beyond_lmax;
        double error = *request_.quadrature_error;
        for (int i = 0; i < iterations; ++i) error *= *request_.iteration_gain;
        return error;
    }

    std::string why_not_harmonic(int iterations) const {
        const double least = transform_rounding * convolved_.noise, allowed = share_of_cut() * request_.error;
        if (least > allowed) return fmt::format("rounding alone may be {:.0e}", least);
        if (harmonic_error(iterations) <= allowed) return "";
        return is_continuous() ? "its iterations do not reach the error"
                               : fmt::format("the kernel goes on above lmax = {}", request_.lmax);
    }

    double rounding_of(Precision precision, double support, bool is_cut) const {
        const double pixel = std::sqrt(4 * pi / static_cast<double>(request_.grid.n_pixels()));
        return rounding_of_sums(precision, support / pixel, is_cut) * convolved_.noise;
    }

    /// Says whether rounding leaves most of the error to the other parts.
    bool is_allowed(double rounding_error) const {
        const double left = request_.error * request_.error - error_of_sums() * error_of_sums();
        return 4 * rounding_error * rounding_error < left;
    }

    double rounding_of_split(Precision precision) const {
        return rounding_of(precision, most_split_support, false);
    }

    /// Returns the error left for a split's fit, and the same for its leakage: in squares each gets half.
    double fit_error(Precision precision) const {
        const double others = std::hypot(rounding_of_split(precision), convolved_.beyond_lmax);
        const double left = cut_error() * cut_error() - others * others;
        return left > 0 ? std::sqrt(left / 2) : 0;
    }

    /// Returns the spectrum of the map's pixels above lmax: at least that of white noise of the map's
    /// variance, times two as a margin. For maps with C_l = 1 / l^2 the true leakage was up to 1.3 times
    /// (rms) that by white noise.
    double spectrum_beyond(const std::vector<double>& c_l) const {
        if (c_l.empty()) return 0;
        double variance = 0;
        for (std::int64_t l = 0; l <= request_.lmax; ++l)
            variance += static_cast<double>(2 * l + 1) / (4 * pi) * c_l[l];
        const double white = 4 * pi / static_cast<double>(request_.grid.n_pixels()) * variance;
        return std::max(c_l.back(), 2 * white);
    }

    const ConvolutionRequest& request_;
    const split::PlannedKernel& kernel_;
    const split::Convolved convolved_;
    mutable std::optional<double> support_;
};

}  // namespace

std::unique_ptr<const ErrorLimits> spectrum_limits(const ConvolutionRequest& request,
                                                   const split::PlannedKernel& kernel) {
    return std::make_unique<SpectrumLimits>(request, kernel);
}

double faded_support(const split::PlannedKernel& kernel, double accuracy, double support) {
    constexpr int n_samples = 400;
    const double end = std::min({4 * support, kernel.support(), pi});
    std::vector<double> theta;
    theta.reserve(n_samples + 1);
    for (int i = 0; i <= n_samples; ++i) theta.push_back(end * i / n_samples);
    const auto value = kernel.values(theta);
    const double peak = *std::max_element(value.begin(), value.end());
    int last = n_samples;
    while (last > 0 && value[last] <= 0.5 * accuracy * peak) --last;
    return last == n_samples ? support : std::max(support, theta[last + 1]);
}

}  // namespace zonal::planning
