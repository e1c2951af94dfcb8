#include "zonal/filters.hpp"

#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "zonal/error.hpp"

namespace zonal {
namespace {

void check_finite(const std::vector<double>& values, const char* name) {
    for (std::size_t l = 0; l < values.size(); ++l)
        if (!std::isfinite(values[l]))
            throw InvalidArgument(name, fmt::format("{} at l = {}: must be finite", values[l], l));
}

void check_spectrum(const std::vector<double>& values, const char* name) {
    check_finite(values, name);
    for (std::size_t l = 0; l < values.size(); ++l)
        if (values[l] < 0)
            throw InvalidArgument(name, fmt::format("{} at l = {}: must not be negative", values[l], l));
}

void check_length(const std::vector<double>& values, const char* name, const std::vector<double>& first,
                  const char* first_name) {
    if (values.size() != first.size() || first.empty())
        throw InvalidArgument(
            fmt::format("{} and {} have {} and {} values: must be of equal number, at least 1", first_name,
                        name, first.size(), values.size()));
}

}  // namespace

std::vector<double> sky_window(const std::vector<double>& c_l, const std::vector<double>& b_l) {
    check_length(b_l, "b_l", c_l, "c_l");
    check_spectrum(c_l, "c_l");
    check_finite(b_l, "b_l");
    std::vector<double> window(c_l.size());
    for (std::size_t l = 0; l < window.size(); ++l) window[l] = std::sqrt(c_l[l]) * b_l[l];
    return window;
}

std::vector<double> deconvolution_window(const std::vector<double>& target, const std::vector<double>& b_l,
                                         double floor) {
    check_length(b_l, "b_l", target, "target");
    check_finite(target, "target");
    check_finite(b_l, "b_l");
    if (!(floor >= 0) || !std::isfinite(floor))
        throw InvalidArgument("floor", floor, "must be 0 or positive");
    std::vector<double> window(target.size());
    for (std::size_t l = 0; l < window.size(); ++l) {
        const double divisor = std::abs(b_l[l]) < floor ? std::copysign(floor, b_l[l]) : b_l[l];
        window[l] = target[l] / divisor;
        if (!std::isfinite(window[l]))
            throw InvalidArgument(fmt::format("target / b_l = {} / {} at l = {} is not finite: give a floor",
                                              target[l], divisor, l));
    }
    return window;
}

std::vector<double> matched_filter_window(const std::vector<double>& b_l, const std::vector<double>& c_l,
                                          const std::vector<double>& n_l) {
    check_length(c_l, "c_l", b_l, "b_l");
    check_length(n_l, "n_l", b_l, "b_l");
    check_finite(b_l, "b_l");
    check_spectrum(c_l, "c_l");
    check_spectrum(n_l, "n_l");
    std::vector<double> window(b_l.size());
    double response = 0;
    for (std::size_t l = 0; l < window.size(); ++l) {
        if (b_l[l] == 0) continue;
        window[l] = b_l[l] / (c_l[l] * b_l[l] * b_l[l] + n_l[l]);
        if (!std::isfinite(window[l]))
            throw InvalidArgument(
                fmt::format("c_l and n_l at l = {}: must not both be 0 where b_l is not", l));
        response += (2 * static_cast<double>(l) + 1) / (4 * std::numbers::pi) * b_l[l] * window[l];
    }
    if (!(response > 0) || !std::isfinite(response))
        throw InvalidArgument("b_l", fmt::format("the response {} cannot be made 1", response));
    for (double& f_l : window) f_l /= response;
    return window;
}

std::vector<double> wiener_window(const std::vector<double>& c_l, const std::vector<double>& n_l) {
    check_length(n_l, "n_l", c_l, "c_l");
    check_spectrum(c_l, "c_l");
    check_spectrum(n_l, "n_l");
    std::vector<double> window(c_l.size());
    for (std::size_t l = 0; l < window.size(); ++l)
        if (c_l[l] > 0) window[l] = c_l[l] / (c_l[l] + n_l[l]);
    return window;
}

}  // namespace zonal
