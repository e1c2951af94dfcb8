#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "zonal/progress.hpp"
#include "zonal/sht.hpp"
#include "zonal/view.hpp"

namespace zonal {

struct AnalysisReport;

/// How to invert the synthesis. Up to exact_lmax(grid), on Gauss-Legendre and equidistant rings, the inverse
/// is known: the answer is exact for band-limited maps, and iterations, tolerance and is_enough only add what
/// the report measures. Elsewhere, as on HEALPix, and with weights of the caller's, the answer with neither
/// is the approximation A f = S^T W f.
struct AnalysisOptions {
    /// Jacobi iterations a += A (f - S a) that follow a = A f, as healpy's iter; 0 to 1000.
    int iterations = 0;
    /// > 0: conjugate gradients on the weighted normal equations S^T W S a = S^T W f instead, until the
    /// residual |S^T W (f - S a)| / |S^T W f| is at most this. iterations must then be 0. Below about 1e-13
    /// (double maps) or 1e-6 (float maps) rounding stops it before, which the report says.
    double tolerance = 0;
    int max_iterations = 200;  ///< of those that end by themselves, 1 or more
    /// Given instead of iterations and a tolerance: Jacobi iterations go on until this says that the alm are
    /// good enough, until rounding ends them, or for max_iterations. It is asked after the first quadrature
    /// and after each iteration, with the report so far; the same on all ranks of a distributed plan.
    std::function<bool(const AnalysisReport&)> is_enough = {};
    /// Multiply the grid's weights: [grid.n_rings()] or empty. For HEALPix: ring_weights_of_grid in
    /// weights.hpp. Not negative.
    std::vector<double> ring_weights = {};
    /// Multiply the grid's weights: [grid.n_pixels()] or empty; the caller keeps the memory. Not negative.
    View<const double, 1> pixel_weights = {};
    bool power_by_degree = false;  ///< fills AnalysisReport::power
    /// Do not refuse degrees above exact_lmax; AnalysisReport::invertible says no then.
    bool any_degree = false;
    Progress progress = {};
};

/// What an analysis did and how well it went.
struct AnalysisReport {
    int iterations = 0;
    /// Whether the alm are an exact inverse's: those of the map if it is band-limited, to rounding.
    bool exact = true;
    /// tolerance > 0: |S^T W (f - S a)| / |S^T W f|, the largest of the batch; else 0. 0 of exact inverses,
    /// which leave nothing of it.
    double residual = 0;
    /// tolerance > 0: whether the residual came down to it. Without a tolerance nothing was to be reached:
    /// true.
    bool reached_tolerance = true;
    /// iterations > 0 or is_enough: |last update| / |a|, the largest of the batch, |a| the norm of a real
    /// field's coefficients with m > 0 counted twice: how far the alm still moved. With is_enough it is 1 if
    /// the quadrature alone was enough, as the alm moved from 0. Otherwise 0.
    double last_update = 0;
    /// iterations > 0: whether an update was larger than the one before it, so that more of them do not help.
    bool updates_grew = false;
    /// tolerance > 0 or is_enough: rms(f - S a) / rms(f), the largest of the batch: the share of the map that
    /// no alm up to lmax make up, 0 below 1e-6 (is_enough: at least this); NaN where it was not measured.
    double unresolved = std::numeric_limits<double>::quiet_NaN();
    /// power_by_degree: sum over m of |x_lm|^2, m > 0 counted twice, [batch * components][lmax + 1]. x is the
    /// residual S^T W (f - S a) if tolerance > 0, and else the last update, or the alm if there was none.
    std::vector<std::vector<double>> power = {};
    /// Whether the grid has enough rings and pixels for lmax. If not, many alm fit the map: the iterations
    /// find one, not the one that the map was made from.
    bool invertible = true;
    /// One sentence for the user where a tolerance was not reached, updates grew or lmax is too high; else
    /// empty.
    std::string note;
};

/// Makes `whole` the report of several analyses, which is that of the worst of them in each respect.
void merge(const AnalysisReport& part, AnalysisReport& whole);

/// The largest lmax up to which analyze is exact, if all orders m <= lmax are asked for: n_rings - 1 on
/// Gauss-Legendre, Fejer, Driscoll-Healy and McEwen-Wiaux rings, n_rings - 2 on Clenshaw-Curtis rings, if
/// they have 2 lmax + 1 pixels each; -1 of other grids, their subsets, and grids of the caller's own rings.
/// Beyond it these grids do not determine the alm, and analyze throws.
std::int64_t exact_lmax(const Grid& grid);

/// The largest lmax for which a grid has as many rings and pixels as there are unknowns (necessary for an
/// inverse, not sufficient: HEALPix gives 3.46 nside, and needs many iterations above 2 nside).
std::int64_t invertible_lmax(const Grid& grid);

/// alm = an inverse of the synthesis, exact up to exact_lmax and else in the least-squares sense. Pixels in
/// no ring of the grid do not count.
///
/// map: [batch, plan.map_components(), grid.n_pixels()], alm: [batch, plan.alm_components(), layout.size()].
/// T: float or double. Scratch memory beside a transform's: none for plain quadrature, one set of alm
/// for iterations, a map more with weights, and with a tolerance two maps and three sets of alm. Throws
/// InvalidArgument, also for an lmax or mmax above what a grid that has an exact_lmax holds, and what
/// `progress` asks for.
template <class T>
AnalysisReport analyze(const ShtPlan& plan, ConstView<T, 3> map, View<std::complex<T>, 3> alm,
                       const AnalysisOptions& options = {});
template <class T>
AnalysisReport analyze(const ShtPlan& plan, ConstView<T, 3> map, View<std::complex<T>, 3> alm,
                       ShtWorkspace& workspace, const AnalysisOptions& options);

/// map = the transpose of analyze without iterations, tolerance and weights: W S, or what stands for W where
/// equidistant rings are analysed exactly. Gradients go back through it. Pixels of the map that are in no
/// ring are left as they are. Throws as analyze does.
template <class T>
void adjoint_analysis(const ShtPlan& plan, ConstView<std::complex<T>, 3> alm, View<T, 3> map,
                      ShtWorkspace& workspace, const Progress& progress = {});
template <class T>
void adjoint_analysis(const ShtPlan& plan, ConstView<std::complex<T>, 3> alm, View<T, 3> map,
                      const Progress& progress = {});

/// The memory of the host that analyze takes beside map and alm, both in double precision, its workspace
/// among it. n_batch: extent of the first axis of both.
double bytes_of_analysis(const ShtPlan& plan, std::int64_t n_batch, const AnalysisOptions& options);

}  // namespace zonal
