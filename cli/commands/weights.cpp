#include "commands/recipe.hpp"
#include "zonal/io/cache.hpp"

namespace zonal::cli {
namespace {

using Kind = io::QuadratureWeights::Kind;

struct WeightsOptions {
    std::string out;
    std::int64_t nside = 0;
    bool ring = false, pixel = false;
    std::optional<std::int64_t> lmax;
    std::int64_t threads = 0;
    OutputOptions output;
};

void declare(CLI::App& app, WeightsOptions& options) {
    OptionGroup(app, "Arguments")
        .text("OUT", options.out, "",
              "file to write, in HEALPix' format (default: into the cache folder, "
              "$XDG_CACHE_HOME/zonal, where --weights finds it)");
    const OptionGroup group(app, "Weights");
    group.integer("--nside", options.nside, {1, 1 << 16}, "nside of the maps")->required();
    group.flag("--ring", options.ring, "a weight for each ring");
    group.flag("--pixel", options.pixel, "a weight for each pixel, up to the grid's symmetries");
    group.integer("--lmax", options.lmax, {0, max_lmax}, "the quadrature is exact for Y_lm up to this degree",
                  "3 nside for --ring, 2.5 nside for --pixel");
    add_output_options(app, options.output);
    add_threads_option(app, options.threads);
}

void run(WeightsOptions& options, Session& session) {
    if (options.ring == options.pixel) throw UsageError("one of --ring and --pixel is required");
    if (options.pixel && options.nside < 2)
        throw UsageError("--nside = 1: pixel weights need nside 2 or more");
    if (options.lmax && options.out.empty())
        throw UsageError("--lmax: needs OUT; the cache folder keeps weights of the default lmax");
    const auto kind = options.ring ? Kind::ring : Kind::pixel;
    const auto out = options.out.empty()
                         ? io::make_cache_folder() + "/" + io::weight_file_name(kind, options.nside)
                         : options.out;
    options.output.require_writable(out);
    const auto weights = io::compute_weights(kind, options.nside,
                                             {.lmax = options.lmax.value_or(-1),
                                              .threads = static_cast<int>(options.threads),
                                              .progress = session.progress("weights"),
                                              .check_memory = session.memory_check()});
    report_weights(weights, session);
    stop_if_interrupted();
    io::write_weights(out, weights, options.output.write_options());
    session.report["output"] = out;
    session.report["kind"] = options.ring ? "ring" : "pixel";
    session.report["nside"] = options.nside;
    session.report["lmax"] = weights.lmax;
    session.report["count"] = weights.deviations.size();
}

}  // namespace

void add_weights(CLI::App& root, Session& session, Action& action) {
    add_command<WeightsOptions>(
        root, session, action, "weights",
        "Computes HEALPix quadrature weights, which make the analysis of band-limited maps "
        "exact or nearly so. The files are those of HEALPix and healpy.",
        "zonal weights --nside 512 --pixel", declare, run);
}

}  // namespace zonal::cli
