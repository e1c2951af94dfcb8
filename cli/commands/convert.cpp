#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "commands/subcommands.hpp"
#include "engine/alm_file.hpp"
#include "options/analysis_options.hpp"
#include "options/new_map.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/healpix.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal::cli {
namespace {

enum class Sky { as_input, full, partial };

struct ConvertOptions {
    std::string in, out;
    MapInput input;
    std::optional<healpix::Order> ordering;
    std::optional<io::Precision> precision;
    std::string coordinates;
    std::optional<PolarizationConvention> convention;
    Sky sky = Sky::as_input;
    std::optional<std::int64_t> nside;
    std::string car;
    AnalysisChoice analysis;
    RunOptions run;
    OutputOptions output;

    bool resamples() const { return nside || !car.empty(); }
};

void declare_options(CLI::App& app, ConvertOptions& options) {
    add_argument(app, "IN", options.in, "map or alm, FITS");
    add_argument(app, "OUT", options.out, "the same, converted");
    const auto group = "Conversion";
    add_choice<healpix::Order>(app, "--order", options.ordering,
                               {{"ring", healpix::Order::ring}, {"nest", healpix::Order::nest}},
                               "HEALPix pixel order")
        ->default_str("as the input")
        ->group(group);
    add_precision(app, options.precision, "as the input")->group(group);
    add_text(app, "--set-coordsys", options.coordinates, "G|E|C",
             "change what the header says of the coordinates, and nothing else; zonal rotate turns maps")
        ->group(group);
    add_choice<PolarizationConvention>(
        app, "--polcconv", options.convention,
        {{"cosmo", PolarizationConvention::cosmo}, {"iau", PolarizationConvention::iau}},
        "polarisation convention; U changes its sign where the input has the other one")
        ->default_str("as the input")
        ->group(group);
    app.add_flag_callback(
           "--full", [&options] { options.sky = Sky::full; }, "write all pixels")
        ->group(group);
    app.add_flag_callback(
           "--partial", [&options] { options.sky = Sky::partial; },
           "write only pixels that are not UNSEEN in every column")
        ->excludes("--full")
        ->group(group);
    const auto resampling = "Resampling through alm";
    add_text(app, "--car", options.car, "RINGSxPHI", "to a full-sky CAR image")->group(resampling);
    add_integer(app, "--nside", options.nside, {1, healpix::max_nside}, "to a HEALPix map")
        ->group(resampling);
    add_map_input(app, options.input);
    add_analysis_options(app, options.analysis, WithMmax::no);
    add_output_options(app, options.output);
    add_run_options(app, options.run);
}

void check(const ConvertOptions& options) {
    if (options.nside && !options.car.empty()) throw UsageError("--nside and --car exclude each other");
    if (!options.resamples() && options.analysis.given())
        throw UsageError(
            "--lmax, --iter, --tolerance, --weights: only with --nside or --car, which go through alm");
    if (!options.coordinates.empty()) parse_coordinates("--set-coordsys", options.coordinates);
    if (!options.car.empty()) parse_car(options.car);
    if (!options.car.empty() && options.sky == Sky::partial)
        throw UsageError("--partial: a CAR image is always the full sky");
    options.analysis.iteration_count();
}

Pixelization new_pixels(const ConvertOptions& options, const SkyMap& map) {
    if (!options.car.empty()) {
        if (options.ordering) throw UsageError("--order: CAR images have no pixel order");
        return parse_car(options.car);
    }
    const auto* healpix = std::get_if<HealpixPixels>(&map.header().pixelization);
    const auto old_order = healpix != nullptr ? healpix->ordering : healpix::Order::ring;
    const auto nside = options.nside.value_or(map.nside());
    if (nside == 0) {
        if (options.ordering) throw UsageError("--order: CAR images have no pixel order");
        return map.header().pixelization;
    }
    const auto order = options.ordering.value_or(old_order);
    const bool nest = order == healpix::Order::nest;
    if (!healpix::is_valid_nside(nside, nest ? healpix::Order::nest : healpix::Order::ring))
        throw UsageError(fmt::format("--order nest: nside {} is not a power of 2", nside));
    return HealpixPixels{nside, order};
}

/// Q and U have no degrees below 2.
void require_degrees(const ConvertOptions& options, const SkyMap& map, std::int64_t lmax) {
    const bool polarized = map.header().polarized();
    if (!polarized || lmax >= 2) return;
    const auto source = options.analysis.lmax ? "--lmax = " + std::to_string(lmax)
                        : options.car.empty() ? fmt::format("--nside = {}", *options.nside)
                                              : "--car = " + options.car;
    throw UsageError(fmt::format("{}: lmax = {} is too low for the Q and U of {}: must be at least 2", source,
                                 lmax, map.header().source));
}

/// Analysis, synthesis on the other grid: smoothing with a window of 1.
void resample(const ConvertOptions& options, const SkyMap& map, SkyMap& out, Session& session) {
    SmoothingOptions smoothing;
    const auto lmax = options.analysis.lmax_for(map);
    smoothing.lmax = options.analysis.lmax ? lmax : std::min(lmax, default_smoothing_lmax(out.grid()));
    require_degrees(options, map, smoothing.lmax);
    smoothing.iterations = options.analysis.iteration_count();
    smoothing.tolerance = options.analysis.tolerance;
    smoothing.threads = options.run.thread_count();
    const auto weights = find_weights(options.analysis, map, options.run, session);
    smoothing.ring_weights = weights.ring;
    smoothing.pixel_weights = {weights.pixel.data(), {static_cast<std::int64_t>(weights.pixel.size())}};
    smoothing.progress = session.progress("resample");
    const auto beam = uniform_beam(std::vector<double>(static_cast<std::size_t>(smoothing.lmax) + 1, 1.0));
    for (const auto& group : map.groups()) {
        const auto result = smooth<double>(map.grid(), map.rows(group), group.fields, {}, beam, out.grid(),
                                           out.rows(group), smoothing);
        if (!result.note.empty()) session.warn(result.note);
    }
    session.report["lmax"] = smoothing.lmax;
    set_card(out.header().cards, {"MAX-LPOL", smoothing.lmax, "highest degree l"});
}

void choose_pixels(Sky sky, SkyMap& map) {
    if (sky == Sky::full) map.make_full_sky();
    if (sky != Sky::partial) return;
    if (map.nside() == 0) throw UsageError("--partial: a CAR image is always the full sky");
    map.make_partial_sky();
}

void convert_map(const ConvertOptions& options, Session& session) {
    // Hits and covariances are no fields that alm could describe.
    const auto columns = options.resamples() ? Columns::fields : Columns::all;
    const auto map = read_sky_map(options.in, options.input, session, columns);
    const auto pixels = new_pixels(options, map);
    const bool was_partial = map.header().partial();
    SkyMap out(map, pixels);
    if (options.resamples())
        resample(options, map, out, session);
    else
        std::copy(map.rows().data(), map.rows().data() + map.rows().size(), out.rows().data());
    auto& header = out.header();
    // A partial sky in another order or grid: the pixels have other numbers now.
    const bool renumbered =
        was_partial && !header.partial() && options.sky == Sky::as_input && out.nside() > 0;
    choose_pixels(renumbered ? Sky::partial : options.sky, out);
    if (!options.coordinates.empty())
        header.coordinates = parse_coordinates("--set-coordsys", options.coordinates);
    if (options.convention && header.find(Stokes::U) < 0)
        throw UsageError(fmt::format(
            "--polcconv: no column of {} is U by its name; --pol says which are I, Q, U", header.source));
    if (options.convention) header.polarization_convention = *options.convention;
    for (auto& column : header.columns) column.precision = options.precision.value_or(column.precision);
    set_cards(header.cards, provenance(session));
    stop_if_interrupted();
    io::write_sky_map(options.out, out, options.output.write_options());
    session.report["map"] = describe(header);
}

void convert_alm(const ConvertOptions& options, Session& session) {
    if (options.input.given() || options.ordering || options.convention || options.sky != Sky::as_input ||
        options.resamples())
        throw UsageError(fmt::format("{} holds alm: only --precision and --set-coordsys apply", options.in));
    auto file = read_alm(options.in, session);
    if (!options.coordinates.empty())
        file.coordinates = parse_coordinates("--set-coordsys", options.coordinates);
    file.precision = options.precision.value_or(file.precision);
    set_cards(file.cards, provenance(session));
    write_alm_file(options.out, file, options.output.write_options());
}

void run(ConvertOptions& options, Session& session) {
    check(options);
    options.output.require_writable(options.out);
    session.report["input"] = options.in;
    session.report["output"] = options.out;
    if (options.resamples()) options.run.resolve(session);
    if (io::inspect(options.in).kind == io::FileKind::alm)
        convert_alm(options, session);
    else
        convert_map(options, session);
}

}  // namespace

void add_convert(CLI::App& root, Session& session, Action& action) {
    auto& app =
        add_subcommand(root, session, "convert",
                       "Rewrites a map or alm in another form: ring or nest order, float or double, full or "
                       "partial sky, HEALPix or CAR, header coordinates.",
                       "zonal convert map.fits nest.fits --order nest --precision double");
    const auto options = std::make_shared<ConvertOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
