#pragma once

#include <complex>
#include <cstdint>

/// Inner loops of the ring FFT on the CPU; S: float or double. Modes come in
/// blocks of `mode_block`; a ring's Fourier coefficients of one block are [re, im][mode_block].
namespace zonal::radial {

inline constexpr std::int64_t mode_block = 128;
/// Rows that are transformed at once.
inline constexpr std::int64_t row_pack = 4;

enum class Wave { cosine, sine };

/// Two real rings of n pixels as one sequence z = north + i south, and their modes from first_mode on.
struct RingPhases {
    /// exp(i m phi_0), m < mode_block: re, im; null where phi_0 = 0.
    const double* fine;
    double phi_0;
};

template <class S>
struct RingFftLoops {
    /// tile[j][m] = cos(pi (first_mode + m) (parity + 2 j) / length), first_j <= j < end_j, or the sine;
    /// tile: [end_j][mode_block]
    void (*write_waves)(Wave wave, std::int64_t length, std::int64_t parity, std::int64_t first_mode,
                        std::int64_t first_j, std::int64_t end_j, S* tile);
    /// rows[r][m] = sum_j values[j][r] tile[j][m], m < n_modes or a few more; rows: [row_pack][mode_block]
    void (*transform_rows)(const S* values, std::int64_t n_values, const S* tile, std::int64_t n_modes,
                           S* rows);
    /// sum[c][m] += sum_k rows[k][m] fourier[k][c][m], m < n_modes or a few more.
    void (*add_products)(std::int64_t n_rows, const S* rows, const S* const* fourier, std::int64_t n_modes,
                         S* sum);
    /// From the sequence's backward transform Z (bin m mod n of the forward one is in -m mod n) to the modes
    /// times exp(-i m phi_0) of the rings that are asked for (null: not), n_modes <= mode_block of them, the
    /// rest of the block zero.
    void (*unfold_block)(const std::complex<double>* z, std::int64_t n, std::int64_t first_mode,
                         std::int64_t n_modes, const RingPhases& phases, S* north, S* south);
    /// The transpose: adds the modes times exp(i m phi_0) and their conjugates to bins m and -m mod n.
    void (*fold_block)(const S* north, const S* south, std::int64_t n, std::int64_t first_mode,
                       std::int64_t n_modes, const RingPhases& phases, std::complex<double>* z);
};

/// Those for the machine's widest vectors.
template <class S>
const RingFftLoops<S>& ring_fft_loops();

/// A ring's modes of one block of Q and U, where they are replaced by Q + iU and Q - iU.
template <class S>
void to_circular(S* q, S* u) {
    for (std::int64_t m = 0; m < mode_block; ++m) {
        const S q_re = q[m], q_im = q[mode_block + m], u_re = u[m], u_im = u[mode_block + m];
        q[m] = q_re - u_im, q[mode_block + m] = q_im + u_re;
        u[m] = q_re + u_im, u[mode_block + m] = q_im - u_re;
    }
}
/// The other way round.
template <class S>
void from_circular(S* plus, S* minus) {
    constexpr S half = S(0.5);
    for (std::int64_t m = 0; m < mode_block; ++m) {
        const S p_re = plus[m], p_im = plus[mode_block + m];
        const S m_re = minus[m], m_im = minus[mode_block + m];
        plus[m] = half * (p_re + m_re), plus[mode_block + m] = half * (p_im + m_im);
        minus[m] = half * (p_im - m_im), minus[mode_block + m] = half * (m_re - p_re);
    }
}

/// fine[2 m], fine[2 m + 1] = exp(i m phi_0), m < mode_block
void write_phases(double phi_0, double* fine);

}  // namespace zonal::radial
