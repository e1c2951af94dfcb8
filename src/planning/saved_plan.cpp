#include "zonal/planning/saved_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "planning/request.hpp"
#include "zonal/error.hpp"
#include "zonal/split.hpp"

namespace zonal {
namespace {

using planning::spin_of;

/// What tables of the same kernel may differ by when they are written as text.
constexpr double kernel_tolerance = 1e-9;

std::string name_of(const ConvolutionRequest& request) {
    return request.polarization ? fmt::format("of Q and U, up to l = {}", request.polarization->band_limit())
                                : request.kernel.name();
}

/// K+ or K- at plan_angles(), of a part that stands for it over cos^4 or sin^4 of theta/2.
std::vector<double> values_of(const RadialKernel* part, bool is_minus) {
    const auto theta = plan_angles();
    if (part == nullptr) return std::vector<double>(theta.size());
    auto values = part->profile(theta);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] *= std::pow(is_minus ? std::sin(theta[i] / 2) : std::cos(theta[i] / 2), 4);
    return values;
}

std::vector<double> profile_of(const ConvolutionRequest& request) {
    if (!request.polarization) return request.kernel.profile(plan_angles());
    auto values = values_of(request.polarization->plus(), false);
    const auto minus = values_of(request.polarization->minus(), true);
    values.insert(values.end(), minus.begin(), minus.end());
    return values;
}

[[noreturn]] void reject(const SavedPlan& plan, const std::string& field, const std::string& has,
                         const std::string& wanted) {
    throw InvalidArgument(fmt::format("{}: {} = {}: must be {}", plan.source, field, has, wanted));
}

void require_spectrum(const SavedPlan& plan, const char* name, const std::vector<double>& has,
                      const std::vector<double>& wanted) {
    if (has == wanted) return;
    if (has.empty() || wanted.empty())
        reject(plan, name, has.empty() ? "white" : "a spectrum", wanted.empty() ? "white" : "the maps'");
    const auto differs = std::mismatch(has.begin(), has.end(), wanted.begin(), wanted.end());
    const auto at = [](auto it, const auto& values) {
        return it == values.end() ? std::string("missing") : fmt::format("{:.9g}", *it);
    };
    reject(plan, fmt::format("{}[{}]", name, differs.first - has.begin()), at(differs.first, has),
           at(differs.second, wanted) + ", as of the maps");
}

void require_kernel(const SavedPlan& plan, const ConvolutionRequest& request) {
    if (plan.spin != spin_of(request))
        reject(plan, "spin", std::to_string(plan.spin), fmt::format("{}, the map's", spin_of(request)));
    const auto theta = plan_angles();
    const auto profile = profile_of(request);
    double largest = 0;
    for (const double value : profile) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < profile.size(); ++i)
        if (!(std::abs(plan.profile[i] - profile[i]) <= kernel_tolerance * largest))
            reject(plan, fmt::format("kernel ({}) at {:.4g} rad", plan.kernel, theta[i % theta.size()]),
                   fmt::format("{:.9g} /sr", plan.profile[i]),
                   fmt::format("{:.9g} /sr as of {}", profile[i], name_of(request)));
}

/// Window and profile of a split must give what the plan says of them: those of a damaged file do not.
void require_split(const SavedPlan& plan, const ConvolutionRequest& request) {
    const auto& split = *plan.choice.split;
    if (!can_be_split(request))
        reject(plan, "choice.method", "split", "be another method: the windows of E and B differ");
    const double error = split_error(split, request);
    const auto require_at_most = [&](const char* name, double bound, double rounding) {
        constexpr double relative_rounding = 1e-6;  // of the error, a sum of small differences
        if (!(error <= bound * (1 + relative_rounding) + rounding))
            throw IoError(
                fmt::format("{}: choice.split: window and profile (knots_rad, coefficients_per_sr) are "
                            "together wrong by {:.3g}: must be at most {} = {:.3g}",
                            plan.source, error, name, bound));
    };
    if (!request.gain) require_at_most("choice.predicted_error", plan.choice.error, 1e-11);
    require_at_most("choice.split.actual_error", split.actual_error, kernel_tolerance);
}

}  // namespace

std::vector<double> plan_angles() {
    constexpr int n_angles = 129;
    std::vector<double> theta;
    for (int i = 0; i < n_angles; ++i) {
        const double share = static_cast<double>(i) / (n_angles - 1);
        theta.push_back(std::numbers::pi * share * share * share);
    }
    return theta;
}

SavedPlan make_plan(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                    const CostModel& costs) {
    SavedPlan plan;
    plan.machine = machine_fingerprint(request.threads);
    plan.costs = costs.fingerprint;
    plan.grid = request.grid.name();
    plan.kernel = name_of(request);
    plan.spin = spin_of(request);
    plan.profile = profile_of(request);
    plan.lmax = request.lmax;
    plan.c_l = request.c_l;
    plan.c_bb = request.c_bb;
    plan.error = request.error;
    plan.gain = request.gain;
    plan.reference = request.reference;
    plan.n_maps = request.n_maps;
    plan.choice = choice;
    return plan;
}

void require_grid(const SavedPlan& plan, const Grid& grid) {
    if (plan.grid != grid.name()) reject(plan, "grid", plan.grid, grid.name() + ", the map's");
}

void require_match(const SavedPlan& plan, const ConvolutionRequest& request) {
    require_grid(plan, request.grid);
    if (plan.lmax != request.lmax)
        reject(plan, "lmax", std::to_string(plan.lmax), std::to_string(request.lmax));
    if (plan.reference != request.reference)
        reject(plan, "reference", to_string(plan.reference), to_string(request.reference));
    if (plan.gain.has_value() != request.gain.has_value())
        reject(plan, "gain", plan.gain ? fmt::format("{}", *plan.gain) : "none",
               plan.gain ? "none, as a spectrum is given" : "a number, as no spectrum is given");
    if (!(plan.error <= request.error))
        reject(plan, "error_bound", fmt::format("{}", plan.error), fmt::format("at most {}", request.error));
    require_spectrum(plan, "c_l", plan.c_l, request.c_l);
    require_spectrum(plan, "c_bb", plan.c_bb, request.c_bb);
    require_kernel(plan, request);
    if (plan.choice.split != nullptr) require_split(plan, request);
    if (const auto why = why_not_kept(request, plan.choice); !why.empty())
        throw IoError(fmt::format("{}: choice does not keep the error {}: {}; plan anew", plan.source,
                                  request.error, why));
}

}  // namespace zonal
