#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "options/common_options.hpp"
#include "options/map_input.hpp"

namespace zonal::cli {

/// --nside or --car, --order: a map that does not take its form from another one.
struct NewMapOptions {
    std::optional<std::int64_t> nside;
    std::string car;  ///< "N_RINGSxN_PHI"
    std::optional<healpix::Order> ordering;
};
void add_new_map_options(CLI::App& app, NewMapOptions& options);

/// Throws UsageError for an --nside that the order cannot have.
void require_valid(std::int64_t nside, healpix::Order order);

/// Throws UsageError unless exactly one of --nside and --car is there, and for nest with no power of 2.
Pixelization pixelization(const NewMapOptions& options);
/// "180x360"
CarPixels parse_car(const std::string& text);

}  // namespace zonal::cli
