#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "commands/subcommands.hpp"
#include "options/new_map.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/healpix.hpp"
#include "zonal/io/events.hpp"

namespace zonal::cli {
namespace {

struct BinOptions {
    std::string in, out;
    std::string longitude, latitude;
    std::string energy_range, energy_column, hdu;
    std::int64_t nside = 0;
    healpix::Order ordering = healpix::Order::ring;
    io::Precision precision = io::Precision::float64;
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
    add_choice<io::Precision>(app, "--precision", options.precision,
                              {{"float", io::Precision::float32}, {"double", io::Precision::float64}},
                              "numbers in the output file; float counts to 16777216")
        ->default_str("double")
        ->group(output);
    add_output_options(app, options.output);
}

/// What became of the events.
struct BinCounts {
    std::int64_t binned = 0;
    std::int64_t outside_energy_range = 0;
    std::int64_t without_position = 0;  ///< not finite, or a latitude beyond a pole
    std::int64_t without_energy = 0;    ///< not finite, where energies matter
};

/// Adds 1 to the pixel of each event.
BinCounts bin(const io::EventList& events, const std::optional<EnergyRange>& range, std::int64_t nside,
              View<double, 1> map) {
    constexpr double half_pi = std::numbers::pi / 2, rounding = 1e-6;  // degrees in float: 90.0000076
    BinCounts counts;
    for (std::size_t i = 0; i < events.longitude.size(); ++i) {
        const double longitude = events.longitude[i], latitude = events.latitude[i];
        if (!std::isfinite(longitude) || !(std::abs(latitude) <= half_pi + rounding)) {
            ++counts.without_position;
            continue;
        }
        if (range && !std::isfinite(events.energy[i])) {
            ++counts.without_energy;
            continue;
        }
        if (range && !(events.energy[i] >= range->minimum && events.energy[i] < range->maximum)) {
            ++counts.outside_energy_range;
            continue;
        }
        const double theta = std::clamp(half_pi - latitude, 0.0, std::numbers::pi);
        map[healpix::ang2pix(nside, healpix::Order::ring, healpix::Angles{theta, longitude})] += 1;
        ++counts.binned;
    }
    return counts;
}

SkyMap make_counts_map(const BinOptions& options, const io::EventList& events) {
    MapFile header;
    header.pixelization = HealpixPixels{options.nside, options.ordering};
    header.coordinates = events.coordinates;
    header.columns.push_back({"COUNTS", "count", options.precision, Stokes::none, false, {}});
    return SkyMap(std::move(header));
}

void add_cards(const BinCounts& counts, const std::optional<EnergyRange>& range, const Session& session,
               MapFile& header) {
    set_cards(header.cards, provenance(session));
    if (range)
        set_cards(header.cards, {{"E_MIN", range->minimum, "[MeV] lowest energy"},
                                 {"E_MAX", range->maximum, "[MeV] energies are below this"}});
    set_cards(header.cards, {{"NEVENTS", counts.binned, "events in the map"}});
}

void run(const BinOptions& options, Session& session) {
    const auto order = options.ordering == healpix::Order::nest ? healpix::Order::nest : healpix::Order::ring;
    if (!healpix::is_valid_nside(options.nside, order))
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
    auto map = make_counts_map(options, events);
    const auto counts = bin(events, range, options.nside, map.rows()[0]);
    if (events.coordinates == io::CoordinateSystem::unknown)
        session.note(fmt::format("columns {} and {} name no coordinate system: unknown", options.longitude,
                                 options.latitude));
    report["events"] = events.longitude.size();
    report["binned"] = counts.binned;
    report["dropped"] = {{"outside_energy_range", counts.outside_energy_range},
                         {"without_position", counts.without_position},
                         {"without_energy", counts.without_energy}};
    if (range) report["energy_range_mev"] = {range->minimum, range->maximum};
    add_cards(counts, range, session, map.header());
    stop_if_interrupted();
    io::write_sky_map(options.out, map, options.output.write_options());
    report["map"] = describe(map.header());
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
