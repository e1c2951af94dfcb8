#include "options/analysis_options.hpp"

#include <fmt/core.h>

#include "engine/weight_cache.hpp"
#include "options/options.hpp"
#include "shell/error.hpp"
#include "zonal/sht.hpp"

namespace zonal::cli {
namespace {

using Complex = std::complex<double>;

/// Rows that one plan transforms at once.
struct Batch {
    int spin;
    std::int64_t first_row;
    std::int64_t n_rows;
};

std::vector<Batch> batches(const SkyMap& map) {
    std::vector<Batch> result;
    for (const auto& group : map.groups()) {
        const auto first = group.first_row, n = group.n_rows;
        if (group.fields == Fields::scalars) result.push_back({0, first, n});
        if (group.fields == Fields::iqu) result.push_back({0, first, 1});
        if (group.fields != Fields::scalars) result.push_back({2, first + n - 2, 2});
    }
    return result;
}

/// Rows [first_row, first_row + n_rows) of a 2-D array as [batch, component, element].
template <class T>
View<T, 3> batch_view(View<T, 2> rows, const Batch& batch) {
    const std::int64_t components = batch.spin == 0 ? 1 : 2;
    return {rows.data() + batch.first_row * rows.extent(1),
            {batch.n_rows / components, components, rows.extent(1)}};
}

/// The share [begin, end] of a stage's progress.
Progress part(const Progress& whole, double begin, double end) {
    return [whole, begin, end](double done) { return whole(begin + (end - begin) * done); };
}

ShtPlan make_plan(const SkyMap& map, const AlmLayout& layout, int spin, const RunOptions& run) {
    ShtOptions options;
    options.lmax = layout.lmax();
    options.mmax = layout.mmax();
    options.spin = spin;
    options.threads = run.thread_count();
    options.device = run.device;
    return {map.grid(), options};
}

}  // namespace

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

MapAlm analyze_map(const SkyMap& map, const AnalysisChoice& choice, const RunOptions& run, Session& session) {
    const auto lmax = choice.lmax_for(map);
    MapAlm result;
    result.layout = AlmLayout(lmax, choice.mmax_for(lmax));
    result.alm = Array<Complex, 2>({map.rows().extent(0), result.layout.size()});
    const auto weights = find_weights(choice, map, run, session);
    AnalysisOptions options;
    options.iterations = choice.iteration_count();
    options.tolerance = choice.tolerance;
    options.ring_weights = weights.ring;
    options.pixel_weights = {weights.pixel.data(), {static_cast<std::int64_t>(weights.pixel.size())}};
    const auto progress = session.progress("analysis");
    const auto n_rows = static_cast<double>(map.rows().extent(0));
    for (const auto& batch : batches(map)) {
        const auto begin = static_cast<double>(batch.first_row);
        options.progress =
            part(progress, begin / n_rows, (begin + static_cast<double>(batch.n_rows)) / n_rows);
        if (batch.spin > lmax) continue;  // E and B have no degrees below 2: their alm are 0
        const auto plan = make_plan(map, result.layout, batch.spin, run);
        const auto report = analyze<double>(plan, batch_view(map.rows(), batch),
                                            batch_view(result.alm.view(), batch), options);
        report_analysis(report, choice, session);
    }
    session.report["lmax"] = lmax;
    session.report["mmax"] = result.layout.mmax();
    return result;
}

void synthesize_map(const MapAlm& alm, const RunOptions& run, Session& session, SkyMap& map) {
    const auto progress = session.progress("synthesis");
    const auto n_rows = static_cast<double>(map.rows().extent(0));
    for (const auto& batch : batches(map)) {
        const auto begin = static_cast<double>(batch.first_row);
        if (batch.spin > alm.layout.lmax()) continue;
        const auto plan = make_plan(map, alm.layout, batch.spin, run);
        plan.synthesize<double>(
            batch_view(alm.alm.view(), batch), batch_view(map.rows(), batch),
            part(progress, begin / n_rows, (begin + static_cast<double>(batch.n_rows)) / n_rows));
    }
}

}  // namespace zonal::cli
