#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options/analysis_options.hpp"
#include "options/beam_alm_options.hpp"
#include "options/common_options.hpp"
#include "options/kernel_options.hpp"
#include "options/map_input.hpp"
#include "options/mask_options.hpp"
#include "options/parse.hpp"
#include "zonal/window.hpp"

namespace zonal::cli {

/// The options of zonal smooth.
struct SmoothOptions {
    std::string in, out;
    MapInput input;
    std::optional<Angle> fwhm, fwhm_in;
    std::string beam, beam_in;
    std::string pixel_window_in, pixel_window_out;
    BeamAlmOptions beam_alm;
    std::optional<Angle> psi;
    double floor = 0;
    Extension extension = Extension::none;
    KernelOptions kernel;
    std::optional<std::int64_t> nside_out;
    AnalysisChoice analysis;
    MaskOptions mask;
    std::optional<io::Precision> precision;
    RunOptions run;
    OutputOptions output;
};

void declare_options(CLI::App& app, SmoothOptions& options);

/// Throws UsageError for what contradicts itself.
void check(const SmoothOptions& options);

/// nside_in, nside_out: for which the pixel windows must be; 0: any.
SmoothingWindow smoothing_window(const SmoothOptions& options, std::int64_t nside_in, std::int64_t nside_out,
                                 Session& session);

/// "--fwhm 10deg, --beam b.txt": the options that make the window, for messages.
std::string window_text(const SmoothOptions& options);

}  // namespace zonal::cli
