#pragma once

#include <cstdint>

#include "zonal/sky/sky_map.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// What pixels become when they are put together.
enum class Combine {
    mean,  ///< the mean of the good ones; on a finer grid a pixel is repeated
    sum    ///< their sum, for counts; on a finer grid a pixel is shared equally
};

/// How udgrade changes a map.
struct UdgradeOptions {
    Combine combine = Combine::mean;
    /// true: a pixel is unseen_value when any pixel in it is; false: only when all are.
    bool pessimistic = false;
};

/// Changes the nside of one field. map: [12 nside_in^2], result: [12 nside_out^2], both in ring order, both
/// nside a power of 2. Throws InvalidArgument for other sizes.
void udgrade(View<const double, 1> map, View<double, 1> result, const UdgradeOptions& options = {});

/// Does the same for runs of pixels in nest order that begin and end with a pixel of the coarser map: result
/// has the pixels of `map`. The longer must be a multiple of the shorter.
void udgrade_nest(View<const double, 1> map, View<double, 1> result, const UdgradeOptions& options = {});

/// Throws InvalidArgument for what udgrade cannot take: maps that are not HEALPix of an nside that is a power
/// of 2, and columns of errors.
void require_udgradable(const MapFile& header);

/// Changes the nside of a map, in the same order. Q and U are combined as they stand, without parallel
/// transport between pixels; smoothing onto another nside has no such error. Columns of hits are always
/// summed. Throws InvalidArgument for maps that are not HEALPix, an nside that is no power of 2, and columns
/// of errors or covariances, which do not combine like fields.
SkyMap udgrade(const SkyMap& map, std::int64_t nside, const UdgradeOptions& options = {});
/// The memory that it takes beside the map, its result among it. map: one that can be changed so.
double bytes_of_udgrade(const SkyMap& map, std::int64_t nside);

}  // namespace zonal
