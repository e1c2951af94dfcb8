#pragma once

#include <vector>

#include "plot/graph.hpp"
#include "session.hpp"
#include "split_options.hpp"
#include "zonal/split.hpp"

namespace zonal::cli {

/// Convolves white noise on the pixels of --nside with the kernel, whole and split at several l_cut from
/// `first` on, and reports estimated beside actual errors ("verify"), as the paper's figures 5, 6 and 9,
/// which are returned as graphs.
std::vector<plot::Graph> verify_split(const SplitOptions& options, const std::vector<double>& kernel,
                                      const KernelSplitter& splitter, std::int64_t first, Session& session);

}  // namespace zonal::cli
