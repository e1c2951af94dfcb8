#include "io/tables/text.hpp"
#include "zonal/error.hpp"
#include "zonal/io/energy.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <charconv>
#include <numbers>

namespace zonal::io {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";
constexpr std::string_view separators = " \t\r\n\v\f,;";

char upper(char byte) {
    return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
}

template <class T>
std::optional<T> parse(std::string_view text) {
    // from_chars knows no plus sign.
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    T value{};
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || result.ec != std::errc() || result.ptr != text.data() + text.size()) return {};
    return value;
}

}  // namespace

std::string trim_right(std::string_view text) {
    const auto last = text.find_last_not_of(blanks);
    return std::string(text.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

std::string trim(std::string_view text) {
    const auto first = text.find_first_not_of(blanks);
    return first == std::string_view::npos ? std::string() : trim_right(text.substr(first));
}

std::string to_upper(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), upper);
    return result;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return to_upper(a) == to_upper(b);
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> pieces;
    std::size_t at = 0;
    while ((at = text.find_first_not_of(separators, at)) != std::string_view::npos) {
        const auto end = std::min(text.find_first_of(separators, at), text.size());
        pieces.emplace_back(text.substr(at, end - at));
        at = end;
    }
    return pieces;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    return parse<std::int64_t>(text);
}

std::optional<double> parse_number(std::string_view text) {
    if (const auto value = parse<double>(text)) return value;
    const auto exponent = text.find_first_of("dD");
    if (exponent == std::string_view::npos || exponent == 0) return {};
    std::string with_e(text);
    with_e[exponent] = 'E';
    return parse<double>(with_e);
}

const Units& energy_units() {
    static const Units units = [] {
        Units all;
        for (const auto& unit : energy_names) all.emplace_back(unit.names[0], unit.size);
        return all;
    }();
    return units;
}

const Units& angle_units() {
    static const Units units{{"deg", std::numbers::pi / 180}, {"rad", 1}};
    return units;
}

const Units& density_units() {
    static const Units units{{"1/sr", 1}, {"sr-1", 1}, {"sr^-1", 1}, {"sr**-1", 1}, {"sr**(-1)", 1}};
    return units;
}

double unit_factor(const std::string& column, const std::string& stated, const Units& units,
                   const std::string& usual) {
    const auto& name = stated.empty() ? usual : stated;
    const auto unit =
        std::find_if(units.begin(), units.end(), [&](const auto& known) { return known.first == name; });
    if (unit == units.end())
        throw InvalidArgument(
            fmt::format("column {}: unit '{}': must be {} or the like", column, name, usual));
    return unit->second;
}

}  // namespace zonal::io
