#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "options/common_options.hpp"
#include "options/map_input.hpp"

namespace zonal::cli {

/// --nside or --car, --order, --precision, --coordsys: a map that does not take its form from another one.
struct NewMapOptions {
    std::optional<std::int64_t> nside;
    std::string car;  ///< "N_RINGSxN_PHI"
    std::optional<healpix::Order> ordering;
    std::optional<io::Precision> precision;
};
void add_new_map_options(CLI::App& app, NewMapOptions& options, const std::string& default_precision);

/// Throws UsageError unless exactly one of --nside and --car is there, and for nest with no power of 2.
Pixelization pixelization(const NewMapOptions& options);
/// "180x360"
CarPixels parse_car(const std::string& text);

}  // namespace zonal::cli
