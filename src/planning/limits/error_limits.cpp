#include "planning/limits/error_limits.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/constants.hpp"
#include "planning/certificate/rounding_bound.hpp"
#include "planning/certificate/window_norms.hpp"
#include "planning/error_model.hpp"
#include "planning/request.hpp"
#include "zonal/split.hpp"

namespace zonal::planning {
namespace {

/// Returns the largest N(dK) allowed, in units of the input's rms: `error` times the gain, a little less
/// because the reference may be smaller than the output by the error.
double allowed_norm(const ConvolutionRequest& request) {
    return request.error / (1 + request.error) * *request.gain;
}

/// Says whether the profile is 0, so that harmonic space does all the work.
bool has_no_profile(const KernelSplit& split) {
    const auto& values = split.profile.coefficients();
    return std::all_of(values.begin(), values.end(), [](double value) { return std::abs(value) < 1e-300; });
}

}  // namespace

ErrorLimits::ErrorLimits(const ConvolutionRequest& request)
    : request_(request), bounds_(request_, options_), allowed_(allowed_norm(request)) {}

std::string ErrorLimits::why_no_sums() const {
    if (is_continuous()) return "what sums over pixels miss of this reference depends on the map";
    const double least = rest(draft(ConvolutionMethod::ring_fft, Precision::float64, 0));
    return least < allowed_ ? "" : fmt::format("rounding alone may be {:.0e}", least / *request_.gain);
}

/// Returns a hundredth of what is allowed, as in the model of errors; the bound for series over longitude
/// is twelve times that. It is less if tables would take more than their share, as those of kernels that
/// do not fade away would.
double ErrorLimits::accuracy(Precision precision) const {
    constexpr double share = 0.2;
    const double most = accuracy_of_sums(precision, std::min(request_.error, allowed_ / bounds_.norm()));
    double bound = 0;
    for (const auto method : {ConvolutionMethod::ring_fft, ConvolutionMethod::pixel_sum})
        bound = std::max(bound, bounds_.without_cut({method, Device::cpu(), precision, 0, most}).accuracy);
    return std::max(default_accuracy(precision), most * std::min(1.0, share * allowed_ / bound));
}

double ErrorLimits::support(Precision precision) const {
    if (request_.support > 0) return std::min(request_.support, request_support());
    auto& known = support_[precision == Precision::float32 ? 0 : 1];
    if (!known) known = find_support(precision);
    return *known;
}

bool ErrorLimits::allows(Precision precision, double support, bool is_cut) const {
    constexpr double most_of_rest = 0.5;
    const bool is_wanted = request_.allow_single || precision == Precision::float64;
    const auto method = is_cut ? ConvolutionMethod::pixel_sum : ConvolutionMethod::ring_fft;
    const double share = precision == Precision::float32 ? most_of_rest : 1;
    return is_wanted && rest(draft(method, precision, support)) < share * allowed_;
}

std::string ErrorLimits::why_none() const {
    return fmt::format("rounding and tables alone may be {:.0e}",
                       rest(draft(ConvolutionMethod::ring_fft, Precision::float64, 0)) / *request_.gain);
}

void ErrorLimits::complete_harmonic(ConvolutionChoice& choice) const {
    choice.lmax = is_continuous() ? request_.lmax : lowest_lmax();
    if (is_continuous()) choose_iterations(choice);
    if (choice.excluded.empty()) judge(choice);
}

/// Sets precision and accuracy of the sums of a split from what its profile adds to the error: each at most a
/// share of what is allowed.
void ErrorLimits::choose_sums(ConvolutionChoice& choice) const {
    constexpr double of_rounding = 0.25, of_accuracy = 0.25;
    choice.precision = request_.allow_single ? Precision::float32 : Precision::float64;
    choice.accuracy = least_accuracy_of_splits;
    auto bound = bounds_.of(choice);
    if (choice.precision == Precision::float32 && !(bound.rounding < of_rounding * allowed_)) {
        choice.precision = Precision::float64;
        bound = bounds_.of(choice);
    }
    // What tables and series are wrong by is in proportion to the accuracy that is asked for.
    choice.accuracy = std::clamp(choice.accuracy * of_accuracy * allowed_ / bound.accuracy,
                                 default_accuracy(choice.precision), choice.accuracy);
}

bool ErrorLimits::complete_split(ConvolutionChoice& choice, const std::vector<double>& window) const {
    constexpr int attempts = 3;
    constexpr double first_share = 0.05, share = 0.6, least_error = 1e-13;
    KernelSplitOptions options;
    options.spin = spin_of(request_);
    options.theta_cut = choice.support;
    options.alpha = 1;
    options.threads = request_.threads;
    options.check_memory = request_.check_memory;
    const KernelSplitter splitter(window, options);
    // The fit is measured by the rms of white maps, the bound by the worst degree.
    double fit_error = first_share * request_.error;
    for (int i = 0; i < attempts && fit_error > least_error; ++i) {
        const auto l_cut = splitter.find_l_cut(fit_error, 0);
        if (!l_cut) return false;
        choice.l_cut = *l_cut;
        choice.split = std::make_shared<const KernelSplit>(splitter.split(*l_cut));
        if (has_no_profile(*choice.split)) return false;
        choose_sums(choice);
        const auto bound = bounds_.of(choice);
        if (judge(choice); choice.excluded.empty()) return true;
        const double left = allowed_ - (bound.total() - bound.window) - bound.of_output * *request_.gain;
        if (!(left > 0)) return false;
        fit_error *= std::isfinite(bound.window) ? share * left / bound.window : 0.1;
        choice.excluded.clear();
    }
    return false;
}

double ErrorLimits::find_support(Precision precision) const {
    constexpr double rounding = 1e-3;
    double others = 0;
    for (const auto method : {ConvolutionMethod::ring_fft, ConvolutionMethod::pixel_sum})
        others = std::max(others, rest(draft(method, precision, 0)));
    const double left = (1 - rounding) * (allowed_ - others);
    return left > 0 ? std::min(request_support(), bounds_.norms().support_for(left)) : request_support();
}

bool ErrorLimits::is_continuous() const {
    return *request_.reference == ConvolutionReference::continuous;
}
double ErrorLimits::request_support() const {
    return request_.polarization ? request_.polarization->support() : request_.kernel.support();
}

ConvolutionChoice ErrorLimits::draft(ConvolutionMethod method, Precision precision, double support) const {
    return {method, Device::cpu(), precision, support, accuracy(precision)};
}

/// Returns the bound of a sum's error without that of its cut.
double ErrorLimits::rest(const ConvolutionChoice& choice) const {
    const auto bound = bounds_.without_cut(choice);
    return bound.total() + bound.of_output * *request_.gain;
}

void ErrorLimits::judge(ConvolutionChoice& choice) const {
    constexpr double rounding = 1e-9;
    choice.error = certified_error(bounds_.of(choice), 1, *request_.gain);
    choice.excluded.clear();
    if (!(choice.error <= request_.error * (1 + rounding)))
        choice.excluded = std::isfinite(choice.error)
                              ? fmt::format("its certified error is {:.1e}", choice.error)
                              : "its error has no bound that holds for every map";
}

/// Returns the lowest degree up to which the window must be applied. It may be above the request's lmax,
/// because the sum over pixels has all degrees of the kernel.
std::int64_t ErrorLimits::lowest_lmax() const {
    constexpr double share = 0.5;
    std::int64_t low = spin_of(request_) - 1, high = request_.lmax;
    if (bounds_.above(high) > share * allowed_) {
        low = high;
        high = std::ssize(bounds_.windows().front()) - 1;
        if (bounds_.above(high) > share * allowed_) return request_.lmax;
    }
    while (high - low > std::max<std::int64_t>(1, high / 64)) {
        const auto middle = (low + high) / 2;
        (bounds_.above(middle) <= share * allowed_ ? high : low) = middle;
    }
    return high;
}

/// Sets the tolerance with which conjugate gradients would keep the error, and about the number of iterations
/// that keep it: the first update is a fiftieth of the alm, and each is a tenth of the one before (measured,
/// see docs/decisions/certificate.md).
void ErrorLimits::choose_iterations(ConvolutionChoice& choice) const {
    constexpr double share = 0.9, least_tolerance = 2e-13, first_update = 0.02;
    const auto& grid = request_.grid;
    const double least = smallest_eigenvalue(grid, choice.lmax);
    if (!(least > 0)) {
        choice.excluded = fmt::format("an analysis above lmax = {} has no bound", certifiable_lmax(grid));
        return;
    }
    const auto plain = bounds_.of(choice);
    const double left = share * allowed_ - plain.rounding;
    if (plain.quadrature <= left) return;  // the grid's quadrature is exact
    choice.tolerance = 1;                  // to which the bound is in proportion
    choice.tolerance = left / bounds_.of(choice).quadrature;
    if (!(choice.tolerance >= least_tolerance)) {
        choice.excluded = "rounding ends its iterations before they reach the error";
        return;
    }
    choice.until_certified = true;
    choice.iterations = std::max(1, static_cast<int>(std::ceil(std::log10(first_update / choice.tolerance))));
}

double faded_support(const split::PlannedKernel& kernel, double accuracy, double support) {
    constexpr int n_samples = 400;
    const double end = std::min({4 * support, kernel.support(), core::pi});
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
