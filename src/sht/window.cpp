#include "zonal/window.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sht/array_checks.hpp"
#include "zonal/angle.hpp"
#include "zonal/error.hpp"
#include "zonal/spectrum.hpp"

namespace zonal {
namespace {

/// Calls operation(a part of the result, that part of each beam, name) for T, E and B.
template <class Operation, class... Beams>
Beam for_each_part(const Operation& operation, const Beams&... beams) {
    Beam result;
    result.temperature = operation("temperature", beams.temperature...);
    result.gradient = operation("gradient", beams.gradient...);
    result.curl = operation("curl", beams.curl...);
    return result;
}

void check_equal_lengths(const char* part, std::size_t a, std::size_t b) {
    if (a != b)
        throw InvalidArgument("beams",
                              fmt::format("{} windows of lengths {} and {}: must be equal", part, a, b));
}

/// ln|y| = ln|A| + n ln l by least squares over the last values.
struct PowerLaw {
    double log_amplitude;
    double exponent;
    double sign;
    double operator()(std::int64_t l) const {
        return sign * std::exp(log_amplitude + exponent * std::log(static_cast<double>(l)));
    }
};

PowerLaw fit_power_law(const std::vector<double>& values, const std::string& name) {
    const auto end = static_cast<std::int64_t>(values.size());
    // The last 400 values describe the tail of a CMB spectrum; of a short window the lower half is another
    // regime.
    constexpr std::int64_t most_values = 400;
    const auto first = std::max<std::int64_t>({end - most_values, end / 2, 1});
    if (end - first < 2)
        throw InvalidArgument(name, fmt::format("has {} values: too few to fit a power law", end));
    const double sign = values.back() < 0 ? -1 : 1;
    double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
    for (auto l = first; l < end; ++l) {
        const double value = sign * values[l];
        if (!(value > 0) || !std::isfinite(value))
            throw InvalidArgument(name, fmt::format("value {} at l = {}: a power law needs values of one "
                                                    "sign from l = {} on: extend with zero",
                                                    values[l], l, first));
        const double x = std::log(static_cast<double>(l)), y = std::log(value);
        sum_x += x, sum_y += y, sum_xx += x * x, sum_xy += x * y;
    }
    const auto n = static_cast<double>(end - first);
    const double exponent = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
    return {(sum_y - exponent * sum_x) / n, exponent, sign};
}

void check_lmax(std::int64_t lmax) {
    if (lmax > max_window_lmax)
        throw InvalidArgument("lmax", lmax, fmt::format("must be at most {}", max_window_lmax));
    static_cast<void>(AlmLayout{lmax});
}

}  // namespace

std::vector<double> gaussian_window(double fwhm, std::int64_t lmax, int spin) {
    fwhm = checked_width("fwhm", fwhm);
    if (spin < 0) throw InvalidArgument("spin", spin, "must not be negative");
    check_lmax(lmax);
    const double sigma = fwhm / std::sqrt(8 * std::numbers::ln2);
    std::vector<double> window(lmax + 1);
    for (std::int64_t l = spin; l <= lmax; ++l) {
        const double eigenvalue = static_cast<double>(l) * (l + 1.0) - static_cast<double>(spin) * spin;
        window[l] = std::exp(-eigenvalue * sigma * sigma / 2);
    }
    return window;
}

Beam gaussian_beam(double fwhm, std::int64_t lmax) {
    auto polarisation = gaussian_window(fwhm, lmax, 2);
    return {gaussian_window(fwhm, lmax, 0), polarisation, polarisation};
}

Beam uniform_beam(const std::vector<double>& window) {
    return {window, window, window};
}

std::vector<double> fit_length(const std::vector<double>& values, std::int64_t lmax, Extension extension,
                               const std::string& name) {
    check_lmax(lmax);
    std::vector<double> result = values;
    const auto given = static_cast<std::int64_t>(values.size());
    result.resize(lmax + 1);
    if (given > lmax || extension == Extension::zero) return result;
    if (extension == Extension::none)
        throw InvalidArgument(name,
                              fmt::format("ends at l = {}, lmax = {} needs more: extend it by zeros or a "
                                          "power law, or choose a lower lmax",
                                          given - 1, lmax));
    const PowerLaw tail = fit_power_law(values, name);
    for (auto l = given; l <= lmax; ++l) result[l] = tail(l);
    return result;
}

Beam fit_length(const Beam& beam, std::int64_t lmax, Extension extension, const std::string& name) {
    return for_each_part(
        [&](const char* part, const std::vector<double>& window) {
            return fit_length(window, lmax, extension, fmt::format("{} ({})", name, part));
        },
        beam);
}

Beam multiply(const Beam& a, const Beam& b) {
    return for_each_part(
        [](const char* part, std::vector<double> x, const std::vector<double>& y) {
            check_equal_lengths(part, x.size(), y.size());
            std::transform(x.begin(), x.end(), y.begin(), x.begin(), std::multiplies<>());
            return x;
        },
        a, b);
}

Beam divide(const Beam& numerator, const Beam& denominator, double floor) {
    if (!(floor >= 0) || !std::isfinite(floor))
        throw InvalidArgument("floor", floor, "must be 0 or positive");
    auto quotient = [floor](const char* part, const std::vector<double>& x, const std::vector<double>& y) {
        check_equal_lengths(part, x.size(), y.size());
        std::vector<double> result(x.size());
        // E and B have no l < 2, where their windows are often 0.
        const std::size_t first = std::string(part) == "temperature" ? 0 : 2;
        for (std::size_t l = first; l < x.size(); ++l) {
            const double divisor = std::abs(y[l]) < floor ? std::copysign(floor, y[l]) : y[l];
            result[l] = x[l] / divisor;
            if (!std::isfinite(result[l]))
                throw InvalidArgument(
                    fmt::format("window ({})", part),
                    fmt::format("{} / {} at l = {} is not finite: give a floor or a lower lmax", x[l],
                                divisor, l));
        }
        return result;
    };
    return for_each_part(quotient, numerator, denominator);
}

template <class T>
void apply_beam(const AlmLayout& layout, const Beam& beam, View<std::complex<T>, 2> alm) {
    const auto components = alm.extent(0);
    sht::check_components(components);
    if (components != 2) multiply_alm<T>(layout, beam.temperature, alm[0]);
    if (components == 1) return;
    multiply_alm<T>(layout, beam.gradient, alm[components - 2]);
    multiply_alm<T>(layout, beam.curl, alm[components - 1]);
}

template void apply_beam(const AlmLayout&, const Beam&, View<std::complex<float>, 2>);
template void apply_beam(const AlmLayout&, const Beam&, View<std::complex<double>, 2>);

}  // namespace zonal
