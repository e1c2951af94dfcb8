#include <memory>

#include "commands/subcommands.hpp"
#include "engine/cost_model_file.hpp"
#include "engine/weight_cache.hpp"
#include "options/common_options.hpp"
#include "options/options.hpp"

namespace zonal::cli {
namespace {

void run(std::int64_t n_threads, Session& session) {
    const auto threads = static_cast<int>(n_threads);
    const auto path = cost_model_path(cache_folder(), threads);
    const auto model = calibrate(threads, session.progress("calibrate"));
    write_cost_model(path, model);
    session.report["output"] = path;
    session.report.update(to_json(model));
}

}  // namespace

void add_calibrate(CLI::App& root, Session& session, Action& action) {
    auto& app =
        add_subcommand(root, session, "calibrate",
                       "Measures what transforms and convolutions cost on this machine, for zonal plan, and "
                       "keeps it in the cache folder. Takes up to a minute; let nothing else run.",
                       "zonal calibrate");
    const auto threads = std::make_shared<std::int64_t>(0);
    add_integer(app, "--threads", *threads, {0, 4096}, "threads to compute with; 0: all CPUs of the process")
        ->default_str("0")
        ->group("General");
    app.callback([threads, &action] { action = [threads](Session& session) { run(*threads, session); }; });
}

}  // namespace zonal::cli
