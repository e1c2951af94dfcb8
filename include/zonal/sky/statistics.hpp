#pragma once

#include <cstdint>

#include "zonal/view.hpp"

namespace zonal {

/// What the values of a field are like. UNSEEN, NaN and infinite ones are counted and left out of the rest.
struct FieldStatistics {
    std::int64_t count = 0;  ///< of all values
    std::int64_t unseen = 0, nan = 0, infinite = 0;
    double minimum = 0, maximum = 0, mean = 0;
    double deviation = 0;  ///< standard deviation, from the mean
    double rms = 0;

    /// Whether there are values to tell the others of.
    bool any() const { return count > unseen + nan + infinite; }
};

/// values: [pixel], or any others.
FieldStatistics statistics(View<const double, 1> values);

}  // namespace zonal
