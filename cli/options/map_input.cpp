#include "options/map_input.hpp"

#include <fmt/core.h>

#include "options/options.hpp"
#include "shell/error.hpp"

namespace zonal::cli {

void add_map_input(CLI::App& app, MapInput& input) {
    const auto group = "Input";
    add_list(app, "--field", input.fields, "NAME|N,...",
             "columns, by name, as I, Q, U or by number from 0; only convert and udgrade "
             "take hits and covariances that are not named here")
        ->default_str("all")
        ->group(group);
    app.add_flag_callback(
           "--pol", [&input] { input.polarized = true; },
           "the first three columns are I, Q, U (of two: Q, U), whatever their names")
        ->group(group);
    app.add_flag_callback(
           "--no-pol", [&input] { input.polarized = false; }, "every column is a spin-0 field")
        ->excludes("--pol")
        ->group(group);
    add_text(app, "--hdu", input.hdu, "NAME|N", "extension to read; 0 is the primary HDU")
        ->default_str("the first that holds a map")
        ->group(group);
    add_choice<healpix::Order>(app, "--order-if-absent", input.ordering_if_absent,
                               {{"ring", healpix::Order::ring}, {"nest", healpix::Order::nest}},
                               "pixel order of files without an ORDERING key")
        ->default_str("ring")
        ->group(group);
    add_choice<bool>(app, "--nan", input.nan_is_unseen, {{"error", false}, {"unseen", true}},
                     "pixels that are NaN are an error, or count as UNSEEN")
        ->default_str("error")
        ->group(group);
}

SkyMap read_sky_map(const std::string& path, const MapInput& input, Session& session, Columns columns) {
    io::ReadMapOptions options;
    options.hdu = input.hdu;
    options.fields = input.fields;
    options.auxiliary = columns == Columns::all;
    options.polarized = input.polarized;
    options.ordering_if_absent = input.ordering_if_absent;
    options.nan_is_unseen = input.nan_is_unseen;
    try {
        auto map = io::read_sky_map(path, options);
        session.note(map.header().notes);
        return map;
    } catch (const InvalidArgument& error) {  // Q without U
        throw UsageError(
            fmt::format("{}: --field chooses columns, --no-pol makes spin-0 fields of them", error.what()));
    }
}

Json describe(const MapFile& map) {
    Json report = {{"pixels", to_string(map.pixelization)}, {"coordinates", to_string(map.coordinates)}};
    if (map.partial()) report["partial_sky_pixels"] = map.pixels.size();
    report["columns"] = Json::array();
    for (const auto& column : map.columns) {
        Json json = {{"name", column.name}};
        if (!column.unit.empty()) json["unit"] = column.unit;
        json["precision"] = column.precision == FilePrecision::float32 ? "float" : "double";
        report["columns"].push_back(std::move(json));
    }
    return report;
}

}  // namespace zonal::cli
