#pragma once

#include <cstdint>
#include <vector>

#include "engine/picture.hpp"

namespace zonal::cli {

/// HEALPix maps of one convolution, [12 nside^2] each.
struct SplitMaps {
    std::int64_t nside = 0;
    std::vector<double> whole;    ///< by the whole kernel
    std::vector<double> window;   ///< by the part in harmonic space
    std::vector<double> profile;  ///< by the part in pixel space
};

/// Draws the paper's figure 7, the convolved map and what both parts leave of it, its figure 8, a patch of
/// 175 pixels (5 degrees at nside 2048) of the map, of what the harmonic part leaves and of the profile's
/// part, and graphs, in three rows.
void draw_split(const std::string& path, const SplitMaps& maps, const std::vector<Graph>& graphs,
                const OutputOptions& output, Session& session);

}  // namespace zonal::cli
