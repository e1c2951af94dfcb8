#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/constants.hpp"
#include "planning/certificate/request_bounds.hpp"
#include "planning/certificate/rounding_bound.hpp"
#include "planning/certificate/window_norms.hpp"
#include "planning/request.hpp"
#include "radial/kernels/chord_table.hpp"
#include "radial/kernels/kernel_implementation.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal {
namespace planning {
namespace {

using core::infinite;

/// Profiles are evaluated to this accuracy, relative to their peak.
constexpr double profile_accuracy = 1e-13;

/// Returns a degree from which on windows of smooth profiles only fall.
std::int64_t far_above(std::int64_t lmax) {
    constexpr std::int64_t times = 4, more = 64;
    return times * lmax + more;
}

ErrorBound divided(ErrorBound bound, double least, double of_denominator) {
    if (!(least > 0)) {
        bound.cut = infinite;
        return bound;
    }
    for (double* part : {&bound.cut, &bound.window, &bound.quadrature, &bound.accuracy, &bound.rounding})
        *part /= least;
    bound.of_output += of_denominator / least;
    return bound;
}

double over_reference(double error, double rms) {
    return error < rms ? error / (rms - error) : infinite;
}

}  // namespace

ErrorBound RequestBounds::of(const ConvolutionChoice& choice) const {
    if (choice.method == ConvolutionMethod::harmonic) return of_harmonic(choice);
    if (choice.method == ConvolutionMethod::split) return of_split(choice);
    return of_pixels(choice, true);
}

ErrorBound RequestBounds::without_cut(const ConvolutionChoice& choice) const {
    return of_pixels(choice, false);
}

ErrorBound RequestBounds::of(const ConvolutionChoice& choice, const AnalysisReport& report,
                             double weight) const {
    if (!is_continuous()) return of_harmonic(choice);
    ErrorBound bound;
    const auto lmax = lmax_of(choice);
    const double largest = largest_of(windows(), 0, lmax);
    const double in = largest_eigenvalue(request_.grid, lmax), out = eigenvalue_out(lmax);
    bound.quadrature = largest * analysis_norm(request_.grid, lmax, report, weight) * std::sqrt(out / in);
    bound.rounding = rounding_of_transforms(lmax, report.iterations) * largest * std::sqrt(out * in);
    return options_.mask.mode == MaskMode::renormalize ? of_harmonic_quotient(lmax, bound) : bound;
}

double RequestBounds::eigenvalue_out(std::int64_t lmax) const {
    return largest_eigenvalue(grid_out_of(request_), lmax);
}

const KernelNorms& RequestBounds::norms() const {
    if (!norms_)
        norms_ = request_.polarization ? KernelNorms(request_.grid, *request_.polarization)
                                       : KernelNorms(request_.grid, request_.kernel);
    return *norms_;
}

const KernelNorms& RequestBounds::scalar_norms() const {
    if (!request_.polarization) return norms();
    if (!scalar_norms_) scalar_norms_.emplace(request_.grid, request_.kernel);
    return *scalar_norms_;
}

double RequestBounds::norm() const {
    if (!norm_)
        norm_ = band_limit() < 0 ? norms().whole()
                                 : std::min(norms().whole(),
                                            window_norm(request_.grid, windows_of(request_, band_limit())));
    return *norm_;
}

const Windows& RequestBounds::windows() const {
    if (windows_.empty()) windows_ = windows_of(request_, last_degree());
    return windows_;
}

double RequestBounds::support() const {
    return request_.polarization ? request_.polarization->support() : request_.kernel.support();
}

std::int64_t RequestBounds::band_limit() const {
    return request_.polarization ? request_.polarization->band_limit() : request_.kernel.band_limit();
}

/// Returns the degree up to which windows are followed.
std::int64_t RequestBounds::last_degree() const {
    if (is_continuous()) return request_.lmax;  // what is above is not in the reference
    return band_limit() >= 0 ? std::max(request_.lmax, band_limit()) : far_above(request_.lmax);
}

/// Bounds N of a difference of windows beyond its known degrees; ends: it is 0 there. If it falls at least as
/// l^-4 from there, as for smooth profiles and splines, N is at most twice its largest value in the last half
/// of the known degrees times the eigenvalue there, which grows as l^2. Infinite if the profile ends with a
/// step, or the difference has not yet fallen to a thousandth of the kernel's window.
double RequestBounds::norm_beyond(const Windows& difference, bool ends) const {
    if (ends) return 0;
    const auto size = std::ssize(difference[0]);
    const double last = largest_of(difference, size / 2, size);
    if (last > 1e-3 * largest_of(windows()) || ends_with_step(request_)) return infinite;
    return 2 * last * largest_eigenvalue(request_.grid, size - 1);
}

double RequestBounds::above(std::int64_t lmax) const {
    const auto size = std::ssize(windows().front());
    if (norms_above_.empty()) {
        norms_above_ = window_norms_from(request_.grid, windows());
        const double beyond = norm_beyond(windows(), band_limit() >= 0);
        for (double& norm : norms_above_) norm += beyond;
    }
    const double known = lmax + 1 < size ? norms_above_[lmax + 1] : norms_above_.back();
    return std::min(known, norms().whole() + largest_of(windows()) * largest_eigenvalue(request_.grid, lmax));
}

double RequestBounds::cut(double theta) const {
    const auto known = norm_of_cut_.find(theta);
    if (known != norm_of_cut_.end()) return known->second;
    return norm_of_cut_[theta] = norms().cut(theta);
}

ErrorBound RequestBounds::of_pixels(const ConvolutionChoice& choice, bool has_cut) const {
    const auto& whole = norms();
    const bool is_cut = has_cut && choice.support > 0 && choice.support < support();
    ErrorBound bound;
    if (is_cut) bound.cut = cut(choice.support);
    bound.accuracy = accuracy(choice, whole, norm());
    const auto grows = rounding_of_sums(request_, choice, whole);
    bound.rounding = grows.input * norm();
    bound.of_output = grows.output;
    if (is_continuous()) bound.quadrature = infinite;
    if (options_.keep_counts) return of_counts(bound);
    return options_.mask.mode == MaskMode::renormalize ? of_quotient(choice, bound) : bound;
}

/// Bounds what a table of a profile is wrong by. That of a kernel with kinks may not reach the accuracy, and
/// is wrong only near them: it is made, and compared with the profile.
double RequestBounds::table(const ConvolutionChoice& choice, const KernelNorms& kernel,
                            double accuracy) const {
    const bool is_of_request = !request_.polarization && choice.method != ConvolutionMethod::split;
    if (!is_of_request || request_.kernel.implementation().breaks().size() <= 2)
        return kernel.table(accuracy);
    const auto known = tables_.find(accuracy);
    if (known != tables_.end()) return known->second;
    const radial::ChordTable made(request_.kernel, accuracy);
    auto checks = made.checks(request_.kernel);
    std::sort(checks.begin(), checks.end(),
              [](const auto& one, const auto& other) { return one.theta < other.theta; });
    std::vector<double> theta, error;
    for (const auto& check : checks) {
        theta.push_back(check.theta);
        error.push_back(check.error);
    }
    return tables_[accuracy] =
               kernel.errors(theta, error) + kernel.beyond(std::min(made.theta_end(), core::pi));
}

/// Bounds the error of tables and of the series of ring FFTs. The series leaves out what lies above the
/// degree where the window has fallen to about `accuracy`; for a Gaussian this is at most 11 times `accuracy`
/// (docs/decisions/certificate.md).
double RequestBounds::accuracy(const ConvolutionChoice& choice, const KernelNorms& kernel,
                               double norm) const {
    constexpr double series = 12, share_of_tables = 0.1, least = 1e-14;
    const double wanted = choice.accuracy > 0 ? choice.accuracy : default_accuracy(choice.precision);
    const auto of_table = [&](double asked_for) {
        return table(choice, kernel, asked_for) + kernel.table(profile_accuracy);
    };
    if (choice.method == ConvolutionMethod::pixel_sum) return of_table(wanted);
    return of_table(std::max(share_of_tables * wanted, least)) + series * wanted * norm;
}

ErrorBound RequestBounds::of_harmonic(const ConvolutionChoice& choice) const {
    ErrorBound bound;
    const auto& grid = request_.grid;
    const auto lmax = lmax_of(choice);
    const double largest = largest_of(windows(), 0, lmax);
    const double in = largest_eigenvalue(grid, lmax), out = eigenvalue_out(lmax);
    bound.rounding = rounding_of_transforms(lmax, choice.iterations) * largest * std::sqrt(out * in);
    if (is_continuous()) {
        AnalysisReport planned;
        planned.residual = choice.tolerance;
        bound.quadrature = largest * std::sqrt(out / in) *
                           (choice.tolerance > 0 ? analysis_norm(grid, lmax, planned)
                                                 : analysis_norm(grid, lmax, choice.iterations));
    } else {
        bound.window = above(lmax);
    }
    return options_.mask.mode == MaskMode::renormalize ? of_harmonic_quotient(lmax, bound) : bound;
}

/// A norm bounds no single pixel of the denominator. But a denominator of degrees up to lmax has
/// |e| <= (lmax + 1) rms(e), and the rms of a mask is 1 at most. What goes on above lmax has no such bound.
ErrorBound RequestBounds::of_harmonic_quotient(std::int64_t lmax, ErrorBound bound) const {
    // The mask is convolved with the kernel of spin 0.
    const double of_mask =
        std::max(1.0, largest_of({request_.kernel.window(lmax)}) / largest_of(windows(), 0, lmax));
    const double error = bound.window > 0
                             ? infinite
                             : static_cast<double>(lmax + 1) * std::sqrt(2.0) * of_mask * bound.total();
    return divided(bound, options_.mask.threshold * std::abs(request_.kernel.window(0)[0]) - error, error);
}

const RequestBounds::SplitNorms& RequestBounds::norms_of(std::shared_ptr<const KernelSplit> split) const {
    if (split_norms_ && split_norms_->split == split) return *split_norms_;
    const auto& grid = request_.grid;
    const auto& wanted = windows().front();
    const auto last = std::max<std::int64_t>(std::ssize(wanted) - 1, far_above(request_.lmax));
    const auto of_profile = split->profile.window(last, split->spin);
    auto difference = of_profile;
    for (std::size_t l = 0; l < difference.size(); ++l) {
        if (l < split->window.size()) difference[l] += split->window[l];
        if (l < wanted.size()) difference[l] -= wanted[l];
    }
    std::fill_n(difference.begin(), std::min<std::size_t>(split->spin, difference.size()), 0);
    const auto norm = [&](const Windows& windows) {
        return window_norm(grid, windows) + norm_beyond(windows, false);
    };
    KernelNorms profile = split->spin == 2 ? KernelNorms(grid, split->profile.polarization_kernel())
                                           : KernelNorms(grid, split->profile.kernel());
    // Where the profile changes its sign, its window is a closer bound than its sizes.
    const double whole = std::min(profile.whole(), norm({of_profile}));
    return split_norms_.emplace(SplitNorms{std::move(split), std::move(profile), whole, norm({difference})});
}

ErrorBound RequestBounds::of_split(const ConvolutionChoice& choice) const {
    const auto& norms = norms_of(choice.split);
    const auto& window = choice.split->window;
    const auto l_cut = std::ssize(window) - 1;
    const auto grows = rounding_of_sums(request_, choice, norms.profile);
    ErrorBound bound;
    bound.window = norms.missed;
    bound.accuracy = accuracy(choice, norms.profile, norms.whole);
    // The two parts may be larger than their sum, and each rounds in proportion to its own size.
    bound.rounding =
        (grows.input + grows.output) * norms.whole +
        rounding_of_transforms(l_cut, 0) * largest_of({window}) * largest_eigenvalue(request_.grid, l_cut);
    if (is_continuous()) bound.quadrature = infinite;
    return bound;
}

double RequestBounds::least_denominator(double error) const {
    const double least = scalar_norms().least_row_sum() - error;
    return options_.keep_counts ? least : options_.mask.threshold * least - error;
}

/// Bounds the error of the quotient g = K(m f) / K(m). With errors d of the numerator and e of the
/// denominator it is (d - g e) / (K(m) + e), where |K(m)| is at least the threshold times |K(1)|.
ErrorBound RequestBounds::of_quotient(const ConvolutionChoice& choice, ErrorBound bound) const {
    const auto& scalar = scalar_norms();
    const bool is_cut = choice.support > 0 && choice.support < request_.kernel.support();
    const double error = (is_cut ? scalar.cut(choice.support) : 0) +
                         accuracy(choice, scalar, scalar.whole()) +
                         rounding_of_sums(request_, choice, scalar).output * scalar.whole();
    return divided(bound, least_denominator(error), error);
}

/// Bounds the error of counts, which are divided by their kernel's column sums: row sums without weights.
ErrorBound RequestBounds::of_counts(ErrorBound bound) const {
    const double error = bound.cut + bound.accuracy, least = least_denominator(error);
    bound.cut += norms().whole() * error / std::max(least, 1e-300);
    return divided(bound, least, 0);
}

}  // namespace planning

ErrorBound bound_of(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                    const ConvolutionOptions& options) {
    const auto complete = completed(request, options);
    return planning::RequestBounds(complete, options).of(choice);
}

ErrorBound bound_of(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                    const ConvolutionOptions& options, const AnalysisReport& report, double weight) {
    const auto complete = completed(request, options);
    return planning::RequestBounds(complete, options).of(choice, report, weight);
}

double gain_of_noise(const ConvolutionRequest& request, const ConvolutionOptions& options) {
    constexpr double margin = 0.98;
    if (request.reference == ConvolutionReference::continuous) {
        // If every pixel of white noise has the variance v, its alm have the variance 4 pi v / n_pixels.
        double largest = 0;
        for (const auto& window : planning::windows_of(request, request.lmax)) {
            double power = 0;
            for (std::size_t l = 0; l < window.size(); ++l)
                power += (2 * static_cast<double>(l) + 1) * window[l] * window[l];
            largest = std::max(largest, power);
        }
        const double gain = margin * std::sqrt(largest / static_cast<double>(request.grid.n_pixels()));
        return options.mask.mode == MaskMode::renormalize ? std::min(margin, gain) : gain;
    }
    const planning::RequestBounds bounds(request, options);
    const double gain = margin * bounds.norms().gain_of_noise();
    const bool is_quotient = options.keep_counts || options.mask.mode == MaskMode::renormalize;
    return is_quotient ? std::min(margin, gain / bounds.norms().least_row_sum()) : gain;
}

ConvolutionRequest completed(ConvolutionRequest request, const ConvolutionOptions& options) {
    constexpr double most_defect = 0.2;
    planning::check(request);
    if (request.reference && request.lmax >= 0 && request.gain) return request;
    if (!request.reference)
        request.reference = options.keep_counts ? ConvolutionReference::discrete : default_reference(request);
    const bool is_discrete = request.reference == ConvolutionReference::discrete;
    // Harmonic space does not keep counts, and has no bound for quotients of sums over pixels.
    const bool renormalizes = options.mask.mode == MaskMode::renormalize;
    if (options.keep_counts || (renormalizes && is_discrete)) request.consider_harmonic = false;
    const auto nside = request.grid.healpix_nside();
    if (is_discrete && nside > 0 && !options.keep_counts && request.method != ConvolutionMethod::split) {
        const double defect = planning::defect_of_sums(request, nside);
        if (!(defect <= most_defect))
            throw InvalidArgument(
                "kernel",
                fmt::format(
                    "is so narrow that its sums over these pixels are {:.2g} off its integral: must be as "
                    "wide as a pixel; reference continuous applies its window, and normalization pixel keeps "
                    "the sum of counts",
                    defect));
    }
    if (request.lmax < 0) {
        const auto most = default_smoothing_lmax(request.grid);
        request.lmax = is_discrete ? most : certified_lmax(request);
        if (request.polarization) request.lmax = std::max<std::int64_t>(request.lmax, 2);
    }
    if (!request.gain) request.gain = effective_gain(request, options, gain_of_noise(request, options));
    if (!(*request.gain > 0))
        throw ErrorNotKept(
            "kernel",
            "its sums over the pixels, which counts and renormalised maps are divided by, have no bound "
            "above 0");
    return request;
}

std::int64_t certified_lmax(const ConvolutionRequest& request) {
    auto most = default_smoothing_lmax(request.grid);
    if (request.grid_out) most = std::min(most, default_smoothing_lmax(*request.grid_out));
    const auto certifiable = certifiable_lmax(request.grid);
    const auto ends = request.polarization ? request.polarization->band_limit() : request.kernel.band_limit();
    auto last = certifiable < 0 ? most : std::min(most, certifiable);
    if (ends >= 0) last = std::min(last, ends);
    return planning::last_degree(planning::windows_of(request, last), request.error, last);
}

double effective_gain(const ConvolutionRequest& request, const ConvolutionOptions& options, double gain) {
    const bool renormalizes = options.mask.mode == MaskMode::renormalize;
    if (!renormalizes && !options.keep_counts) return gain;
    if (request.reference == ConvolutionReference::continuous) {
        const double least = options.mask.threshold * std::abs(request.kernel.window(0)[0]);
        return least * gain / (1 + std::sqrt(2.0) * static_cast<double>(request.lmax + 1) * gain);
    }
    const planning::RequestBounds bounds(request, options);
    const double least = std::max(0.0, bounds.least_denominator(0));
    // The denominators multiply the error of the cut by (1 + N / least) / least for counts, and those of
    // numerator and denominator by 1 / least for quotients.
    return options.keep_counts ? gain * least / (1 + bounds.norm() / std::max(least, 1e-300))
                               : least * gain / (1 + gain);
}

double largest_error(const ErrorBound& bound, double rms_in, double rms_out) {
    return (rms_in == 0 ? 0 : bound.total() * rms_in) + bound.of_output * rms_out;
}

double certified_error(const ErrorBound& bound, double rms_in, double rms_out) {
    if (rms_in == 0) return 0;
    return planning::over_reference(largest_error(bound, rms_in, rms_out), rms_out);
}

double certified_error_of_variations(const ErrorBound& bound, double rms_in, double rms_out,
                                     double deviation_out) {
    if (rms_in == 0) return 0;
    return planning::over_reference(largest_error(bound, rms_in, rms_out), deviation_out);
}

}  // namespace zonal
