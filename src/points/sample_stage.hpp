#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/aligned.hpp"
#include "fft/complex_fft.hpp"
#include "points/window.hpp"
#include "sht/legendre/legendre.hpp"
#include "sht/rings/ring_pairs.hpp"
#include "zonal/points/samples.hpp"

/// The stages between F_m of equidistant rings and samples of the torus. Two orders of opposite parity share
/// a transform over a whole circle in theta, and two rows one in phi; vectors hold several of these pairs. A
/// row's F_m lie where its samples will: stages work in place.
namespace zonal::points {

/// Doubles of the longest vector. This many samples behind a row's last copy are copies, too, as
/// interpolation reads whole vectors.
inline constexpr std::int64_t longest_vector = 8;

/// What the stages read: of one lmax, mmax, spin and window.
struct SampleTables {
    /// transforms: the window's.
    SampleTables(const PointOptions& options, const Sampling& sampling, const Window& window,
                 const std::vector<double>& transforms);

    std::int64_t n_blocks() const { return pairs.n_blocks(); }
    /// Orders as whole vectors of pairs store them.
    std::int64_t padded_orders() const { return (mmax + 16) / 16 * 16; }
    /// F_m(-theta) = sign F_m(theta) for even orders, and the opposite for odd ones.
    double sign() const { return spin % 2 == 0 ? 1 : -1; }

    int spin;
    std::int64_t lmax, mmax;
    std::int64_t n_rings;  ///< at theta = (r + 1/2) pi / n_rings
    std::int64_t n;        ///< samples of a circle; a multiple of 8
    std::int64_t border;   ///< copies at each end of a row, and of rows beyond each pole
    std::int64_t stride;   ///< doubles from row to row
    sht::LegendreTable legendre;
    sht::RingPairs pairs;
    fft::MixedRadixTable circle, samples;            ///< of 2 n_rings, and of n
    core::AlignedVector<double> phase_re, phase_im;  ///< [k] exp(-i k pi / 2 n_rings) / (2 n_rings w^(k))
    core::AlignedVector<double> factors;             ///< [m] 1 / 2 w^(m), 0 from mmax + 1 on
    std::shared_ptr<const std::vector<std::int64_t>>
        rows;  ///< of bands of one order, as FourierBand wants them
    std::shared_ptr<const std::vector<sht::FourierBand::Place>> places;
};

/// A field's rows in memory: those from `first` on.
struct SampleView {
    double* data;
    std::int64_t stride;
    SampleRows rows;
    double* row(std::int64_t j) const { return data + (j - rows.first) * stride; }
    /// Of these, the ones that are no copies: 0 <= j <= n / 2.
    SampleRows computed(std::int64_t n) const {
        return {std::max<std::int64_t>(rows.first, 0), std::min(rows.end, n / 2 + 1)};
    }
};

/// Scratch of one thread.
struct SampleScratch {
    sht::LegendreScratch legendre;
    core::AlignedVector<std::complex<double>> alm;
    core::AlignedVector<double> modes;    ///< [order of a group][block][field][fourier_block]
    core::AlignedVector<double> work[2];  ///< vectors of a circle: re, im
};

/// Power of an order's Fourier coefficients, and of what interpolation adds to them in theta.
struct OrderErrors {
    double power = 0, alias = 0;
};
/// Weights of |c_k|^2 / w^(k)^2, k >= 0, in these sums.
struct ErrorWeights {
    core::AlignedVector<double> power, alias;
};

/// Orders that are transformed together in theta, and rows together in phi: twice the lanes of a vector.
std::int64_t group_size();

/// Rows of the field from F_m of the orders first_order + q, q < group_size(). weights: null, or what to find
/// errors with, [group_size()].
void rings_to_rows(const SampleTables& tables, std::int64_t first_order, std::int64_t field,
                   std::int64_t n_fields, const SampleView& out, SampleScratch& scratch,
                   const ErrorWeights* weights, OrderErrors* errors);
/// The transpose, of all blocks.
void rows_to_rings(const SampleTables& tables, std::int64_t first_order, std::int64_t field,
                   std::int64_t n_fields, const SampleView& in, SampleScratch& scratch);

/// Samples of up to group_size() rows from first_row on, the copies at their ends included.
void rows_to_samples(const SampleTables& tables, std::int64_t first_row, std::int64_t n_rows,
                     const SampleView& field, SampleScratch& scratch);
/// The transpose, of samples to which fold_columns and fold_rows have added their copies.
void samples_to_rows(const SampleTables& tables, std::int64_t first_row, std::int64_t n_rows,
                     const SampleView& field, SampleScratch& scratch);

/// Rows beyond the poles: copies of row j < n / 2 or so, which are made of one row at a time.
void copy_beyond_poles(const SampleTables& tables, std::int64_t row, const SampleView& field);
/// The transposes. All columns must be folded before rows.
void fold_columns(const SampleTables& tables, std::int64_t row, const SampleView& field);
void fold_beyond_poles(const SampleTables& tables, std::int64_t row, const SampleView& field);

}  // namespace zonal::points
