#pragma once

#include "sht/analysis/analysis_operator.hpp"

namespace zonal::sht {

/// Solves S^T W S a = S^T W f for each element of a batch by conjugate gradients, in the form that carries
/// the map's residual f - S a along (CGLS: Hestenes and Stiefel 1952, section 10; Bjoerck 1996,
/// algorithm 7.4.1), which loses less to rounding than forming S^T W S. Fills iterations, residual, converged
/// and note of the report.
template <class T>
AnalysisReport solve_normal_equations(AnalysisOperator<T>& op, View<const T, 3> map,
                                      View<std::complex<T>, 3> alm, const AnalysisOptions& options);

}  // namespace zonal::sht
