#include "planning/maps/map_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/stopwatch.hpp"
#include "planning/maps/map_certified.hpp"
#include "zonal/error.hpp"
#include "zonal/sky/map_analysis.hpp"

namespace zonal::planning {
namespace {

bool holds(const std::vector<double>& c_l) {
    return std::any_of(c_l.begin(), c_l.end(), [](double value) { return value > 0; });
}

/// Returns the spectra of all alm of the map, by quadrature.
std::vector<std::vector<double>> spectra_of_map(const MapPart& what) {
    MapAnalysisOptions analysis;
    analysis.lmax = what.options.lmax;
    analysis.iterations = 0;
    analysis.mask = what.options.mask;
    analysis.threads = what.options.threads;
    analysis.device = resolve_device(what.options.device);
    analysis.progress = [&](double) { return !what.options.progress || what.options.progress(0); };
    const auto alm = analyze(what.map, analysis).alm;
    std::vector<std::vector<double>> all;
    for (std::int64_t row = 0; row < alm.alm.extent(0); ++row) {
        auto c_l = cross_spectrum<double>(alm.layout, alm.alm.view()[row], alm.alm.view()[row]);
        all.push_back(what.map.part() ? what.map.part()->sum(c_l) : std::move(c_l));
    }
    return all;
}

/// What is to be convolved, and what it is planned by.
struct Problem {
    std::size_t n_kernels = 1;
    std::vector<std::vector<double>> spectra;
    ConvolutionRequest request;
    std::optional<PixelQuadrature> quadrature;  ///< HEALPix

    bool is_single() const {
        return n_kernels == 1 && (spectra.size() == 1 || request.polarization.has_value());
    }
};

/// lmax: of planning, and of the spectra.
Problem make_problem(const MapPart& what, std::int64_t lmax) {
    const auto& [map, kernel, options, normalization] = what;
    const auto given = given_kernels(kernel, options.lmax);
    Problem problem{given.size(), input_spectra(what), {}, {}};
    auto& request = problem.request;
    request.grid = map.whole_grid();
    request.lmax = lmax;
    request.kernel = whole_kernel(given[0], what.normalizes()).kernel;
    request.threads = options.threads;
    const auto fitted = [&](const std::vector<double>& c_l) {
        return c_l.empty() ? c_l : fit_length(c_l, lmax, Extension::zero, "input_spectrum");
    };
    request.c_l = fitted(problem.spectra[0]);
    if (options.method == ConvolutionMethod::split) request.method = ConvolutionMethod::split;
    if (what.has_spin()) {
        request.polarization = whole_spin_kernel(kernel, options.lmax, given[0], what.normalizes());
        request.c_bb = fitted(problem.spectra[1]);
    }
    request.error = error_of_sums(options.mask_rule, what.error());
    request.reference = reference_of(what, false);
    request.n_maps = what.has_spin() ? 1 : map.rows().extent(0);
    request.allow_single = options.precision != Precision::float64 && fits_single(map);
    request.consider_split =
        problem.is_single() && options.mask_rule.mode != MaskMode::renormalize && !what.keeps_counts();
    request.theta_cut = options.theta_cut;
    if (map.nside() > 0) problem.quadrature = PixelQuadrature(request, map.nside());
    return problem;
}

/// Says whether a choice may be taken: only sums over pixels keep counts.
bool may_be_taken(const ConvolutionChoice& choice, const MapPart& what) {
    if (!choice.excluded.empty()) return false;
    if (what.options.method == ConvolutionMethod::split) return choice.method == ConvolutionMethod::split;
    return choice.method != ConvolutionMethod::harmonic || !what.keeps_counts();
}

ConvolutionChoice best_of(const std::vector<ConvolutionChoice>& choices, const MapPart& what,
                          std::int64_t lmax) {
    const auto best = std::find_if(choices.begin(), choices.end(),
                                   [&](const auto& choice) { return may_be_taken(choice, what); });
    if (best != choices.end()) return *best;
    const auto& options = what.options;
    if (options.method != ConvolutionMethod::split)
        throw ErrorNotKept(fmt::format("method = auto: no method can keep error = {}", what.error()));
    for (const auto& choice : choices)
        if (choice.method == ConvolutionMethod::harmonic && !choice.excluded.empty())
            throw ErrorNotKept(fmt::format("method = split: no split can keep error = {}: {}", what.error(),
                                           choice.excluded));
    throw ErrorNotKept(
        fmt::format("method = split: no split of the window up to lmax = {} can keep error = {}{}", lmax,
                    what.error(), options.theta_cut > 0 ? " with this theta_cut" : ""));
}

/// Plans the fastest way by the costs of this machine's devices.
ConvolutionChoice plan_anew(const MapPart& what, const Problem& problem, SmoothedPart& part) {
    const auto& options = what.options;
    const auto costs = options.costs ? *options.costs : default_cost_model(options.threads);
    part.choices = choices_of(what, problem.request, costs);
    auto choice = best_of(part.choices, what, problem.request.lmax);
    share_choice(what, choice);
    if (choice.seconds > 0) part.predicted_seconds = choice.seconds;
    if (problem.is_single()) part.plan = make_plan(problem.request, choice, costs);
    return choice;
}

ConvolutionChoice follow_for_spectrum(const SavedPlan& plan, const MapPart& what, const Problem& problem,
                                      SmoothedPart& part) {
    if (!problem.is_single()) reject(plan, "has one kernel and one spectrum, and this map needs more");
    return follow(plan, what.options, problem.request, may_be_taken(plan.choice, what), part);
}

/// Says whether the kernel is so narrow that its sums over the pixels mean nothing. Counts are kept all the
/// same.
bool is_too_narrow(const MapPart& what, const Problem& problem) {
    const bool sums = what.options.method != ConvolutionMethod::split && !what.keeps_counts();
    return problem.quadrature && sums && !problem.quadrature->is_sum();
}

}  // namespace

void reject(const SavedPlan& plan, const std::string& why) {
    throw InvalidArgument(fmt::format("{}: {}", plan.source, why));
}

ConvolutionChoice follow(const SavedPlan& plan, const MapSmoothingOptions& options,
                         const ConvolutionRequest& request, bool may_be_taken, SmoothedPart& part) {
    const auto& choice = plan.choice;
    require_match(plan, request);
    if (!may_be_taken || (choice.method == ConvolutionMethod::split && !request.consider_split))
        reject(plan, fmt::format("method = {}: cannot do what normalization and mask ask for",
                                 to_string(choice.method)));
    if (choice.precision == Precision::float32 && !request.allow_single)
        reject(plan, "precision = float: must be double for this map and these options");
    if (options.device.kind() != Device::Kind::automatic && choice.device != options.device)
        reject(plan,
               fmt::format("device = {}: must be {}", to_string(choice.device), to_string(options.device)));
    resolve_device(choice.device);
    resolve_device(choice.harmonic_device);
    if (plan.machine == machine_fingerprint(options.threads))
        part.predicted_seconds = choice.seconds;
    else
        part.notes.push_back(
            fmt::format("{}: was made on {} and may not be the fastest here", plan.source, plan.machine));
    return choice;
}

bool is_planned(const MapSmoothingOptions& options) {
    return options.method == ConvolutionMethod::automatic || options.method == ConvolutionMethod::split;
}

std::string why_harmonic_only(const SkyMap& map, const MapKernel& kernel,
                              const MapSmoothingOptions& options) {
    if (map.polarized() && !kernel.has_window()) return "the kernel is of spin 0, and the map has Q and U";
    if (options.pixels_out) return "the result has other pixels";
    if (options.iterations || options.tolerance > 0) return "iterations or a tolerance are given";
    if (kernel.is_ratio()) return "windows of the input or of pixels are given";
    return "";
}

Way plan_way(const MapPart& what, SmoothedPart& part) {
    const core::Stopwatch watch;
    const auto& options = what.options;
    if (options.plan) require_grid(*options.plan, what.map.whole_grid());
    const auto most = default_smoothing_lmax(what.map.whole_grid());
    const auto lmax = options.lmax >= 0 ? options.lmax : options.plan ? options.plan->lmax : most;
    auto problem = make_problem(what, lmax);
    if (is_too_narrow(what, problem))
        throw ErrorNotKept(problem.quadrature->explanation() + "; method = harmonic smooths with its window");
    Way way{ConvolutionMethod::harmonic, problem.request.reference};
    way.choice = options.plan ? follow_for_spectrum(*options.plan, what, problem, part)
                              : plan_anew(what, problem, part);
    way.method = way.choice->method;
    way.device = way.choice->device;
    way.lmax = options.plan ? lmax : options.lmax;
    if (problem.request.reference == ConvolutionReference::continuous &&
        way.method == ConvolutionMethod::harmonic)
        way.analysis =
            planned_analysis(*way.choice, what.map.whole_grid(), problem.request.lmax, what.error());
    way.is_exact = problem.is_single();
    way.spectra = std::move(problem.spectra);
    way.polarization = std::move(problem.request.polarization);
    way.quadrature = std::move(problem.quadrature);
    part.choice = way.choice;
    part.planning_seconds = watch.seconds();
    return way;
}

std::vector<std::vector<double>> input_spectra(const MapPart& what) {
    const auto spectrum = what.options.input_spectrum.value_or(InputSpectrum{});
    const std::vector<double> white;
    if (!spectrum.is_of_map) {
        if (!what.has_spin()) return {spectrum.tt};
        if (spectrum.ee.empty() && spectrum.bb.empty()) return {white, white};
        auto both = std::vector{spectrum.ee, spectrum.bb};
        for (auto& c_l : both) c_l.resize(std::max(spectrum.ee.size(), spectrum.bb.size()));
        return both;
    }
    auto all = spectra_of_map(what);
    if (what.has_spin()) return holds(all[0]) || holds(all[1]) ? all : std::vector{white, white};
    for (auto& c_l : all)
        if (!holds(c_l)) c_l.clear();  // an empty map: white
    return all;
}

std::vector<ConvolutionChoice> choices_of(const MapPart& what, const ConvolutionRequest& request,
                                          const CostModel& costs) {
    if (what.map.part() != nullptr) return plan_convolution(request, costs, *what.map.part());
    return plan_convolution(request, costs, what.options.device);
}

void share_choice(const MapPart& what, ConvolutionChoice& choice) {
    const auto* const ranks = what.map.part();
    if (ranks == nullptr) return;
    ranks->agree(
        fmt::format("a way by {} in {} precision, l_cut {}, lmax {}, {} iterations", to_string(choice.method),
                    choice.precision == Precision::float32 ? "float" : "double", choice.l_cut, choice.lmax,
                    choice.iterations),
        nullptr);
    for (double* number : {&choice.support, &choice.accuracy, &choice.tolerance})
        *number = ranks->gather(*number)[0];
}

bool fits_single(const SkyMap& map) {
    constexpr double least = 1e-25, most = 1e25;
    double largest = 0;
    const auto rows = map.rows();
    for (std::int64_t row = 0; row < rows.extent(0); ++row)
        for (std::int64_t pixel = 0; pixel < rows.extent(1); ++pixel)
            if (const double value = std::abs(rows(row, pixel)); !is_unseen_value(rows(row, pixel)))
                largest = std::max(largest, value);
    largest = largest_of_ranks(map.part(), largest);
    return largest == 0 || (largest >= least && largest <= most);
}

void require_single_fits(const SkyMap& map) {
    if (fits_single(map)) return;
    throw InvalidArgument(fmt::format(
        "{}: its largest value is not from 1e-25 to 1e25, as single precision needs: must be double",
        map.header().source));
}

}  // namespace zonal::planning
