#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/points/samples.hpp"

/// Maps of one spin, several of which share the recurrences of a pass.
namespace zonal::points {

/// Calls work(first map, maps) for what is transformed at once. Where a GPU has no memory for several maps,
/// they go one by one. components: of a map.
template <class Work>
void for_map_passes(std::int64_t components, std::int64_t n_maps, const Work& work) {
    // More fields share the recurrences for little more, but a thread's Fourier coefficients leave its cache.
    constexpr std::int64_t most_fields = 4;
    std::int64_t most = most_fields / components;
    for (std::int64_t first = 0; first < n_maps;) {
        const std::int64_t maps = std::min(most, n_maps - first);
        try {
            work(first, maps);
            first += maps;
        } catch (const OutOfDeviceMemory&) {
            if (maps == 1) throw;
            most = 1;
        }
    }
}

/// The largest share of a map's rms that its errors are, those of all its components together; 0 where the
/// maps are. errors: [map * component].
inline double largest_share(const std::vector<PointErrors>& errors, std::int64_t components) {
    double largest = 0;
    for (std::size_t first = 0; first < errors.size(); first += static_cast<std::size_t>(components)) {
        double error = 0, power = 0;
        for (std::size_t f = first; f < first + static_cast<std::size_t>(components); ++f) {
            error += errors[f].rms_error * errors[f].rms_error;
            power += errors[f].rms * errors[f].rms;
        }
        if (power > 0) largest = std::max(largest, std::sqrt(error / power));
    }
    return largest;
}

}  // namespace zonal::points
