#pragma once

#include <mutex>
#include <vector>

#include "core/cuda.cuh"
#include "points/cuda/points_cuda.hpp"
#include "points/point_kernels.hpp"
#include "points/sphere_samples.hpp"

namespace zonal::points::cuda {

/// Squares of samples by which points are sorted; a tile, whose points are interpolated together, is 4 x 4 of
/// them.
struct Bin {
    static constexpr int size = 8, of_tile = 4;
    static_assert(size * of_tile == Tile::size);
    /// Adjacent bins that a warp spreads together: two where its 32 lanes cover the columns that windows of
    /// this width reach, else one.
    static constexpr int together(std::int64_t width) { return 2 * size + width - 1 <= 32 ? 2 : 1; }
};

/// The sorted points [begin, end), in a rectangle of samples that begins at this row and column, of all that
/// are stored.
struct PointTask {
    std::int32_t row, column;
    std::uint32_t begin, end;
};

/// Parts of crowded bins, whose sums follow one another, and are added up in order.
struct CrowdedBin {
    std::int32_t row, column;
    std::int32_t first_part, n_parts;
};

/// Tasks that may run at the same time, because no two reach the same sample.
struct SpreadColour {
    std::int64_t first_task, n_tasks, first_crowded, n_crowded;
};

/// What spreading does, in order: parts of crowded bins, and then colour by colour.
struct SpreadTasks {
    core::DeviceArray<PointTask> parts, tasks;
    core::DeviceArray<CrowdedBin> crowded;
    std::vector<SpreadColour> colours;
};

/// The points by tiles, in these by bins, and in the caller's order within each.
class SortedPoints {
  public:
    SortedPoints(const SphereSamples::Implementation& made_for, View<const double, 1> theta,
                 View<const double, 1> phi);

    /// Made when they are first asked for.
    const SpreadTasks& spread_tasks() const;

    const SphereSamples::Implementation& plan;
    const int device;
    const std::int64_t n_points;
    SampleRows rows;
    core::DeviceArray<PlacedPoint> placed;
    core::DeviceArray<PointTask> tiles;

  private:
    void sort(View<const double, 1> theta, View<const double, 1> phi);
    void make_tiles();

    const std::int64_t border_, tile_rows_, tile_columns_;
    std::vector<std::uint32_t> bin_begin_;  ///< [bin], and the number of points
    mutable std::once_flag spread_once_;
    mutable SpreadTasks spread_;
};

}  // namespace zonal::points::cuda
