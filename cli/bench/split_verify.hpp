#pragma once

#include <vector>

#include "options/split_options.hpp"
#include "plot/graph.hpp"
#include "shell/session.hpp"
#include "zonal/split.hpp"

namespace zonal::cli {

/// What a verification shows.
struct SplitPictures {
    std::vector<plot::Graph> graphs;  ///< the paper's figures 5, 6 and 9
    /// Its figures 7 and 8, and the graphs: rows of plot::arrange. Where --verify-plot asks for it.
    std::vector<std::vector<plot::Image>> rows;
};

/// Convolves white noise on the pixels of --nside with the kernel, whole and split at several l_cut from
/// `first` on, and reports estimated beside actual errors ("verify").
SplitPictures verify_split(const SplitOptions& options, const std::vector<double>& kernel,
                           const KernelSplitter& splitter, std::int64_t first, Session& session);

}  // namespace zonal::cli
