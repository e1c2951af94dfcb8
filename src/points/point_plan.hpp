#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "points/point_kernels.hpp"
#include "points/sphere_samples.hpp"
#include "zonal/points/plan.hpp"

namespace zonal {

/// Points by tiles, in the caller's order within each.
class PointPlan::Implementation {
  public:
    Implementation(const SphereSamples& samples, View<const double, 1> theta, View<const double, 1> phi);

    points::PlacedPoints placed() const { return {y_theta.data(), y_phi.data(), row.data(), column.data()}; }
    std::int64_t n_tiles() const { return std::ssize(tile_begin) - 1; }
    /// Of all rows and columns that are stored, the first of a tile.
    std::int64_t tile_row(std::int64_t tile) const { return tile / tile_columns * points::Tile::size; }
    std::int64_t tile_column(std::int64_t tile) const { return tile % tile_columns * points::Tile::size; }

    const SphereSamples samples;
    const std::int64_t n_points;
    std::int64_t tile_columns = 0;
    std::vector<std::int64_t> tile_begin;        ///< [tile], and the number of points
    core::AlignedVector<double> y_theta, y_phi;  ///< [sorted point]; see PlacedPoints
    core::AlignedVector<std::int32_t> row, column;
    core::AlignedVector<std::int64_t> caller;  ///< [sorted point] its number in the caller's arrays
    SampleRows rows;
};

}  // namespace zonal
