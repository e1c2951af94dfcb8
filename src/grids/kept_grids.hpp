#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "grids/latitude_nodes.hpp"

/// What is kept between calls of the nodes and rings that take long to make, in as many bytes as
/// set_cache_limit allows.
namespace zonal::grids {

/// A rule, and how many points it has.
using Rule = std::pair<std::vector<Node> (*)(std::int64_t), std::int64_t>;

/// The nodes of a rule. Those of the last one are kept, because their weights take O(n^2), and whoever makes
/// a map of many rings asks for its grid several times: for its lmax, the memory that it takes, and itself.
std::vector<Node> kept_nodes(const Rule& rule);

/// What a factory makes a grid of.
struct GridKey {
    enum class Factory { healpix, gauss_legendre, octahedral, reduced_gauss_legendre };

    Factory factory;
    std::array<std::int64_t, 3> numbers{};
    double phi_0 = 0;
    /// To the last bit: also the sign of a zero angle counts.
    bool operator==(const GridKey& other) const {
        return factory == other.factory && numbers == other.numbers &&
               std::bit_cast<std::int64_t>(phi_0) == std::bit_cast<std::int64_t>(other.phi_0);
    }
};

/// The grid of an earlier call, or what make() returns. The grids of the last calls are kept, because for
/// small maps their rings take as long to make as a transform, and so that all share them: then it takes no
/// time to see that two grids are the same.
Grid kept_grid(const GridKey& key, const std::function<Grid()>& make);

void forget_kept();
std::int64_t bytes_of_kept();
/// From now on keeps this many bytes at most, of both. By default 16 MiB.
void limit_kept(std::int64_t bytes);

}  // namespace zonal::grids
