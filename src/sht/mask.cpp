#include "zonal/mask.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

void count(std::int64_t pixel, std::int64_t& number, std::int64_t& first) {
    if (number++ == 0 || pixel < first) first = pixel;
}

template <class T>
void count(View<const T, 1> map, std::int64_t pixel, BadPixels& bad) {
    const auto value = static_cast<double>(map[pixel]);
    if (std::isnan(value)) count(pixel, bad.nan, bad.first_nan);
    if (std::isinf(value)) count(pixel, bad.infinite, bad.first_infinite);
    if (is_unseen_value(value)) count(pixel, bad.unseen, bad.first_unseen);
}

}  // namespace

template <class T>
BadPixels count_bad_pixels(View<const T, 1> map) {
    sht::check_host("map", map);
    BadPixels bad;
    for (std::int64_t pixel = 0; pixel < map.size(); ++pixel) count(map, pixel, bad);
    return bad;
}

template <class T>
BadPixels count_bad_pixels(const Grid& grid, View<const T, 1> map) {
    sht::check_extent("map", map, 0, "pixel", grid.n_pixels());
    sht::check_host("map", map);
    BadPixels bad;
    for (const Ring& ring : grid.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k) count(map, ring.first_pixel + k, bad);
    return bad;
}

void require_finite(const BadPixels& bad, const std::string& name) {
    auto require_none = [&](const char* what, std::int64_t number, std::int64_t first) {
        if (number > 0)
            throw InvalidArgument(
                fmt::format("{}: {} {} {}, the first is pixel {}: must be finite or UNSEEN (-1.6375e30)",
                            name, number, number == 1 ? "pixel is" : "pixels are", what, first));
    };
    require_none("NaN", bad.nan, bad.first_nan);
    require_none("infinite", bad.infinite, bad.first_infinite);
}

template BadPixels count_bad_pixels(View<const float, 1>);
template BadPixels count_bad_pixels(View<const double, 1>);
template BadPixels count_bad_pixels(const Grid&, View<const float, 1>);
template BadPixels count_bad_pixels(const Grid&, View<const double, 1>);

}  // namespace zonal
