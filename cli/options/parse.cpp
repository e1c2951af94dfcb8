#include "options/parse.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include "shell/error.hpp"
#include "zonal/angle.hpp"
#include "zonal/io/energy.hpp"

namespace zonal::cli {
namespace {

/// What is measured in these units, for messages.
struct Quantity {
    std::string_view name, examples;
    std::span<const NamedUnit> units;
};

constexpr Quantity angle{"an angle", "10deg, 5arcmin, 30arcsec or 0.1rad", angle_units};
constexpr Quantity energy{"an energy", "10GeV or 500MeV", io::energy_names};

[[noreturn]] void reject(const std::string& option, const std::string& text, const std::string& permitted) {
    throw UsageError(fmt::format("{} = {}: {}", option, printable(text), permitted));
}

/// The number that text starts with, and what stands behind it; nothing when it starts with no number.
std::optional<std::pair<double, std::string_view>> leading_number(std::string_view text) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    return std::pair{value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

/// The units' first names, each behind `prefix`: "10deg, 10arcmin, 10arcsec or 10rad".
std::string listed(std::span<const NamedUnit> units, std::string_view prefix) {
    std::string list;
    for (const auto& unit : units)
        list += fmt::format("{}{}{}",
                            &unit == &units.front()  ? ""
                            : &unit == &units.back() ? " or "
                                                     : ", ",
                            prefix, unit.names[0]);
    return list;
}

/// A finite number with a unit, in the unit of size 1.
double parse_quantity(const std::string& option, const std::string& text, const Quantity& quantity) {
    const auto number = leading_number(text);
    if (!number)
        reject(option, text,
               fmt::format("must be {} with a unit, such as {}", quantity.name, quantity.examples));
    auto [value, name] = *number;
    if (name.starts_with(' ')) name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    if (!std::isfinite(value)) reject(option, text, "must be finite");
    if (name.empty())
        reject(option, text,
               fmt::format("{} needs a unit: {}", quantity.name,
                           listed(quantity.units, text.substr(0, text.find(' ')))));
    if (const auto size = size_of_unit(quantity.units, name)) {
        if (!std::isfinite(value * *size)) reject(option, text, "must be finite");
        return value * *size;
    }
    reject(option, text,
           fmt::format("unit '{}': must be {}", printable(std::string(name)), listed(quantity.units, "")));
}

}  // namespace

Angle parse_signed_angle(const std::string& option, const std::string& text) {
    return {parse_quantity(option, text, angle), text};
}

Angle parse_angle(const std::string& option, const std::string& text) {
    // The square of less would be lost in the Gaussian's exponent beside 1 for any lmax; a sphere has no
    // more, whatever unit 180deg are rounded in.
    constexpr double least = degrees_to_radians(1e-6) / 3600, most = std::numbers::pi, rounding = 1e-15;
    auto parsed = parse_signed_angle(option, text);
    if (!(parsed.radians >= least && parsed.radians <= most * (1 + rounding)))
        reject(option, text, "must be above 0: from 1e-6arcsec to 180deg");
    parsed.radians = std::min(parsed.radians, most);
    return parsed;
}

double parse_energy(const std::string& option, const std::string& text) {
    const double mev = parse_quantity(option, text, energy);
    if (!(mev > 0)) reject(option, text, "must be above 0");
    return mev;
}

EnergyRange parse_energy_range(const std::string& option, const std::string& text) {
    const auto colon = text.find(':');
    if (colon == std::string::npos) reject(option, text, "must be MIN:MAX, such as 50GeV:2TeV");
    const EnergyRange range{parse_energy(option + " MIN", text.substr(0, colon)),
                            parse_energy(option + " MAX", text.substr(colon + 1))};
    if (!(range.minimum < range.maximum)) reject(option, text, "MIN must be below MAX");
    return range;
}

CoordinateSystem parse_coordinates(const std::string& option, const std::string& text) {
    try {
        return zonal::parse_coordinate_system(text);
    } catch (const InvalidArgument&) {
        reject(option, text, "must be galactic (G), ecliptic (E) or equatorial (C), or unknown");
    }
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
        const auto first = text.find_first_not_of(' ', start);
        if (first >= comma) reject(option, text, "must be a list such as a,b without empty elements");
        elements.push_back(text.substr(first, text.find_last_not_of(' ', comma - 1) + 1 - first));
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
