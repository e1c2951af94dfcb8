#include <algorithm>
#include <utility>

#include "commands/recipe.hpp"
#include "options/new_map.hpp"
#include "zonal/io/inspect.hpp"
#include "zonal/sky/resampling.hpp"

namespace zonal::cli {
namespace {

enum class Sky { as_input, full, partial, multi_order };

struct ConvertOptions {
    FileOptions files;
    MapInput input;
    std::optional<healpix::Order> ordering;
    std::string coordinates;
    std::optional<PolarizationConvention> convention;
    Sky sky = Sky::as_input;
    std::optional<std::int64_t> nside;
    std::string car;
    AnalysisChoice analysis;

    bool resamples() const { return nside || !car.empty(); }
};

void declare(CLI::App& app, ConvertOptions& options) {
    add_files(app, options.files, "map or alm, FITS", "the same, converted");
    const OptionGroup group(app, "Conversion"), resampling(app, "Resampling through alm");
    group.choice("--order", options.ordering, pixel_orders, "HEALPix pixel order", "as the input");
    add_precision(app, options.files.precision, "as the input")->group("Conversion");
    group.text("--set-coordsys", options.coordinates, "G|E|C",
               "change what the header says of the coordinates, and nothing else; zonal rotate turns maps");
    group.choice<PolarizationConvention>(
        "--polcconv", options.convention,
        {{"cosmo", PolarizationConvention::cosmo}, {"iau", PolarizationConvention::iau}},
        "polarisation convention; U changes its sign where the input has the other one", "as the input");
    group.act("--full", "write all pixels", [&options] { options.sky = Sky::full; });
    group
        .act(
            "--partial",
            "write only pixels that are not UNSEEN in every column; of CAR the smallest rectangle that holds "
            "them",
            [&options] { options.sky = Sky::partial; })
        ->excludes("--full");
    group
        .act("--multi-order",
             "write a multi-order map (NUNIQ): four pixels of one parent that agree in every column become "
             "one cell, and so on; pixels that are UNSEEN in every column are left out",
             [&options] { options.sky = Sky::multi_order; })
        ->excludes("--full")
        ->excludes("--partial")
        ->excludes("--order");
    resampling.text("--car", options.car, "RINGSxPHI", "to a CAR image");
    resampling.integer("--nside", options.nside, {1, healpix::max_nside}, "to a HEALPix map");
    add_map_input(app, options.input);
    add_analysis_options(app, options.analysis, WithMmax::no);
    add_output_options(app, options.files.output);
    add_run_options(app, options.files.run);
}

void check(const ConvertOptions& options) {
    if (options.nside && !options.car.empty()) throw UsageError("--nside and --car exclude each other");
    if (!options.resamples() && options.analysis.given())
        throw UsageError(
            "--lmax, --iter, --tolerance, --weights: only with --nside or --car, which go through alm");
    if (!options.coordinates.empty()) parse_coordinates("--set-coordsys", options.coordinates);
    if (!options.car.empty()) parse_car(options.car);
    if (!options.car.empty() && options.sky == Sky::multi_order)
        throw UsageError("--multi-order and --car exclude each other");
    options.analysis.iteration_count();
}

Pixelization new_pixels(const ConvertOptions& options, const SkyMap& map) {
    const auto nside = options.nside.value_or(map.nside());
    const bool to_car = !options.car.empty();
    if ((to_car || nside == 0) && options.ordering)
        throw UsageError("--order: CAR images have no pixel order");
    if (to_car) return parse_car(options.car);
    if (nside == 0) return map.header().pixelization;
    const auto* old = std::get_if<HealpixPixels>(&map.header().pixelization);
    const auto order = options.ordering.value_or(old != nullptr ? old->ordering : healpix::Order::ring);
    if (!healpix::is_valid_nside(nside, order))
        throw UsageError(fmt::format("--order nest: nside {} is not a power of 2", nside));
    return HealpixPixels{nside, order};
}

SkyMap resampled(const ConvertOptions& options, const SkyMap& map, const Pixelization& pixels,
                 Session& session) {
    MapAnalysis analysis(options.analysis, map, options.files.run, "resample", session);
    if (!options.analysis.lmax) analysis.lmax = -1;  // of the coarser of both
    const ResamplingOptions how{.analysis = analysis};
    const auto source = options.analysis.lmax ? fmt::format("--lmax = {}", *options.analysis.lmax)
                        : options.nside       ? fmt::format("--nside = {}", *options.nside)
                                              : "--car = " + options.car;
    auto result = with_error<UsageError>(
        [&] {
            session.require_memory(bytes_of_resampling(map, pixels, how), source);
            return resample(map, pixels, how);
        },
        source + ": ");
    report_resampling(result.report, options.analysis, session);
    set_card(result.map.header().cards, {"MAX-LPOL", result.report.lmax, "highest degree l"});
    return std::move(result.map);
}

void choose_pixels(Sky sky, SkyMap& map) {
    map.header().multi_order = sky == Sky::multi_order;
    if (sky == Sky::full) map.make_full_sky();
    if (sky == Sky::partial) map.make_partial_sky();
}

void set_header(const ConvertOptions& options, MapFile& header) {
    if (!options.coordinates.empty())
        header.coordinates = parse_coordinates("--set-coordsys", options.coordinates);
    if (options.convention && header.find(Stokes::U) < 0)
        throw UsageError(fmt::format(
            "--polcconv: no column of {} is U by its name; --pol says which are I, Q, U", header.source));
    if (options.convention) header.polarization_convention = *options.convention;
}

/// Each rank has a share of the pixels.
void convert_share(const ConvertOptions& options, Session& session) {
    require_one_process(session, options.resamples(), "--nside, --car",
                        "the pixels that a rank has of two maps are not the same; zonal udgrade --nside "
                        "combines pixels");
    require_one_process(session, options.sky == Sky::partial, "--partial", "maps in parts are full skies");
    require_one_process(session, options.sky == Sky::multi_order, "--multi-order",
                        "one process merges its cells");
    auto map = read_map_share(options.files.in, options.input, session);
    const auto& pixels = std::get<HealpixPixels>(map.file.pixelization);
    const auto order = options.ordering.value_or(pixels.ordering);
    if (!healpix::is_valid_nside(pixels.nside, order))
        throw UsageError(fmt::format("--order nest: nside {} is not a power of 2", pixels.nside));
    reorder(session.ranks, map, order);
    set_header(options, map.file);
    write_map_share(options.files, map, {}, session);
}

void convert_map(const ConvertOptions& options, Session& session) {
    if (session.has_several_ranks()) return convert_share(options, session);
    // Hits and covariances are no fields that alm could describe.
    const auto columns = options.resamples() ? Columns::fields : Columns::all;
    const auto extent = options.resamples() ? Extent::whole_sky : Extent::own_pixels;
    auto map = read_sky_map(options.files.in, options.input, session, columns, extent);
    const auto pixels = new_pixels(options, map);
    auto out =
        options.resamples() ? resampled(options, map, pixels, session) : reorder(std::move(map), pixels);
    const double pixels_out = static_cast<double>(out.grid().n_pixels());
    const double rows = static_cast<double>(out.rows().extent(0));
    const auto what = out.header().source + ": ";
    if (options.sky == Sky::full && out.is_patch())
        session.require_memory(8 * rows * static_cast<double>(full_sky_size(pixels)), what + "--full");
    if (options.sky == Sky::partial)  // their numbers, and which they are
        session.require_memory((8 + 1.0 / 8) * pixels_out, what + "--partial");
    if (options.sky == Sky::multi_order)
        session.require_memory(io::bytes_of_multi_order(out), what + "--multi-order");
    choose_pixels(options.sky, out);
    set_header(options, out.header());
    write_map(options.files, out, {}, session);
}

void convert_alm(const ConvertOptions& options, Session& session) {
    if (options.input.given() || options.ordering || options.convention || options.sky != Sky::as_input ||
        options.resamples())
        throw UsageError(
            fmt::format("{} holds alm: only --precision and --set-coordsys apply", options.files.in));
    auto file = read_alm(options.files.in, session);
    if (!options.coordinates.empty())
        file.coordinates = parse_coordinates("--set-coordsys", options.coordinates);
    write_alm(options.files, file, {}, session);
}

void run(ConvertOptions& options, Session& session) {
    check(options);
    options.files.name_output(session);
    if (options.resamples() && !session.has_several_ranks()) options.files.run.resolve(session);
    if (io::inspect(options.files.in).kind == io::FileKind::alm)
        convert_alm(options, session);
    else
        convert_map(options, session);
}

}  // namespace

void add_convert(CLI::App& root, Session& session, Action& action) {
    add_command<ConvertOptions>(
        root, session, action, "convert",
        "Rewrites a map or alm in another form: ring or nest order, float or double, full or "
        "partial sky, HEALPix or CAR, header coordinates.",
        "zonal convert map.fits nest.fits --order nest --precision double", declare, run, WorkIn::jobs_too);
}

}  // namespace zonal::cli
