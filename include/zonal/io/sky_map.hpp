#pragma once

#include <string>

#include "zonal/io/map.hpp"
#include "zonal/sky/sky_map.hpp"

namespace zonal::io {

/// Reads a map for the transforms: read_map, then SkyMap. header().notes says what was assumed. Throws
/// IoError, which names file and HDU, also for pixels that are NaN or infinite; InvalidArgument for Q without
/// U; OutOfMemory.
SkyMap read_sky_map(const std::string& path, const ReadMapOptions& options = {});

/// Writes a map in the order and precision, and with the pixels, that its header says: write_map. Throws
/// IoError, also for pixels that are NaN or infinite.
void write_sky_map(const std::string& path, const SkyMap& map, const WriteOptions& options = {});

}  // namespace zonal::io
