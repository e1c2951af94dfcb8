#include "split/split_checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "split/spline_basis.hpp"
#include "zonal/angle.hpp"
#include "zonal/error.hpp"

namespace zonal::split {
namespace {

using core::pi;

void check_window(const std::vector<double>& window) {
    constexpr std::int64_t min_lmax = 8;
    if (std::ssize(window) <= min_lmax)
        throw InvalidArgument("window",
                              fmt::format("ends at l = {}, must reach {}", std::ssize(window) - 1, min_lmax));
    const auto bad = std::find_if(window.begin(), window.end(), [](double k) { return !std::isfinite(k); });
    if (bad != window.end())
        throw InvalidArgument("window",
                              fmt::format("{} at l = {}: must be finite", *bad, bad - window.begin()));
    if (std::all_of(window.begin(), window.end(), [](double k) { return k == 0; }))
        throw InvalidArgument("window", "must not be zero everywhere");
}

void check_spectrum(const std::vector<double>& spectrum, std::size_t size, const char* name) {
    if (spectrum.size() != size)
        throw InvalidArgument(name,
                              fmt::format("{} values, must be {}, one for each l", spectrum.size(), size));
    const auto bad = std::find_if(spectrum.begin(), spectrum.end(),
                                  [](double c) { return !(c >= 0) || !std::isfinite(c); });
    if (bad != spectrum.end())
        throw InvalidArgument(
            name, fmt::format("{} at l = {}: must be finite and not negative", *bad, bad - spectrum.begin()));
}

void check_number(const char* name, double value, double minimum, double maximum, const char* range) {
    if (!(value >= minimum && value <= maximum))
        throw InvalidArgument(name, value, fmt::format("must be {}", range));
}

}  // namespace

void check_spin(int spin) {
    if (spin != 0 && spin != 2) throw InvalidArgument("spin", spin, "must be 0 or 2");
}

KernelSplitOptions resolve(const std::vector<double>& window, KernelSplitOptions options) {
    check_window(window);
    if (!options.input_spectrum.empty())
        check_spectrum(options.input_spectrum, window.size(), "input_spectrum");
    check_spin(options.spin);
    constexpr double tiny = 1e-300, huge = 1e300;
    options.theta_cut = checked_width("theta_cut", options.theta_cut);
    check_number("alpha", options.alpha, tiny, huge, "above 0");
    check_number("cutoff", options.cutoff, 1e-15, 0.999999, "from 1e-15 to below 1");
    check_number("max_amplification", options.max_amplification, tiny, HUGE_VAL, "above 0");
    check_number("leakage_weight", options.leakage_weight, tiny, 1, "above 0 and at most 1");
    check_number("spectrum_beyond", options.spectrum_beyond, 0, huge, "0 or more");
    check_number("max_leakage", options.max_leakage, 0, HUGE_VAL, "0 or more");
    check_number("knot_density", options.knot_density, 1, 100, "from 1 to 100");
    constexpr std::int64_t min_intervals = SplineBasis::min_knots - 1, max_intervals = 4096;
    if (options.n_intervals == 0) {
        // Half a wavelength of the highest degree is pi / lmax. On average so many knots for each.
        constexpr double knots_per_half_wave = 1.5;
        const double half_waves = options.theta_cut * static_cast<double>(window.size()) / pi;
        options.n_intervals = std::max(
            min_intervals + 1, static_cast<std::int64_t>(std::ceil(knots_per_half_wave * half_waves)));
    }
    if (options.n_intervals < min_intervals || options.n_intervals > max_intervals)
        throw InvalidArgument(
            "n_intervals", options.n_intervals,
            fmt::format("must be from {} to {} (fewer than {} come from a smaller theta_cut or lmax)",
                        min_intervals, max_intervals, max_intervals));
    options.threads = core::resolve_threads(options.threads);
    return options;
}

void check_lengths(const std::vector<double>& kernel, const std::vector<double>& window,
                   const std::vector<double>& profile_window, const std::vector<double>& c_l) {
    if (kernel.empty()) throw InvalidArgument("kernel", "must not be empty");
    if (window.size() > kernel.size())
        throw InvalidArgument("window", fmt::format("{} values, must be at most {}, the kernel's",
                                                    window.size(), kernel.size()));
    if (profile_window.size() != kernel.size())
        throw InvalidArgument("profile_window", fmt::format("{} values, must be {}, the kernel's",
                                                            profile_window.size(), kernel.size()));
    if (!c_l.empty()) check_spectrum(c_l, kernel.size(), "c_l");
}

void check_l_cut(std::int64_t l_cut, std::int64_t lmax) {
    if (l_cut < 0 || l_cut >= lmax)
        throw InvalidArgument("l_cut", l_cut, fmt::format("must be from 0 to {}, below lmax", lmax - 1));
}

void check_search(double error, std::int64_t neighbourhood) {
    check_number("error", error, 1e-300, HUGE_VAL, "above 0");
    if (neighbourhood < 0 || neighbourhood > 1000)
        throw InvalidArgument("neighbourhood", neighbourhood, "must be from 0 to 1000");
}

}  // namespace zonal::split

namespace zonal {

std::vector<double> wiener_spectrum(const std::vector<double>& signal, const std::vector<double>& noise) {
    split::check_spectrum(signal, noise.size(), "signal");
    split::check_spectrum(noise, signal.size(), "noise");
    auto filtered = signal;
    for (std::size_t l = 0; l < signal.size(); ++l)
        filtered[l] = signal[l] == 0 ? 0 : signal[l] * (signal[l] / (signal[l] + noise[l]));
    return filtered;
}

}  // namespace zonal
