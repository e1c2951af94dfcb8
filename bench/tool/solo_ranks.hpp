#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "zonal/distributed/plan.hpp"

namespace zonal::bench {

/// The ranks of a job that are measured where each is alone on a machine: the first, the middle and the last,
/// and those with the most of either stage.
inline std::set<int> solo_ranks(const std::vector<RankShare>& shares) {
    const auto most = [&](double RankShare::*work) {
        const auto found =
            std::max_element(shares.begin(), shares.end(),
                             [&](const RankShare& a, const RankShare& b) { return a.*work < b.*work; });
        return static_cast<int>(found - shares.begin());
    };
    const int n = static_cast<int>(shares.size());
    return {0, n / 2, n - 1, most(&RankShare::legendre_flops), most(&RankShare::ring_flops)};
}

}  // namespace zonal::bench
