#include "commands/recipe.hpp"
#include "options/new_map.hpp"
#include "zonal/io/events.hpp"
#include "zonal/sky/binning.hpp"

namespace zonal::cli {
namespace {

struct BinOptions {
    FileOptions files;
    std::string longitude, latitude;
    std::string energy_range, energy_column, hdu;
    std::int64_t nside = 0;
    healpix::Order ordering = healpix::Order::ring;
};

void declare(CLI::App& app, BinOptions& options) {
    add_argument(app, "EVENTS", options.files.in, "table of events (photons), FITS");
    add_argument(app, "OUT", options.files.out, "HEALPix map to write, counts");
    const OptionGroup events(app, "Events"), output(app, "Output");
    events
        .text("--lon", options.longitude, "COLUMN",
              "column of the longitudes; L and GLON with B and GLAT are galactic, RA with DEC equatorial, "
              "ELON with ELAT ecliptic, others unknown")
        ->required();
    events.text("--lat", options.latitude, "COLUMN", "column of the latitudes")->required();
    events.text("--energy-range", options.energy_range, "MIN:MAX",
                "energies that count, such as 50GeV:2TeV: from MIN to below MAX", "all");
    events.text("--energy-column", options.energy_column, "COLUMN", "column of the energies", "ENERGY");
    events.text("--hdu", options.hdu, "NAME|N", "extension to read", "the first that has the columns");
    output.integer("--nside", options.nside, {1, healpix::max_nside}, "of the map")->required();
    output.choice("--order", options.ordering, pixel_orders, "pixel order", "ring");
    output.act("--nest", "the same as --order nest", [&options] { options.ordering = healpix::Order::nest; })
        ->excludes("--order");
    output.choice("--precision", options.files.precision, precisions,
                  "numbers in the output file; float counts to 16777216", "double");
    add_output_options(app, options.files.output);
}

/// What the cards say of the counts.
std::vector<HeaderCard> count_cards(const BinnedEvents& counts, const std::optional<EnergyRange>& range) {
    std::vector<HeaderCard> cards;
    if (range)
        cards = {{"E_MIN", range->minimum, "[MeV] lowest energy"},
                 {"E_MAX", range->maximum, "[MeV] energies are below this"}};
    cards.push_back({"NEVENTS", counts.binned, "events in the map"});
    return cards;
}

void run(BinOptions& options, Session& session) {
    require_valid(options.nside, options.ordering);
    std::optional<EnergyRange> range;
    if (!options.energy_range.empty()) range = parse_energy_range("--energy-range", options.energy_range);
    if (!options.energy_column.empty() && !range)
        throw UsageError("--energy-column: only with --energy-range");
    io::ReadEventsOptions columns{options.hdu, options.longitude, options.latitude, {}};
    if (range) columns.energy = options.energy_column.empty() ? "ENERGY" : options.energy_column;
    with_error<UsageError>([&] { io::coordinates_of_columns(options.longitude, options.latitude); },
                           "--lon, --lat: ");
    options.files.name_output(session);
    const auto events = io::read_events(options.files.in, columns);
    session.note(events.notes);
    stop_if_interrupted();
    session.require_memory(8.0 * static_cast<double>(full_sky_size(HealpixPixels{options.nside})),
                           fmt::format("--nside {}", options.nside));
    auto counts = bin_events(events, {options.nside, options.ordering}, range);
    if (events.coordinates == CoordinateSystem::unknown)
        session.note(fmt::format("columns {} and {} name no coordinate system: unknown", options.longitude,
                                 options.latitude));
    auto& report = session.report;
    report["events"] = events.longitude.size();
    report["binned"] = counts.binned;
    report["dropped"] = {{"outside_energy_range", counts.outside_energy_range},
                         {"without_position", counts.without_position},
                         {"without_energy", counts.without_energy}};
    if (range) report["energy_range_mev"] = {range->minimum, range->maximum};
    write_map(options.files, counts.map, count_cards(counts, range), session);
}

}  // namespace

void add_bin(CLI::App& root, Session& session, Action& action) {
    add_command<BinOptions>(root, session, action, "bin",
                            "Counts events, such as photons, in pixels of a map.",
                            "zonal bin events.fits counts.fits --nside 128 --lon L --lat B "
                            "--energy-range 50GeV:2TeV",
                            declare, run);
}

}  // namespace zonal::cli
