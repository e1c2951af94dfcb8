#include <fmt/core.h>

#include <memory>

#include "commands/subcommands.hpp"
#include "engine/alm_file.hpp"
#include "options/beam_options.hpp"
#include "options/new_map.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"

namespace zonal::cli {
namespace {

struct Alm2mapOptions {
    std::string in, out;
    NewMapOptions map;
    std::optional<std::int64_t> lmax, mmax;
    BeamOptions beam;
    RunOptions run;
    OutputOptions output;
};

void declare_options(CLI::App& app, Alm2mapOptions& options) {
    add_argument(app, "ALM", options.in, "alm, FITS: T, or T, E, B");
    add_argument(app, "OUT", options.out, "map to write: I, or I, Q, U");
    add_integer(app, "--lmax", options.lmax, {0, max_lmax}, "highest degree l")
        ->default_str("the file's")
        ->group("Transform");
    add_integer(app, "--mmax", options.mmax, {0, max_lmax}, "highest order m")
        ->default_str("the file's")
        ->group("Transform");
    add_beam_options(app, options.beam, "Transform");
    add_extend_option(app, options.beam.extension, "Transform", "windows");
    add_new_map_options(app, options.map, "as ALM");
    add_output_options(app, options.output);
    add_run_options(app, options.run);
}

void require_at_most(const char* option, const std::optional<std::int64_t>& value, std::int64_t most,
                     const char* reason) {
    if (value && *value > most)
        throw UsageError(fmt::format("{} = {}: must be at most {}, {}", option, *value, most, reason));
}

void run(Alm2mapOptions& options, Session& session) {
    const auto pixels = pixelization(options.map);
    options.output.require_writable(options.out);
    options.run.resolve(session);
    auto file = read_alm(options.in, session);
    require_at_most("--lmax", options.lmax, file.layout.lmax(), "where the file ends");
    const auto lmax = options.lmax.value_or(file.layout.lmax());
    require_at_most("--mmax", options.mmax, lmax, "which is lmax");
    require_at_most("--mmax", options.mmax, file.layout.mmax(), "where the file ends");
    truncate(file, lmax, options.mmax.value_or(std::min(lmax, file.layout.mmax())));
    const auto n_components = file.components.size();
    if (n_components != 1 && n_components != 3)
        throw IoError(
            fmt::format("{}: has {} components; a map needs T or T, E, B", options.in, n_components));
    auto map = new_sky_map(pixels, n_components == 3, file.unit,
                           options.map.precision.value_or(file.precision), file.coordinates);
    if (options.beam.given())
        multiply(file, evaluate_window(smoothing_window(options.beam, map.nside(), session), lmax,
                                       options.beam.text()));
    else if (options.beam.extension != Extension::none)
        throw UsageError("--extend: only with --beam or --pixwin");
    synthesize_map({file.layout, to_array(file)}, options.run, session, map);
    stop_if_interrupted();
    auto& cards = map.header().cards;
    set_cards(cards, provenance(session));
    set_cards(cards, beam_cards(options.beam));
    set_card(cards, {"MAX-LPOL", lmax, "highest degree l"});
    io::write_sky_map(options.out, map, options.output.write_options());
    session.report["input"] = options.in;
    session.report["output"] = options.out;
    session.report["lmax"] = lmax;
    session.report["mmax"] = file.layout.mmax();
    session.report["map"] = describe(map.header());
}

}  // namespace

void add_alm2map(CLI::App& root, Session& session, Action& action) {
    auto& app = add_subcommand(root, session, "alm2map", "Makes a map from alm (synthesis).",
                               "zonal alm2map alm.fits map.fits --nside 256");
    const auto options = std::make_shared<Alm2mapOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
