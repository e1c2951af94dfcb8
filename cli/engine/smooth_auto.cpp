#include "engine/smooth_auto.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "engine/choice_report.hpp"
#include "engine/smooth_kernels.hpp"
#include "engine/smooth_pixels.hpp"
#include "engine/smooth_spectra.hpp"
#include "shell/error.hpp"
#include "zonal/io/cost_model.hpp"
#include "zonal/io/plan.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/planning/pixel_quadrature.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal::cli {
namespace {

using Method = zonal::ConvolutionMethod;

bool is_continuous(const SmoothOptions& options) {
    return options.kernel.reference == Reference::continuous;
}

bool has_spin(const SkyMap& map) {
    return map.groups()[0].fields != Fields::scalars;
}

}  // namespace

std::string harmonic_only(const SmoothOptions& options, const SkyMap& map) {
    if (has_spin(map) && (!options.kernel.profile.empty() || !options.kernel.sky_spectrum.empty()))
        return "the kernel is of spin 0, and the map has Q and U";
    if (options.nside_out) return "--nside-out";
    if (options.analysis.given() && is_continuous(options)) return "--lmax, --iter, --tolerance, --weights";
    if (is_continuous(options) && map.nside() == 0) return "the map is not HEALPix";
    if (options.fwhm_in || !options.beam_in.empty() || !options.pixel_window_in.empty() ||
        !options.pixel_window_out.empty())
        return "windows of the input or of pixels";
    return "";
}

namespace {

/// As input_spectra, of the map without its masked pixels.
std::vector<std::vector<double>> spectra_for(const SmoothOptions& options, const SkyMap& map,
                                             Session& session) {
    const auto spectra = [&](const SkyMap& of) {
        return has_spin(map) ? polarization_spectra(options, of, session)
                             : input_spectra(options, of, session);
    };
    if (options.kernel.input_spectrum != "map") return spectra(map);
    const auto mask = read_mask(options.mask, map, session);
    return spectra(masked_copy(options.mask, map, mask.view()));
}

/// The devices that --device permits and whose costs are known; empty for all of them.
std::vector<Device> devices_for(const SmoothOptions& options, const CostModel& costs) {
    const bool any = options.run.any_device || !has_costs(costs, options.run.device);
    return any ? std::vector<Device>{} : std::vector{options.run.device};
}

/// What is to be convolved, and what it is planned by.
struct Problem {
    std::vector<SmoothingKernel> kernels;
    std::vector<std::vector<double>> spectra;
    ConvolutionRequest request;
    std::optional<PixelQuadrature> quadrature;  ///< HEALPix

    bool is_single() const {
        return kernels.size() == 1 && (spectra.size() == 1 || request.polarization.has_value());
    }
};

/// lmax: where --lmax does not say.
Problem make_problem(const SmoothOptions& options, const SkyMap& map, std::int64_t lmax, Session& session) {
    Problem problem{make_kernels(options, map, {{}}, 0, session), spectra_for(options, map, session), {}, {}};
    auto& request = problem.request;
    request.grid = map.grid();
    request.lmax = options.analysis.lmax ? options.analysis.lmax_for(map) : lmax;
    request.kernel = problem.kernels[0].kernel;
    request.threads = options.run.thread_count();
    const auto fitted = [&](const std::vector<double>& c_l) {
        return c_l.empty() ? c_l : fit_length(c_l, request.lmax, Extension::zero, "--input-cl");
    };
    request.c_l = fitted(problem.spectra[0]);
    if (has_spin(map)) {
        require_spin_lmax(request.lmax, map);
        request.polarization = make_spin_kernel(options, problem.kernels[0], session);
        if (options.kernel.method == ConvolutionMethod::split && !can_be_split(request))
            throw UsageError(fmt::format(
                "--method split: the windows of E and B differ in {}, and such kernels are not split: "
                "--method auto, ring-fft and pixel-sum take them",
                options.beam));
        request.c_bb = fitted(problem.spectra[1]);
    }
    request.error = error_of_sums(options.mask.rule(), options.kernel.chosen_error());
    if (is_continuous(options)) request.reference = ConvolutionReference::continuous;
    request.n_maps = has_spin(map) ? 1 : map.rows().extent(0);
    request.allow_single = options.precision != io::Precision::float64 && fits_single(map);
    request.only_split = options.kernel.method == ConvolutionMethod::split;
    request.consider_split = problem.is_single() && options.mask.mode != MaskMode::renormalize &&
                             options.kernel.chosen_normalization() != Normalization::pixel;
    if (options.kernel.theta_cut) request.theta_cut = options.kernel.theta_cut->radians;
    if (map.nside() > 0) problem.quadrature = PixelQuadrature(request, map.nside());
    return problem;
}

/// Counts are kept by sums over pixels alone.
bool may_be_taken(const ConvolutionChoice& choice, const SmoothOptions& options) {
    if (!choice.excluded.empty()) return false;
    if (options.kernel.method == ConvolutionMethod::split) return choice.method == Method::split;
    return choice.method != Method::harmonic || options.kernel.chosen_normalization() != Normalization::pixel;
}

ConvolutionMethod named(Method method) {
    switch (method) {
        case Method::pixel_sum:
            return ConvolutionMethod::pixel_sum;
        case Method::ring_fft:
            return ConvolutionMethod::ring_fft;
        case Method::split:
            return ConvolutionMethod::split;
        default:
            return ConvolutionMethod::harmonic;
    }
}

void take(ConvolutionMethod method, SmoothOptions& options) {
    options.kernel.method = method;
    if (!options.kernel.reference) options.kernel.reference = Reference::discrete;
    // What sums over pixels have no use for.
    const bool sums = method == ConvolutionMethod::pixel_sum || method == ConvolutionMethod::ring_fft;
    const bool has_degrees = !options.beam.empty() || !options.kernel.sky_spectrum.empty();
    if (sums && !has_degrees) options.analysis.lmax.reset();
}

ConvolutionChoice best_of(const std::vector<ConvolutionChoice>& choices, const SmoothOptions& options,
                          std::int64_t lmax) {
    const auto best = std::find_if(choices.begin(), choices.end(),
                                   [&](const auto& choice) { return may_be_taken(choice, options); });
    if (best != choices.end()) return *best;
    if (options.kernel.method != ConvolutionMethod::split)
        throw CannotBeKept(
            fmt::format("--method auto: no method can keep --error {}", options.kernel.chosen_error()));
    for (const auto& choice : choices)
        if (choice.method == Method::harmonic && !choice.excluded.empty())
            throw CannotBeKept(fmt::format("--method split: no split can keep --error {}: {}",
                                           options.kernel.chosen_error(), choice.excluded));
    throw CannotBeKept(
        fmt::format("--method split: no split of the window up to lmax = {} can keep --error {}{}", lmax,
                    options.kernel.chosen_error(), options.kernel.theta_cut ? " with this --theta-cut" : ""));
}

/// On the device that it was planned for; on the one that was asked for where no costs of that are known.
void run_on_planned_device(const CostModel& costs, ConvolutionChoice& choice, SmoothOptions& options,
                           Session& session) {
    if (!has_costs(costs, options.run.device)) {
        choice.device = choice.harmonic_device = options.run.device;
        return;
    }
    options.run.device = choice.device;
    session.report["device"] = to_string(choice.device);
    session.report["predicted_seconds"] = choice.seconds;
}

/// The fastest way by what this machine's devices cost.
ConvolutionChoice plan(const Problem& problem, SmoothOptions& options, Session& session) {
    const auto found = io::find_costs(options.kernel.costs, options.run.thread_count());
    session.note(found.notes);
    const auto& costs = found.costs;
    auto request = problem.request;
    request.devices = devices_for(options, costs);
    const auto choices = plan_convolution(request, costs);
    if (options.kernel.explain) report_choices(choices, costs.fingerprint, session);
    auto choice = best_of(choices, options, request.lmax);
    run_on_planned_device(costs, choice, options, session);
    if (options.kernel.save_plan.empty()) return choice;
    if (!problem.is_single())
        throw UsageError("--save-plan: a plan has one kernel and one spectrum, and this map needs more");
    io::write_plan(options.kernel.save_plan, make_plan(request, choice, costs), options.output.overwrite);
    session.report["plan_output"] = options.kernel.save_plan;
    return choice;
}

/// What the plan says and the command line does not.
void follow(const SavedPlan& plan, SmoothOptions& options) {
    if (options.kernel.error == 0) options.kernel.error = plan.error;
    if (!options.kernel.reference)
        options.kernel.reference =
            plan.reference == ConvolutionReference::continuous ? Reference::continuous : Reference::discrete;
    const bool is_sky = !options.kernel.sky_spectrum.empty();  // up to lmax
    if (is_sky && !options.analysis.lmax) options.analysis.lmax = plan.lmax;
}

/// The way that was found before.
ConvolutionChoice planned_before(const SavedPlan& plan, const Problem& problem, SmoothOptions& options,
                                 Session& session) {
    require_match(plan, problem.request);
    const auto reject = [&](const std::string& why) {
        throw UsageError(fmt::format("--plan {}: {}", plan.source, why));
    };
    const auto& choice = plan.choice;
    if (!problem.is_single()) reject("has one kernel and one spectrum, and this map needs more");
    if (!may_be_taken(choice, options) || (choice.method == Method::split && !problem.request.consider_split))
        reject(fmt::format("method = {}: cannot do what --normalize and --mask-mode ask for",
                           zonal::to_string(choice.method)));
    if (choice.precision == zonal::Precision::single_ && !problem.request.allow_single)
        reject("precision = float: --precision asks for double");
    if (!options.run.any_device && choice.device != options.run.device)
        reject(fmt::format("device = {}: --device asks for {}", to_string(choice.device),
                           to_string(options.run.device)));
    options.run.device = resolve_device(choice.device);
    resolve_device(choice.harmonic_device);
    session.report["device"] = to_string(choice.device);
    session.report["plan"] = plan.source;
    if (plan.machine == machine_fingerprint(options.run.thread_count()))
        session.report["predicted_seconds"] = choice.seconds;
    else
        session.note(fmt::format("{}: made on {}: may not be the fastest here", plan.source, plan.machine));
    if (choice.method == Method::harmonic) options.analysis.lmax = plan.lmax;
    return choice;
}

/// Whether the kernel, narrower than the pixels, has no sum over them to speak of. Counts are kept all the
/// same.
bool is_too_narrow(const Problem& problem, const SmoothOptions& options) {
    const bool sums = options.kernel.method != ConvolutionMethod::split &&
                      options.kernel.chosen_normalization() != Normalization::pixel;
    return problem.quadrature && sums && !problem.quadrature->is_sum();
}

void leave_to_harmonic_space(const std::string& reason, SmoothOptions& options, Session& session) {
    if (!options.kernel.plan.empty() || !options.kernel.save_plan.empty())
        throw UsageError(fmt::format("--plan, --save-plan: nothing is planned: {}", reason));
    session.note(fmt::format("--method auto: {}: harmonic space, whatever --error says", reason));
    take(ConvolutionMethod::harmonic, options);
}

}  // namespace

void choose_method(SmoothOptions& options, const SkyMap& map, Session& session) {
    const auto start = std::chrono::steady_clock::now();
    session.report["method_asked_for"] = to_string(options.kernel.chosen_method());
    std::optional<SavedPlan> saved;
    if (!options.kernel.plan.empty()) saved = io::read_plan(options.kernel.plan);
    if (saved) {
        require_grid(*saved, map.grid());  // before its lmax meets a grid that cannot hold it
        follow(*saved, options);
    }
    const bool is_split = options.kernel.method == ConvolutionMethod::split;
    if (is_split || options.kernel.normalization == Normalization::pixel) check_spin(options, map);
    if (is_split) {
        // what only harmonic space can do is refused where it is done
    } else if (const auto reason = harmonic_only(options, map); !reason.empty()) {
        return leave_to_harmonic_space(reason, options, session);
    }
    const auto lmax = saved ? saved->lmax : default_smoothing_lmax(map.grid());
    auto problem = make_problem(options, map, lmax, session);
    if (is_too_narrow(problem, options)) {
        if (!options.kernel.reference) options.kernel.reference = Reference::continuous;
        return leave_to_harmonic_space(problem.quadrature->explanation(), options, session);
    }
    auto choice = saved ? planned_before(*saved, problem, options, session) : plan(problem, options, session);
    session.report["predicted_error"] = choice.error;
    if (is_continuous(options) && choice.method == Method::harmonic) {
        const auto analysis =
            planned_analysis(choice, map.grid(), problem.request.lmax, options.kernel.chosen_error());
        if (analysis.tolerance > 0)
            options.analysis.tolerance = analysis.tolerance;
        else
            options.analysis.iterations = analysis.iterations;
    }
    take(named(choice.method), options);
    const bool is_exact = problem.is_single();
    options.planned =
        PlannedSmoothing{std::move(choice), std::move(problem.spectra),
                         std::move(problem.request.polarization), std::move(problem.quadrature), is_exact};
    session.report["plan_seconds"] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace zonal::cli
