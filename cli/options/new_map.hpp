#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/sky_map.hpp"
#include "options/common_options.hpp"

namespace zonal::cli {

/// --nside or --car, --order, --precision, --coordsys: a map that does not take its form from another one.
struct NewMapOptions {
    std::optional<std::int64_t> nside;
    std::string car;  ///< "N_RINGSxN_PHI"
    std::optional<io::Ordering> ordering;
    std::optional<io::Precision> precision;
};
void add_new_map_options(CLI::App& app, NewMapOptions& options, const std::string& default_precision);

/// Throws UsageError unless exactly one of --nside and --car is there, and for nest with no power of 2.
io::Pixelisation pixelisation(const NewMapOptions& options);
/// "180x360"
io::CarPixels parse_car(const std::string& text);

/// Columns I, Q, U (or I alone) of zeros. unit: of all columns.
SkyMap make_sky_map(const io::Pixelisation& pixelisation, bool polarised, const std::string& unit,
                    io::Precision precision, io::CoordinateSystem coordinates);

}  // namespace zonal::cli
