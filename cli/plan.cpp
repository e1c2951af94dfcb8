#include <fmt/format.h>

#include <memory>
#include <optional>

#include "choice_report.hpp"
#include "common_options.hpp"
#include "cost_model_file.hpp"
#include "error.hpp"
#include "interruptible.hpp"
#include "iteration_gain.hpp"
#include "options.hpp"
#include "plan_file.hpp"
#include "plan_measure.hpp"
#include "quadrature_error.hpp"
#include "split_options.hpp"
#include "subcommands.hpp"
#include "zonal/io/profile.hpp"
#include "zonal/planner.hpp"

namespace zonal::cli {
namespace {

struct PlanOptions {
    SplitOptions kernel;  ///< of which only the kernel and the map's spectrum are used
    std::string profile;
    std::int64_t nside = 0, maps = 1;
    double error = 1e-5, quadrature_error = 0, iteration_gain = 0;
    ConvolutionReference reference = ConvolutionReference::discrete;
    std::optional<bool> normalize;
    bool double_only = false, no_split = false, measure = false;
    std::int64_t seed = 1;
    std::string costs, save_plan;
    RunOptions run;
    OutputOptions output;
};

void declare_request(CLI::App& app, PlanOptions& options) {
    using enum ConvolutionReference;
    const OptionGroup group(app, "Convolution");
    group.integer("--nside", options.nside, {1, 1 << 14}, "HEALPix grid")->required();
    group.integer("--maps", options.maps, {1, 100'000}, "maps", "1");
    group.number("--error", options.error, {1e-13, 0.5},
                 "largest error: rms over the rms of the convolved map", "1e-5");
    group.text("--input-cl", options.kernel.input_spectrum_file, "FILE", "C_l of the maps, FITS or text (TT)",
               "white");
    group.choice<bool>("--normalize", options.normalize, {{"window", true}, {"none", false}},
                       "make the kernel's integral 1, as zonal smooth does, or leave it",
                       "window; none of cl-beam and --profile");
    group.choice<ConvolutionReference>(
        "--reference", options.reference, {{"discrete", discrete}, {"continuous", continuous}},
        "what the error is measured from: the sum over the map's pixels, or the window on the map's own alm",
        "discrete");
    group.number("--quadrature-error", options.quadrature_error, {1e-15, 1},
                 "continuous: what sums over the pixels are wrong by",
                 "measured on a random sky of --input-cl");
    group.number("--iteration-gain", options.iteration_gain, {1e-3, 0.9},
                 "continuous: what an iteration of the analysis leaves of that", "by lmax/nside");
    group.flag("--double", options.double_only, "no sums in single precision");
    group.flag("--no-split", options.no_split, "do not look at splits");
    group.flag("--measure", options.measure,
               "convolve random maps by every way that may be taken, and report what they take and are "
               "wrong by beside what was predicted");
    group.integer("--seed", options.seed, {0, std::int64_t{1} << 62}, "of those maps", "1");
    group.text("--costs", options.costs, "FILE", "costs that zonal calibrate measured",
               "this machine's, from the cache folder");
}

void declare_options(CLI::App& app, PlanOptions& options) {
    declare_kernel(app, options.kernel, "3 nside - 1");
    OptionGroup(app, "Kernel")
        .text("--profile", options.profile, "FILE",
              "the kernel is this profile: text, angles and values (zonal smooth)");
    declare_request(app, options);
    OptionGroup(app, "Output")
        .text("-o,--save-plan", options.save_plan, "FILE",
              "keep the first of the list, JSON, for zonal smooth --plan");
    add_output_options(app, options.output);
    add_run_options(app, options.run);
}

RadialKernel given_kernel(const PlanOptions& options, Session& session) {
    const auto& kernel = options.kernel;
    if (options.profile.empty()) {
        check_kernel(kernel);
        return kernel.kernel == "gaussian"
                   ? RadialKernel::gaussian(kernel.fwhm->radians)
                   : RadialKernel::from_window(kernel_window(kernel, kernel.fwhm, session));
    }
    if (kernel.fwhm || !kernel.beam_file.empty() || !kernel.spectrum_file.empty() ||
        kernel.kernel != "gaussian")
        throw UsageError("--profile: not with --kernel, --fwhm, --beam, --cl");
    const auto profile = io::read_profile(options.profile);
    return RadialKernel::from_profile(profile.theta, profile.value);
}

RadialKernel make_kernel(const PlanOptions& options, Session& session) {
    auto given = given_kernel(options, session);
    if (!options.normalize.value_or(options.profile.empty() && options.kernel.kernel != "cl-beam"))
        return given;
    const double integral = given.window(0)[0];
    if (integral == 0)
        throw UsageError("--normalize window: the window is 0 at l = 0: --normalize none leaves it");
    return given.scaled(1 / integral);
}

ConvolutionRequest make_request(const PlanOptions& options, Session& session) {
    const bool is_continuous = options.reference == ConvolutionReference::continuous;
    if (!is_continuous && options.quadrature_error > 0)
        throw UsageError("--quadrature-error: only with --reference continuous");
    const auto threads = options.run.thread_count();
    ConvolutionRequest request;
    request.grid = Grid::healpix(options.nside);
    request.lmax = options.kernel.lmax;
    request.kernel = make_kernel(options, session);
    request.c_l = input_spectrum(options.kernel, session);
    request.error = options.error;
    request.reference = options.reference;
    request.quadrature_error = options.quadrature_error;
    if (is_continuous && options.quadrature_error == 0)
        request.quadrature_error = quadrature_error(request.kernel, options.nside, request.c_l, threads);
    if (const double defect = sum_defect(request.kernel, options.nside); defect > most_sum_defect)
        session.note(fmt::format(
            "the kernel is so narrow that its sums over these pixels are {:.2g} off its integral", defect));
    request.iteration_gain =
        options.iteration_gain > 0 ? options.iteration_gain : iteration_gain(request.lmax, options.nside);
    request.n_maps = options.maps;
    request.allow_single = !options.double_only;
    request.consider_split = !options.no_split;
    request.threads = threads;
    return request;
}

/// --lmax, or what the grid holds.
void choose_lmax(PlanOptions& options) {
    const auto most = 3 * options.nside - 1;
    auto& lmax = options.kernel.lmax;
    if (lmax == 0) lmax = most;
    if (lmax > most) throw UsageError(fmt::format("--lmax = {}: must be at most 3*nside-1 = {}", lmax, most));
}

std::vector<Device> devices_for(const PlanOptions& options, const CostModel& costs) {
    if (options.run.device.kind() == Device::Kind::automatic) {
        std::vector<Device> all;
        for (const auto& known : costs.devices) all.push_back(known.device);
        return all;
    }
    const auto device = resolve_device(options.run.device);
    if (!has_costs(costs, device))
        throw UsageError(fmt::format("--device = {}: its costs were not measured; zonal calibrate does it",
                                     to_string(device)));
    return {device};
}

void run(PlanOptions& options, Session& session) {
    if (!options.save_plan.empty()) options.output.require_writable(options.save_plan, OutputFormat::json);
    choose_lmax(options);
    auto request = make_request(options, session);
    const auto costs = read_cost_model(options.costs, request.threads, session);
    request.devices = devices_for(options, costs);
    const auto choices = interruptible(session, [&] { return plan_convolution(request, costs); });
    session.report["kernel"] =
        options.profile.empty() ? kernel_text(options.kernel) : "profile " + options.profile;
    session.report["nside"] = options.nside;
    session.report["lmax"] = request.lmax;
    session.report["error_wanted"] = request.error;
    if (request.quadrature_error > 0) session.report["quadrature_error"] = request.quadrature_error;
    report_choices(choices, costs.fingerprint, session);
    if (options.measure) measure_choices(request, choices, options.seed, session);
    if (options.save_plan.empty()) return;
    if (!choices[0].excluded.empty()) throw NegativeVerdict("--save-plan: nothing keeps --error");
    write_plan(options.save_plan, make_plan(request, choices[0], costs), options.output.overwrite);
    session.report["output"] = options.save_plan;
}

}  // namespace

void add_plan(CLI::App& root, Session& session, Action& action) {
    auto& app =
        add_subcommand(root, session, "plan",
                       "Lists the ways to convolve a HEALPix map with a radial kernel within an error, "
                       "fastest first, with what they would take on this machine and be wrong by.",
                       "zonal plan --nside 1024 --lmax 2048 --fwhm 10arcmin --error 1e-5");
    const auto options = std::make_shared<PlanOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
