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
    const auto group = "Window (the output's divided by the input's; at least one)";
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
    declare_options(app, options.kernel);
    add_map_input(app, options.input);
    add_analysis_options(app, options.analysis, WithMmax::no);
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
}

void check(const SmoothOptions& options) {
    check(options.kernel);
    const bool profile = !options.kernel.profile.empty();
    const bool any = options.fwhm || options.fwhm_in || !options.beam.empty() || !options.beam_in.empty() ||
                     !options.pixel_window_in.empty() || !options.pixel_window_out.empty() || profile;
    if (!any)
        throw UsageError(
            "no window: give --fwhm ANGLE, --beam FILE or --profile FILE, or to un-smooth --fwhm-in or "
            "--beam-in");
    check_alone("--profile", profile, "--fwhm", options.fwhm.has_value());
    check_alone("--profile", profile, "--beam", !options.beam.empty());
    const bool is_sky = !options.kernel.sky_spectrum.empty();
    if (is_sky && !options.fwhm && options.beam.empty())
        throw UsageError("--cl: needs --fwhm ANGLE or --beam FILE, which make the kernel fade away");
    check_alone("--fwhm", options.fwhm.has_value(), "--beam", !options.beam.empty());
    check_alone("--fwhm-in", options.fwhm_in.has_value(), "--beam-in", !options.beam_in.empty());
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
    iteration_count(options);
}

void require_spin_lmax(std::int64_t lmax, const SkyMap& map) {
    if (lmax < 2)
        throw UsageError(
            fmt::format("--lmax = {}: must be at least 2 for the Q and U of {}", lmax, map.header().source));
}

int iteration_count(const SmoothOptions& options) {
    const bool asked = options.analysis.iterations.value_or(0) > 0 || options.analysis.tolerance > 0;
    if (options.kernel.chosen_reference() == Reference::continuous) return options.analysis.iteration_count();
    if (asked && !options.kernel.is_pixel_method())
        throw UsageError(
            "--reference discrete is the sum over the pixels: --iter and --tolerance lead to the continuous "
            "one");
    return 0;
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

std::vector<io::HeaderCard> parameter_cards(const SmoothOptions& options, const Session& session) {
    auto cards = provenance(session);
    if (options.fwhm)
        cards.push_back({"FWHM", radians_to_degrees(options.fwhm->radians), "[deg] Gaussian smoothed with"});
    if (options.fwhm_in)
        cards.push_back(
            {"FWHMIN", radians_to_degrees(options.fwhm_in->radians), "[deg] Gaussian un-smoothed with"});
    if (!options.beam.empty())
        cards.push_back({"BEAM", header_text(options.beam), "file of the beam smoothed with"});
    const auto& kernel = options.kernel;
    if (!kernel.profile.empty())
        cards.push_back({"PROFILE", header_text(kernel.profile), "file of the kernel's profile"});
    if (!kernel.sky_spectrum.empty())
        cards.push_back({"CLFILE", header_text(kernel.sky_spectrum), "file of the C_l in the kernel"});
    if (!kernel.energy.empty()) cards.push_back({"ENERGY", header_text(kernel.energy), "of the profile"});
    if (kernel.given()) {
        cards.push_back({"METHOD", to_string(kernel.chosen_method()), "how it was convolved"});
        cards.push_back({"REFERENC", to_string(kernel.chosen_reference()), "what the result stands for"});
        cards.push_back({"NORMALIZ", to_string(kernel.chosen_normalization()), "of the kernel"});
    }
    if (session.report.contains("support_deg"))
        cards.push_back(
            {"SUPPORT", session.report["support_deg"].get<double>(), "[deg] the kernel ends here"});
    if (kernel.method == ConvolutionMethod::split) {
        const auto& split = options.planned->choice;
        cards.push_back({"L_CUT", split.l_cut, "the split kernel's window ends here"});
        cards.push_back(
            {"THETACUT", radians_to_degrees(split.support), "[deg] the split kernel's profile ends here"});
    }
    if (session.report.contains("estimated_error"))
        cards.push_back({"ESTERROR", session.report["estimated_error"].get<double>(), "rms, from REFERENC"});
    if (!options.beam_in.empty())
        cards.push_back({"BEAMIN", header_text(options.beam_in), "file of the beam un-smoothed with"});
    if (options.floor > 0) cards.push_back({"BEAMFLR", options.floor, "smallest value divided by"});
    if (session.report.contains("lmax"))
        cards.push_back({"MAX-LPOL", session.report["lmax"].get<std::int64_t>(), "highest degree l"});
    if (session.report.contains("iterations"))
        cards.push_back(
            {"ITER", session.report["iterations"].get<std::int64_t>(), "iterations of the analysis"});
    if (options.analysis.tolerance > 0)
        cards.push_back({"TOLERANC", options.analysis.tolerance, "tolerance of the analysis"});
    if (!options.mask.file.empty()) cards.push_back({"MASKFILE", header_text(options.mask.file), "mask"});
    return cards;
}

std::vector<io::HeaderCard> spin_cards(const SmoothOptions& options, const Json& report) {
    std::vector<io::HeaderCard> cards{
        {"METHODQU", to_string(options.kernel.chosen_method()), "how Q and U were convolved"}};
    const auto add_number = [&](const char* key, const char* card, const char* comment) {
        if (report.contains(key)) cards.push_back({card, report[key].get<double>(), comment});
    };
    const auto add_integer = [&](const char* key, const char* card, const char* comment) {
        if (report.contains(key)) cards.push_back({card, report[key].get<std::int64_t>(), comment});
    };
    add_number("support_deg", "SUPPRTQU", "[deg] the kernel of Q and U ends here");
    add_number("estimated_error", "ESTERRQU", "rms of Q and U, from REFERENC");
    if (options.kernel.method == ConvolutionMethod::split) {
        const auto& split = options.planned->choice;
        cards.push_back({"L_CUTQU", split.l_cut, "the window of Q and U ends here"});
        cards.push_back(
            {"THCUTQU", radians_to_degrees(split.support), "[deg] the profile of Q and U ends here"});
    }
    add_integer("lmax", "LMAXQU", "highest degree l of Q and U");
    add_integer("iterations", "ITERQU", "iterations of the analysis of Q and U");
    return cards;
}

}  // namespace zonal::cli
