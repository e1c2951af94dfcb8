#pragma once

#include <cstdint>

#include "core/aligned.hpp"

namespace zonal::sht {

/// Vectors are at most this long, so rows are padded to multiples of it, twice for kernels that take two at
/// once.
inline constexpr std::int64_t rotation_padding = 16;

/// What the rotation of one degree l about the y axis by beta in (0, pi/2] needs, for all its orders. Reused
/// for the degrees that a thread works on.
///
/// Per column m = 0 .. l, padded with zeros: P = d^l_{m' m}(beta) and N = (-1)^m d^l_{m',-m}(beta) at m' = l,
/// each as value * 2^(-800 scale), scale = 0 wherever it is above 2^-400. Per row m' = 0 .. l, the
/// coefficients of the recurrence to m' - 1:
///   P_{m'-1} = (slope (m - m') + offset_p) P_{m'} - second P_{m'+1},  N_{m'-1} = (-slope m + offset_n)
///   N_{m'} - ...
struct WignerDegree {
    explicit WignerDegree(std::int64_t lmax, double beta);

    /// Fills everything for this degree.
    void prepare(std::int64_t degree);

    std::int64_t l = 0;
    core::AlignedVector<double> start_p, scale_p, start_n, scale_n;  ///< [column]
    core::AlignedVector<double> slope, offset_p, offset_n, second;   ///< [row]

  private:
    void fill_rows();
    void fill_start();

    // In long double: a rounding of beta's functions that is the same in all steps would add up to l times
    // itself.
    long double cos_beta_, one_minus_cos_beta_, sin_beta_, tan_half_beta_;
    core::AlignedVector<long double> magnitude_;  ///< [l + m], of d^l_{l m}
    core::AlignedVector<double> magnitude_scale_;
};

/// Coefficients of one degree and n components, each array [component][padded order]; order 0 is real.
///
/// column_re, column_im: a_m, order 0 halved, zero beyond l. row_re, row_im: (-1)^m a_m.
/// row_sums: [order][component][re, im][vector lanes], zeroed before. column_sums_re, column_sums_im:
/// overwritten. The rotated coefficient of order m is the sum of the lanes of row_sums[m] plus (-1)^m
/// column_sums[m].
struct RotationRows {
    std::int64_t n_components;
    std::int64_t stride;  ///< of the components
    const double* column_re;
    const double* column_im;
    const double* row_re;
    const double* row_im;
    double* row_sums;
    double* column_sums_re;
    double* column_sums_im;
};

/// Doubles in a vector of the machine: the lanes of row_sums.
std::int64_t rotation_lanes();

/// Rotates degree wigner.l. n_components: 1 to 3.
void rotate_degree(const WignerDegree& wigner, const RotationRows& rows);

}  // namespace zonal::sht
