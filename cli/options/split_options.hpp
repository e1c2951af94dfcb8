#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "options/common_options.hpp"
#include "options/parse.hpp"
#include "shell/session.hpp"
#include "zonal/io/header.hpp"
#include "zonal/split.hpp"
#include "zonal/window.hpp"

namespace zonal::cli {

/// The kernel that `zonal split` splits, and for which maps and error.
struct SplitOptions {
    std::string kernel = "gaussian";
    std::string spectrum_file, beam_file;
    std::optional<Angle> fwhm;
    std::int64_t lmax = 0;
    Extension extension = Extension::none;

    std::string input_spectrum_file;
    double noise = 0;

    std::optional<Angle> theta_cut;
    std::optional<std::int64_t> l_cut;
    double error = 1e-5, alpha = 5, cutoff = 1e-6, max_amplification = 2;
    std::int64_t neighbourhood = 8, n_intervals = 0;
    double knot_density = 1, leakage_weight = 0.1, max_leakage = 0;

    std::string out, plot;
    std::int64_t threads = 0;
    OutputOptions output;
};

void declare_options(CLI::App& app, SplitOptions& options);
/// Those that say which kernel. default_lmax: for the help; the value is set by the caller.
void declare_kernel(CLI::App& app, SplitOptions& options, const std::string& default_lmax);

/// Throws UsageError for what contradicts itself.
void check(const SplitOptions& options);
/// Checks the options of the kernel alone.
void check_kernel(const SplitOptions& options);

/// K_l of the chosen kernel for a beam of that width where it has one, l = 0 .. lmax.
std::vector<double> kernel_window(const SplitOptions& options, std::optional<Angle> fwhm, Session& session);

/// C_l of the maps, Wiener-filtered where there is noise; empty for white.
std::vector<double> input_spectrum(const SplitOptions& options, Session& session);

/// What the library is asked for. Throws UsageError.
KernelSplitOptions library_options(const SplitOptions& options, double theta_cut, Session& session);

/// "sqrt(C_l) B_l, FWHM 7arcmin"
std::string kernel_text(const SplitOptions& options);

}  // namespace zonal::cli
