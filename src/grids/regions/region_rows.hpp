#pragma once

#include <cstdint>

#include "grids/regions/half_widths.hpp"
#include "zonal/grids/healpix_regions.hpp"

/// Regions row by row, in ring order. Rows count from 1 to 4 nside - 1.
namespace zonal::healpix {

struct Rows {
    std::int64_t first;
    std::int64_t last;
};

/// Row of a colatitude as a real number: 0 and 4 nside at the poles.
double row_of_theta(std::int64_t nside, double theta);

/// The rows that a disc reaches, and one more at each end against rounding.
Rows rows_of_disc(std::int64_t nside, const Disc& disc);

/// Adds a range that is not before the others, to the last where they touch.
void append(Ranges& ranges, const Range& range);

/// Adds pixels k = west to east of a row, counted around the sphere as often as that takes.
void append_row(Ranges& ranges, std::int64_t nside, std::int64_t row, std::int64_t west, std::int64_t east);

/// The pixels whose centres lie in a disc, in some of its rows.
Ranges disc_centres(std::int64_t nside, const Disc& disc, const Rows& rows);

/// At least the pixels that overlap a disc, in some of its rows.
Ranges disc_overlaps(std::int64_t nside, const Disc& disc, const Rows& rows, std::int64_t fact);

/// Writes the numbers of all pixels, one after the other.
void list_contiguous(const Ranges& ranges, std::int64_t* pixels);

/// What two sets of ranges have in common.
Ranges intersection(const Ranges& a, const Ranges& b);

/// The same pixels by their numbers in nest order. nside: a power of 2.
Ranges to_nest(std::int64_t nside, const Ranges& ring_ranges);

/// @name What every query does
/// @{
void check_options(std::int64_t nside, const QueryOptions& options);
/// The rows whose pixels can be in a disc, in the sense of the options.
Rows rows_to_query(std::int64_t nside, const Disc& disc, const QueryOptions& options);
/// A disc's pixels in some of its rows.
Ranges ring_ranges(std::int64_t nside, const Disc& disc, const Rows& rows, const QueryOptions& options);
Ranges in_order(std::int64_t nside, const Ranges& ring_ranges, Order order);
/// @}

}  // namespace zonal::healpix
