#include "zonal/sky/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/interruption.hpp"
#include "zonal/mask.hpp"

namespace zonal {

FieldStatistics statistics(View<const double, 1> values) {
    const auto bad = count_bad_pixels(values);
    FieldStatistics result{values.size(), bad.unseen, bad.nan, bad.infinite};
    if (!result.any()) return result;
    result.minimum = std::numeric_limits<double>::infinity();
    result.maximum = -result.minimum;
    double sum = 0, squares = 0, deviations = 0;
    const auto over_good = [&](const auto& add) {
        constexpr std::int64_t piece = 1 << 16;  // between looks for an interruption
        const core::InterruptionPoll poll;
        for (std::int64_t first = 0; first < values.size(); first += piece) {
            poll();
            for (auto i = first; i < std::min(first + piece, values.size()); ++i)
                if (std::isfinite(values[i]) && !is_unseen_value(values[i])) add(values[i]);
        }
    };
    over_good([&](double value) {
        result.minimum = std::min(result.minimum, value);
        result.maximum = std::max(result.maximum, value);
        sum += value;
        squares += value * value;
    });
    const auto good = static_cast<double>(values.size() - bad.unseen - bad.nan - bad.infinite);
    result.mean = sum / good;
    over_good([&](double value) { deviations += (value - result.mean) * (value - result.mean); });
    result.deviation = std::sqrt(deviations / good);
    result.rms = std::sqrt(squares / good);
    return result;
}

}  // namespace zonal
