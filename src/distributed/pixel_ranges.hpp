#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "zonal/distributed/plan.hpp"

namespace zonal::distributed {

/// Collective. [rank], the ranges of pixels that each rank has.
inline std::vector<std::vector<PixelRange>> gather_ranges(const Communicator& ranks,
                                                          std::span<const PixelRange> mine) {
    std::string bytes(mine.size_bytes(), '\0');
    if (!bytes.empty()) std::memcpy(bytes.data(), mine.data(), bytes.size());
    std::vector<std::vector<PixelRange>> all;
    for (const auto& one : ranks.gather(bytes)) {
        auto& ranges = all.emplace_back(one.size() / sizeof(PixelRange));
        if (!ranges.empty()) std::memcpy(ranges.data(), one.data(), one.size());
    }
    return all;
}

}  // namespace zonal::distributed
