#pragma once

#include <algorithm>
#include <vector>

#include "core/aligned.hpp"
#include "radial/ring_fft_geometry.hpp"
#include "radial/ring_fft_kernels.hpp"

/// The kernel rows of one node of the output on the CPU.
namespace zonal::radial {

/// Up to row_pack rows that share their cosines.
struct RowPack {
    std::int64_t length, parity;
    std::int64_t n_values;  ///< of the longest row; the others' end with zeros
    std::int64_t values;    ///< where [n_values][row_pack] start
    std::int64_t n_rows;
    KernelRow rows[row_pack];

    std::int64_t n_modes() const {
        std::int64_t most = 0;
        for (std::int64_t r = 0; r < n_rows; ++r) most = std::max(most, rows[r].n_modes);
        return most;
    }
};

template <class S>
struct NodeRows {
    std::vector<RowPack> packs;
    core::AlignedVector<S> values;

    /// All rows of a node of the output.
    void write(const RingFftGeometry& geometry, std::int64_t node);
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
