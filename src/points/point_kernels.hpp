#pragma once

#include <cstdint>

#include "core/aligned.hpp"
#include "points/sample_stage.hpp"
#include "points/window.hpp"

/// Sums over the samples around points, for every instruction set.
namespace zonal::points {

/// A point as the sums take it.
struct PlacedPoint {
    double y_theta, y_phi;     ///< where in its cell it lies (WindowPolynomials)
    std::int32_t row, column;  ///< the first of the W samples in either direction, of all that are stored
    std::int64_t caller;       ///< its number in the caller's arrays
};
static_assert(sizeof(PlacedPoint) == 4 * sizeof(double));
/// Points whose weights are made together: kernels may read up to this many points behind the last.
inline constexpr std::int64_t points_at_once = 16;

/// Points [first, end). by_samples: many of the same samples follow each other, which are loaded or stored
/// once for them.
struct PointRange {
    const PlacedPoint* placed;
    std::int64_t first, end;
    bool by_samples;
};

/// Squares of samples whose points are summed together. Their W - 1 neighbours to the right and below belong
/// to other tiles, too.
struct Tile {
    static constexpr std::int64_t log2_size = 5, size = std::int64_t{1} << log2_size;
    static_assert(size >= max_width);
    /// Rows and columns that a tile's points reach, in whole vectors.
    static constexpr std::int64_t rows = size + max_width - 1, columns = size + max_width + longest_vector;
    static constexpr std::int64_t doubles = rows * columns;
};

/// Where points lie among the n samples of a circle at 2 pi j / n, of which `border` are stored before the
/// first: the first of the `width` samples around each, and y. x in radians: x / (2 pi) and its product with
/// n are taken in two doubles each, so that y is right to 1e-15 whatever n. wraps: whole turns drop out.
/// Returns whether all x are numbers from least to most; if not, the places are of no use.
struct PlaceRule {
    std::int64_t n, width, border;
    bool wraps;
    double least, most;
};
bool find_places(const PlaceRule& rule, const double* x, std::int64_t count, std::int32_t* first, double* y);

/// Fields of samples, for kernels: of each, the first stored sample of the first row that is there, whose
/// number among all rows is first_row.
struct SampleFields {
    const double* const* data;  ///< [n_fields]
    std::int64_t first_row, stride, n_fields;
};

/// values: [field][stride], of the points: sums of samples times weights. slopes: whether derivatives, per
/// sample, are to follow in the same way, d/dtheta and then d/dphi of all fields.
void interpolate_points(const WindowPolynomials& polynomials, const SampleFields& samples,
                        const PointRange& points, bool slopes, double* values, std::int64_t stride);

/// Fields whose values make up one number: those from the last one's end on, numbered as samples have them.
struct FieldGroups {
    const std::int64_t* ends;  ///< [n]
    std::int64_t n;
};

/// sums: [group][stride] = sum over a group's fields of their values, as interpolate_points has them, times
/// factors: [field][stride].
void combine_points(const WindowPolynomials& polynomials, const SampleFields& samples,
                    const FieldGroups& groups, const PointRange& points, const double* factors, double* sums,
                    std::int64_t stride);

/// Adds the weighted values of points, which lie in the tile whose first sample is in this row and column, to
/// its sums: [field][Tile::rows][Tile::columns]. values: [field][stride].
void spread_points(const WindowPolynomials& polynomials, const PointRange& points, std::int64_t row,
                   std::int64_t column, const double* values, std::int64_t stride, std::int64_t n_fields,
                   double* sums);

}  // namespace zonal::points
