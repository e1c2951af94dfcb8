#include "options/kernel_options.hpp"

#include <fmt/core.h>

#include "options/options.hpp"
#include "shell/error.hpp"

namespace zonal::cli {
namespace {

const char* const group = "Kernel and method (docs/convolution.md)";

void declare_plan(CLI::App& app, KernelOptions& options) {
    app.add_flag(
           "--explain", options.explain,
           "with --method auto|split: report the list from which the way was chosen; over several ranks, "
           "with any method: the share of each, too")
        ->group(group);
    add_text(app, "--costs", options.costs, "FILE",
             "with --method auto|split: costs measured by zonal calibrate")
        ->default_str("this machine's, from the cache folder")
        ->group(group);
    add_text(app, "--save-plan", options.save_plan, "FILE",
             "with --method auto|split: write the choice as JSON, for --plan")
        ->group(group);
    add_text(app, "--plan", options.plan, "FILE",
             "follow a plan that --save-plan wrote for this kernel and grid, without planning")
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
        "harmonic: analysis, window and synthesis; pixel-sum, ring-fft: the sum over the pixels within the "
        "kernel's support, pixel by pixel or by FFTs of rings (ARKCoS); split: the kernel split between both "
        "(docs/split.md); auto: the fastest of these within --error, as zonal plan finds it")
        ->default_str("harmonic")
        ->group(group);
    declare_plan(app, options);
    add_angle(app, "--theta-cut", options.theta_cut, "with --method split: where the profile ends")
        ->default_str("the fastest, as zonal plan finds it")
        ->group(group);
    add_text(
        app, "--profile", options.profile, "FILE",
        "kernel given by its profile: text, # theta [deg] value [1/sr], or with --energy the FITS tables of "
        "the Fermi tools")
        ->group(group);
    add_text(app, "--energy", options.energy, "ENERGY|bands",
             "energy of the point-spread function in --profile, such as 10GeV; bands: the geometric mean of "
             "each column's band (EBOUNDS of IN)")
        ->group(group);
    add_text(
        app, "--cl", options.sky_spectrum, "FILE",
        "use the kernel sqrt(C_l) times --fwhm or --beam, which makes a sky out of white noise (C_l: TT)")
        ->group(group);
    add_angle(app, "--cut", options.cut, "where the kernel's profile ends")
        ->default_str("with pixel methods, where --error allows")
        ->group(group);
    add_number(app, "--error", options.error, {1e-12, 0.5},
               "largest error from --reference, rms over rms, certified for this map; otherwise nothing is "
               "written and the exit status is 1")
        ->default_str("1e-5; none with --method harmonic")
        ->group(group);
    app.add_flag("--keep-missed", options.keep_missed,
                 "write the map even if its --error is not certified; the exit status is still 1")
        ->group(group);
    add_text(app, "--input-cl", options.input_spectrum, "white|map|FILE",
             "instead of certifying --error, expect it of maps with this spectrum (map: the map's own)")
        ->group(group);
    add_choice<Normalization>(
        app, "--normalize", options.normalization,
        {{"window", Normalization::window}, {"pixel", Normalization::pixel}, {"none", Normalization::none}},
        "what to scale to 1: window: the kernel's integral; pixel: the kernel's sum over pixels, for each "
        "pixel of the input, which keeps counts (pixel methods only); none: nothing")
        ->default_str("window; none with --cl")
        ->group(group);
    add_choice<ConvolutionReference>(
        app, "--reference", options.reference, references,
        "what the result stands for; discrete: the sum over the map's pixels; continuous: the window on the "
        "alm of a converged analysis up to --lmax, which healpy's users expect")
        ->default_str("discrete with pixel methods, --profile and --normalize pixel; else continuous")
        ->group(group);
}

void check(const KernelOptions& options) {
    const auto method = to_string(options.chosen_method());
    if (!options.is_planned() && (options.explain || !options.costs.empty()))
        throw UsageError("--explain, --costs: only with --method auto or split");
    if (!options.plan.empty() && (!options.is_automatic() || options.explain || !options.costs.empty() ||
                                  !options.save_plan.empty() || options.cut))
        throw UsageError(
            "--plan: names the method itself; not with --method, --cut, --explain, --costs or --save-plan");
    if (!options.save_plan.empty() && !options.is_planned())
        throw UsageError("--save-plan: only with --method auto or split");
    if (options.theta_cut && options.method != ConvolutionMethod::split)
        throw UsageError("--theta-cut: only with --method split");
    if (options.is_planned() && options.cut)
        throw UsageError(fmt::format(
            "--method {} and --cut exclude each other: the method cuts kernels where --error allows",
            method));
    if (!options.energy.empty() && options.profile.empty())
        throw UsageError("--energy: only with --profile FILE");
    if (!options.energy.empty() && options.energy != "bands") parse_energy("--energy", options.energy);
    if (options.cut && options.error > 0)
        throw UsageError("--cut and --error exclude each other: --error says where the kernel is cut");
    if (options.keep_missed && (options.cut || !options.input_spectrum.empty()))
        throw UsageError("--keep-missed: not with --cut or --input-cl, which hold no error to a certificate");
    if (options.is_automatic()) return;
    if (options.is_pixel_method()) {
        if (options.reference == ConvolutionReference::continuous)
            throw UsageError(fmt::format(
                "--reference continuous: --method {} computes the sum over the pixels, which is discrete",
                method));
        if (options.method != ConvolutionMethod::split) return;
        if (options.normalization == Normalization::pixel)
            throw UsageError(
                "--normalize pixel: not with --method split, whose window does not depend on pixels");
        if (options.energy == "bands")
            throw UsageError("--energy bands: not with --method split, which splits one kernel");
        return;
    }
    if (options.normalization == Normalization::pixel)
        throw UsageError("--normalize pixel: only with --method pixel-sum or ring-fft");
    if (!options.input_spectrum.empty())
        throw UsageError("--input-cl: not with --method harmonic, which cuts no kernel");
    if (options.keep_missed && options.error == 0)
        throw UsageError("--keep-missed: with --method harmonic only together with --error");
}

}  // namespace zonal::cli
