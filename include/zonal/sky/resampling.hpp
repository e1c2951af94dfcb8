#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/sky/map_analysis.hpp"
#include "zonal/sky/sky_map.hpp"

namespace zonal {

/// A map on other pixels.
struct ResampledMap {
    SkyMap map;
    std::int64_t lmax = 0;
    std::vector<std::string> notes;  ///< of the analyses, for the user
};

/// Brings a map onto other pixels through its alm: nothing is lost of maps whose alm end at lmax. Q and U
/// turn with their axes, as udgrade's do not. A pixel is unseen_value where the nearest pixel of `map` is. A
/// partial sky stays one. options: lmax is by default the lesser of what both grids hold;
/// mmax, mask and remove are not used. Throws InvalidArgument for maps with Q and U where lmax is below 2,
/// and what smooth rejects.
ResampledMap resample(const SkyMap& map, const Pixelization& pixels, const MapAnalysisOptions& options = {});

/// Returns the same map in another order of the same pixels, a partial sky as one. Throws InvalidArgument for
/// other pixels.
SkyMap reorder(SkyMap map, const Pixelization& pixels);

}  // namespace zonal
