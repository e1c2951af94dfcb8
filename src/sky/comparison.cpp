#include "zonal/sky/comparison.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "sky/sky_patch.hpp"
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

namespace {

/// The pixels of both maps.
std::shared_ptr<const SkyPart> common_part(const SkyMap& first, const SkyMap& second) {
    if (first.is_patch() && second.is_patch()) return united(*first.part()->patch(), *second.part()->patch());
    return part_or_whole(nullptr, first.whole_grid());
}

/// A map's rows with all of the part's pixels, in `memory` where it has others.
View<const double, 2> rows_on(const SkyPart& part, const SkyMap& map, Array<double, 2>& memory) {
    if (map.grid().n_pixels() == part.grid().n_pixels()) return map.rows();
    memory = on_pixels(map.rows(), map.part()->pixels(), part.pixels(), unseen_value);
    return std::as_const(memory).view();
}

}  // namespace

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
    const auto part = common_part(first, second);
    Array<double, 2> first_memory, second_memory;
    const auto a = rows_on(*part, first, first_memory), b = rows_on(*part, second, second_memory);
    std::vector<FieldDifference> result;
    result.reserve(static_cast<std::size_t>(n_rows));
    for (std::int64_t row = 0; row < n_rows; ++row) {
        result.push_back(difference(a[row], b[row]));
        result.back().name = first.row_name(row);
        if (part->patch() != nullptr) result.back().at_pixel = part->whole_pixel(result.back().at_pixel);
    }
    return result;
}

}  // namespace zonal
