#include "zonal/mask.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

/// Adds `more` pixels, the first of which is first_more.
void add(std::int64_t more, std::int64_t first_more, std::int64_t& number, std::int64_t& first) {
    if (more > 0 && (number == 0 || first_more < first)) first = first_more;
    number += more;
}

/// Counts those of pixels from `begin` to before `end`.
template <class T>
void count(View<const T, 1> map, std::int64_t begin, std::int64_t end, BadPixels& bad) {
    // Most pieces of most maps are small numbers alone, which a loop without branches sees at the speed of
    // memory.
    constexpr std::int64_t piece = 512;
    constexpr T small = 1e30F;
    for (; begin < end; begin += piece) {
        const auto* const values = map.data() + begin;
        const auto n = std::min(piece, end - begin);
        bool are_small = true;
        for (std::int64_t i = 0; i < n; ++i) are_small &= std::abs(values[i]) < small;
        if (are_small) continue;
        for (std::int64_t i = 0; i < n; ++i) {
            const auto value = static_cast<double>(values[i]);
            if (std::isnan(value)) add(1, begin + i, bad.nan, bad.first_nan);
            if (std::isinf(value)) add(1, begin + i, bad.infinite, bad.first_infinite);
            if (is_unseen_value(value)) add(1, begin + i, bad.unseen, bad.first_unseen);
        }
    }
}

}  // namespace

template <class T>
BadPixels count_bad_pixels(View<const T, 1> map) {
    sht::check_host("map", map);
    BadPixels bad;
    core::for_pieces(map.size(), 1,
                     [&](std::int64_t first, std::int64_t last) { count(map, first, last, bad); });
    return bad;
}

template <class T>
BadPixels count_bad_pixels(const Grid& grid, View<const T, 1> map, int threads) {
    sht::check_extent("map", map, 0, "pixel", grid.n_pixels());
    sht::check_host("map", map);
    constexpr std::int64_t rings_per_task = 64;
    const std::int64_t n_tasks = (grid.n_rings() + rings_per_task - 1) / rings_per_task;
    std::vector<BadPixels> found(static_cast<std::size_t>(n_tasks));
    constexpr double microseconds_of_pixel = 5e-4;
    const int paying = core::paying_threads(core::resolve_threads(threads),
                                            microseconds_of_pixel * static_cast<double>(map.size()));
    core::parallel_for(n_tasks, paying, [&](std::int64_t task, int) {
        const auto end = std::min((task + 1) * rings_per_task, grid.n_rings());
        for (auto r = task * rings_per_task; r < end; ++r) {
            const Ring& ring = grid.rings()[r];
            count(map, ring.first_pixel, ring.first_pixel + ring.n_pixels, found[task]);
        }
    });
    BadPixels bad;
    for (const BadPixels& part : found) {
        add(part.nan, part.first_nan, bad.nan, bad.first_nan);
        add(part.infinite, part.first_infinite, bad.infinite, bad.first_infinite);
        add(part.unseen, part.first_unseen, bad.unseen, bad.first_unseen);
    }
    return bad;
}

void require_known(double n_known) {
    if (!(n_known > 0))
        throw InvalidArgument("mask",
                              "with the UNSEEN pixels of the map it leaves no pixel: is it the right one?");
}

void require_finite(const BadPixels& bad, const std::string& name) {
    auto require_none = [&](const char* what, std::int64_t number, std::int64_t first) {
        if (number > 0)
            throw InvalidArgument(
                name, fmt::format("{} {} {}, the first is pixel {}: must be finite or UNSEEN (-1.6375e30)",
                                  number, number == 1 ? "pixel is" : "pixels are", what, first));
    };
    require_none("NaN", bad.nan, bad.first_nan);
    require_none("infinite", bad.infinite, bad.first_infinite);
}

template <class T>
void find_known(ConstView<T, 2> maps, ConstView<T, 1> mask, bool pairs, View<T, 2> known, int threads) {
    sht::check_host("maps", maps);
    if (mask.size() > 0) sht::check_extent("mask", mask, 0, "pixel", maps.extent(1));
    core::for_pieces(mask.size(), 1, [&](std::int64_t first, std::int64_t last) {  // names the first
        for (auto pixel = first; pixel < last; ++pixel)
            if (!(mask[pixel] >= 0 && mask[pixel] <= 1))
                throw InvalidArgument("mask",
                                      fmt::format("pixel {} is {}: must be from 0 to 1", pixel, mask[pixel]));
    });
    core::for_pieces(maps.extent(1), threads, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = 0; row < maps.extent(0); ++row)
            for (auto pixel = first; pixel < last; ++pixel) {
                const bool is_unseen = is_unseen_value(static_cast<double>(maps(row, pixel)));
                known(row, pixel) = is_unseen ? T(0) : mask.size() > 0 ? mask[pixel] : T(1);
            }
        for (std::int64_t q = 0; pairs && q + 1 < maps.extent(0); q += 2)
            for (auto pixel = first; pixel < last; ++pixel)
                known(q, pixel) = known(q + 1, pixel) = std::min(known(q, pixel), known(q + 1, pixel));
    });
}

template <class T>
void multiply_by_known(ConstView<T, 2> known, View<T, 2> maps, int threads) {
    core::for_pieces(maps.extent(1), threads, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = 0; row < maps.extent(0); ++row)
            for (auto pixel = first; pixel < last; ++pixel)
                maps(row, pixel) = known(row, pixel) == 0 ? T(0) : maps(row, pixel) * known(row, pixel);
    });
}

template void find_known(View<const float, 2>, View<const float, 1>, bool, View<float, 2>, int);
template void find_known(View<const double, 2>, View<const double, 1>, bool, View<double, 2>, int);
template void multiply_by_known(View<const float, 2>, View<float, 2>, int);
template void multiply_by_known(View<const double, 2>, View<double, 2>, int);
template BadPixels count_bad_pixels(View<const float, 1>);
template BadPixels count_bad_pixels(View<const double, 1>);
template BadPixels count_bad_pixels(const Grid&, View<const float, 1>, int);
template BadPixels count_bad_pixels(const Grid&, View<const double, 1>, int);

}  // namespace zonal
