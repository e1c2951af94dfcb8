#include <utility>

#include "commands/recipe.hpp"
#include "engine/job_sky.hpp"
#include "options/beam_options.hpp"
#include "options/new_map.hpp"

namespace zonal::cli {
namespace {

struct Alm2mapOptions {
    FileOptions files;
    NewMapOptions map;
    std::optional<std::int64_t> lmax, mmax;
    BeamOptions beam;
};

void declare(CLI::App& app, Alm2mapOptions& options) {
    add_argument(app, "ALM", options.files.in, "alm, FITS: T, or T, E, B");
    add_argument(app, "OUT", options.files.out, "map to write: I, or I, Q, U");
    const OptionGroup transform(app, "Transform");
    transform.integer("--lmax", options.lmax, {0, max_lmax}, "highest degree l", "the file's");
    transform.integer("--mmax", options.mmax, {0, max_lmax}, "highest order m", "the file's");
    add_beam_options(app, options.beam, "Transform");
    add_extend_option(app, options.beam.extension, "Transform", "windows");
    add_new_map_options(app, options.map);
    add_file_options(app, options.files, "as ALM");
    add_job_options(app, options.files.run, WithExplain::yes);
}

void require_at_most(const char* option, const std::optional<std::int64_t>& value, std::int64_t most,
                     const char* reason) {
    if (value && *value > most)
        throw UsageError(fmt::format("{} = {}: must be at most {}, {}", option, *value, most, reason));
}

/// --lmax and --mmax, or those of the file.
AlmLayout layout_for(const Alm2mapOptions& options, const AlmLayout& layout) {
    require_at_most("--lmax", options.lmax, layout.lmax(), "where the file ends");
    const auto lmax = options.lmax.value_or(layout.lmax());
    require_at_most("--mmax", options.mmax, lmax, "which is lmax");
    require_at_most("--mmax", options.mmax, layout.mmax(), "where the file ends");
    return {lmax, options.mmax.value_or(std::min(lmax, layout.mmax()))};
}

/// The alm up to --lmax and --mmax, and on several ranks the part of the sky whose orders they are.
struct Input {
    io::AlmFile file;
    std::shared_ptr<const SkyPart> part;
};

Input read_part(const Alm2mapOptions& options, const Pixelization& pixels, Session& session) {
    const auto& ranks = session.ranks;
    const auto header = io::read_alm_header(options.files.in, ranks);
    const auto layout = layout_for(options, header.file.layout);
    const auto sky = divide_sky(pixels, layout.lmax(), layout.mmax(), header.n_components == 3,
                                options.files.run, session);
    session.note(header.file.notes);
    return {io::read_alm_part(options.files.in, sky.layout(), ranks), sky.part()};
}

Input read_truncated(const Alm2mapOptions& options, const Pixelization& pixels, Session& session) {
    if (session.has_several_ranks()) return read_part(options, pixels, session);
    auto file = read_alm(options.files.in, session);
    const auto layout = layout_for(options, file.layout);
    truncate(file, layout.lmax(), layout.mmax());
    if (const auto n = file.components.size(); n != 1 && n != 3)
        throw IoError(fmt::format("{}: has {} components; a map needs T or T, E, B", options.files.in, n));
    return {std::move(file), nullptr};
}

void run(Alm2mapOptions& options, Session& session) {
    const auto pixels = pixelization(options.map);
    options.files.begin(session);
    auto [file, part] = read_truncated(options, pixels, session);
    const auto lmax = file.layout.lmax();
    const MapSynthesisOptions how{options.files.run.thread_count(), options.files.run.device,
                                  session.progress("synthesis")};
    const auto grid = make_grid(pixels);
    const bool polarized = file.components.size() == 3;
    if (!part)
        session.require_memory(
            16.0 * static_cast<double>(file.layout.size()) +
                8.0 * static_cast<double>(file.components.size()) * static_cast<double>(grid.n_pixels()) +
                bytes_of_synthesis(grid, polarized, file.layout, how),
            fmt::format("a map of {} from alm up to lmax = {}", to_string(pixels), lmax));
    auto map = new_sky_map(pixels, polarized, file.unit, file.precision, file.coordinates, part);
    if (const auto beam = beam_to(options.beam, map.nside(), lmax, session))
        multiply(file, *beam);
    else if (options.beam.extension != Extension::none)
        throw UsageError("--extend: only with --beam or --pixwin");
    const auto mmax = file.layout.mmax();
    synthesize(to_map_alm(std::move(file)), map, how);
    auto cards = beam_cards(options.beam);
    cards.push_back({"MAX-LPOL", lmax, "highest degree l"});
    session.report["lmax"] = lmax;
    session.report["mmax"] = mmax;
    write_map(options.files, map, cards, session);
}

}  // namespace

void add_alm2map(CLI::App& root, Session& session, Action& action) {
    add_command<Alm2mapOptions>(root, session, action, "alm2map", "Makes a map from alm (synthesis).",
                                "zonal alm2map alm.fits map.fits --nside 256", declare, run,
                                WorkIn::jobs_too);
}

}  // namespace zonal::cli
