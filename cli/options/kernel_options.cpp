#include "options/kernel_options.hpp"

#include <fmt/core.h>

#include "options/options.hpp"
#include "shell/error.hpp"

namespace zonal::cli {
namespace {

const char* const group = "Kernel and method (docs/guide/what-a-request-means.md)";

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
}

/// What the result stands for, and how well.
void declare_error(CLI::App& app, KernelOptions& options) {
    add_angle(app, "--cut", options.cut, "where the kernel's profile ends")
        ->default_str("where --error allows; only with --method pixel-sum or ring-fft")
        ->group(group);
    add_number(app, "--error", options.error, {1e-12, 0.5},
               "largest error from --reference, rms over rms, certified for this map; otherwise nothing is "
               "written and the exit status is 1")
        ->default_str("1e-5; none with --method harmonic or --cut")
        ->group(group);
    app.add_flag("--keep-missed", options.keep_missed,
                 "write the map even if its --error is not certified; the exit status is still 1")
        ->group(group);
    app.add_flag(
           "--strict", options.strict,
           "write nothing if the answer depends on lmax by more than --error, as measured for this map; the "
           "exit status is then 1")
        ->group(group);
    add_choice<Normalization>(
        app, "--normalize", options.normalization,
        {{"window", Normalization::window}, {"pixel", Normalization::pixel}, {"none", Normalization::none}},
        "what to scale to 1: window: the kernel's integral; pixel: the kernel's sum over pixels, for each "
        "pixel of the input, which keeps counts (pixel methods only); none: nothing")
        ->default_str("none")
        ->group(group);
    add_choice<ConvolutionReference>(
        app, "--reference", options.reference, references,
        "what the result stands for; discrete: the sum over the map's pixels; continuous: the window on the "
        "alm of a converged analysis up to --lmax, which healpy's users expect")
        ->default_str("continuous for --fwhm, --beam and --cl, unless --method names sums; else discrete")
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
        "harmonic: analysis, window and synthesis, as healpy.smoothing unless --error is given; pixel-sum, "
        "ring-fft: the sum over the pixels within the "
        "kernel's support, pixel by pixel or by FFTs of rings (ARKCoS); split: the kernel split between both "
        "(docs/how-it-works/split.md); auto: the fastest of these within --error, as zonal plan finds it")
        ->default_str("auto")
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
    declare_error(app, options);
}

void check(const KernelOptions& options) {
    if (!options.is_planned() && !options.costs.empty())
        throw UsageError("--costs: only with --method auto or split");
    if (!options.energy.empty() && options.profile.empty())
        throw UsageError("--energy: only with --profile FILE");
    if (!options.energy.empty() && options.energy != "bands") parse_energy("--energy", options.energy);
}

}  // namespace zonal::cli
