#pragma once

#include <cmath>

#include "core/host_device.hpp"

/// Numbers far below the range of double: value * 2^(scale_step * scale), scale <= 0.
namespace zonal::sht {

inline constexpr double scale_step = 800;

struct ScaledValue {
    double value;
    int scale;
};

/// A logarithm to base 2 as the sum of two doubles.
struct Log2 {
    double high, low;

    /// Adds power * (table_high + table_low); the product with table_high is exact (LogTable).
    ZONAL_HOST_DEVICE void add(double power, double table_high, double table_low) {
        const double product = power * table_high;
        const double sum = high + product;
        const double part = sum - high;  // Knuth's two-sum
        const double sum_error = (high - (sum - part)) + (product - part);
        high = sum;
        low += sum_error + power * table_low;
    }
};

/// sign * 2^log, with scale 0 from 2^visible up.
ZONAL_HOST_DEVICE inline ScaledValue exp2_scaled(Log2 log, double sign, double visible) {
    const double units = floor((log.high - visible) / scale_step);
    const double scale = units < 0 ? units : 0;
    // The fraction is taken before the scale's multiple is added to the whole part, so that both are exact.
    const double nearest = rint(log.high);
    const double fraction = (log.high - nearest) + log.low;
    const double whole = nearest - scale * scale_step;
    return {sign * ldexp(exp2(fraction), static_cast<int>(whole)), static_cast<int>(scale)};
}

}  // namespace zonal::sht
