#include "plot/ticks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace zonal::plot {

namespace {

constexpr double slack = 1e-9;  // of a step: ends that are multiples but for rounding keep their tick

/// Labels share one power of ten where plain numbers would be long: outside 0.001 to 99999.
int common_exponent(double largest) {
    if (largest == 0 || (largest >= 1e-2 && largest < 1e5)) return 0;
    return 3 * static_cast<int>(std::floor(std::log10(largest) / 3 + slack));
}

Ticks labelled(const std::vector<double>& values, double step) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    Ticks result;
    result.exponent = common_exponent(largest);
    const double unit = std::pow(10.0, result.exponent);
    const int decimals = decimals_for(step / unit);
    for (const double value : values) result.ticks.push_back({value, format_number(value / unit, decimals)});
    return result;
}

/// Marks of one decade that get a label: 1; 1, 2, 5; or all.
bool is_labelled(int mantissa, int density) {
    return mantissa == 1 || density == 2 || (density == 1 && (mantissa == 2 || mantissa == 5));
}

std::string decade_label(int mantissa, int exponent, bool plain) {
    if (plain) return format_number(mantissa * std::pow(10.0, exponent), std::max(0, -exponent));
    const std::string power = format_power_of_ten(exponent);
    return mantissa == 1 ? power : fmt::format("{}×{}", mantissa, power);
}

int count_labels(double minimum, double maximum, int low, int high, int density) {
    int count = 0;
    for (int exponent = low; exponent <= high; ++exponent)
        for (int mantissa = 1; mantissa <= 9; ++mantissa) {
            const double value = mantissa * std::pow(10.0, exponent);
            if (value >= minimum * (1 - slack) && value <= maximum * (1 + slack))
                count += is_labelled(mantissa, density);
        }
    return count;
}

int round_up(int value, int multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

double nice_step(double step) {
    const double power = std::pow(10.0, std::floor(std::log10(step)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= step * (1 - slack)) return factor * power;
    return 10 * power;
}

int decimals_for(double step) {
    int decimals = 0;
    for (double scaled = step; decimals < 15 && std::abs(scaled - std::round(scaled)) > 1e-6; ++decimals)
        scaled *= 10;
    return decimals;
}

std::string format_number(double value, int decimals) {
    std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
    const bool is_zero = text.find_first_not_of("0.") == std::string::npos;
    return value < 0 && !is_zero ? "−" + text : text;
}

std::string format_power_of_ten(int exponent) {
    return fmt::format("10^{{{}{}}}", exponent < 0 ? "−" : "", std::abs(exponent));
}

std::string format_significant(double value, int digits) {
    if (value == 0) return "0";
    const std::string scientific = fmt::format("{:.{}e}", std::abs(value), digits - 1);
    const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
    double mantissa = std::stod(scientific.substr(0, scientific.find('e')));
    const bool plain = exponent >= -3 && exponent <= 5;
    if (plain) mantissa *= std::pow(10.0, exponent);
    const int decimals = std::max(0, digits - 1 - (plain ? exponent : 0));
    std::string text = format_number(std::copysign(mantissa, value), decimals);
    if (decimals > 0) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
    }
    return plain ? text : text + "×" + format_power_of_ten(exponent);
}

std::vector<double> multiples(double minimum, double maximum, double step) {
    std::vector<double> values;
    const double first = std::ceil(minimum / step - slack);
    const double last = std::floor(maximum / step + slack);
    for (double k = first; k <= last; ++k) values.push_back(k * step + 0.0);  // + 0.0: no negative zero
    return values;
}

Ticks linear_ticks(double minimum, double maximum, int max_count) {
    double step = nice_step((maximum - minimum) / max_count);
    auto values = multiples(minimum, maximum, step);
    while (static_cast<int>(values.size()) > max_count) {
        step = nice_step(1.5 * step);
        values = multiples(minimum, maximum, step);
    }
    return labelled(values, step);
}

Ticks log_ticks(double minimum, double maximum, int max_count) {
    const int low = static_cast<int>(std::floor(std::log10(minimum) + slack));
    const int high = static_cast<int>(std::floor(std::log10(maximum) + slack));
    int density = 2;
    while (density > 0 && count_labels(minimum, maximum, low, high, density) > max_count) --density;
    if (count_labels(minimum, maximum, low, high, density) < 2)
        return linear_ticks(minimum, maximum, max_count);

    const bool plain = minimum >= 0.999e-3 && maximum < 1e5;
    const int stride = std::max(1, (high - low + max_count) / max_count);
    Ticks result;
    for (int exponent = low; exponent <= high; ++exponent)
        for (int mantissa = 1; mantissa <= 9; ++mantissa) {
            const double value = mantissa * std::pow(10.0, exponent);
            if (value < minimum * (1 - slack) || value > maximum * (1 + slack)) continue;
            const bool major = is_labelled(mantissa, density) && exponent % stride == 0;
            if (!major && stride > 1 && mantissa > 1) continue;
            result.ticks.push_back({value, major ? decade_label(mantissa, exponent, plain) : ""});
        }
    return result;
}

Ticks symlog_ticks(double minimum, double maximum, double linear_threshold, int max_count) {
    const int low = static_cast<int>(std::ceil(std::log10(linear_threshold) - slack));
    const int high = static_cast<int>(std::floor(std::log10(std::max(-minimum, maximum)) + slack));
    const bool plain = low >= -3 && high <= 4;
    const int per_side = std::max(1, (max_count - 1) / 2);
    const int stride = std::max(1, round_up(high - low + 1, per_side) / per_side);
    Ticks result;
    for (int exponent = high; exponent >= low; --exponent)
        if (const double value = -std::pow(10.0, exponent); value >= minimum * (1 + slack))
            result.ticks.push_back(
                {value, (high - exponent) % stride == 0 ? "−" + decade_label(1, exponent, plain) : ""});
    if (minimum <= 0 && maximum >= 0) result.ticks.push_back({0, "0"});
    for (int exponent = low; exponent <= high; ++exponent)
        if (const double value = std::pow(10.0, exponent); value >= minimum && value <= maximum * (1 + slack))
            result.ticks.push_back(
                {value, (high - exponent) % stride == 0 ? decade_label(1, exponent, plain) : ""});
    return result;
}

}  // namespace zonal::plot
