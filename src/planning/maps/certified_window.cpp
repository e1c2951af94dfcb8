#include "planning/maps/certified_window.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "planning/certificate/window_norms.hpp"
#include "planning/maps/map_certified.hpp"
#include "planning/maps/map_harmonic.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal::planning {
namespace {

constexpr double tolerance_without_bound = 0.1;  // of the error

/// Returns the degree where a beam from a file ends; -1 for other windows.
std::int64_t end_of_beam(const MapPart& what) {
    const auto& window = what.kernel.window;
    std::int64_t end = -1;
    for (const auto* beam :
         {&window.beam, &window.beam_in, &window.pixel_window_in, &window.pixel_window_out})
        if (*beam && window.extension == Extension::none)
            end = end < 0 ? (*beam)->lmax() : std::min(end, (*beam)->lmax());
    return end;
}

}  // namespace

CertifiedWindow::CertifiedWindow(const MapPart& what, SkyMap& out) : what_(what), out_(out) {
    const auto& grid = what.map.whole_grid();
    const auto& options = what.options;
    way_.reference = reference_of(what, true);
    way_.device = options.device;
    way_.lmax = options.lmax;
    if (way_.reference != ConvolutionReference::continuous)
        throw ErrorNotKept(
            fmt::format("error = {}: is not certified from reference = discrete where the result has other "
                        "pixels, the window is a ratio, iterations are given, or the map has Q and U and the "
                        "kernel is of spin 0",
                        what.error()));
    if (way_.lmax >= 0) return;
    const auto most = default_lmax(grid, out.whole_grid());
    way_.lmax = std::min(most, certifiable_lmax(grid));
    if (way_.lmax < 0) way_.lmax = most;
    if (const auto end = end_of_beam(what); end >= 0) way_.lmax = std::min(way_.lmax, end);
    if (!what.kernel.is_ratio()) way_.lmax = last_degree(windows(), what.error(), way_.lmax);
}

void CertifiedWindow::plan(double gain, double error, SmoothedPart&) {
    const auto& options = what_.options;
    if (options.plan)
        throw InvalidArgument(
            "plan: cannot be followed: only harmonic space can produce other pixels, apply ratios of windows "
            "or kernels of spin 0 to Q and U, or iterate");
    way_.analysis = options.iterations || options.tolerance > 0 ? given_analysis(options, way_.reference)
                                                                : planned(gain, error);
}

void CertifiedWindow::plan_without_bound(SmoothedPart&) {
    way_.analysis = {0, tolerance_without_bound * what_.error()};
}

void CertifiedWindow::smooth(SmoothedPart& part) {
    part.certificates.clear();
    smooth_in_harmonic_space(what_, way_, out_, part);
}

std::vector<std::vector<double>> CertifiedWindow::windows() const {
    std::vector<AppliedKernel> applied;
    std::vector<std::vector<double>> all;
    for (auto& beam : harmonic_windows(what_.kernel, what_.options, what_.normalizes(), way_.lmax, applied)) {
        all.push_back(std::move(beam.temperature));
        if (!what_.has_spin()) continue;
        all.push_back(std::move(beam.gradient));
        all.push_back(std::move(beam.curl));
    }
    return all;
}

/// Returns the tolerance with which the error that conjugate gradients leave takes most of the error allowed.
PlannedAnalysis CertifiedWindow::planned(double gain, double error) const {
    constexpr double share = 0.8, margin = 0.98, least_tolerance = 1e-13;
    const auto& grid = what_.map.whole_grid();
    const auto all = windows();
    const double largest = largest_of(all);
    double least_gain = std::numeric_limits<double>::infinity();
    for (const auto& window : all) {
        double power = 0;  // in shares of the largest, as the square of 1e200 is infinite
        for (std::int64_t l = 0; l < std::ssize(window) && largest > 0; ++l)
            power += static_cast<double>(2 * l + 1) * std::pow(window[l] / largest, 2);
        least_gain = std::min(least_gain, largest * std::sqrt(power / static_cast<double>(grid.n_pixels())));
    }
    AnalysisReport whole;
    whole.residual = 1;
    const double norm = largest * analysis_norm(grid, way_.lmax, whole) *
                        std::sqrt(largest_eigenvalue(out_.whole_grid(), way_.lmax));
    if (!std::isfinite(norm))
        throw ErrorNotKept(fmt::format("an analysis above lmax = {} has no bound", certifiable_lmax(grid)));
    const double wanted = gain > 0 ? gain : margin * least_gain;
    return {0, std::max(least_tolerance, share * error / (1 + error) * wanted / norm)};
}

}  // namespace zonal::planning
