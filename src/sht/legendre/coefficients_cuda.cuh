#pragma once

#include "sht/legendre/legendre_cuda.cuh"

/// Between a_lm and what the Legendre kernels read and write, order by order.
namespace zonal::sht::cuda {

/// Fields' coefficients in the layout of alm, but with degrees up to lmax + spin (LegendreView::row_origin);
/// complex, re, im. For spin 0 the alm themselves.
template <class T>
struct RowPointers {
    const T* row[max_fields];
};

/// steps: [step][layout.stride]: A, B, and from layout.first_field on b re, b im, c re, c im per field, with
///   b_i = alpha_i (eps_{l+1} a_l + eps_{l+2} a_{l+2}), c_i = alpha_i a_{l+1}, l = m + 2i,
/// zero for the fields from n_fields to layout.n_fields.
template <class T>
void write_steps(const LegendreStage& stage, Orders orders, RowPointers<T> rows, int n_fields,
                 StepLayout layout, double* steps, cudaStream_t stream);

/// steps: [step][2] = A, B.
void write_recurrence(const LegendreStage& stage, Orders orders, double* steps, cudaStream_t stream);

/// The transpose of write_steps: rows [n_fields][n_rows], overwritten, from the sums of all tiles
/// (adjoint_ishioka).
void rows_from_sums(const LegendreStage& stage, Orders orders, StepSumsRoom sums, int n_fields, double* rows,
                    cudaStream_t stream);

/// rows: [2][n_rows] of the scalar fields sin^s Q, sin^s U of a spin field, overwritten.
template <class T>
void spin_to_scalar(const LegendreStage& stage, Orders orders, AlmPointers<T> alm, double* rows,
                    cudaStream_t stream);

/// What the adjoint's kernels leave behind; null where they have nothing to do.
struct AdjointSums {
    StepSumsRoom steps;        ///< adjoint_ishioka: of all maps
    const double* polar;       ///< adjoint_jacobi: of all maps
    const double* equatorial;  ///< adjoint_jacobi: of all maps
    int n_maps;
};

/// alm: null where a component is not wanted.
template <class T>
struct AlmTargets {
    T* alm[2];
};

/// a_lm of all maps, where adjoint_ishioka takes passes. recurrence: as there.
template <class T>
void alm_from_passes(const LegendreStage& stage, Orders orders, const double* recurrence,
                     const AdjointSums& sums, const std::vector<AlmTargets<T>>& maps, cudaStream_t stream);

/// a_lm of one of the maps, elsewhere. rows: of its scalars where it is a spin field (rows_from_sums), or
/// null.
template <class T>
void store_alm(const LegendreStage& stage, Orders orders, const AdjointSums& sums, int map,
               const double* rows, AlmTargets<T> alm, cudaStream_t stream);

}  // namespace zonal::sht::cuda
