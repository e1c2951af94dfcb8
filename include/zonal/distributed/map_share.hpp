#pragma once

#include <cstdint>

#include "zonal/distributed/sky.hpp"
#include "zonal/sky/sky_map.hpp"
#include "zonal/sky/udgrade.hpp"

namespace zonal {

/// A rank's pixels of a full HEALPix sky, and what else the sky's file holds. The columns have the values of
/// these places, in the file's order.
struct MapShare {
    MapFile file;
    PixelPlaces places;
};

/// Collective. Brings a map into another order; each rank gets as many pixels as any other. Throws
/// InvalidArgument for an nside that the order cannot have.
void reorder(const Communicator& ranks, MapShare& map, healpix::Order order);

/// Collective. Changes the nside of a map: udgrade in parts, with its errors.
MapShare udgrade(const Communicator& ranks, MapShare map, std::int64_t nside,
                 const UdgradeOptions& options = {});

}  // namespace zonal
