#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/common_options.hpp"
#include "options/map_input.hpp"
#include "options/parse.hpp"
#include "plot/plot.hpp"
#include "zonal/io/spectrum.hpp"

namespace zonal::cli {

struct PlotOptions {
    std::string in, out;
    MapInput input;
    std::vector<std::string> centre;  ///< longitude, latitude
    std::string projection = "mollweide", scale = "linear";
    bool log = false;
    std::optional<Angle> size;
    std::vector<std::string> range;
    std::string colormap, title, unit;
    bool no_title = false, no_colorbar = false, no_graticule = false, transparent = false;
    std::int64_t width = 0;
    io::ReadSpectrumOptions spectrum;
    std::vector<std::string> spectra;  ///< names of those to draw; empty: all
    std::string theory;                ///< file
    bool theory_dl = false;
    bool plain_cl = false, log_x = false;
    std::int64_t lmin = 2, lmax = -1;
    OutputOptions output;
    const CLI::App* app = nullptr;  ///< that they are declared in
};

void declare(CLI::App& app, PlotOptions& options);

/// The first option given that only serves maps, or spectra; empty where there is none.
std::string first_for_maps(const PlotOptions& options);
std::string first_for_spectra(const PlotOptions& options);

/// "MIN,MAX" of --range, or nothing. Throws UsageError.
std::optional<plot::Range> parse_range(const PlotOptions& options);

}  // namespace zonal::cli
