#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "points/point_kernels.hpp"
#include "points/sphere_samples.hpp"
#include "sht/transform_cache.hpp"
#include "zonal/points/plan.hpp"

namespace zonal {

/// Points by tiles, for many fields also by their first samples in each; then in the caller's order.
class PointPlan::Implementation {
  public:
    Implementation(const SphereSamples& made_of, View<const double, 1> theta, View<const double, 1> phi,
                   std::int64_t n_fields);
    ~Implementation() { sht::leave_scratch(std::move(memory_)); }
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;

    std::int64_t n_tiles() const { return std::ssize(tile_begin) - 1; }
    /// Of all rows and columns that are stored, the first of a tile.
    std::int64_t tile_row(std::int64_t tile) const { return tile / tile_columns * points::Tile::size; }
    std::int64_t tile_column(std::int64_t tile) const { return tile % tile_columns * points::Tile::size; }

    points::PointRange range(std::int64_t first, std::int64_t end) const {
        return {placed, first, end, by_samples};
    }

    const SphereSamples samples;
    const std::int64_t n_points;
    const bool by_samples;
    std::int64_t tile_columns = 0;
    std::vector<std::int64_t> tile_begin;         ///< [tile], and the number of points
    const points::PlacedPoint* placed = nullptr;  ///< [point], sorted
    SampleRows rows;
    std::shared_ptr<const points::cuda::SortedPoints> on_cuda;  ///< in place of tiles and points, or null

  private:
    /// Counts the points of each tile, then puts them in their places. Each part of the points counts its
    /// own; with what all parts before it have in a tile, it knows where its own go there. The order is that
    /// of a stable sort whatever the number of parts.
    void sort(View<const double, 1> theta, View<const double, 1> phi);
    void sort_tiles(points::PlacedPoint* sorted, int threads) const;

    core::Scratch memory_;  ///< of the points
};

}  // namespace zonal
