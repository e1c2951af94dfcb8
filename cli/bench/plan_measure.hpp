#pragma once

#include <cstdint>
#include <vector>

#include "shell/session.hpp"
#include "zonal/planning/planner.hpp"

namespace zonal::cli {

/// Convolves random maps of the request's spectrum by every way that may be taken, and adds to the report's
/// "choices" what they took and were wrong by beside what was predicted, and under "measured" how much longer
/// the first of them took than the fastest, and its error and the largest over the one that was asked for.
/// Ways that are predicted to take more than a second and 20 times as long as the fastest are left out
/// ("not_measured").
///
/// choices: the first may be taken. seed: of the maps (make_sample). Throws IoError where the memory is too
/// small.
void measure_choices(const ConvolutionRequest& request, const std::vector<ConvolutionChoice>& choices,
                     std::int64_t seed, Session& session);

}  // namespace zonal::cli
