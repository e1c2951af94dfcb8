#include "commands/plan.hpp"

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <utility>

#include "commands/subcommands.hpp"
#include "engine/choice_report.hpp"
#include "options/beam_options.hpp"
#include "options/common_options.hpp"
#include "options/options.hpp"
#include "options/split_options.hpp"
#include "shell/error.hpp"
#include "zonal/angle.hpp"
#include "zonal/io/cost_model.hpp"
#include "zonal/io/profile.hpp"
#include "zonal/planning/certificate.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal::cli {
namespace {

enum class MapFields { i, qu, iqu };

struct PlanOptions {
    SplitOptions kernel;  ///< of which only the kernel is used
    std::string profile;
    std::int64_t nside = 0, maps = 1;
    double error = 1e-5;
    std::optional<ConvolutionReference> reference;
    std::optional<bool> normalize;
    bool double_only = false, no_split = false, has_lmax = false;
    MapFields fields = MapFields::i;
    std::string costs;
    RunOptions run;
    ChoicesFollowUp follow_up;
};

void declare_request(CLI::App& app, PlanOptions& options) {
    const OptionGroup group(app, "Convolution");
    group.integer("--nside", options.nside, {1, 1 << 14}, "HEALPix grid")->required();
    group.integer("--maps", options.maps, {1, 100'000}, "number of maps", "1");
    group.choice<MapFields>("--fields", options.fields,
                            {{"I", MapFields::i}, {"QU", MapFields::qu}, {"IQU", MapFields::iqu}},
                            "fields of each map: I (spin 0), Q and U, or all three; I and Q, U may be "
                            "convolved in different ways",
                            "I");
    group.number("--error", options.error, {1e-13, 0.5},
                 "largest error, rms over the rms of the convolved map", "1e-5");
    group.choice<bool>("--normalize", options.normalize, {{"window", true}, {"none", false}},
                       "scale the kernel's integral to 1, or leave it as it is", "none");
    group.choice(
        "--reference", options.reference, references,
        "what the error is measured from; discrete: the sum over the map's pixels; continuous: the window on "
        "the alm of a converged analysis up to --lmax",
        "discrete with --profile, else continuous, as in zonal smooth");
    group.flag("--double", options.double_only, "allow no sums in single precision");
    group.flag("--no-split", options.no_split, "do not try splits");
    group.text("--costs", options.costs, "FILE", "costs measured by zonal calibrate",
               "this machine's, from the cache folder");
}

void declare_options(CLI::App& app, PlanOptions& options) {
    declare_kernel(app, options.kernel, "as kernel and error need, 3 nside - 1 at most");
    OptionGroup(app, "Kernel")
        .text("--profile", options.profile, "FILE",
              "use this profile as the kernel: text, angles and values, as in zonal smooth");
    declare_request(app, options);
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
    if (kernel.extension != Extension::none) throw UsageError("--extend: only with --cl or --beam");
    const auto profile = io::read_profile(options.profile);
    return RadialKernel::from_profile(profile.theta, profile.value);
}

double integral_of(const std::vector<double>& window) {
    if (window[0] == 0)
        throw UsageError("--normalize window: the window is 0 at l = 0; --normalize none leaves it as it is");
    return window[0];
}

bool is_normalized(const PlanOptions& options) {
    return options.normalize.value_or(false);
}

RadialKernel make_kernel(const PlanOptions& options, Session& session) {
    auto given = given_kernel(options, session);
    return is_normalized(options) ? given.scaled(1 / integral_of(given.window(0))) : given;
}

PolarizationKernel make_spin_kernel(const PlanOptions& options, Session& session) {
    const auto& kernel = options.kernel;
    if (!options.profile.empty() || kernel.kernel == "cl-beam")
        throw UsageError(
            "--fields: must be I with --profile and --kernel cl-beam, which are kernels of spin 0");
    check_kernel(kernel);
    if (kernel.kernel == "gaussian") return PolarizationKernel::gaussian(kernel.fwhm->radians);
    auto beam = read_beam_file(kernel.beam_file, session);
    const double scale = is_normalized(options) ? 1 / integral_of(beam.temperature) : 1;
    return spin_kernel("--beam " + kernel.beam_file, std::move(beam), kernel.lmax, kernel.extension, scale);
}

/// has_spin: whether the maps are Q and U.
ConvolutionRequest make_request(const PlanOptions& options, bool has_spin, Session& session) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(options.nside);
    if (options.has_lmax) request.lmax = options.kernel.lmax;
    request.threads = options.run.thread_count();
    if (has_spin)
        request.polarization = make_spin_kernel(options, session);
    else
        request.kernel = make_kernel(options, session);
    request.error = options.error;
    request.reference = options.reference;
    request.n_maps = options.maps;
    request.allow_single = !options.double_only;
    request.consider_split = !options.no_split;
    request.check_memory = session.memory_check();
    return with_error<UsageError>([&] { return completed(request); }, "--");
}

/// Takes --lmax, or else what the grid resolves.
void choose_lmax(PlanOptions& options) {
    const auto most = 3 * options.nside - 1;
    auto& lmax = options.kernel.lmax;
    options.has_lmax = lmax != 0;
    if (lmax == 0) lmax = most;
    if (lmax > most) throw UsageError(fmt::format("--lmax = {}: must be at most 3*nside-1 = {}", lmax, most));
}

std::vector<Device> devices_for(const PlanOptions& options, const CostModel& costs) {
    if (options.run.device.kind() == Device::Kind::automatic) {
        std::vector<Device> all;
        for (const auto& known : costs.devices) all.push_back(known.device);
        return all;
    }
    const auto device = device_of_option(options.run.device);
    if (!has_costs(costs, device))
        throw UsageError(fmt::format(
            "--device = {}: its costs were not measured; zonal calibrate measures them", to_string(device)));
    return {device};
}

void check(const PlanOptions& options) {
    if (options.fields != MapFields::i && options.kernel.lmax < 2)
        throw UsageError(fmt::format("--lmax = {}: must be at least 2 for Q and U", options.kernel.lmax));
}

/// The options with which zonal smooth goes a way.
std::string options_of(const ConvolutionChoice& choice, const ConvolutionRequest& request) {
    auto text = fmt::format("--method {} --reference {} --error {} --device {}", to_string(choice.method),
                            to_string(*request.reference), request.error, to_string(choice.device));
    if (choice.method == ConvolutionMethod::harmonic) return text + fmt::format(" --lmax {}", request.lmax);
    if (choice.method == ConvolutionMethod::split)
        return text + fmt::format(" --theta-cut {:.6g}arcmin", radians_to_arcmin(choice.support));
    return text + (choice.precision == Precision::float32 ? " --precision float" : " --precision double");
}

/// Reports the ways for one sort of fields. Returns whether one of them keeps the error.
bool plan_fields(const PlanOptions& options, bool has_spin, const CostModel& costs, Session& session) {
    auto request = make_request(options, has_spin, session);
    request.devices = devices_for(options, costs);
    const auto choices = plan_convolution(request, costs);
    session.report["reference"] = to_string(*request.reference);
    session.report["lmax"] = request.lmax;
    session.report["error_is"] =
        fmt::format("certified for maps of which the kernel leaves {:.3g} or more", *request.gain);
    report_choices(choices, costs.fingerprint, session);
    const bool is_kept = choices[0].excluded.empty();
    if (options.follow_up && is_kept) options.follow_up(request, choices, session);
    if (is_kept) session.report["smooth_with"] = options_of(choices[0], request);
    return is_kept;
}

void run(PlanOptions& options, Session& session) {
    choose_lmax(options);
    check(options);
    const auto found = io::find_costs(options.costs, options.run.thread_count());
    session.note(found.notes);
    const auto& costs = found.costs;
    session.report["kernel"] =
        options.profile.empty() ? kernel_text(options.kernel) : "profile " + options.profile;
    session.report["nside"] = options.nside;
    session.report["error_bound"] = options.error;
    bool is_kept = true;
    if (options.fields != MapFields::iqu) {
        is_kept = plan_fields(options, options.fields == MapFields::qu, costs, session);
    } else {
        Json parts = Json::array();
        for (const bool has_spin : {false, true}) {
            Json part = {{"part", has_spin ? "Q, U" : "I"}};
            {
                const ReportTo scope(part, session);
                is_kept = plan_fields(options, has_spin, costs, session) && is_kept;
            }
            parts.push_back(std::move(part));
        }
        session.report["parts"] = std::move(parts);
    }
    if (!is_kept) throw NegativeVerdict(fmt::format("no way can keep --error {}", options.error));
}

}  // namespace

void declare_plan(CLI::App& app, Action& action, const ChoicesFollowUp& follow_up) {
    const auto options = std::make_shared<PlanOptions>();
    options->follow_up = follow_up;
    declare_options(app, *options);
    app.callback([options, &action] {
        action = [options](Session& session) {
            require_one_process(session);
            run(*options, session);
        };
    });
}

void add_plan(CLI::App& root, Session& session, Action& action) {
    auto& app =
        add_subcommand(root, session, "plan",
                       "Lists the ways to convolve a HEALPix map with a radial kernel within an error, "
                       "fastest first, with their predicted times on this machine and their errors.",
                       "zonal plan --nside 1024 --lmax 2048 --fwhm 10arcmin --error 1e-5");
    declare_plan(app, action);
}

}  // namespace zonal::cli
