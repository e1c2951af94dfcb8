#include "zonal/analysis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "sht/analysis/analysis_operator.hpp"
#include "sht/analysis/field_memory.hpp"
#include "sht/analysis/unresolved_share.hpp"
#include "sht/array_checks.hpp"
#include "sht/progress_part.hpp"
#include "sht/rings/meridian_integral.hpp"
#include "sht/transform.hpp"
#include "sht/transform_cache.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

/// Copies of the caller's arrays, the weighted map, and an iteration's update.
const struct { sht::ScratchArray map, alm, weighted, update; } analysis_arrays{};

void check_options(const AnalysisOptions& options) {
    constexpr int most_iterations = 1000;
    if (options.iterations < 0 || options.iterations > most_iterations)
        throw InvalidArgument("iterations", options.iterations,
                              fmt::format("must be from 0 to {}", most_iterations));
    if (!(options.tolerance >= 0 && options.tolerance < 1))
        throw InvalidArgument("tolerance", options.tolerance, "must be from 0 (off) to below 1");
    if (options.tolerance > 0 && options.iterations > 0)
        throw InvalidArgument(
            "iterations", options.iterations,
            fmt::format("must be 0 with a tolerance ({}), see max_iterations", options.tolerance));
    if (options.is_enough && (options.tolerance > 0 || options.iterations > 0))
        throw InvalidArgument("is_enough", "not with iterations or a tolerance: must be empty");
    if (options.max_iterations < 1)
        throw InvalidArgument("max_iterations", options.max_iterations, "must be at least 1");
}

/// Necessary for an inverse: order m = 0 has as many rings as degrees, and all orders as many Fourier modes
/// as unknowns. A ring of n pixels gives n of its 2 mmax + 1 modes at most.
bool has_enough_data(const Grid& grid, const AlmLayout& layout, int spin, double alm_components,
                     double map_components) {
    if (grid.n_rings() < layout.lmax() + 1 - spin) return false;
    double data = 0, unknowns = 0;
    for (const Ring& ring : grid.rings())
        data += static_cast<double>(std::min(ring.n_pixels, 2 * layout.mmax() + 1));
    for (std::int64_t m = 0; m <= layout.mmax(); ++m)
        unknowns +=
            (m == 0 ? 1.0 : 2.0) * static_cast<double>(layout.lmax() + 1 - std::max<std::int64_t>(m, spin));
    return data * map_components >= unknowns * alm_components;
}

/// The largest degree that the rings of a grid with a known inverse determine, whatever their pixels; -1 of
/// others.
std::int64_t exact_lmax_of_rings(const Grid& grid) {
    if (const auto lmax = sht::meridian_lmax(grid); lmax >= 0) return lmax;
    // Reduced grids hold the orders that their short rings need, and no grid says which these are.
    const auto differs = [&](const Ring& ring) { return ring.n_pixels != grid.rings().front().n_pixels; };
    const bool is_full = std::none_of(grid.rings().begin(), grid.rings().end(), differs);
    return is_full && grid.exact_degree() >= 0 ? grid.exact_degree() / 2 : -1;
}

/// Whether the grid has a known inverse for the plan's degrees.
bool is_exact(const ShtPlan& plan) {
    const Grid& grid = sht::whole_grid(plan);
    return plan.options().lmax <= exact_lmax_of_rings(grid) &&
           2 * plan.options().mmax + 1 <= sht::fewest_pixels(grid);
}

/// What a grid with a known inverse cannot hold is refused: its alm would be of other maps than this one.
void check_degrees(const ShtPlan& plan) {
    const Grid& grid = sht::whole_grid(plan);
    const std::int64_t limit = exact_lmax_of_rings(grid), lmax = plan.options().lmax,
                       mmax = plan.options().mmax;
    if (limit < 0 || is_exact(plan)) return;
    if (lmax > limit)
        throw InvalidArgument(
            "lmax", lmax,
            fmt::format("must be at most {} for an analysis on {}: its {} rings determine no more", limit,
                        grid.name(), grid.n_rings()));
    throw InvalidArgument(
        "mmax", mmax,
        fmt::format("must be at most {} for an analysis on {}: order m takes rings of 2 m + 1 pixels",
                    (sht::fewest_pixels(grid) - 1) / 2, grid.name()));
}

bool is_invertible(const ShtPlan& plan) {
    const AlmLayout layout(plan.options().lmax, plan.options().mmax);
    if (exact_lmax_of_rings(sht::whole_grid(plan)) >= 0) return is_exact(plan);
    return has_enough_data(sht::whole_grid(plan), layout, plan.options().spin,
                           static_cast<double>(plan.alm_components()),
                           static_cast<double>(plan.map_components()));
}

/// The report, and whether the grid determines the coefficients at all.
AnalysisReport with_lmax_judged(const ShtPlan& plan, AnalysisReport report) {
    const Grid& grid = sht::whole_grid(plan);
    report.invertible = is_invertible(plan);
    if (!report.invertible)
        report.note = fmt::format(
            "lmax = {} is too high for the grid ({}: {} rings, at most lmax = {}): other "
            "coefficients fit the map as well{}{}",
            plan.layout().lmax(), grid.name(), grid.n_rings(), invertible_lmax(grid),
            report.note.empty() ? "" : "; ", report.note);
    return report;
}

/// sqrt(largest x_b / y_b), elements without y left out.
double largest_ratio(const std::vector<double>& x, const std::vector<double>& y) {
    double largest = 0;
    for (std::size_t b = 0; b < x.size(); ++b)
        if (y[b] > 0) largest = std::max(largest, x[b] / y[b]);
    return std::sqrt(largest);
}

/// a = A f, then a += A (f - S a) again and again.
template <class T>
AnalysisReport iterate_jacobi(sht::AnalysisOperator<T>& op, View<const T, 3> map,
                              View<std::complex<T>, 3> alm, const AnalysisOptions& options) {
    AnalysisReport report;
    const double stages = 1 + 2 * options.iterations;
    auto part = [&](int i, int end) { return sht::part_of(options.progress, i / stages, end / stages); };
    const auto scratch =
        sht::scratch_array<T, 3>(op.storage(), analysis_arrays.weighted,
                                 op.has_weights() ? map.extents() : std::array<std::int64_t, 3>{});
    op.quadrature(map, scratch, alm, part(0, 1));
    if (options.iterations == 0) {
        if (options.power_by_degree) report.power = op.alms().powers(alm);
        return report;
    }
    const auto update =
        sht::scratch_array<std::complex<T>, 3>(op.storage(), analysis_arrays.update, alm.extents());
    const std::vector<double> ones(alm.extent(0), 1.0);
    // Updates below this are rounding, which need not become smaller.
    constexpr double rounding = 1e3 * std::numeric_limits<T>::epsilon();
    double previous = 1;
    for (; report.iterations < options.iterations; ++report.iterations) {
        op.project_residual(alm, map, scratch, update,
                            part(2 * report.iterations + 1, 2 * report.iterations + 3));
        op.alms().add_scaled(ones, update, alm);
        report.last_update = largest_ratio(op.alms().squares(update), op.alms().squares(alm));
        if (!(report.last_update < previous || report.last_update < rounding)) report.updates_grew = true;
        previous = report.last_update;
    }
    if (options.power_by_degree) report.power = op.alms().powers(update);
    if (report.updates_grew)
        report.note = fmt::format(
            "the last of {} iterations still changed the coefficients by {:.2g} of themselves, and more "
            "iterations do not help: the grid hardly determines degrees near lmax: lower it (on HEALPix to 2 "
            "nside) or ask for a tolerance",
            report.iterations, report.last_update);
    return report;
}

/// As iterate_jacobi, until options.is_enough.
template <class T>
AnalysisReport iterate_until_enough(sht::AnalysisOperator<T>& op, View<const T, 3> map,
                                    View<std::complex<T>, 3> alm, const AnalysisOptions& options) {
    AnalysisReport report;
    // How many iterations it takes nobody knows: each transform is taken for a third of what is left.
    double done = 0;
    const auto part = [&] {
        constexpr double share = 0.3;
        const double begin = done;
        done += share * (1 - done);
        return sht::part_of(options.progress, begin, done);
    };
    const auto scratch =
        sht::scratch_array<T, 3>(op.storage(), analysis_arrays.weighted,
                                 op.has_weights() ? map.extents() : std::array<std::int64_t, 3>{});
    const auto update =
        sht::scratch_array<std::complex<T>, 3>(op.storage(), analysis_arrays.update, alm.extents());
    const std::vector<double> ones(alm.extent(0), 1.0);
    op.quadrature(map, scratch, alm, part());
    if (options.power_by_degree) report.power = op.alms().powers(alm);
    report.last_update = 1;  // from alm that are 0
    if (options.is_enough(report)) return report;
    sht::UnresolvedShare unresolved(op.maps().weighted_squares(map), op.alms().squares(alm));
    double previous = 1;
    while (report.iterations < options.max_iterations) {
        op.project_residual(alm, map, scratch, update, part());
        op.alms().add_scaled(ones, update, alm);
        ++report.iterations;
        const auto of_update = op.alms().squares(update), of_alm = op.alms().squares(alm);
        report.last_update = largest_ratio(of_update, of_alm);
        unresolved.add(of_update, of_alm);
        if (options.power_by_degree) report.power = op.alms().powers(update);
        report.updates_grew = !(report.last_update < previous);
        if (report.updates_grew || options.is_enough(report)) break;  // or rounding is all that is left
        previous = report.last_update;
    }
    constexpr double slowest = 0.3;  // of analyses whose end can be certified
    report.unresolved = unresolved.share(slowest);
    return report;
}

/// One exact quadrature, and of its report what the options ask to be measured.
template <class T>
AnalysisReport integrate(sht::AnalysisOperator<T>& op, View<const T, 3> map, View<std::complex<T>, 3> alm,
                         const AnalysisOptions& options) {
    AnalysisReport report;
    const bool measures = options.tolerance > 0 || options.is_enough;
    op.quadrature(map, {}, alm, sht::part_of(options.progress, 0, measures ? 0.5 : 1));
    if (options.power_by_degree) report.power = op.alms().powers(alm);
    if (!measures) return report;
    const auto left = sht::scratch_array<T, 3>(op.storage(), analysis_arrays.weighted, map.extents());
    op.synthesize(alm, left, sht::part_of(options.progress, 0.5, 1));
    op.maps().subtract_from(map, left);
    report.unresolved = largest_ratio(op.maps().weighted_squares(left), op.maps().weighted_squares(map));
    if (options.tolerance > 0) {
        for (auto& powers : report.power) std::fill(powers.begin(), powers.end(), 0.0);  // of the residual
    } else {
        report.last_update = 1;  // from alm that are 0
        options.is_enough(report);
    }
    return report;
}

/// The analysis where the transforms work: what lies elsewhere is copied there once, and alm back at the end.
template <class T>
AnalysisReport iterate(sht::AnalysisOperator<T>& op, View<const T, 3> map, View<std::complex<T>, 3> alm,
                       const AnalysisOptions& options) {
    // A single transform copies by itself, a map at a time.
    if (options.tolerance == 0 && (options.iterations == 0 || op.integrates_meridians()) &&
        !options.is_enough && !op.has_weights() && !options.power_by_degree) {
        op.quadrature(map, {}, alm, options.progress);
        return {};
    }
    const auto map_there = sht::resident<T>(op.storage(), analysis_arrays.map, map);
    const auto alm_there = sht::resident_target<std::complex<T>>(op.storage(), analysis_arrays.alm, alm);
    AnalysisReport report = op.integrates_meridians() ? integrate<T>(op, map_there, alm_there, options)
                            : options.tolerance > 0
                                ? sht::solve_normal_equations<T>(op, map_there, alm_there, options)
                            : options.is_enough ? iterate_until_enough<T>(op, map_there, alm_there, options)
                                                : iterate_jacobi<T>(op, map_there, alm_there, options);
    if (alm_there.data() != alm.data()) sht::copy_fields<std::complex<T>>(op.storage(), alm_there, alm);
    return report;
}

}  // namespace

void merge(const AnalysisReport& part, AnalysisReport& whole) {
    whole.iterations = std::max(whole.iterations, part.iterations);
    whole.residual = std::max(whole.residual, part.residual);
    whole.reached_tolerance = whole.reached_tolerance && part.reached_tolerance;
    whole.last_update = std::max(whole.last_update, part.last_update);
    whole.updates_grew = whole.updates_grew || part.updates_grew;
    whole.unresolved = std::fmax(whole.unresolved, part.unresolved);  // NaN where neither is known
    whole.power.insert(whole.power.end(), part.power.begin(), part.power.end());
    whole.invertible = whole.invertible && part.invertible;
    whole.exact = whole.exact && part.exact;
    if (whole.note.empty()) whole.note = part.note;
}

std::int64_t exact_lmax(const Grid& grid) {
    return std::min(exact_lmax_of_rings(grid), (sht::fewest_pixels(grid) - 1) / 2);
}

std::int64_t invertible_lmax(const Grid& grid) {
    if (const auto exact = exact_lmax(grid); exact >= 0) return exact;
    // Data grow with lmax up to the number of pixels, unknowns as lmax^2: one interval of lmax fits.
    std::int64_t fits = -1, fails = grid.n_rings();
    while (fails - fits > 1) {
        const auto lmax = (fits + fails) / 2;
        (has_enough_data(grid, AlmLayout(lmax), 0, 1, 1) ? fits : fails) = lmax;
    }
    return fits;
}

template <class T>
AnalysisReport analyze(const ShtPlan& plan, ConstView<T, 3> map, View<std::complex<T>, 3> alm,
                       const AnalysisOptions& options) {
    AnalysisReport report;
    sht::with_kept_workspace(
        plan, [&](ShtWorkspace& workspace) { report = analyze<T>(plan, map, alm, workspace, options); });
    return report;
}

template <class T>
AnalysisReport analyze(const ShtPlan& plan, ConstView<T, 3> map, View<std::complex<T>, 3> alm,
                       ShtWorkspace& workspace, const AnalysisOptions& options) {
    std::optional<sht::AnalysisOperator<T>> op;
    sht::check_together<T>(plan.transform(), "analysis", map.extent(0), [&] {
        check_options(options);
        if (!options.any_degree) check_degrees(plan);
        sht::check_arrays<T>(plan, alm, map);
        op.emplace(plan, options, workspace);
    });
    AnalysisReport report = iterate<T>(*op, map, alm, options);
    report.exact = is_exact(plan) && !op->has_weights();
    return with_lmax_judged(plan, std::move(report));
}

template <class T>
AnalysisReport sht::analyze_copied(const ShtPlan& plan, View<const T, 3> map, View<T, 3> there,
                                   View<std::complex<T>, 3> alm, ShtWorkspace& workspace,
                                   const Progress& progress) {
    check_together<T>(plan.transform(), "analysis", map.extent(0), [&] { check_arrays<T>(plan, alm, map); });
    const auto quadrature = integrates_meridians(plan) ? Quadrature::meridian : Quadrature::ring_weights;
    plan.transform().adjoint(map, there, alm, quadrature, workspace.storage(), progress);
    AnalysisReport report;
    report.exact = is_exact(plan);
    return with_lmax_judged(plan, std::move(report));
}

template <class T>
void adjoint_analysis(const ShtPlan& plan, ConstView<std::complex<T>, 3> alm, View<T, 3> map,
                      ShtWorkspace& workspace, const Progress& progress) {
    const sht::Transform& transform = plan.transform();
    sht::check_together<T>(transform, "adjoint analysis", map.extent(0), [&] {
        check_degrees(plan);
        sht::check_arrays<T>(plan, alm, map);
    });
    if (sht::integrates_meridians(plan))
        return transform.synthesize_integrated(alm, map, workspace.storage(), progress);
    transform.synthesize(alm, {}, map, workspace.storage(), progress);
    std::vector<double> weights;
    weights.reserve(plan.grid().rings().size());
    for (const Ring& ring : plan.grid().rings()) weights.push_back(ring.weight);
    auto& storage = workspace.storage();
    const auto there = sht::resident_target<T>(storage, analysis_arrays.weighted, map);
    if (there.data() != map.data()) sht::copy_fields<T>(storage, map, there);
    sht::make_map_arithmetic<T>(plan.grid(), sht::PixelWeights{&weights}, plan.options().threads, storage,
                                &transform)
        ->weigh(there, there);
    if (there.data() != map.data()) sht::copy_fields<T>(storage, there, map);
}

template <class T>
void adjoint_analysis(const ShtPlan& plan, ConstView<std::complex<T>, 3> alm, View<T, 3> map,
                      const Progress& progress) {
    sht::with_kept_workspace(
        plan, [&](ShtWorkspace& workspace) { adjoint_analysis<T>(plan, alm, map, workspace, progress); });
}

template void adjoint_analysis(const ShtPlan&, View<const std::complex<float>, 3>, View<float, 3>,
                               ShtWorkspace&, const Progress&);
template void adjoint_analysis(const ShtPlan&, View<const std::complex<double>, 3>, View<double, 3>,
                               ShtWorkspace&, const Progress&);
template void adjoint_analysis(const ShtPlan&, View<const std::complex<float>, 3>, View<float, 3>,
                               const Progress&);
template void adjoint_analysis(const ShtPlan&, View<const std::complex<double>, 3>, View<double, 3>,
                               const Progress&);

double bytes_of_analysis(const ShtPlan& plan, std::int64_t n_batch, const AnalysisOptions& options) {
    if (plan.options().device.kind() == Device::Kind::cuda) return 0;
    const bool solves = options.tolerance > 0, iterates = options.iterations > 0 || options.is_enough;
    const bool weighs = !options.ring_weights.empty() || options.pixel_weights.size() > 0;
    // A solver keeps a residual and a step as maps, and gradient, direction and best alm; iterations an
    // update, and a map where there are weights.
    const int maps = solves ? 2 : weighs ? 1 : 0, alms = solves ? 3 : iterates ? 1 : 0;
    const auto bytes = maps * plan.map_components() * plan.grid().n_pixels() * std::int64_t{8} +
                       alms * plan.alm_components() * plan.layout().size() * std::int64_t{16};
    return static_cast<double>(plan.transform().workspace_bytes(n_batch) + n_batch * bytes);
}

template AnalysisReport sht::analyze_copied(const ShtPlan&, View<const float, 3>, View<float, 3>,
                                            View<std::complex<float>, 3>, ShtWorkspace&, const Progress&);
template AnalysisReport sht::analyze_copied(const ShtPlan&, View<const double, 3>, View<double, 3>,
                                            View<std::complex<double>, 3>, ShtWorkspace&, const Progress&);

template AnalysisReport analyze(const ShtPlan&, View<const float, 3>, View<std::complex<float>, 3>,
                                ShtWorkspace&, const AnalysisOptions&);
template AnalysisReport analyze(const ShtPlan&, View<const double, 3>, View<std::complex<double>, 3>,
                                ShtWorkspace&, const AnalysisOptions&);
template AnalysisReport analyze(const ShtPlan&, View<const float, 3>, View<std::complex<float>, 3>,
                                const AnalysisOptions&);
template AnalysisReport analyze(const ShtPlan&, View<const double, 3>, View<std::complex<double>, 3>,
                                const AnalysisOptions&);

}  // namespace zonal
