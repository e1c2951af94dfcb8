#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/split_options.hpp"
#include "shell/session.hpp"
#include "tool/split_pictures.hpp"
#include "zonal/split.hpp"

namespace zonal::cli {

/// How a split is verified.
struct VerifyOptions {
    std::int64_t nside = 0, seed = 1;  ///< grid and random numbers of the noise
    bool single = false;               ///< sums over pixels in float
    std::string plot;                  ///< file of the pictures; empty: none
};

/// What a verification shows.
struct SplitPictures {
    std::vector<Graph> graphs;  ///< the paper's figures 5, 6 and 9
    SplitMaps maps;             ///< of its figures 7 and 8, where options.plot asks for them
};

/// Convolves white noise on HEALPix pixels with the kernel, whole and split at several l_cut from `first` on,
/// and reports estimated beside actual errors ("verify").
SplitPictures verify_split(const VerifyOptions& options, const SplitOptions& split,
                           const std::vector<double>& kernel, const KernelSplitter& splitter,
                           std::int64_t first, Session& session);

}  // namespace zonal::cli
