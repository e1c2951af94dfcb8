#include "options/kernel_options.hpp"

#include <fmt/core.h>

#include <numbers>

#include "options/options.hpp"
#include "shell/error.hpp"

namespace zonal::cli {
namespace {

void check_angle(const std::string& option, const std::optional<Angle>& angle) {
    if (angle && angle->radians > std::numbers::pi)
        throw UsageError(fmt::format("{} = {}: must be at most 180deg", option, angle->text));
}

const char* const group = "Kernel and method (docs/convolution.md)";

void declare_plan(CLI::App& app, KernelOptions& options) {
    app.add_flag("--explain", options.explain,
                 "with --method auto|split: report the list that it was chosen from")
        ->group(group);
    add_text(app, "--costs", options.costs, "FILE",
             "with --method auto|split: costs that zonal calibrate measured")
        ->default_str("this machine's, from the cache folder")
        ->group(group);
    add_text(app, "--save-plan", options.save_plan, "FILE",
             "with --method auto|split: write what was chosen, JSON, for --plan")
        ->group(group);
    add_text(app, "--plan", options.plan, "FILE",
             "follow the plan that --save-plan wrote for this kernel and grid, without planning")
        ->group(group);
}

}  // namespace

void declare_options(CLI::App& app, KernelOptions& options) {
    using enum ConvolutionMethod;
    add_choice<ConvolutionMethod>(
        app, "--method", options.method,
        {{"harmonic", harmonic},
         {"pixel-sum", pixel_sum},
         {"ring-fft", ring_fft},
         {"split", split},
         {"auto", automatic}},
        "analysis, window and synthesis; or the sum over the pixels within the kernel's support, pixel by "
        "pixel or by FFTs of rings (ARKCoS); or the kernel split between both (docs/split.md); or the "
        "fastest of these within --error, as zonal plan finds it")
        ->default_str("harmonic")
        ->group(group);
    declare_plan(app, options);
    add_angle(app, "--theta-cut", options.theta_cut, "with --method split: where the profile ends")
        ->default_str("the fastest, as zonal plan finds it")
        ->group(group);
    add_text(app, "--profile", options.profile, "FILE",
             "kernel by its profile: text, # theta [deg] value [1/sr], or with --energy the FITS tables of "
             "the Fermi tools")
        ->group(group);
    add_text(app, "--energy", options.energy, "ENERGY|bands",
             "energy of the point-spread function of --profile, such as 10GeV; bands: for each column of IN "
             "the geometric mean of its band (EBOUNDS)")
        ->group(group);
    add_text(app, "--cl", options.sky_spectrum, "FILE",
             "kernel sqrt(C_l) times --fwhm or --beam, which makes a sky out of white noise; TT is taken")
        ->group(group);
    add_angle(app, "--cut", options.cut, "where the kernel's profile ends")
        ->default_str("of pixel methods, where --error allows")
        ->group(group);
    add_number(app, "--error", options.error, {1e-12, 0.5},
               "largest error, rms over rms, from --reference: certified for this map, or exit status 1")
        ->default_str("1e-5; none with --method harmonic")
        ->group(group);
    app.add_flag("--keep-missed", options.keep_missed,
                 "write a map whose --error is not certified, too; the exit status is still 1")
        ->group(group);
    add_text(app, "--input-cl", options.input_spectrum, "white|map|FILE",
             "expect --error of maps of this spectrum (map: the map's own) instead of certifying it")
        ->group(group);
    add_choice<Normalization>(
        app, "--normalize", options.normalization,
        {{"window", Normalization::window}, {"pixel", Normalization::pixel}, {"none", Normalization::none}},
        "make 1: the kernel's integral (window), or its sum over pixels, for each pixel of the input, which "
        "keeps counts (pixel, of pixel methods), or nothing (none)")
        ->default_str("window; none with --cl")
        ->group(group);
    add_reference_option(app, options.reference,
                         "what the result stands for: the sum over the map's pixels, or the window on the "
                         "alm of a converged analysis up to --lmax, which healpy's users expect")
        ->default_str("discrete for pixel methods, --profile and --normalize pixel; else continuous")
        ->group(group);
}

void check(const KernelOptions& options) {
    const auto method = to_string(options.chosen_method());
    if (!options.is_planned() && (options.explain || !options.costs.empty()))
        throw UsageError("--explain, --costs: only with --method auto or split");
    if (!options.plan.empty() && (!options.is_automatic() || options.explain || !options.costs.empty() ||
                                  !options.save_plan.empty() || options.cut))
        throw UsageError(
            "--plan: says which method; not with --method, --cut, --explain, --costs or --save-plan");
    if (!options.save_plan.empty() && !options.is_planned())
        throw UsageError("--save-plan: only with --method auto or split");
    if (options.theta_cut && options.method != ConvolutionMethod::split)
        throw UsageError("--theta-cut: only with --method split");
    if (options.is_planned() && options.cut)
        throw UsageError(
            fmt::format("--method {} and --cut exclude each other: its cuts keep --error", method));
    check_angle("--theta-cut", options.theta_cut);
    check_angle("--cut", options.cut);
    if (!options.energy.empty() && options.profile.empty())
        throw UsageError("--energy: only with --profile FILE");
    if (!options.energy.empty() && options.energy != "bands") parse_energy("--energy", options.energy);
    if (options.cut && options.error > 0)
        throw UsageError("--cut and --error exclude each other: the cut by hand or by its error");
    if (options.keep_missed && (options.cut || !options.input_spectrum.empty()))
        throw UsageError("--keep-missed: not with --cut or --input-cl, with which no error is certified");
    if (options.is_automatic()) return;
    if (options.is_pixel_method()) {
        if (options.reference == Reference::continuous)
            throw UsageError(fmt::format(
                "--reference continuous: --method {} computes the sum over the pixels, which is discrete",
                method));
        if (options.method != ConvolutionMethod::split) return;
        if (options.normalization == Normalization::pixel)
            throw UsageError("--normalize pixel: not with --method split, whose window knows no pixels");
        if (options.energy == "bands")
            throw UsageError("--energy bands: not with --method split, which splits one kernel");
        return;
    }
    if (options.normalization == Normalization::pixel)
        throw UsageError("--normalize pixel: only with --method pixel-sum or ring-fft");
    if (!options.input_spectrum.empty())
        throw UsageError("--input-cl: not with --method harmonic, which cuts no kernel");
    if (options.keep_missed && options.error == 0)
        throw UsageError("--keep-missed: with --method harmonic only beside --error");
}

}  // namespace zonal::cli
