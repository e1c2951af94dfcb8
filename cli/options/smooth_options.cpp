#include "options/smooth_options.hpp"

#include <fmt/core.h>

#include "options/beam_options.hpp"
#include "options/common_options.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "zonal/angle.hpp"

namespace zonal::cli {
namespace {

void declare_window(CLI::App& app, SmoothOptions& options) {
    const auto group = "Window (the product of the output's divided by that of the input's; at least one)";
    add_angle(app, "--fwhm", options.fwhm,
              "Gaussian of this full width at half maximum: exp(-(l(l+1) - s^2) sigma^2/2), s = 0 for I, 2 "
              "for Q, U")
        ->group(group);
    add_text(app, "--beam", options.beam, "FILE",
             "beam b_l, FITS or text; one column serves T, E and B as it stands")
        ->group(group);
    add_angle(app, "--fwhm-in", options.fwhm_in, "un-smooth: the Gaussian beam that the input has")
        ->group(group);
    add_text(app, "--beam-in", options.beam_in, "FILE",
             "un-smooth: the beam that the input has; needs --floor")
        ->group(group);
    add_number(app, "--floor", options.floor, {1e-300, 1},
               "values of the input's beam below this count as this")
        ->group(group);
    add_text(app, "--pixwin-in", options.pixel_window_in, "FILE",
             "divide by this HEALPix pixel window of the input")
        ->group(group);
    add_text(app, "--pixwin-out", options.pixel_window_out, "FILE",
             "multiply by this HEALPix pixel window of the output")
        ->group(group);
    add_extend_option(app, options.extension, group, "windows");
}

void check_alone(const std::string& option, bool given, const std::string& other, bool other_given) {
    if (given && other_given) throw UsageError(option + " and " + other + " exclude each other");
}

}  // namespace

void declare_options(CLI::App& app, SmoothOptions& options) {
    add_argument(app, "IN", options.in, "map or alm, FITS");
    add_argument(app, "OUT", options.out, "the same, smoothed; order, precision, unit and coordinates as IN");
    declare_window(app, options);
    const OptionGroup beam(app, "Beam that is not round (in the place of a window; maps alone)");
    add_beam_alm_options(beam, options.beam_alm);
    beam.signed_angle("--psi", options.psi, "angle of its x axis from south towards east, at every pixel",
                      "0deg");
    declare_options(app, options.kernel);
    add_map_input(app, options.input);
    add_analysis_options(app, options.analysis, WithMmax::no,
                         "as kernel and --error need, up to 2.4 nside; without an error 3 nside - 1",
                         "as --error needs; without an error 3");
    add_mask_options(app, options.mask, MaskModes::all);
    add_integer(app, "--nside-out", options.nside_out, {1, std::int64_t{1} << 29}, "nside of the output")
        ->default_str("the input's")
        ->group("Output");
    add_precision(app, options.precision, "as the input")
        ->description(
            "numbers in the output file; float: also in the sums of pixel methods, which --method auto and "
            "split choose themselves unless this is double");
    add_output_options(app, options.output);
    add_run_options(app, options.run);
    add_job_options(app, options.run, WithExplain::no);
}

void check(const SmoothOptions& options) {
    if (options.psi) throw UsageError("--psi: only with --beam-alm");
    check(options.kernel);
    const bool profile = !options.kernel.profile.empty();
    const bool any = options.fwhm || options.fwhm_in || !options.beam.empty() || !options.beam_in.empty() ||
                     !options.pixel_window_in.empty() || !options.pixel_window_out.empty() || profile;
    if (!any)
        throw UsageError(
            "no window: give --fwhm ANGLE, --beam FILE, --beam-alm FILE or --profile FILE, or to un-smooth "
            "--fwhm-in or --beam-in");
    check_alone("--profile", profile, "--fwhm", options.fwhm.has_value());
    check_alone("--profile", profile, "--beam", !options.beam.empty());
    const bool is_sky = !options.kernel.sky_spectrum.empty();
    if (is_sky && !options.fwhm && options.beam.empty())
        throw UsageError("--cl: needs --fwhm ANGLE or --beam FILE, which make the kernel fade away");
    if (!options.beam_in.empty() && options.floor == 0)
        throw UsageError(
            "--beam-in needs --floor X, which bounds how much noise is amplified where the beam is small");
    const bool divides = options.fwhm_in || !options.beam_in.empty() || !options.pixel_window_in.empty();
    if (options.floor > 0 && !divides)
        throw UsageError("--floor: only with --fwhm-in, --beam-in or --pixwin-in");
    const bool from_files = !options.beam.empty() || !options.beam_in.empty() ||
                            !options.pixel_window_in.empty() || !options.pixel_window_out.empty() || is_sky;
    if (options.extension != Extension::none && !from_files)
        throw UsageError("--extend: only with windows from files, such as --beam");
    if (options.mask.threshold > 0 && options.mask.mode != MaskMode::renormalize)
        throw UsageError("--mask-threshold: only with --mask-mode renormalize");
    options.analysis.iteration_count();
}

SmoothingWindow smoothing_window(const SmoothOptions& options, std::int64_t nside_in, std::int64_t nside_out,
                                 Session& session) {
    SmoothingWindow window;
    if (options.fwhm) window.fwhm = options.fwhm->radians;
    if (options.fwhm_in) window.fwhm_in = options.fwhm_in->radians;
    if (!options.beam.empty()) window.beam = read_beam_file(options.beam, session);
    if (!options.beam_in.empty()) window.beam_in = read_beam_file(options.beam_in, session);
    if (!options.pixel_window_in.empty())
        window.pixel_window_in = read_pixel_window_file(options.pixel_window_in, nside_in, session);
    if (!options.pixel_window_out.empty())
        window.pixel_window_out = read_pixel_window_file(options.pixel_window_out, nside_out, session);
    window.floor = options.floor;
    window.extension = options.extension;
    return window;
}

std::string window_text(const SmoothOptions& options) {
    std::string text;
    const auto add = [&text](const std::string& name, const std::string& value) {
        if (!value.empty()) text += (text.empty() ? "" : ", ") + name + " " + value;
    };
    add("--fwhm", options.fwhm ? options.fwhm->text : "");
    add("--beam", options.beam);
    add("--profile", options.kernel.profile);
    add("--cl", options.kernel.sky_spectrum);
    add("--fwhm-in", options.fwhm_in ? options.fwhm_in->text : "");
    add("--beam-in", options.beam_in);
    add("--pixwin-in", options.pixel_window_in);
    add("--pixwin-out", options.pixel_window_out);
    return text;
}

}  // namespace zonal::cli
