#include "options/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace zonal::cli {
namespace {

bool is_one_word(const std::string& unit) {
    return std::all_of(unit.begin(), unit.end(),
                       [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; });
}

}  // namespace

std::string squared_unit(const std::string& unit) {
    if (unit.empty()) return {};
    return is_one_word(unit) ? unit + "^2" : fmt::format("({})^2", unit);
}

std::string square_root_unit(const std::string& unit) {
    for (const std::string_view power : {"^2", "**2", "2"}) {
        if (!unit.ends_with(power)) continue;
        auto root = unit.substr(0, unit.size() - power.size());
        if (root.size() > 2 && root.front() == '(' && root.back() == ')')
            root = root.substr(1, root.size() - 2);
        return is_one_word(root) || power != "2" ? root : std::string();
    }
    return {};
}

}  // namespace zonal::cli
