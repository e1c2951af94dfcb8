#include "zonal/sky/comparison.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "zonal/error.hpp"
#include "zonal/mask.hpp"

namespace zonal {

double FieldDifference::relative() const {
    if (largest == 0) return 0;
    return scale > 0 ? largest / scale : std::numeric_limits<double>::infinity();
}

FieldDifference difference(View<const double, 1> a, View<const double, 1> b) {
    FieldDifference result;
    double sum_of_squares = 0;
    for (std::int64_t p = 0; p < a.extent(0); ++p) {
        const bool in_a = !is_unseen_value(a[p]), in_b = !is_unseen_value(b[p]);
        if (in_a != in_b) ++result.n_unseen_in_one;
        if (!in_a || !in_b) continue;
        const double delta = std::abs(a[p] - b[p]);
        if (result.n_pixels == 0 || delta > result.largest || std::isnan(delta)) {
            result.largest = delta;
            result.at_pixel = p;
        }
        sum_of_squares += delta * delta;
        result.scale = std::max(result.scale, std::abs(b[p]));
        ++result.n_pixels;
    }
    if (result.n_pixels > 0) result.rms = std::sqrt(sum_of_squares / static_cast<double>(result.n_pixels));
    return result;
}

std::vector<FieldDifference> compare(const SkyMap& first, const SkyMap& second) {
    const auto &pixels = first.header().pixelization, &others = second.header().pixelization;
    if (!same_pixels(pixels, others))
        throw InvalidArgument(fmt::format("{} ({}) and {} ({}): the pixels must be the same",
                                          first.header().source, to_string(pixels), second.header().source,
                                          to_string(others)));
    const auto n_rows = first.rows().extent(0);
    if (second.rows().extent(0) != n_rows)
        throw InvalidArgument(fmt::format("{} has {} columns and {} has {}: choose as many of both",
                                          first.header().source, n_rows, second.header().source,
                                          second.rows().extent(0)));
    std::vector<FieldDifference> result;
    for (std::int64_t row = 0; row < n_rows; ++row) {
        result.push_back(difference(first.rows()[row], second.rows()[row]));
        result.back().name = first.row_name(row);
    }
    return result;
}

}  // namespace zonal
