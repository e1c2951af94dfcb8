#include "options/parse.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "options/angles.hpp"
#include "shell/error.hpp"

namespace zonal::cli {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 4> angle_units = {
    {{"deg", degree}, {"arcmin", degree / 60}, {"arcsec", degree / 3600}, {"rad", 1.0}}};

[[noreturn]] void reject(const std::string& option, const std::string& text, const std::string& permitted) {
    throw UsageError(fmt::format("{} = {}: {}", option, printable(text), permitted));
}

/// The number that text starts with, and what stands behind it; nothing when it starts with no number.
std::optional<std::pair<double, std::string_view>> leading_number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    return std::pair{value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

}  // namespace

Angle parse_signed_angle(const std::string& option, const std::string& text) {
    const auto number = leading_number(text);
    if (!number)
        reject(option, text, "must be an angle with a unit, such as 10deg, 5arcmin, 30arcsec or 0.1rad");
    auto [value, unit] = *number;
    if (unit.starts_with(' ')) unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    if (!std::isfinite(value)) reject(option, text, "must be finite");
    if (unit.empty())
        reject(option, text,
               fmt::format("an angle needs a unit: {0}deg, {0}arcmin, {0}arcsec or {0}rad", text));
    for (const auto& [name, radians] : angle_units)
        if (unit == name) return {value * radians, text};
    reject(option, text,
           fmt::format("unit '{}': must be deg, arcmin, arcsec or rad", printable(std::string(unit))));
}

Angle parse_angle(const std::string& option, const std::string& text) {
    auto angle = parse_signed_angle(option, text);
    if (!(angle.radians > 0)) reject(option, text, "must be above 0");
    return angle;
}

std::int64_t parse_integer(const std::string& option, const std::string& text, std::int64_t minimum,
                           std::int64_t maximum) {
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < minimum || value > maximum)
        reject(option, text, fmt::format("must be an integer from {} to {}", minimum, maximum));
    return value;
}

double parse_number(const std::string& option, const std::string& text, double minimum, double maximum) {
    const auto number = leading_number(text);
    if (!number || !number->second.empty() || !(number->first >= minimum && number->first <= maximum) ||
        !std::isfinite(number->first)) {
        const bool bounded = std::isfinite(minimum) && std::isfinite(maximum);
        reject(option, text,
               bounded                  ? fmt::format("must be a number from {} to {}", minimum, maximum)
               : std::isfinite(minimum) ? fmt::format("must be a number, at least {}", minimum)
                                        : std::string("must be a finite number"));
    }
    return number->first;
}

std::vector<std::string> parse_list(const std::string& option, const std::string& text) {
    std::vector<std::string> elements;
    for (std::size_t start = 0; start <= text.size();) {
        const auto comma = std::min(text.find(',', start), text.size());
        if (comma == start) reject(option, text, "must be a list such as a,b without empty elements");
        elements.push_back(text.substr(start, comma - start));
        start = comma + 1;
    }
    return elements;
}

std::string printable(const std::string& text) {
    std::string result;
    for (const char character : text) {
        const auto code = static_cast<unsigned char>(character);
        if (code < 0x20 || code == 0x7f)
            result += fmt::format("\\x{:02x}", code);
        else
            result += character;
    }
    return result;
}

}  // namespace zonal::cli
