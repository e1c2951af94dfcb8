#include "options/analysis_options.hpp"

#include <fmt/core.h>

#include "options/options.hpp"
#include "shell/error.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal::cli {

int AnalysisChoice::iteration_count() const {
    if (iterations && tolerance > 0)
        throw UsageError(
            "--iter and --tolerance exclude each other: iterate a number of times or to a tolerance");
    return tolerance > 0 ? 0 : static_cast<int>(iterations.value_or(3));
}

std::int64_t AnalysisChoice::lmax_for(const SkyMap& map) const {
    const auto most = default_smoothing_lmax(map.grid());
    if (lmax && *lmax > most)
        throw UsageError(fmt::format("--lmax = {}: must be at most {}{} for the analysis of {}", *lmax,
                                     map.nside() > 0 ? "3*nside-1 = " : "", most, map.header().source));
    return lmax.value_or(most);
}

std::int64_t AnalysisChoice::mmax_for(std::int64_t lmax_used) const {
    if (mmax && *mmax > lmax_used)
        throw UsageError(fmt::format("--mmax = {}: must be at most lmax = {}", *mmax, lmax_used));
    return mmax.value_or(lmax_used);
}

void add_analysis_options(CLI::App& app, AnalysisChoice& choice, WithMmax with_mmax) {
    const auto group = "Transform";
    add_integer(app, "--lmax", choice.lmax, {0, max_lmax}, "highest degree l")
        ->default_str("3 nside - 1")
        ->group(group);
    if (with_mmax == WithMmax::yes)
        add_integer(app, "--mmax", choice.mmax, {0, max_lmax}, "highest order m")
            ->default_str("lmax")
            ->group(group);
    add_integer(app, "--iter", choice.iterations, {0, 1000}, "Jacobi iterations of the analysis")
        ->default_str("3")
        ->group(group);
    add_number(app, "--tolerance", choice.tolerance, {1e-16, 0.1},
               "instead of --iter: solve until the residual is at most this")
        ->group(group);
    add_text(app, "--weights", choice.weights, "none|ring|pixel|FILE",
             "HEALPix quadrature weights: computed and kept in the cache folder, or from a HEALPix file")
        ->default_str("none")
        ->group(group);
}

io::FoundWeights weights_for(const std::string& choice, std::int64_t nside, int threads, Session& session) {
    auto found =
        io::find_weights(choice, nside, {.threads = threads, .progress = session.progress("weights")});
    session.note(found.notes);
    if (found.computed) report_weights(found.values, session);
    return found;
}

void report_weights(const healpix::QuadratureWeights& computed, Session& session) {
    session.report["weights_residual"] = computed.residual;
    session.report["weights_iterations"] = computed.iterations;
}

PixelWeights find_weights(const AnalysisChoice& choice, const SkyMap& map, const RunOptions& run,
                          Session& session) {
    if (choice.weights == "none") return {};
    if (map.nside() == 0)
        throw UsageError(fmt::format("--weights = {}: only HEALPix maps take weights; {} is {}",
                                     choice.weights, map.header().source,
                                     to_string(map.header().pixelization)));
    const auto weights = weights_for(choice.weights, map.nside(), run.thread_count(), session);
    session.report["weights"] = weights.description;
    if (weights.values.kind == io::QuadratureWeights::Kind::ring)
        return {healpix::expand_ring_weights(map.nside(), weights.values.deviations), {}};
    return {{}, healpix::expand_pixel_weights(map.nside(), weights.values.deviations)};
}

MapAnalysisOptions map_analysis_options(const AnalysisChoice& choice, const SkyMap& map,
                                        const PixelWeights& weights, const RunOptions& run,
                                        const Progress& progress) {
    const auto lmax = choice.lmax_for(map);
    return {.lmax = lmax,
            .mmax = choice.mmax_for(lmax),
            .iterations = choice.iteration_count(),
            .tolerance = choice.tolerance,
            .ring_weights = weights.ring,
            .pixel_weights = {weights.pixel.data(), {std::ssize(weights.pixel)}},
            .threads = run.thread_count(),
            .device = run.device,
            .progress = progress};
}

MapAlm analyze_map(const SkyMap& map, const AnalysisChoice& choice, const RunOptions& run, Session& session) {
    const auto weights = find_weights(choice, map, run, session);
    auto [alm, report] =
        analyze(map, map_analysis_options(choice, map, weights, run, session.progress("analysis")));
    report_analysis(report.analysis, choice, session);
    session.report["lmax"] = alm.layout.lmax();
    session.report["mmax"] = alm.layout.mmax();
    return std::move(alm);
}

void synthesize_map(const MapAlm& alm, const RunOptions& run, Session& session, SkyMap& map) {
    synthesize(alm, map, {run.thread_count(), run.device, session.progress("synthesis")});
}

}  // namespace zonal::cli
