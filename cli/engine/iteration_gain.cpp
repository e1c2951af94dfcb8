#include "engine/iteration_gain.hpp"

#include <algorithm>
#include <cmath>

namespace zonal::cli {

// Measured with maps of C_l = 1/(l(l+1)) at nside 128 and 256: 1/15, 1/8 and 1/4.7 at lmax = 1.5, 2 and 2.5
// nside.
double iteration_gain(std::int64_t lmax, std::int64_t nside) {
    const double degrees = static_cast<double>(lmax) / static_cast<double>(nside);
    return std::clamp(std::exp(-2.08 + 1.16 * (degrees - 2)), 0.03, 0.8);
}

}  // namespace zonal::cli
