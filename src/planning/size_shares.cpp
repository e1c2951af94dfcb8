#include "planning/size_shares.hpp"

#include <algorithm>
#include <cmath>

namespace zonal::split {

std::vector<double> size_shares(std::span<const double> sizes, double n_pixels) {
    std::vector<double> shares(sizes.size());
    if (sizes.empty()) return shares;
    const auto above = std::upper_bound(sizes.begin(), sizes.end(), n_pixels);
    if (above == sizes.begin()) {
        shares.front() = 1;
    } else if (above == sizes.end()) {
        shares.back() = n_pixels / sizes.back();
    } else {
        const auto i = above - sizes.begin();
        const double first = std::sqrt(sizes[i - 1]), last = std::sqrt(sizes[i]);
        shares[i] = (std::sqrt(n_pixels) - first) / (last - first);
        shares[i - 1] = 1 - shares[i];
    }
    return shares;
}

}  // namespace zonal::split
