#include "zonal/io/profile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/tables/text.hpp"
#include "io/tables/text_table.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

constexpr double degree = std::numbers::pi / 180;

const Units& text_angle_units() {
    static const Units units{{"deg", degree}, {"arcmin", degree / 60}, {"arcsec", degree / 3600}, {"rad", 1}};
    return units;
}

const Units& text_density_units() {
    static const Units units = [] {
        auto all = density_units();
        for (const char* name : {"1/deg^2", "1/deg2", "deg-2", "deg^-2", "deg**-2"})
            all.emplace_back(name, 1 / (degree * degree));
        return all;
    }();
    return units;
}

/// What stands in square brackets.
std::vector<std::string> units_in(const std::vector<std::string>& words) {
    std::string line;
    for (const auto& word : words) line += word + " ";
    std::vector<std::string> units;
    for (std::size_t open = line.find('['); open != std::string::npos; open = line.find('[', open + 1)) {
        const auto close = line.find(']', open);
        if (close == std::string::npos) break;
        units.push_back(line.substr(open + 1, close - open - 1));
    }
    return units;
}

void check_angles(const std::vector<double>& theta) {
    constexpr double rounding = 1e-12;
    if (theta.size() < 2) throw InvalidArgument("needs 2 rows at least");
    if (theta.front() != 0 || !(theta.back() <= std::numbers::pi * (1 + rounding)))
        throw InvalidArgument("angles must be from 0 to 180 degrees at most");
    const auto bad =
        std::adjacent_find(theta.begin(), theta.end(), [](double a, double b) { return !(a < b); });
    if (bad != theta.end())
        throw InvalidArgument(fmt::format("angles do not ascend in row {}", bad - theta.begin() + 2));
}

}  // namespace

RadialProfile read_profile(const std::string& path) {
    const FileBytes file(path);
    if (file.starts_like_fits())
        throw IoError(fmt::format("{}: is a FITS file; a profile is text: theta, value", path));
    auto table = read_text_table(file);
    try {
        if (table.columns.size() != 2)
            throw InvalidArgument(
                fmt::format("{} columns: must be 2, theta and value", table.columns.size()));
        const auto units = units_in(table.header);
        if (units.size() != 2)
            throw InvalidArgument("the line above the numbers must state units: # theta [deg] value [1/sr]");
        RadialProfile profile{std::move(table.columns[0]), std::move(table.columns[1]), path};
        const double angle = unit_factor("theta", units[0], text_angle_units(), "deg");
        const double density = unit_factor("value", units[1], text_density_units(), "1/sr");
        for (double& theta : profile.theta) theta *= angle;
        for (double& value : profile.value) value *= density;
        check_angles(profile.theta);
        profile.theta.back() = std::min(profile.theta.back(), std::numbers::pi);
        for (const double value : profile.value)
            if (!std::isfinite(value)) throw InvalidArgument("values must be finite");
        return profile;
    } catch (const InvalidArgument& error) {
        throw IoError(fmt::format("{}: {}", path, error.what()));
    }
}

}  // namespace zonal::io
