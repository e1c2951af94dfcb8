#include "commands/recipe.hpp"

namespace zonal::cli {
namespace {

struct Map2almOptions {
    FileOptions files;
    MaskedAnalysis analysis;
};

void declare(CLI::App& app, Map2almOptions& options) {
    add_files(app, options.files, "map, FITS: one field, or I, Q, U", "alm to write: T, or T, E, B");
    add_masked_analysis_options(app, options.analysis);
    add_file_options(app, options.files);
    add_job_options(app, options.files.run, WithExplain::yes);
}

void run(Map2almOptions& options, Session& session) {
    options.analysis.choice.iteration_count();
    options.files.begin(session);
    auto map = read_one_sky(options.files.in, options.analysis, options.files.run, session);
    auto alm = analyze_masked(map, options.analysis, options.files.run, session);
    const auto cards = std::exchange(alm.cards, {});
    write_alm(options.files, alm, cards, session);
    session.report["map"] = describe(map.header());
}

}  // namespace

void add_map2alm(CLI::App& root, Session& session, Action& action) {
    add_command<Map2almOptions>(root, session, action, "map2alm", "Finds the alm of a map (analysis).",
                                "zonal map2alm map.fits alm.fits --lmax 512 --tolerance 1e-10", declare, run,
                                WorkIn::jobs_too);
}

}  // namespace zonal::cli
