#include <memory>

#include "commands/subcommands.hpp"
#include "engine/alm_file.hpp"
#include "engine/masked_analysis.hpp"
#include "options/options.hpp"
#include "shell/interrupt.hpp"

namespace zonal::cli {
namespace {

struct Map2almOptions {
    std::string in, out;
    MaskedAnalysis analysis;
    std::optional<io::Precision> precision;
    RunOptions run;
    OutputOptions output;
};

void declare_options(CLI::App& app, Map2almOptions& options) {
    add_argument(app, "IN", options.in, "map, FITS: one field, or I, Q, U");
    add_argument(app, "OUT", options.out, "alm to write: T, or T, E, B");
    add_masked_analysis_options(app, options.analysis);
    add_precision(app, options.precision, "as the input");
    add_output_options(app, options.output);
    add_run_options(app, options.run);
}

void run(Map2almOptions& options, Session& session) {
    options.analysis.choice.iteration_count();
    options.output.require_writable(options.out);
    session.report["input"] = options.in;
    session.report["output"] = options.out;
    options.run.resolve(session);
    const auto map = read_sky_map(options.in, options.analysis.input, session);
    require_one_sky(map);
    const auto alm = analyze_masked(options.analysis, map, options.run, session);
    auto file = to_alm_file(map, alm, session);
    file.precision = options.precision.value_or(file.precision);
    set_cards(file.cards, provenance(session));
    set_cards(file.cards, parameter_cards(options.analysis, map, session));
    stop_if_interrupted();
    write_alm_file(options.out, file, options.output.write_options());
    session.report["map"] = describe(map.header());
}

}  // namespace

void add_map2alm(CLI::App& root, Session& session, Action& action) {
    auto& app = add_subcommand(root, session, "map2alm", "Finds the alm of a map (analysis).",
                               "zonal map2alm map.fits alm.fits --lmax 512 --tolerance 1e-10");
    const auto options = std::make_shared<Map2almOptions>();
    declare_options(app, *options);
    app.callback([options, &action] { action = [options](Session& session) { run(*options, session); }; });
}

}  // namespace zonal::cli
