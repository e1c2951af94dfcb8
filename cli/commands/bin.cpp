#include <fmt/core.h>

#include <memory>

#include "commands/subcommands.hpp"
#include "options/map_input.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/healpix.hpp"
#include "zonal/io/events.hpp"
#include "zonal/sky/binning.hpp"

namespace zonal::cli {
namespace {

struct BinOptions {
    std::string in, out;
    std::string longitude, latitude;
    std::string energy_range, energy_column, hdu;
    std::int64_t nside = 0;
    healpix::Order ordering = healpix::Order::ring;
    FilePrecision precision = FilePrecision::float64;
    OutputOptions output;
};

void declare_options(CLI::App& app, BinOptions& options) {
    add_argument(app, "EVENTS", options.in, "table of events (photons), FITS");
    add_argument(app, "OUT", options.out, "HEALPix map to write, counts");
    const auto events = "Events", output = "Output";
    add_text(app, "--lon", options.longitude, "COLUMN",
             "column of the longitudes; L and GLON with B and GLAT are galactic, RA with DEC equatorial, "
             "ELON with ELAT ecliptic, others unknown")
        ->required()
        ->group(events);
    add_text(app, "--lat", options.latitude, "COLUMN", "column of the latitudes")->required()->group(events);
    add_text(app, "--energy-range", options.energy_range, "MIN:MAX",
             "energies that count, such as 50GeV:2TeV: from MIN to below MAX")
        ->default_str("all")
        ->group(events);
    add_text(app, "--energy-column", options.energy_column, "COLUMN", "column of the energies")
        ->default_str("ENERGY")
        ->group(events);
    add_text(app, "--hdu", options.hdu, "NAME|N", "extension to read")
        ->default_str("the first that has the columns")
        ->group(events);
    add_integer(app, "--nside", options.nside, {1, healpix::max_nside}, "of the map")
        ->required()
        ->group(output);
    add_choice<healpix::Order>(app, "--order", options.ordering,
                               {{"ring", healpix::Order::ring}, {"nest", healpix::Order::nest}},
                               "pixel order")
        ->default_str("ring")
        ->group(output);
    app.add_flag_callback(
           "--nest", [&options] { options.ordering = healpix::Order::nest; }, "the same as --order nest")
        ->excludes("--order")
        ->group(output);
    add_choice<FilePrecision>(app, "--precision", options.precision,
                              {{"float", FilePrecision::float32}, {"double", FilePrecision::float64}},
                              "numbers in the output file; float counts to 16777216")
        ->default_str("double")
        ->group(output);
    add_output_options(app, options.output);
}

void add_cards(const BinnedEvents& counts, const std::optional<EnergyRange>& range, const Session& session,
               MapFile& header) {
    set_cards(header.cards, provenance(session));
    if (range)
        set_cards(header.cards, {{"E_MIN", range->minimum, "[MeV] lowest energy"},
                                 {"E_MAX", range->maximum, "[MeV] energies are below this"}});
    set_cards(header.cards, {{"NEVENTS", counts.binned, "events in the map"}});
}

void run(const BinOptions& options, Session& session) {
    if (!healpix::is_valid_nside(options.nside, options.ordering))
        throw UsageError(
            fmt::format("--nside = {}: must be a power of 2 from 1 to 2^29 for nest", options.nside));
    std::optional<EnergyRange> range;
    if (!options.energy_range.empty()) range = parse_energy_range("--energy-range", options.energy_range);
    if (!options.energy_column.empty() && !range)
        throw UsageError("--energy-column: only with --energy-range");
    io::ReadEventsOptions columns{options.hdu, options.longitude, options.latitude, {}};
    if (range) columns.energy = options.energy_column.empty() ? "ENERGY" : options.energy_column;
    try {
        io::coordinates_of_columns(options.longitude, options.latitude);
    } catch (const InvalidArgument& error) {
        throw UsageError(fmt::format("--lon, --lat: {}", error.what()));
    }
    options.output.require_writable(options.out);
    auto& report = session.report;
    report["input"] = options.in;
    report["output"] = options.out;
    const auto events = io::read_events(options.in, columns);
    session.note(events.notes);
    stop_if_interrupted();
    auto counts = bin_events(events, {options.nside, options.ordering}, range);
    auto& header = counts.map.header();
    header.columns[0].precision = options.precision;
    if (events.coordinates == CoordinateSystem::unknown)
        session.note(fmt::format("columns {} and {} name no coordinate system: unknown", options.longitude,
                                 options.latitude));
    report["events"] = events.longitude.size();
    report["binned"] = counts.binned;
    report["dropped"] = {{"outside_energy_range", counts.outside_energy_range},
                         {"without_position", counts.without_position},
                         {"without_energy", counts.without_energy}};
    if (range) report["energy_range_mev"] = {range->minimum, range->maximum};
    add_cards(counts, range, session, header);
    stop_if_interrupted();
    io::write_sky_map(options.out, counts.map, options.output.write_options());
    report["map"] = describe(header);
}

}  // namespace

void add_bin(CLI::App& root, Session& session, Action& action) {
    auto& app = add_subcommand(root, session, "bin", "Counts events, such as photons, in pixels of a map.",
                               "zonal bin events.fits counts.fits --nside 128 --lon L --lat B "
                               "--energy-range 50GeV:2TeV");
    const auto options = std::make_shared<BinOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
