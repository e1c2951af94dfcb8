#include "plot/color_scale.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "zonal/error.hpp"
#include "zonal/mask.hpp"

namespace zonal::plot {

namespace {

/// The value below which `fraction` of the values lie; reorders them.
double percentile(std::vector<double>& values, double fraction) {
    const auto rank = static_cast<std::ptrdiff_t>(std::llround(fraction * (values.size() - 1.0)));
    std::nth_element(values.begin(), values.begin() + rank, values.end());
    return values[rank];
}

/// A range of no width cannot be drawn: a constant map gets a tenth of its value on each side.
Range widened(double minimum, double maximum) {
    if (minimum < maximum) return {minimum, maximum};
    const double margin = minimum == 0 ? 1 : 0.1 * std::abs(minimum);
    return {minimum - margin, maximum + margin};
}

std::vector<double> magnitudes(const std::vector<double>& values) {
    std::vector<double> result(values.size());
    std::transform(values.begin(), values.end(), result.begin(), [](double x) { return std::abs(x); });
    return result;
}

/// +- 2.33 sigma of a Gaussian sky, from its median so that the Galactic plane or sources do not widen it;
/// but at least 5 % of the 98th percentile, for maps that are nearly empty.
double symmetric_end(std::vector<double> absolute) {
    const double gaussian = 3.45 * percentile(absolute, 0.5);  // 2.33 sigma / 0.6745 sigma
    const double most = percentile(absolute, 0.98);
    return std::min(most, std::max(gaussian, most / 20));
}

void erase_missing(std::vector<double>& values) {
    std::erase_if(values, is_missing);
    if (values.empty())
        throw InvalidArgument("map", "no pixel in view has a value; all are NaN, Inf or UNSEEN");
}

/// The median |value|: what fills most of the sky is drawn linearly. Six decades at most lie beyond it.
double automatic_threshold(std::vector<double> values, double end) {
    std::erase_if(values, is_missing);
    if (values.empty()) return 1e-3 * end;
    auto absolute = magnitudes(values);
    return std::clamp(percentile(absolute, 0.5), 1e-6 * end, end);
}

Range automatic_log_range(std::vector<double>& values) {
    std::erase_if(values, [](double value) { return value <= 0; });
    if (values.empty()) throw InvalidArgument("scale", "log", "no pixel in view is positive");
    const double minimum = percentile(values, 0.01);
    const double maximum = *std::max_element(values.begin(), values.end());
    return minimum < maximum ? Range{minimum, maximum} : Range{minimum / 2, maximum * 2};
}

}  // namespace

bool is_missing(double value) {
    return !std::isfinite(value) || is_unseen_value(value);
}

Range automatic_range(std::vector<double> values, Scale scale) {
    erase_missing(values);
    if (scale == Scale::log) return automatic_log_range(values);
    const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
    const Range full{*smallest, *largest};
    if (scale == Scale::equalised) return widened(full.minimum, full.maximum);

    const double n_negative = std::count_if(values.begin(), values.end(), [](double x) { return x < 0; });
    const double n_positive = std::count_if(values.begin(), values.end(), [](double x) { return x > 0; });
    const bool both_signs = std::min(n_negative, n_positive) > 0.05 * (n_negative + n_positive);
    if (both_signs) {
        const double end = scale == Scale::symlog ? std::max(-full.minimum, full.maximum)
                                                  : symmetric_end(magnitudes(values));
        return {-end, end};
    }
    if (scale == Scale::symlog) return widened(full.minimum, full.maximum);
    const double maximum = percentile(values, 0.995);
    const bool starts_near_zero = full.minimum >= 0 && full.minimum < 0.05 * maximum;
    const double minimum = starts_near_zero ? full.minimum : percentile(values, 0.005);
    if (minimum < maximum) return {minimum, maximum};
    return widened(full.minimum, full.maximum);  // nearly all pixels are equal: sparse counts, small masks
}

ColorScale::ColorScale(Scale scale, Range range, double linear_threshold, std::vector<double> values)
    : scale_(scale), range_(range), linear_threshold_(linear_threshold) {
    const double minimum = range.minimum, maximum = range.maximum;
    if (!std::isfinite(minimum) || !std::isfinite(maximum) || minimum >= maximum)
        throw InvalidArgument("range", fmt::format("{} to {}", minimum, maximum),
                              "must be two finite numbers, the first below the second");
    if (scale == Scale::log && minimum <= 0)
        throw InvalidArgument("range", fmt::format("{} to {}", minimum, maximum),
                              "must lie above 0 on a log scale; symlog shows both signs");
    if (!(linear_threshold >= 0) || !std::isfinite(linear_threshold))
        throw InvalidArgument("linear_threshold", linear_threshold, "must be above 0, or 0 for automatic");
    if (linear_threshold_ == 0 && scale == Scale::symlog)
        linear_threshold_ = automatic_threshold(values, std::max(std::abs(minimum), std::abs(maximum)));
    if (scale == Scale::equalised) {
        std::erase_if(values,
                      [&](double value) { return is_missing(value) || value < minimum || value > maximum; });
        if (values.empty())
            throw InvalidArgument("range", fmt::format("{} to {}", minimum, maximum),
                                  "no pixel in view lies within, so scale = equalised has no colours");
        std::sort(values.begin(), values.end());
        constexpr int n_quantiles = 1025;
        for (int k = 0; k < n_quantiles; ++k)
            quantiles_.push_back(values[std::llround(k * (values.size() - 1.0) / (n_quantiles - 1))]);
    } else {
        start_ = transform(minimum);
        per_unit_ = 1 / (transform(maximum) - start_);
    }
}

double ColorScale::transform(double value) const {
    if (scale_ == Scale::log) return std::log10(value);
    if (scale_ == Scale::symlog) return std::asinh(value / linear_threshold_);
    return value;
}

/// Equal values share the middle of their positions, so that a mask of 0 and 1 stays two colours.
double ColorScale::equalised_position(double value) const {
    const auto [first, last] = std::equal_range(quantiles_.begin(), quantiles_.end(), value);
    const double n = static_cast<double>(quantiles_.size());
    return ((first - quantiles_.begin()) + (last - quantiles_.begin())) / (2 * n);
}

double ColorScale::position(double value) const {
    if (value <= range_.minimum) return 0;
    if (value >= range_.maximum) return 1;
    if (scale_ == Scale::equalised) return equalised_position(value);
    return std::clamp((transform(value) - start_) * per_unit_, 0.0, 1.0);
}

Ticks ColorScale::ticks(int max_count) const {
    switch (scale_) {
        case Scale::log:
            return log_ticks(range_.minimum, range_.maximum, max_count);
        case Scale::symlog:
            return symlog_ticks(range_.minimum, range_.maximum, linear_threshold_, max_count);
        case Scale::linear:
            return linear_ticks(range_.minimum, range_.maximum, max_count);
        case Scale::equalised:
            break;
    }
    Ticks result;  // an equalised bar is labelled at its quarters
    for (const double position : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        const double value = quantiles_[std::llround(position * (quantiles_.size() - 1.0))];
        if (result.ticks.empty() || value > result.ticks.back().value)
            result.ticks.push_back({value, format_significant(value, 3)});
    }
    return result;
}

}  // namespace zonal::plot
