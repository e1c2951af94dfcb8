#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "fft/complex_fft.hpp"
#include "radial/ring_fft/geometry.hpp"

/// The kernel rows of one node of the output on the CPU.
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

/// Modes of a row up to the end of a block.
inline std::int64_t padded_modes(std::int64_t n_modes) {
    return (n_modes + mode_block - 1) / mode_block * mode_block;
}

/// Up to row_pack rows that share their cosines, or rows that share an FFT: two real ones, or one of Q and U.
struct RowPack {
    std::int64_t length, parity;
    bool is_transformed;
    int n_signs;            ///< 1, or 2 of Q and U
    std::int64_t n_values;  ///< of the longest row; the others' end with zeros
    /// Where they start: [even, odd][n_values][row_pack] or, transformed, [row][m,
    /// -m][padded_modes(n_modes)].
    std::int64_t values;
    std::int64_t n_rows;
    KernelRow rows[row_pack];

    std::int64_t capacity() const { return is_transformed ? 2 / n_signs : row_pack; }
    std::int64_t size() const {
        return n_signs * (is_transformed ? n_rows * padded_modes(n_modes()) : n_values * row_pack);
    }
    std::int64_t n_modes() const {
        std::int64_t most = 0;
        for (std::int64_t r = 0; r < n_rows; ++r) most = std::max(most, rows[r].n_modes);
        return most;
    }
};

/// Sine, its square and cosine of x/2 at x = pi q / length for q = 0, 1, ..., kept for the next row of the
/// same length; sines and cosines where Q and U need them.
class HalfAngles {
  public:
    /// For q <= last.
    void prepare(std::int64_t length, std::int64_t last, bool is_polarized);

    std::vector<double> sine_squares, sines, cosines;

  private:
    std::int64_t length_ = 0;
};

/// Scratch of one thread.
struct RowScratch {
    HalfAngles angles;
    fft::ComplexFft transform;
    core::AlignedVector<std::complex<double>> sequence;
    std::vector<double> even, odd;
};

template <class S>
class NodeRows {
  public:
    std::vector<RowPack> packs;
    core::AlignedVector<S> values;

    /// All rows of a node of the output.
    void write(const RingFftGeometry& geometry, std::int64_t node, RowScratch& scratch);

  private:
    void write_transformed(const RingFftGeometry& geometry, const RowPack& pack, RowScratch& scratch);
};

/// Cosines and sines of one block of modes for a few lengths, made when they are asked for.
template <class S>
class WaveTiles {
  public:
    void start(std::int64_t first_mode) {
        first_mode_ = first_mode;
        for (Tile& tile : tiles_) tile.length = 0, tile.n_values = 0;
    }
    /// [n_values][mode_block], see write_waves
    const S* at(Wave wave, std::int64_t length, std::int64_t parity, std::int64_t n_values);

  private:
    struct Tile {
        Wave wave = Wave::cosine;
        std::int64_t length = 0, parity = 0, n_values = 0;
        core::AlignedVector<S> values;
    };
    static constexpr std::size_t n_tiles = 16;

    std::int64_t first_mode_ = 0;
    std::size_t next_ = 0;
    Tile tiles_[n_tiles];
};

/// Rows of one block of modes, transformed, that are yet to be applied.
template <class S>
class BlockRows {
  public:
    /// n_signs: 1, or 2 of Q and U.
    explicit BlockRows(int n_signs);

    void start(std::int64_t first_mode);
    /// Adds the pack's rows, those that reach this block; values: the pack's.
    void add(const RowPack& pack, const S* values);
    bool is_full() const { return static_cast<std::int64_t>(kept_.size()) + row_pack > most_rows; }
    void clear() { kept_.clear(); }

    const std::vector<const KernelRow*>& kept() const { return kept_; }
    /// [kept][mode_block] of m (sign 0) or of -m (sign 1).
    const S* values(int sign) const { return rows_[sign].data(); }

    static constexpr std::int64_t most_rows = 64;

  private:
    void transform(const RowPack& pack, const S* values, std::int64_t n_modes, S* const* rows);

    std::int64_t first_mode_ = 0;
    WaveTiles<S> tiles_;
    core::AlignedVector<S> rows_[2];
    std::vector<const KernelRow*> kept_;
};

}  // namespace zonal::radial
