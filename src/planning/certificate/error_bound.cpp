#include "zonal/planning/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "planning/certificate/rounding_bound.hpp"
#include "planning/request.hpp"

namespace zonal {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Profiles are evaluated to this, of their peak.
constexpr double profile_accuracy = 1e-13;

double largest_value(const std::vector<std::vector<double>>& windows) {
    double largest = 0;
    for (const auto& window : windows)
        for (const double value : window) largest = std::max(largest, std::abs(value));
    return largest;
}

/// The largest value in a part of the degrees.
double largest_value(const std::vector<std::vector<double>>& windows, double from, double to) {
    double largest = 0;
    for (const auto& window : windows) {
        const auto size = static_cast<double>(window.size());
        for (auto l = static_cast<std::size_t>(from * size); l < static_cast<std::size_t>(to * size); ++l)
            largest = std::max(largest, std::abs(window[l]));
    }
    return largest;
}

/// window_norm of a difference that is known up to some degree and, where it goes on, falls at least as l^-4
/// from there, as that of smooth profiles: then what is above is at most once more the last quarter's largest
/// times the eigenvalues there, which grow as l^2. Infinite where it has not fallen to a thousandth yet.
double norm_of_known(const Grid& grid, const std::vector<std::vector<double>>& difference, bool ends) {
    const double norm = window_norm(grid, difference);
    if (ends) return norm;
    const double last = largest_value(difference, 0.75, 1);
    if (last > 1e-3 * largest_value(difference)) return infinite;
    return norm + 2 * last * largest_eigenvalue(grid, std::ssize(difference[0]) - 1);
}

class Bounds {
  public:
    Bounds(const ConvolutionRequest& request, const ConvolutionChoice& choice,
           const ConvolutionOptions& options)
        : request_(request), choice_(choice), options_(options) {}

    ErrorBound bound() const {
        if (choice_.method == ConvolutionMethod::harmonic) return of_harmonic();
        if (choice_.method == ConvolutionMethod::split) return of_split();
        return of_pixels();
    }

  private:
    bool is_continuous() const { return request_.reference == ConvolutionReference::continuous; }

    KernelNorms norms() const {
        if (request_.polarization) return KernelNorms(request_.grid, *request_.polarization);
        return KernelNorms(request_.grid, request_.kernel);
    }
    double support() const {
        return request_.polarization ? request_.polarization->support() : request_.kernel.support();
    }
    std::int64_t band_limit() const {
        return request_.polarization ? request_.polarization->band_limit() : request_.kernel.band_limit();
    }

    /// How far windows are followed above lmax.
    std::int64_t last_degree() const {
        constexpr std::int64_t times = 4, more = 64;
        const auto last = times * request_.lmax + more;
        return band_limit() >= 0 ? std::max(request_.lmax, band_limit()) : last;
    }

    ErrorBound of_pixels() const {
        const auto whole = norms();
        const bool is_cut = choice_.support > 0 && choice_.support < support();
        ErrorBound bound;
        if (is_cut) bound.cut = whole.cut(choice_.support, options_.scale);
        const double norm = norm_of_kernel(whole);
        bound.accuracy = accuracy(whole, norm);
        const auto grows = planning::rounding_of_sums(request_, choice_, whole);
        bound.rounding = grows.input * norm;
        bound.of_output = grows.output;
        if (is_continuous()) bound.quadrature = infinite;
        if (options_.keep_counts) return of_counts(bound, whole);
        return options_.mask.mode == MaskMode::renormalize ? of_quotient(bound) : bound;
    }

    /// Returns the norm of the whole kernel: the smaller bound by its profile and, where it ends, by its
    /// window.
    double norm_of_kernel(const KernelNorms& kernel) const {
        if (band_limit() < 0) return kernel.whole();
        return std::min(kernel.whole(),
                        window_norm(request_.grid, planning::windows_of(request_, band_limit())));
    }

    /// Of tables, and of the series of ring FFTs: what they leave out lies above the degree where the window
    /// has fallen to about `accuracy`; of a Gaussian it is at most 11 times that (the page has the estimate).
    double accuracy(const KernelNorms& kernel, double norm) const {
        constexpr double series = 12, share_of_tables = 0.1, least = 1e-14;
        const double wanted = choice_.accuracy > 0 ? choice_.accuracy : default_accuracy(choice_.precision);
        if (choice_.method == ConvolutionMethod::pixel_sum)
            return kernel.table(wanted) + kernel.table(profile_accuracy);
        return kernel.table(std::max(share_of_tables * wanted, least)) + kernel.table(profile_accuracy) +
               series * wanted * norm;
    }

    ErrorBound of_harmonic() const {
        ErrorBound bound;
        const auto windows = planning::windows_of(request_, last_degree());
        const double largest = largest_value(windows);
        const auto& grid = request_.grid;
        bound.rounding = planning::rounding_of_transforms(request_.lmax, choice_.iterations) * largest *
                         largest_eigenvalue(grid, request_.lmax);
        if (is_continuous()) {
            const double smallest = smallest_eigenvalue(grid, request_.lmax);
            constexpr double exact = 1e-9;
            bound.quadrature = smallest > 1 - exact ? exact * largest : infinite;
        } else {
            auto above = windows;
            for (auto& window : above)
                std::fill_n(window.begin(), std::min<std::int64_t>(std::ssize(window), request_.lmax + 1), 0);
            bound.window = std::min(norm_of_known(grid, above, band_limit() >= 0),
                                    norms().whole() + largest * largest_eigenvalue(grid, request_.lmax));
        }
        const bool is_quotient = options_.mask.mode == MaskMode::renormalize;
        if (is_quotient) bound.window = infinite;  // a window's norm bounds no single pixel
        return bound;
    }

    ErrorBound of_split() const {
        const auto& split = *choice_.split;
        const auto& grid = request_.grid;
        const auto wanted = planning::windows_of(request_, last_degree()).front();
        auto difference = split.profile.window(last_degree(), split.spin);
        for (std::size_t l = 0; l < difference.size(); ++l) {
            if (l < split.window.size()) difference[l] += split.window[l];
            difference[l] -= wanted[l];
        }
        const auto first = static_cast<std::size_t>(split.spin);
        std::fill_n(difference.begin(), std::min(first, difference.size()), 0);
        const auto profile = split.spin == 2 ? KernelNorms(grid, split.profile.polarization_kernel())
                                             : KernelNorms(grid, split.profile.kernel());
        ErrorBound bound;
        bound.window = norm_of_known(grid, {difference}, false);
        bound.accuracy = accuracy(profile, profile.whole());
        const auto l_cut = std::ssize(split.window) - 1;
        const auto grows = planning::rounding_of_sums(request_, choice_, profile);
        // The parts are larger than their sum, and each rounds by its own size.
        const double parts = grows.output * profile.whole();
        bound.rounding = grows.input * profile.whole() + parts +
                         planning::rounding_of_transforms(l_cut, 0) * largest_value({split.window}) *
                             largest_eigenvalue(grid, l_cut);
        if (is_continuous()) bound.quadrature = infinite;
        return bound;
    }

    /// K(m f) / K(m): with errors d of the numerator and e of the denominator, and the quotient g, the error
    /// is (d - g e) / (K(m) + e), where |K(m)| is at least the threshold times |K(1)|.
    ErrorBound of_quotient(ErrorBound bound) const {
        const KernelNorms scalar(request_.grid, request_.kernel);
        const bool is_cut = choice_.support > 0 && choice_.support < request_.kernel.support();
        const double error = (is_cut ? scalar.cut(choice_.support) : 0) + accuracy(scalar, scalar.whole()) +
                             planning::rounding_of_sums(request_, choice_, scalar).output * scalar.whole();
        const double least = options_.mask.threshold * (scalar.least_row_sum() - error) - error;
        return divided(bound, least, error);
    }

    /// Counts are divided by their kernel's column sums, which are row sums without weights.
    ErrorBound of_counts(ErrorBound bound, const KernelNorms& kernel) const {
        const double error = bound.cut + bound.accuracy;
        const double least = kernel.least_row_sum() - error;
        bound.cut += kernel.whole() * error / std::max(least, 1e-300);
        return divided(bound, least, 0);
    }

    static ErrorBound divided(ErrorBound bound, double least, double of_denominator) {
        if (!(least > 0)) {
            bound.cut = infinite;
            return bound;
        }
        for (double* part : {&bound.cut, &bound.window, &bound.quadrature, &bound.accuracy, &bound.rounding})
            *part /= least;
        bound.of_output += of_denominator / least;
        return bound;
    }

    const ConvolutionRequest& request_;
    const ConvolutionChoice& choice_;
    const ConvolutionOptions& options_;
};

double over_reference(double error, double rms) {
    return error < rms ? error / (rms - error) : infinite;
}

}  // namespace

ErrorBound bound_of(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                    const ConvolutionOptions& options) {
    planning::check(request);
    return Bounds(request, choice, options).bound();
}

double largest_error(const ErrorBound& bound, double rms_in, double rms_out) {
    return (rms_in == 0 ? 0 : bound.total() * rms_in) + bound.of_output * rms_out;
}

double certified_error(const ErrorBound& bound, double rms_in, double rms_out) {
    if (rms_in == 0) return 0;
    return over_reference(largest_error(bound, rms_in, rms_out), rms_out);
}

double certified_error_of_variations(const ErrorBound& bound, double rms_in, double rms_out,
                                     double deviation_out) {
    if (rms_in == 0) return 0;
    return over_reference(largest_error(bound, rms_in, rms_out), deviation_out);
}

}  // namespace zonal
