#pragma once

#include <complex>
#include <cstdint>

/// Inner loops of the ring FFT on the CPU (SIMD, chosen at run time); S: float or double. Modes come in
/// blocks of `mode_block`; a ring's Fourier coefficients of one block are [re, im][mode_block].
namespace zonal::radial {

inline constexpr std::int64_t mode_block = 128;
/// Rows that are transformed at once.
inline constexpr std::int64_t row_pack = 4;

/// tile[j][m] = cos(pi (first_mode + m) (parity + 2 j) / length), first_j <= j < end_j; tile:
/// [end_j][mode_block]
template <class S>
void write_cosines(std::int64_t length, std::int64_t parity, std::int64_t first_mode, std::int64_t first_j,
                   std::int64_t end_j, S* tile);

/// rows[r][m] = sum_j values[j][r] tile[j][m], m < n_modes or a few more; rows: [row_pack][mode_block]
template <class S>
void transform_rows(const S* values, std::int64_t n_values, const S* tile, std::int64_t n_modes, S* rows);

/// sum[c][m] += sum_k rows[k][m] fourier[k][c][m], m < n_modes or a few more.
template <class S>
void add_products(std::int64_t n_rows, const S* rows, const S* const* fourier, std::int64_t n_modes, S* sum);

/// Two real rings of n pixels as one sequence z = north + i south, and their modes from first_mode on.
struct RingPhases {
    /// exp(i m phi_0), m < mode_block: re, im; null where phi_0 = 0.
    const double* fine;
    double phi_0;
};

/// From the sequence's backward transform Z (bin m mod n of the forward one is in -m mod n) to the modes
/// times exp(-i m phi_0) of the rings that are asked for (null: not), n_modes <= mode_block of them, the rest
/// of the block zero.
template <class S>
void unfold_block(const std::complex<double>* z, std::int64_t n, std::int64_t first_mode,
                  std::int64_t n_modes, const RingPhases& phases, S* north, S* south);

/// The transpose: adds the modes times exp(i m phi_0) and their conjugates to bins m and -m mod n.
template <class S>
void fold_block(const S* north, const S* south, std::int64_t n, std::int64_t first_mode, std::int64_t n_modes,
                const RingPhases& phases, std::complex<double>* z);

/// fine[2 m], fine[2 m + 1] = exp(i m phi_0), m < mode_block
void write_phases(double phi_0, double* fine);

}  // namespace zonal::radial
