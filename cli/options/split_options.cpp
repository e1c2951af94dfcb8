#include "options/split_options.hpp"

#include <fmt/core.h>

#include "engine/spectrum_file.hpp"
#include "options/beam_options.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "zonal/filters.hpp"

namespace zonal::cli {
namespace {

constexpr std::int64_t min_intervals = 7;  // of a spline of degree 5

void declare_error(CLI::App& app, SplitOptions& options) {
    const OptionGroup group(app, "Error");
    group.number("--error", options.error, {1e-14, 1},
                 "largest estimated error: rms over the rms of the convolved map", "1e-5");
    group.number(
        "--alpha", options.alpha, {1, 1000},
        "factor by which estimated errors exceed that of the fit, for the arithmetic of the convolutions",
        "5");
    group.text("--input-cl", options.input_spectrum_file, "FILE",
               "C_l of the maps to be convolved, FITS or text (TT)", "white");
    group.number("--input-noise", options.noise, {0, 1e300},
                 "white N_l of those maps: they are weighted by C_l^2 / (C_l + N_l), as Wiener-filtered",
                 "0");
    group.number("--max-amplification", options.max_amplification, {1e-6, 1e12},
                 "largest window of the profile over the largest of the kernel", "2");
    group.number("--max-leakage", options.max_leakage, {1e-15, 1},
                 "largest rms of what the profile adds above lmax, over the rms of the convolved map",
                 "half of --error");
}

void declare_split(CLI::App& app, SplitOptions& options) {
    const OptionGroup group(app, "Split");
    group.angle("--theta-cut", options.theta_cut, "where the profile ends");
    group.integer("--l-cut", options.l_cut, {0, 100'000}, "where the window ends, instead of a search",
                  "the smallest that keeps --error");
    group.integer("--neighbourhood", options.neighbourhood, {0, 1000},
                  "values of l_cut to try below what the binary search finds, as errors are not monotone",
                  "8");
    group.number("--cutoff", options.cutoff, {1e-15, 0.999999},
                 "singular values of the fit below this times the largest are left out", "1e-6");
    group.integer("--knots", options.n_intervals, {0, 4096},
                  "intervals of the profile's spline; 0: as many as lmax needs", "0");
    group.number("--knot-density", options.knot_density, {1, 100},
                 "how much denser the knots lie at 0 than at the end", "1");
    group.number("--leakage-weight", options.leakage_weight, {1e-12, 1},
                 "weight in the fit of degrees above lmax, where the profile's window should vanish", "0.1");
}

/// TT of a file, up to lmax.
std::vector<double> read_tt_to_lmax(const std::string& option, const std::string& path,
                                    const SplitOptions& options, Session& session) {
    return fit_to_lmax(read_tt(option, path, session), options.lmax, options.extension, option);
}

}  // namespace

void declare_kernel(CLI::App& app, SplitOptions& options, const std::string& default_lmax) {
    const auto heading = "Kernel";
    const OptionGroup group(app, heading);
    group.choice<std::string>(
        "--kernel", options.kernel, {{"gaussian", "gaussian"}, {"cl-beam", "cl-beam"}, {"window", "window"}},
        "gaussian: of --fwhm; cl-beam: sqrt(C_l) of --cl times the Gaussian, which makes a "
        "sky out of white noise; window: b_l of --beam",
        "gaussian");
    group.angle("--fwhm", options.fwhm, "full width at half maximum of the Gaussian");
    group.text("--cl", options.spectrum_file, "FILE", "spectrum of cl-beam, FITS or text; its TT is taken");
    group.text("--beam", options.beam_file, "FILE", "b_l of window, FITS or text; its T is taken");
    group.integer("--lmax", options.lmax, {8, 100'000}, "highest degree l of the kernel", default_lmax);
    add_extend_option(app, options.extension, heading, "spectra and windows");
}

void declare_options(CLI::App& app, SplitOptions& options) {
    options.lmax = 4096;
    declare_kernel(app, options, "4096");
    declare_error(app, options);
    declare_split(app, options);
    const OptionGroup output(app, "Output");
    output.text(
        "-o,--output", options.out, "FILE",
        "write window and profile, FITS: HDU 1 the window (a --beam for zonal smooth), HDU 2 the profile");
    output.text("--plot", options.plot, "FILE", "draw both parts and the error: .png, .pdf or .svg");
    add_output_options(app, options.output);
    add_threads_option(app, options.threads);
}

void check_kernel(const SplitOptions& options) {
    const bool is_window = options.kernel == "window", is_sky = options.kernel == "cl-beam";
    if (is_window != !options.beam_file.empty())
        throw UsageError("--kernel window and --beam FILE need each other");
    if (is_sky != !options.spectrum_file.empty())
        throw UsageError("--kernel cl-beam and --cl FILE need each other");
    if (is_window == options.fwhm.has_value())
        throw UsageError(is_window ? "--fwhm: not with --kernel window"
                                   : fmt::format("--kernel {}: needs --fwhm ANGLE", options.kernel));
    if (options.extension != Extension::none && options.kernel == "gaussian" &&
        options.input_spectrum_file.empty())
        throw UsageError("--extend: only with --cl, --beam or --input-cl; a Gaussian does not end");
}

void check(const SplitOptions& options) {
    check_kernel(options);
    if (!options.theta_cut) throw UsageError("--theta-cut ANGLE is required");
    if (options.l_cut && *options.l_cut >= options.lmax)
        throw UsageError(fmt::format("--l-cut = {}: must be below lmax = {}", *options.l_cut, options.lmax));
}

std::vector<double> kernel_window(const SplitOptions& options, std::optional<Angle> fwhm, Session& session) {
    if (options.kernel == "window") {
        const auto beam = read_beam_file(options.beam_file, session);
        return fit_to_lmax(beam.temperature, options.lmax, options.extension, "--beam");
    }
    auto gaussian = gaussian_window(fwhm->radians, options.lmax);
    if (options.kernel == "gaussian") return gaussian;
    return sky_window(read_tt_to_lmax("--cl", options.spectrum_file, options, session), gaussian);
}

std::vector<double> input_spectrum(const SplitOptions& options, Session& session) {
    if (options.input_spectrum_file.empty()) return {};
    const auto spectrum = read_tt_to_lmax("--input-cl", options.input_spectrum_file, options, session);
    return wiener_spectrum(spectrum, std::vector<double>(spectrum.size(), options.noise));
}

KernelSplitOptions library_options(const SplitOptions& options, double theta_cut, Session& session) {
    if (options.noise > 0 && options.input_spectrum_file.empty())
        throw UsageError("--input-noise: needs --input-cl FILE");
    if (options.n_intervals > 0 && options.n_intervals < min_intervals)
        throw UsageError(
            fmt::format("--knots = {}: must be 0 or at least {}", options.n_intervals, min_intervals));
    KernelSplitOptions split;
    split.check_memory = session.memory_check();
    split.theta_cut = theta_cut;
    split.alpha = options.alpha;
    split.cutoff = options.cutoff;
    split.max_amplification = options.max_amplification;
    split.n_intervals = options.n_intervals;
    split.max_leakage = options.max_leakage;
    split.leakage_weight = options.leakage_weight;
    split.knot_density = options.knot_density;
    split.threads = static_cast<int>(options.threads);
    split.input_spectrum = input_spectrum(options, session);
    return split;
}

std::string kernel_text(const SplitOptions& options) {
    if (options.kernel == "window") return "window " + options.beam_file;
    const auto width = options.fwhm ? options.fwhm->text : "";
    return options.kernel == "gaussian" ? "Gaussian, FWHM " + width : "sqrt(C_l) B_l, FWHM " + width;
}

}  // namespace zonal::cli
