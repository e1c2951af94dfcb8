#pragma once

#include <complex>
#include <memory>

#include "sht/analysis/field_arithmetic.hpp"
#include "zonal/analysis.hpp"

namespace zonal::sht {

/// What the iterative analyses are built from: the transforms of a plan, with the weights of AnalysisOptions
/// in the quadrature, and the arithmetic of coefficients and maps. Maps: [batch, component, pixel], alm:
/// [batch, component, coefficient], all where the workspace's transforms work.
template <class T>
class AnalysisOperator {
  public:
    using Map = View<T, 3>;
    using ConstMap = View<const T, 3>;
    using Alm = View<std::complex<T>, 3>;
    using ConstAlm = View<const std::complex<T>, 3>;

    /// Throws InvalidArgument for weights of wrong length or sign. Keeps references.
    AnalysisOperator(const ShtPlan& plan, const AnalysisOptions& options, ShtWorkspace& workspace);

    /// Whether the options add weights to those of the grid.
    bool has_weights() const { return weights_.any(); }
    /// Whether quadrature is an exact inverse by the rule over theta, which iterations cannot improve.
    bool integrates_meridians() const { return integrates_meridians_; }

    void synthesize(ConstAlm alm, Map map, const Progress& progress) {
        plan_.synthesize<T>(alm, map, workspace_, progress);
    }
    /// alm = S^T W map, or exact. scratch: like map, overwritten if has_weights(); may be map itself.
    void quadrature(ConstMap map, Map scratch, Alm alm, const Progress& progress);

    /// update = S^T W (map - S alm). scratch: like map, overwritten if has_weights().
    void project_residual(ConstAlm alm, ConstMap map, Map scratch, Alm update, const Progress& progress);

    MapArithmetic<T>& maps() { return *maps_; }
    AlmArithmetic<T>& alms() { return *alms_; }
    ShtWorkspace::Storage& storage() { return workspace_.storage(); }

  private:
    const ShtPlan& plan_;
    ShtWorkspace& workspace_;
    const PixelWeights weights_;
    const bool integrates_meridians_;
    std::unique_ptr<MapArithmetic<T>> maps_;
    std::unique_ptr<AlmArithmetic<T>> alms_;
};

/// The grid of all ranks.
const Grid& whole_grid(const ShtPlan& plan);

/// Whether the rings' weights are not exact at the plan's degrees, but the rule over theta is.
bool integrates_meridians(const ShtPlan& plan);

/// As analyze without iterations or weights, of maps in memory where the transforms do not work, of which
/// `there`, where they do, becomes a copy. alm: where they work.
template <class T>
AnalysisReport analyze_copied(const ShtPlan& plan, View<const T, 3> map, View<T, 3> there,
                              View<std::complex<T>, 3> alm, ShtWorkspace& workspace,
                              const Progress& progress);

/// Solves S^T W S a = S^T W f for each element of a batch by conjugate gradients, in the form that carries
/// the map's residual f - S a along (CGLS: Hestenes and Stiefel 1952, section 10; Bjoerck 1996,
/// algorithm 7.4.1), which loses less to rounding than forming S^T W S. Fills iterations, residual, converged
/// and note of the report.
template <class T>
AnalysisReport solve_normal_equations(AnalysisOperator<T>& op, View<const T, 3> map,
                                      View<std::complex<T>, 3> alm, const AnalysisOptions& options);

}  // namespace zonal::sht
