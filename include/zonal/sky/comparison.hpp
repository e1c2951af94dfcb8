#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/sky/sky_map.hpp"
#include "zonal/view.hpp"

namespace zonal {

/// How two fields differ, over the pixels that both have.
struct FieldDifference {
    std::string name{};          ///< of the first map's column
    double largest = 0;          ///< largest absolute difference
    std::int64_t at_pixel = -1;  ///< where it is, in ring order; -1: no pixel is in both
    double rms = 0;              ///< of the difference
    double scale = 0;            ///< largest absolute value of the second field
    std::int64_t n_pixels = 0;   ///< in both
    std::int64_t n_unseen_in_one = 0;

    /// The largest difference over the scale; 0 where both are 0, infinite where the scale alone is.
    double relative() const;
};

/// a, b: [pixel], of one length.
FieldDifference difference(View<const double, 1> a, View<const double, 1> b);

/// The differences of all rows. Throws InvalidArgument for maps of other pixels or numbers of columns.
std::vector<FieldDifference> compare(const SkyMap& first, const SkyMap& second);

}  // namespace zonal
