#pragma once

#include <algorithm>
#include <complex>
#include <vector>

#include "core/aligned.hpp"
#include "fft/complex_fft.hpp"
#include "radial/ring_fft_geometry.hpp"
#include "radial/ring_fft_kernels.hpp"

/// The kernel rows of one node of the output on the CPU.
namespace zonal::radial {

/// Modes of a row up to the end of a block.
inline std::int64_t padded_modes(std::int64_t n_modes) {
    return (n_modes + mode_block - 1) / mode_block * mode_block;
}

/// Up to row_pack rows that share their cosines, or two that share an FFT.
struct RowPack {
    std::int64_t length, parity;
    bool is_transformed;
    std::int64_t n_values;  ///< of the longest row; the others' end with zeros
    std::int64_t values;    ///< where [n_values][row_pack], or [n_rows][padded_modes(n_modes)], start
    std::int64_t n_rows;
    KernelRow rows[row_pack];

    std::int64_t capacity() const { return is_transformed ? 2 : row_pack; }
    std::int64_t size() const {
        return is_transformed ? n_rows * padded_modes(n_modes()) : n_values * row_pack;
    }
    std::int64_t n_modes() const {
        std::int64_t most = 0;
        for (std::int64_t r = 0; r < n_rows; ++r) most = std::max(most, rows[r].n_modes);
        return most;
    }
};

/// sin^2(pi q / (2 length)) for q = 0, 1, ..., kept for the next row of the same length.
class SineSquares {
  public:
    /// For q <= last.
    const double* at(std::int64_t length, std::int64_t last);

  private:
    std::int64_t length_ = 0;
    std::vector<double> values_;
};

/// Scratch of one thread.
struct RowScratch {
    SineSquares sines;
    fft::ComplexFft transform;
    core::AlignedVector<std::complex<double>> sequence;
    std::vector<double> values;
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

/// Cosines of one block of modes for a few lengths, made when they are asked for.
template <class S>
class CosineTiles {
  public:
    void start(std::int64_t first_mode) {
        first_mode_ = first_mode;
        for (Tile& tile : tiles_) tile.length = 0, tile.n_values = 0;
    }
    /// [n_values][mode_block], see write_cosines
    const S* at(std::int64_t length, std::int64_t parity, std::int64_t n_values);

  private:
    struct Tile {
        std::int64_t length = 0, parity = 0, n_values = 0;
        core::AlignedVector<S> values;
    };
    static constexpr std::size_t n_tiles = 8;

    std::int64_t first_mode_ = 0;
    std::size_t next_ = 0;
    Tile tiles_[n_tiles];
};

}  // namespace zonal::radial
