#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "zonal/memory.hpp"
#include "zonal/sky/sky_map.hpp"

namespace zonal::io {

/// The cells of a multi-order map, pixels of several nside, and the map of one nside that they make.
class MultiOrderCells {
  public:
    /// unique: 4 nside^2 plus the nested pixel number, of each cell. nside: of the map; absent: that of the
    /// finest cell. source: for messages. Throws InvalidArgument for numbers that are no cells, cells that
    /// overlap and an nside that is no power of 2. check_memory: told of the list of pixels and one column.
    MultiOrderCells(const std::vector<std::int64_t>& unique, std::optional<std::int64_t> nside,
                    const std::string& source, const MemoryCheck& check_memory = require_memory);

    HealpixPixels pixelization() const;
    /// The nested pixels that cells reach; empty for all.
    const std::vector<std::int64_t>& pixels() const { return pixels_; }
    /// A column of one value a cell on these pixels: a pixel in a cell has its value; a pixel of several
    /// cells has the mean of those that are not UNSEEN by area.
    std::vector<double> spread(const std::vector<double>& values) const;
    /// Returns the memory that n_columns take while they are spread, with the results.
    double bytes_of_spreading(std::size_t n_columns) const;

  private:
    struct Cell {
        int order;
        std::int64_t pixel;  ///< nested
    };
    std::vector<Cell> cells_;
    int order_ = 0;
    bool is_finer_ = false;      ///< whether a cell is smaller than a pixel of that order
    std::int64_t n_pixels_ = 0;  ///< that cells reach
    std::vector<std::int64_t> pixels_;
};

/// Cells that hold a map without loss.
struct MergedCells {
    std::vector<std::int64_t> unique;  ///< 4 nside^2 plus the nested pixel number; ascending
    std::vector<std::int64_t> places;  ///< of a value of each cell in the map's columns
    int finest_order = 0;
};

/// Four pixels that share a parent become one where they agree in every column, and so on. Pixels that are
/// UNSEEN in every column are in no cell. Throws InvalidArgument unless the map has HEALPix pixels of an
/// nside that is a power of 2, and where no cell is left.
MergedCells merge_cells(const MapFile& map);
/// The memory that merge_cells takes at most, with its result.
double bytes_of_merging(std::int64_t n_pixels);

}  // namespace zonal::io
