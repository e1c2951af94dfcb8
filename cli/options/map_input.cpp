#include "options/map_input.hpp"

#include <fmt/core.h>

#include "engine/job_sky.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/io/parts.hpp"

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
    group.integer("--multi-order-nside", input.multi_order_nside, {1, std::int64_t{1} << 29},
                  "nside on which multi-order maps are read, a power of 2", "that of the finest cell");
    group.choice<bool>("--nan", input.nan_is_unseen, {{"error", false}, {"unseen", true}},
                       "pixels that are NaN are an error, or count as UNSEEN", "error");
}

io::ReadMapOptions read_options(const MapInput& input, Columns columns) {
    return {.hdu = input.hdu,
            .fields = input.fields,
            .auxiliary = columns == Columns::all,
            .polarized = input.polarized,
            .ordering_if_absent = input.ordering_if_absent,
            .multi_order_nside = input.multi_order_nside,
            .infinite_is_kept = columns == Columns::all,
            .nan_is_unseen = input.nan_is_unseen};
}

SkyMap read_sky_map(const std::string& path, const MapInput& input, Session& session, Columns columns,
                    Extent extent) {
    auto options = read_options(input, columns);
    options.extent = extent;
    options.check_memory = session.memory_check();
    auto map = with_error<UsageError>([&] { return io::read_sky_map(path, options); }, "", how_to_choose);
    session.note(map.header().notes);
    return map;
}

MapShare read_map_share(const std::string& path, const MapInput& input, Session& session) {
    auto map = io::read_map_share(path, session.ranks, read_options(input, Columns::all));
    with_error<UsageError>([&] { require_pairs(map.file); }, "", how_to_choose);
    session.note(map.file.notes);
    return map;
}

namespace {

void prepare_header(const FileOptions& files, const std::vector<HeaderCard>& cards, const Session& session,
                    MapFile& header) {
    for (auto& column : header.columns) column.precision = files.precision.value_or(column.precision);
    set_cards(header.cards, provenance(session));
    set_cards(header.cards, cards);
    stop_if_interrupted();
}

}  // namespace

void write_map_share(const FileOptions& files, MapShare& map, const std::vector<HeaderCard>& cards,
                     Session& session) {
    prepare_header(files, cards, session, map.file);
    io::write_map_share(files.out, map, session.ranks, files.output.write_options());
    session.report["map"] = describe(map.file);
}

void write_map(const FileOptions& files, SkyMap& map, const std::vector<HeaderCard>& cards,
               Session& session) {
    auto& header = map.header();
    prepare_header(files, cards, session, header);
    if (const auto sky = DistributedSky::of(map))
        io::write_sky_part(files.out, map, *sky, files.output.write_options());
    else
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
