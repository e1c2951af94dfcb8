#include "zonal/analysis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sht/analysis/analysis_operator.hpp"
#include "sht/analysis/field_memory.hpp"
#include "sht/array_checks.hpp"
#include "sht/progress_part.hpp"
#include "sht/transform.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

void check_options(const AnalysisOptions& options) {
    constexpr int most_iterations = 1000;
    if (options.iterations < 0 || options.iterations > most_iterations)
        throw InvalidArgument(
            fmt::format("iterations = {}: must be from 0 to {}", options.iterations, most_iterations));
    if (!(options.tolerance >= 0 && options.tolerance < 1))
        throw InvalidArgument(
            fmt::format("tolerance = {}: must be from 0 (off) to below 1", options.tolerance));
    if (options.tolerance > 0 && options.iterations > 0)
        throw InvalidArgument(
            fmt::format("iterations = {}: must be 0 with a tolerance ({}), see max_iterations",
                        options.iterations, options.tolerance));
    if (options.max_iterations < 1)
        throw InvalidArgument(fmt::format("max_iterations = {}: must be at least 1", options.max_iterations));
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

/// The grid of all ranks.
const Grid& whole_grid(const ShtPlan& plan) {
    const Grid* const whole = plan.transform().whole_grid();
    return whole != nullptr ? *whole : plan.grid();
}

bool is_invertible(const ShtPlan& plan) {
    const AlmLayout layout(plan.options().lmax, plan.options().mmax);
    return has_enough_data(whole_grid(plan), layout, plan.options().spin,
                           static_cast<double>(plan.alm_components()),
                           static_cast<double>(plan.map_components()));
}

/// The report, and whether the grid determines the coefficients at all.
AnalysisReport with_lmax_judged(const ShtPlan& plan, AnalysisReport report) {
    const Grid& grid = whole_grid(plan);
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
        sht::scratch_array<T, 3>(op.storage(), sht::ScratchArray::weighted,
                                 op.has_weights() ? map.extents() : std::array<std::int64_t, 3>{});
    op.quadrature(map, scratch, alm, part(0, 1));
    if (options.iterations == 0) {
        if (options.power_by_degree) report.power = op.alms().powers(alm);
        return report;
    }
    const auto update =
        sht::scratch_array<std::complex<T>, 3>(op.storage(), sht::ScratchArray::update, alm.extents());
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

/// The analysis where the transforms work: what lies elsewhere is copied there once, and alm back at the end.
template <class T>
AnalysisReport iterate(sht::AnalysisOperator<T>& op, View<const T, 3> map, View<std::complex<T>, 3> alm,
                       const AnalysisOptions& options) {
    // A single transform copies by itself, a map at a time.
    if (options.tolerance == 0 && options.iterations == 0 && !op.has_weights() && !options.power_by_degree)
        return iterate_jacobi<T>(op, map, alm, options);
    const auto map_there = sht::resident<T>(op.storage(), sht::ScratchArray::map, map);
    const auto alm_there = sht::resident_target<std::complex<T>>(op.storage(), sht::ScratchArray::alm, alm);
    AnalysisReport report = options.tolerance > 0
                                ? sht::solve_normal_equations<T>(op, map_there, alm_there, options)
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
    whole.power.insert(whole.power.end(), part.power.begin(), part.power.end());
    whole.invertible = whole.invertible && part.invertible;
    if (whole.note.empty()) whole.note = part.note;
}

std::int64_t invertible_lmax(const Grid& grid) {
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
    ShtWorkspace workspace = plan.make_workspace();
    return analyze<T>(plan, map, alm, workspace, options);
}

template <class T>
AnalysisReport analyze(const ShtPlan& plan, ConstView<T, 3> map, View<std::complex<T>, 3> alm,
                       ShtWorkspace& workspace, const AnalysisOptions& options) {
    std::optional<sht::AnalysisOperator<T>> op;
    sht::check_together<T>(plan.transform(), "analysis", map.extent(0), [&] {
        check_options(options);
        sht::check_arrays<T>(plan, alm, map);
        op.emplace(plan, options, workspace);
    });
    return with_lmax_judged(plan, iterate<T>(*op, map, alm, options));
}

template <class T>
AnalysisReport sht::analyze_copied(const ShtPlan& plan, View<const T, 3> map, View<T, 3> there,
                                   View<std::complex<T>, 3> alm, ShtWorkspace& workspace,
                                   const Progress& progress) {
    check_together<T>(plan.transform(), "analysis", map.extent(0), [&] { check_arrays<T>(plan, alm, map); });
    plan.transform().adjoint_copied(map, there, alm, true, workspace.storage(), progress);
    return with_lmax_judged(plan, {});
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
