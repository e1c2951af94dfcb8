#include "commands/split.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "commands/subcommands.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/angle.hpp"
#include "zonal/io/kernel_split.hpp"

namespace zonal::cli {
namespace {

/// Angles from 0 to the profile's end, as many as show every oscillation.
std::vector<double> sample_angles(const KernelSplit& split) {
    constexpr int per_interval = 8;
    const auto& knots = split.profile.knots();
    std::vector<double> theta;
    for (std::size_t i = 0; i + 1 < knots.size(); ++i)
        for (int k = 0; k < per_interval; ++k)
            theta.push_back(knots[i] + (knots[i + 1] - knots[i]) * k / per_interval);
    theta.push_back(knots.back());
    return theta;
}

std::vector<double> profile_at(const KernelSplit& split, const std::vector<double>& theta) {
    std::vector<double> values;
    values.reserve(theta.size());
    for (const double angle : theta) values.push_back(split.profile(angle));
    return values;
}

std::vector<double> sizes(std::vector<double> values) {
    for (double& value : values) value = std::abs(value);
    return values;
}

std::vector<double> degrees_to(std::size_t count) {
    std::vector<double> l(count);
    for (std::size_t i = 0; i < count; ++i) l[i] = static_cast<double>(i);
    return l;
}

constexpr auto multipole = "Multipole $\\ell$";

// The paper's figures 2 to 4.
std::vector<Graph> graphs_of(const SplitOptions& options, const std::vector<double>& kernel,
                             const KernelSplit& split) {
    const auto l = degrees_to(kernel.size()), theta = sample_angles(split);
    std::vector<double> error(kernel.size()), minutes = theta;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
        const double sum = split.profile_window[i] + (i < split.window.size() ? split.window[i] : 0);
        error[i] = kernel[i] == 0 ? std::nan("") : std::abs(sum / kernel[i] - 1);
    }
    for (double& angle : minutes) angle = radians_to_arcmin(angle);
    Graph windows{kernel_text(options) + ": windows", multipole, "$|K_\\ell|$"};
    windows.log_y = true;
    windows.curves = {
        {"kernel", l, sizes(kernel), GraphStyle::line, 6},
        {"harmonic part", degrees_to(split.window.size()), sizes(split.window), GraphStyle::line, 0},
        {"profile", l, sizes(split.profile_window), GraphStyle::dashes, 1}};
    Graph profile{"profile", "$\\theta$  [arcmin]", "$|K(\\theta)|$  [sr$^{-1}$]"};
    profile.log_y = true;
    profile.curves = {{"", minutes, sizes(profile_at(split, theta)), GraphStyle::line, 1}};
    Graph errors{"error of the sum", multipole, "|sum / $K_\\ell$ − 1|"};
    errors.log_y = true;
    errors.y_range = {1e-16, 10};
    errors.curves = {{"", l, error, GraphStyle::line, 0}};
    return {windows, profile, errors};
}

void write(const SplitOptions& options, const std::vector<double>& kernel, const KernelSplit& split,
           const Session& session) {
    io::KernelSplitFile file;
    file.window = split.window;
    file.window.resize(kernel.size());
    file.profile_window = split.profile_window;
    file.kernel = kernel;
    file.theta = sample_angles(split);
    file.profile = profile_at(split, file.theta);
    file.knots = split.profile.knots();
    file.coefficients = split.profile.coefficients();
    file.cards = provenance(session);
    set_cards(file.cards, {{"L_CUT", split.quality.l_cut, "the window ends here"},
                           {"THETACUT", split.profile.support(), "[rad] the profile ends here"},
                           {"ESTERROR", split.quality.estimated_error, "estimated error, alpha included"},
                           {"FITERROR", split.actual_error, "error of window and profile"}});
    io::write_kernel_split(options.out, file, options.output.write_options());
}

std::string no_split(const SplitOptions& options, const std::vector<double>& kernel) {
    auto text = fmt::format(
        "no l_cut was found that keeps --error {} with --theta-cut {}, of {} below lmax = {}", options.error,
        options.theta_cut->text,
        std::min(options.lmax, KernelSplitter::most_parts(options.neighbourhood) + 1), options.lmax);
    const auto size = sizes(kernel);
    const double last = size.back() / *std::max_element(size.begin(), size.end());
    if (last > options.error)
        return fmt::format("{}: at lmax the kernel is still {:.1e} of its largest; it must fade away before",
                           text, last);
    return text + ": a larger angle or error may";
}

void split_kernel(const SplitOptions& options, Session& session, const SplitFollowUp& follow_up) {
    const auto kernel = kernel_window(options, options.fwhm, session);
    const auto wanted = library_options(options, options.theta_cut->radians, session);
    const auto splitter = KernelSplitter(kernel, wanted, session.progress("fit"));
    auto& report = session.report;
    report["kernel"] = kernel_text(options);
    report["lmax"] = options.lmax;
    report["theta_cut_arcmin"] = radians_to_arcmin(options.theta_cut->radians);
    report["error_bound"] = options.error;
    report["alpha"] = options.alpha;
    report["cutoff"] = options.cutoff;
    report["spline_intervals"] = splitter.options().n_intervals;
    auto l_cut = options.l_cut;
    if (!l_cut) l_cut = splitter.find_l_cut(options.error, options.neighbourhood, session.progress("l_cut"));
    if (!l_cut) {
        report["l_cut"] = nullptr;
        throw NegativeVerdict(no_split(options, kernel));
    }
    const auto split = splitter.split(*l_cut);
    stop_if_interrupted();
    report["l_cut"] = split.quality.l_cut;
    report["estimated_error"] = split.quality.estimated_error;
    report["actual_error"] = split.actual_error;
    if (options.l_cut && split.quality.estimated_error > options.error)
        session.warn(fmt::format("--l-cut = {}: its estimated error, {:.3g}, is above --error = {:.3g}",
                                 *options.l_cut, split.quality.estimated_error, options.error));
    report["amplification"] = split.quality.amplification;
    report["leakage"] = split.quality.leakage;
    report["rank"] = split.quality.rank;
    if (!options.out.empty()) write(options, kernel, split, session);
    auto graphs = graphs_of(options, kernel, split);
    if (follow_up) {
        auto more = follow_up(kernel, splitter, *l_cut);
        std::move(more.begin(), more.end(), std::back_inserter(graphs));
    }
    if (!options.plot.empty()) draw_graphs(options.plot, graphs, options.output, session);
    if (!options.out.empty()) report["output"] = options.out;
    if (!options.plot.empty()) report["plot"] = options.plot;
}

}  // namespace

void run_split(const SplitOptions& options, Session& session, const SplitFollowUp& follow_up) {
    check(options);
    require_different_files({{"--output", options.out}, {"--plot", options.plot}});
    if (!options.out.empty()) options.output.require_writable(options.out);
    if (!options.plot.empty()) options.output.require_writable(options.plot, OutputFormat::picture);
    split_kernel(options, session, follow_up);
}

void add_split(CLI::App& root, Session& session, Action& action) {
    auto& app = add_subcommand(
        root, session, "split",
        "Splits a radial kernel into a window up to l_cut, for harmonic space, and a profile up to "
        "--theta-cut, for pixel space, within an error.",
        "zonal split --kernel cl-beam --cl cl.fits --fwhm 7arcmin --theta-cut 390arcmin --error 1e-5");
    const auto options = std::make_shared<SplitOptions>();
    declare_options(app, *options);
    app.callback([options, &action] {
        action = [options](Session& session) {
            require_one_process(session);
            run_split(*options, session);
        };
    });
}

}  // namespace zonal::cli
