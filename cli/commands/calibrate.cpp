#include <fmt/core.h>

#include <memory>

#include "commands/subcommands.hpp"
#include "options/common_options.hpp"
#include "zonal/io/cache.hpp"
#include "zonal/io/cost_model.hpp"

namespace zonal::cli {
namespace {

/// Says what it takes to smooth a map of a size that is met often: costs by units of work tell a user little.
void report_example(const CostModel& costs, Session& session) {
    constexpr std::int64_t nside = 1024, lmax = 2 * nside;
    session.report["example"] = fmt::format("smoothing in harmonic space, nside {}, lmax {}", nside, lmax);
    for (const auto& device : costs.devices) {
        const auto work = transform_work(Grid::healpix(nside), lmax, device.device);
        session.report["example_on_" + to_string(device.device)] = {
            {"i_seconds", predicted_seconds(device.scalar.smoothing, work)},
            {"q_and_u_seconds", predicted_seconds(device.polarization.smoothing, work)}};
    }
}

void run(std::int64_t n_threads, Session& session) {
    const auto threads = static_cast<int>(n_threads);
    const auto path = io::cost_cache_path(io::make_cache_folder(), threads);
    OutputOptions{.overwrite = true}.require_writable(path, OutputFormat::json);
    const auto costs = calibrate(threads, session.progress("calibrate"), session.memory_check());
    io::write_cost_model(path, costs);
    session.report["output"] = path;
    if (session.json)
        session.report.update(Json::parse(io::to_json(costs)));
    else
        session.report["machine"] = costs.fingerprint;
    report_example(costs, session);
}

}  // namespace

void add_calibrate(CLI::App& root, Session& session, Action& action) {
    auto& app =
        add_subcommand(root, session, "calibrate",
                       "Measures what transforms and convolutions cost on this machine, for zonal plan, and "
                       "keeps it in the cache folder. Takes less than half a minute; let nothing else run.",
                       "zonal calibrate");
    const auto threads = std::make_shared<std::int64_t>(0);
    add_threads_option(app, *threads);
    app.callback([threads, &action] {
        action = [threads](Session& session) {
            require_one_process(session);  // ranks of one machine would measure each other
            run(*threads, session);
        };
    });
}

}  // namespace zonal::cli
