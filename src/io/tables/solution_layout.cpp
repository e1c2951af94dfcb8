#include "io/tables/solution_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace zonal::io {

std::vector<std::int64_t> solution_shape(std::int64_t n_fields, const std::vector<gwrm::Axis>& axes,
                                         std::int64_t time_modes) {
    std::vector<std::int64_t> shape{n_fields, axes.empty() ? 1 : axes[0].subdomains, time_modes + 1};
    for (const auto& axis : axes) shape.push_back(axis.modes + 1);
    return shape;
}

std::int64_t size_of_shape(const std::vector<std::int64_t>& shape) {
    std::int64_t size = 1;
    for (const auto extent : shape) size *= extent;
    return size;
}

std::string tdim_of_shape(const std::vector<std::int64_t>& shape) {
    return fmt::format("({})", fmt::join(shape.rbegin(), shape.rend(), ","));
}

bool is_solution_key(const std::string& key) {
    using namespace std::string_view_literals;
    constexpr std::array keys{"EXTNAME"sv, "ZONALSOL"sv, "CHEBCONV"sv, "PROBLEM"sv,  "PARAM"sv,
                              "PVALUE"sv,  "N_FIELDS"sv, "FIELD"sv,    "N_AXES"sv,   "AXIS"sv,
                              "AXKIND"sv,  "AXLOW"sv,    "AXHIGH"sv,   "AXMODES"sv,  "AXPARTS"sv,
                              "TMODES"sv,  "TOL"sv,      "HIGHMODE"sv, "ESTERROR"sv, "REJECTED"sv,
                              "STEPS"sv,   "GMRES"sv,    "RESIDUAL"sv, "DEVICE"sv};
    const auto stem = std::string_view(key).substr(0, key.find_last_not_of("0123456789") + 1);
    return std::find(keys.begin(), keys.end(), stem) != keys.end();
}

}  // namespace zonal::io
