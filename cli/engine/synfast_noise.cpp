#include "engine/synfast_noise.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/choice_report.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "zonal/io/cost_model.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/sky/realization.hpp"

namespace zonal::cli {
namespace {

using Method = zonal::ConvolutionMethod;

double chosen_error(const NoiseSkyOptions& options) {
    constexpr double default_error = 1e-5;
    return options.error > 0 ? options.error : default_error;
}

/// Of unit spectrum, [1, pixel]: on pixels of the area w the variance is 1/w, n_pixels / 4 pi on HEALPix.
Array<double, 2> draw_noise(const Grid& grid, std::int64_t seed, int threads, Session& session) {
    Array<double, 2> noise({1, grid.n_pixels()});
    const double variance = 1 / grid.rings()[0].weight;
    white_noise<double>(static_cast<std::uint64_t>(seed), noise.view()[0], threads);
    for (double& value : noise) value *= std::sqrt(variance);
    session.report["noise_variance"] = variance;
    return noise;
}

std::vector<ConvolutionChoice> choices_for(const ConvolutionRequest& request, Device device,
                                           const NoiseSkyOptions& options, const CostModel& costs,
                                           Session& session) {
    auto choices = plan_convolution(request, costs, device);
    if (options.explain) report_choices(choices, costs.fingerprint, session);
    std::erase_if(choices, [&](const auto& choice) {
        return !choice.excluded.empty() || (request.only_split && choice.method != Method::split);
    });
    if (choices.empty())
        throw CannotBeKept(fmt::format(
            "--method split: no split of the window up to lmax = {} can keep --error {}: the kernel "
            "must have faded away at lmax",
            request.lmax, request.error));
    return choices;
}

ConvolutionChoice choose(const ConvolutionRequest& request, const NoiseSkyOptions& options,
                         const RunOptions& run, Session& session) {
    const auto found = io::find_costs(options.costs, run.thread_count());
    session.note(found.notes);
    const auto device = run.any_device ? Device::automatic() : run.device;
    auto choice = choices_for(request, device, options, found.costs, session)[0];
    if (choice.seconds > 0) session.report["predicted_seconds"] = choice.seconds;
    return choice;
}

}  // namespace

void declare_options(CLI::App& app, NoiseSkyOptions& options) {
    using enum ConvolutionMethod;
    const OptionGroup group(app, "White noise on pixels (docs/split.md)");
    group.choice<ConvolutionMethod>(
        "--method", options.method, {{"auto", automatic}, {"split", split}, {"harmonic", harmonic}},
        "make the sky of white noise on the pixels, convolved with sqrt(C_l) times the windows: by the "
        "fastest way that zonal plan finds, by a split kernel, or in harmonic space",
        "alm are drawn instead");
    group.number("--error", options.error, {1e-12, 0.5},
                 "largest error of that convolution, rms over the rms of the sky", "1e-5");
    group.flag("--explain", options.explain,
               "with --method auto|split: report the list that it was chosen from");
    group.text("--costs", options.costs, "FILE",
               "with --method auto|split: costs that zonal calibrate measured",
               "this machine's, from the cache folder");
}

void check(const NoiseSkyOptions& options) {
    const bool is_planned = options.method && options.method != ConvolutionMethod::harmonic;
    if (!is_planned && (options.error > 0 || options.explain || !options.costs.empty()))
        throw UsageError("--error, --explain, --costs: only with --method auto or split");
}

void make_noise_sky(const NoiseSkyOptions& options, const std::vector<double>& window, std::int64_t seed,
                    bool may_be_single, const RunOptions& run, SkyMap& map, Session& session) {
    if (std::all_of(window.begin(), window.end(), [](double k) { return k == 0; }))
        throw UsageError("--method: the spectrum is 0 up to lmax: there is nothing to convolve with");
    ConvolutionRequest request;
    request.grid = map.grid();
    request.lmax = std::ssize(window) - 1;
    request.kernel = RadialKernel::from_window(window);
    request.error = chosen_error(options);
    request.allow_single = may_be_single;
    request.threads = run.thread_count();
    request.only_split = options.method == ConvolutionMethod::split;
    ConvolutionChoice choice;
    choice.device = run.device;
    if (options.method != ConvolutionMethod::harmonic) choice = choose(request, options, run, session);
    session.report["method"] = zonal::to_string(choice.method);
    session.report["reference"] = "discrete";
    session.report["device"] = to_string(choice.device);
    if (options.method != ConvolutionMethod::harmonic) session.report["estimated_error"] = choice.error;
    const auto noise = draw_noise(map.grid(), seed, run.thread_count(), session);
    const auto result =
        ConvolutionPlan(request, choice)
            .convolve<double>(std::as_const(noise).view(), map.rows(), session.progress("synfast"));
    report_split(choice, result.parts, session);
}

}  // namespace zonal::cli
