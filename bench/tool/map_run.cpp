#include "tool/map_run.hpp"

#include <fmt/core.h>

#include <utility>

#include "options/options.hpp"
#include "shell/error.hpp"

namespace zonal::cli {
namespace {

std::int64_t find_lmax(const MapRunOptions& options) {
    if (options.nside.has_value() == options.n_lat.has_value())
        throw UsageError("one of --nside N and --gauss NLAT is required");
    const auto lmax = options.lmax.value_or(options.nside ? 2 * *options.nside : *options.n_lat - 1);
    if (options.n_lat && lmax >= *options.n_lat)
        throw UsageError(fmt::format("--lmax = {}: must be at most {} on --gauss {} rings", lmax,
                                     *options.n_lat - 1, *options.n_lat));
    if (options.spin > lmax)
        throw UsageError(fmt::format("--spin = {}: must be at most lmax = {}", options.spin, lmax));
    return lmax;
}

}  // namespace

void declare_options(CLI::App& app, MapRunOptions& options) {
    const OptionGroup group(app, "Maps");
    group.integer("--nside", options.nside, {1, 1 << 16}, "HEALPix grid");
    group.integer("--gauss", options.n_lat, {1, 1 << 18},
                  "Gauss-Legendre grid with this many rings of 2 lmax + 2 pixels");
    group.integer("--lmax", options.lmax, {0, max_lmax}, "highest degree l", "2 nside, or rings - 1");
    group.integer("--spin", options.spin, {0, 100}, "spin of the field", "0");
    group.integer("--maps", options.maps, {1, 10000}, "maps at once", "1");
    group.integer("--iter", options.iterations, {0, 1000}, "Jacobi iterations of the analysis", "0");
    group.integer("--repeat", options.repeat, {1, 10000}, "runs, of which the fastest counts", "3");
    add_run_options(app, options.run);
}

MapRun make_run(const MapRunOptions& options, Session& session) {
    const auto lmax = find_lmax(options);
    session.report["grid"] = options.nside ? fmt::format("healpix nside={}", *options.nside)
                                           : fmt::format("gauss-legendre rings={}", *options.n_lat);
    auto run = options.run;
    run.resolve(session);
    auto grid =
        options.nside ? Grid::healpix(*options.nside) : Grid::gauss_legendre(*options.n_lat, 2 * lmax + 2);
    return {std::move(grid), options.nside.value_or(0), options.spin,   lmax,
            options.maps,    options.iterations,        options.repeat, run};
}

}  // namespace zonal::cli
