#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/common_options.hpp"
#include "options/map_input.hpp"
#include "options/parse.hpp"
#include "zonal/io/spectrum.hpp"

namespace zonal::cli {

struct PlotOptions {
    std::string in, out;
    MapInput input;
    std::vector<std::string> centre;  ///< longitude, latitude
    std::string projection = "mollweide", scale = "linear";
    bool log = false, polarization = false;
    std::optional<Angle> size;
    std::vector<std::string> range;
    std::string colormap, title, unit;
    bool no_title = false, no_colorbar = false, no_graticule = false, transparent = false;
    std::int64_t width = 0;  ///< pixels; 0: what suits the size on paper
    double inches = 0;       ///< width on paper; 0: what suits the projection
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
/// The same of those that band powers do not take.
std::string first_not_for_bands(const PlotOptions& options);

/// What zonal.plot._tool draws of a map, or of spectra. Throws UsageError.
Json map_request(const PlotOptions& options);
Json spectra_request(const PlotOptions& options);

}  // namespace zonal::cli
