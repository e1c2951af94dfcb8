#pragma once

#include <algorithm>
#include <complex>
#include <vector>

#include "core/aligned.hpp"
#include "fft/complex_fft.hpp"
#include "radial/ring_fft/geometry.hpp"
#include "radial/ring_fft/kernels.hpp"

/// The kernel rows of one node of the output on the CPU.
namespace zonal::radial {

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
