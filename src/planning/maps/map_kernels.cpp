#include "planning/maps/map_kernels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/constants.hpp"
#include "planning/error_model.hpp"
#include "zonal/error.hpp"

namespace zonal::planning {
namespace {

/// Cuts the kernel at theta_cut. lost: the error of the cut, apart from what it takes from the integral,
/// which is the error of a constant map.
CutKernel cut(const CutKernel& given, double theta_cut, double lost, bool normalize) {
    CutKernel result = given;
    result.is_cut = theta_cut < given.kernel.support();
    const auto kernel = result.is_cut ? given.kernel.truncated(theta_cut) : given.kernel;
    auto& applied = result.applied;
    const double integral = kernel.window(0)[0];
    const bool has_integral =
        std::abs(integral) > least_integral && std::abs(applied.integral) > least_integral;
    if (normalize && !has_integral)
        throw InvalidArgument(fmt::format(
            "normalization = window: the kernel's integral is {:.3g}; normalization = none leaves it "
            "as it is",
            integral));
    if (normalize) applied.scale = 1 / integral;
    applied.truncation_error = lost + (has_integral ? std::abs(integral / applied.integral - 1) : 0);
    result.kernel = kernel.scaled(applied.scale);
    applied.support = result.kernel.support();
    return result;
}

/// Returns the largest value over the spectra.
template <class Measure>
double worst(const std::vector<std::vector<double>>& c_l, Measure&& measure) {
    double largest = 0;
    for (const auto& spectrum : c_l) largest = std::max(largest, measure(spectrum));
    return largest;
}

double lost_by_cut(const CutKernel& given, double theta_cut, const std::vector<std::vector<double>>& c_l) {
    return worst(c_l, [&](const std::vector<double>& spectrum) {
        return truncation_error(given.kernel, spectrum, theta_cut);
    });
}

}  // namespace

std::vector<CutKernel> given_kernels(const MapKernel& kernel, std::int64_t lmax) {
    auto given = kernel.kernels;
    const auto& window = kernel.window;
    if (kernel.has_window() && !window.beam)
        given = {RadialKernel::gaussian(window.fwhm.value())};
    else if (kernel.has_window())
        given = {
            RadialKernel::from_window(evaluate(window, lmax < 0 ? window.beam->lmax() : lmax).temperature)};
    std::vector<CutKernel> kernels;
    kernels.reserve(given.size());
    for (const auto& one : given) kernels.push_back({one, {one.support(), one.window(0)[0], 1, 0}, false});
    return kernels;
}

CutKernel whole_kernel(const CutKernel& given, bool normalize) {
    return cut(given, core::pi, 0, normalize);
}

CutKernel cut_at(const CutKernel& given, double theta_cut, const std::vector<std::vector<double>>& c_l,
                 bool normalize) {
    return cut(given, theta_cut, lost_by_cut(given, theta_cut, c_l), normalize);
}

CutKernel cut_for_error(const CutKernel& given, double error, const std::vector<std::vector<double>>& c_l,
                        const Grid& grid, bool normalize) {
    constexpr int attempts = 12;  // each asks for half the error of the one before
    double wanted = error / 2;
    for (int i = 0; i < attempts; ++i, wanted /= 2) {
        const double theta = worst(c_l, [&](const std::vector<double>& spectrum) {
            return support_for_error(given.kernel, spectrum, wanted, grid);
        });
        auto kernel = cut_at(given, theta, c_l, normalize);
        if (kernel.applied.truncation_error <= error) return kernel;
    }
    return cut(given, given.kernel.support(), 0, normalize);  // the tail never ends
}

PolarizationKernel whole_spin_kernel(const MapKernel& kernel, std::int64_t lmax, const CutKernel& scalar,
                                     bool normalize) {
    const auto& window = kernel.window;
    if (!window.beam) return PolarizationKernel::gaussian(window.fwhm.value());  // whose integral is 1
    auto beam = evaluate(window, lmax < 0 ? window.beam->lmax() : lmax);
    const double scale = normalize ? 1 / scalar.applied.integral : 1;
    for (auto* part : {&beam.gradient, &beam.curl})
        for (double& value : *part) value *= scale;
    return {beam.gradient, beam.curl};
}

std::vector<Beam> harmonic_windows(const MapKernel& kernel, const MapSmoothingOptions& options,
                                   bool normalize, std::int64_t lmax, std::vector<AppliedKernel>& applied) {
    applied.clear();
    if (kernel.has_window() && !options.cut) {
        auto beam = evaluate(kernel.window, lmax);
        const double integral = beam.temperature[0];
        applied.push_back({core::pi, integral, 1, 0});
        if (!normalize) return {beam};
        if (integral == 0)
            throw InvalidArgument(
                "normalization = window: the window is 0 at l = 0; normalization = none leaves it as it is");
        for (auto* part : {&beam.temperature, &beam.gradient, &beam.curl})
            for (double& value : *part) value /= integral;
        applied[0].scale = 1 / integral;
        return {beam};
    }
    std::vector<Beam> beams;
    for (const auto& given : given_kernels(kernel, lmax)) {
        const auto cut =
            options.cut ? cut_at(given, *options.cut, {{}}, normalize) : whole_kernel(given, normalize);
        applied.push_back(cut.applied);
        beams.push_back(uniform_beam(cut.kernel.window(lmax)));
    }
    return beams;
}

}  // namespace zonal::planning
