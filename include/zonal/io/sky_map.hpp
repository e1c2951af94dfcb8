#pragma once

#include <string>
#include <vector>

#include "zonal/io/map.hpp"
#include "zonal/sky/sky_map.hpp"
#include "zonal/view.hpp"

namespace zonal::io {

/// Reads a map for the transforms: read_map, then SkyMap. header().notes says what was assumed. Throws
/// IoError, which names file and HDU, also for pixels that are NaN or infinite; InvalidArgument for Q without
/// U; OutOfMemory.
SkyMap read_sky_map(const std::string& path, const ReadMapOptions& options = {});

/// Reads the mask of a map: a column of a file, [pixel] in ring order, from 0 (masked) to 1; UNSEEN counts as
/// 0. field: the column's name, or its number from 0. notes: gets those of reading. It reads only
/// the pixels that the map has memory for, where the file allows. Throws IoError, also for pixels or
/// coordinates other than the map's, values outside 0 to 1, and a column that is 0 in all pixels of the map.
Array<double, 1> read_mask(const std::string& path, const SkyMap& map, std::vector<std::string>& notes,
                           const std::string& field = "0");

/// Writes a map in the order and precision, and with the pixels, that its header says: write_map. Throws
/// IoError, also for pixels that are NaN or infinite.
void write_sky_map(const std::string& path, const SkyMap& map, const WriteOptions& options = {});
/// The memory that this takes beside a map where its header says multi_order: all others are written in
/// pieces.
double bytes_of_multi_order(const SkyMap& map);

}  // namespace zonal::io
