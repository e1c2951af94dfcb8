#include "options/map_input.hpp"

#include <fmt/core.h>

#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"

namespace zonal::cli {

void add_map_input(CLI::App& app, MapInput& input) {
    const OptionGroup group(app, "Input");
    group.list("--field", input.fields, "NAME|N,...",
               "columns, by name, as I, Q, U or by number from 0; only convert and udgrade "
               "take hits and covariances that are not named here",
               "all");
    group.act("--pol", "the first three columns are I, Q, U (of two: Q, U), whatever their names",
              [&input] { input.polarized = true; });
    group.act("--no-pol", "every column is a spin-0 field", [&input] { input.polarized = false; })
        ->excludes("--pol");
    group.text("--hdu", input.hdu, "NAME|N", "extension to read; 0 is the primary HDU",
               "the first that holds a map");
    group.choice("--order-if-absent", input.ordering_if_absent, pixel_orders,
                 "pixel order of files without an ORDERING key", "ring");
    group.choice<bool>("--nan", input.nan_is_unseen, {{"error", false}, {"unseen", true}},
                       "pixels that are NaN are an error, or count as UNSEEN", "error");
}

SkyMap read_sky_map(const std::string& path, const MapInput& input, Session& session, Columns columns) {
    const io::ReadMapOptions options{
        input.hdu,          input.fields, columns == Columns::all, input.polarized, input.ordering_if_absent,
        input.nan_is_unseen};
    auto map = with_error<UsageError>([&] { return io::read_sky_map(path, options); }, "",  // Q without U
                                      ": --field chooses columns, --no-pol makes spin-0 fields of them");
    session.note(map.header().notes);
    return map;
}

void write_map(const FileOptions& files, SkyMap& map, const std::vector<HeaderCard>& cards,
               Session& session) {
    auto& header = map.header();
    for (auto& column : header.columns) column.precision = files.precision.value_or(column.precision);
    set_cards(header.cards, provenance(session));
    set_cards(header.cards, cards);
    stop_if_interrupted();
    io::write_sky_map(files.out, map, files.output.write_options());
    session.report["map"] = describe(header);
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
