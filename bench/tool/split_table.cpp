#include "tool/split_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "shell/interrupt.hpp"
#include "zonal/angle.hpp"

namespace zonal::cli {
namespace {

struct Row {
    double fwhm, theta_cut;  ///< arcmin
    std::int64_t l_cut;
};

constexpr std::array<Row, 9> table1{{{7, 390, 1158},
                                     {8, 390, 1070},
                                     {9, 360, 1055},
                                     {10, 360, 979},
                                     {11, 330, 1014},
                                     {12, 330, 960},
                                     {13, 330, 940},
                                     {14, 300, 929},
                                     {15, 270, 961}}};

/// Seconds by the paper's eqs. 7 and 8 for nside 2048: a GeForce GTX 480 and one core of 2011.
double pixel_seconds(double theta_cut) {
    return 0.0232 * theta_cut + 2.428;
}
double harmonic_seconds(double l_cut, double lmax) {
    return 160 * l_cut * l_cut * lmax / (4096.0 * 4096 * 4096);
}

/// All in harmonic space over both parts side by side.
double speedup(double l_cut, double theta_cut, double lmax) {
    return harmonic_seconds(lmax, lmax) / std::max(pixel_seconds(theta_cut), harmonic_seconds(l_cut, lmax));
}

Json report_row(const Row& row, const SplitOptions& options, Session& session) {
    const Progress stop = [](double) { return !is_interrupted(); };  // the bar is that of the rows
    const auto window = kernel_window(options, Angle{arcmin_to_radians(row.fwhm), ""}, session);
    const auto wanted = library_options(options, arcmin_to_radians(row.theta_cut), session);
    const KernelSplitter splitter(window, wanted, stop);
    const auto lmax = static_cast<double>(options.lmax);
    Json result = {{"fwhm_arcmin", row.fwhm},
                   {"theta_cut_arcmin", row.theta_cut},
                   {"l_cut_paper", row.l_cut},
                   {"l_cut", nullptr}};
    if (const auto l_cut = splitter.find_l_cut(options.error, options.neighbourhood, stop)) {
        const auto split = splitter.split(*l_cut);
        result["l_cut"] = split.quality.l_cut;
        result["estimated_error"] = split.quality.estimated_error;
        result["actual_error"] = split.actual_error;
        result["amplification"] = split.quality.amplification;
        result["harmonic_seconds_paper"] = harmonic_seconds(static_cast<double>(row.l_cut), lmax);
        result["harmonic_seconds"] = harmonic_seconds(static_cast<double>(split.quality.l_cut), lmax);
        result["pixel_seconds"] = pixel_seconds(row.theta_cut);
        result["speedup_paper"] = speedup(static_cast<double>(row.l_cut), row.theta_cut, lmax);
        result["speedup"] = speedup(static_cast<double>(split.quality.l_cut), row.theta_cut, lmax);
    }
    return result;
}

}  // namespace

void reproduce_table1(const SplitOptions& options, Session& session) {
    session.report["lmax"] = options.lmax;
    session.report["error_bound"] = options.error;
    session.report["alpha"] = options.alpha;
    session.report["cutoff"] = options.cutoff;
    session.report["table"] = Json::array();
    const auto bar = session.progress("split");
    for (const auto& row : table1) {
        session.report["table"].push_back(report_row(row, options, session));
        bar(static_cast<double>(session.report["table"].size()) / table1.size());
        stop_if_interrupted();
    }
}

}  // namespace zonal::cli
