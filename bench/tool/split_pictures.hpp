#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plot/graph.hpp"
#include "plot/plot.hpp"

namespace zonal::cli {

/// HEALPix maps of one convolution, [12 nside^2] each.
struct SplitMaps {
    std::int64_t nside;
    std::span<const double> whole;    ///< by the whole kernel
    std::span<const double> window;   ///< by the part in harmonic space
    std::span<const double> profile;  ///< by the part in pixel space
};

/// The paper's figure 7, the convolved map and what both parts leave of it, and its figure 8, a patch of 175
/// pixels (5 degrees at nside 2048) of the map, of what the harmonic part leaves and of the profile's part,
/// in two rows of one width.
std::vector<std::vector<plot::Image>> draw_split_maps(const SplitMaps& maps);

/// A row of graphs as wide as those.
std::vector<plot::Image> draw_graph_row(const std::vector<plot::Graph>& graphs);

}  // namespace zonal::cli
