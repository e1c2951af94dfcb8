#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/constants.hpp"
#include "grids/healpix_pixel.hpp"
#include "grids/regions/region_rows.hpp"
#include "zonal/error.hpp"

namespace zonal::healpix {
using core::pi;

void check_options(std::int64_t nside, const QueryOptions& options) {
    check_nside(nside, options.order);
    if (options.inclusive && (options.fact < 1 || options.fact > max_nside / nside))
        throw InvalidArgument(
            "fact", options.fact,
            fmt::format("must be from 1 to 2^29 / nside = {} for nside = {}", max_nside / nside, nside));
}

Ranges in_order(std::int64_t nside, const Ranges& ring_ranges, Order order) {
    return order == Order::ring ? ring_ranges : to_nest(nside, ring_ranges);
}

Ranges ring_ranges(std::int64_t nside, const Disc& disc, const Rows& rows, const QueryOptions& options) {
    return options.inclusive ? disc_overlaps(nside, disc, rows, options.fact)
                             : disc_centres(nside, disc, rows);
}

Rows rows_to_query(std::int64_t nside, const Disc& disc, const QueryOptions& options) {
    const Rows rows = rows_of_disc(nside, disc);
    if (!options.inclusive) return rows;
    return {std::max<std::int64_t>(1, rows.first - 1), std::min(4 * nside - 1, rows.last + 1)};
}

std::int64_t count_pixels(const Ranges& ranges) {
    return std::accumulate(
        ranges.begin(), ranges.end(), std::int64_t{0},
        [](std::int64_t sum, const Range& range) { return sum + range.end - range.first; });
}

void list_pixels(const Ranges& ranges, View<std::int64_t, 1> pixels) {
    if (pixels.size() != count_pixels(ranges))
        throw InvalidArgument("pixels", fmt::format("{} elements: must be {}, one for each pixel",
                                                    pixels.size(), count_pixels(ranges)));
    if (pixels.space() != MemorySpace::host) throw InvalidArgument("pixels", "must be in host memory");
    if (pixels.stride(0) == 1) return list_contiguous(ranges, pixels.data());
    std::int64_t at = 0;
    for (const auto& [first, end] : ranges)
        for (auto pixel = first; pixel < end; ++pixel) pixels[at++] = pixel;
}

std::vector<std::int64_t> list_pixels(const Ranges& ranges) {
    std::vector<std::int64_t> pixels(static_cast<std::size_t>(count_pixels(ranges)));
    list_pixels(ranges, {pixels.data(), {std::ssize(pixels)}});
    return pixels;
}

Ranges query_disc(std::int64_t nside, const Angles& centre, double radius, const QueryOptions& options) {
    check_options(nside, options);
    const Disc disc{centre.theta, to_direction(centre).phi, radius};
    if (!(radius >= 0 && radius <= pi)) throw InvalidArgument("radius", radius, "must be from 0 to pi");
    const Rows rows = rows_to_query(nside, disc, options);
    return in_order(nside, ring_ranges(nside, disc, rows, options), options.order);
}

namespace {

/// The number of rows north of a colatitude. A row that lies at it is one of them, but not in the southern
/// cap.
std::int64_t rows_north_of(std::int64_t nside, double theta) {
    const double row = row_of_theta(nside, theta), nearest = std::round(row), n = static_cast<double>(nside);
    const double rounding = 0x1p-46 * n;  // of a colatitude, in rows
    const auto rows = static_cast<std::int64_t>(nearest);
    if (std::abs(row - nearest) > rounding) return static_cast<std::int64_t>(row);
    // Gorski et al. (2005), eqs. 4 and 8: where a colatitude is meant to be that of a row, the rounding of
    // cos theta in these equations decides, as in other packages.
    const double z = std::cos(theta), from_pole = n * std::sqrt(3 * (1 - std::abs(z)));
    bool above = n * (2 - 1.5 * z) >= nearest;
    if (z > 2. / 3) above = from_pole >= nearest;
    if (z < -2. / 3) above = from_pole < 4 * n - nearest;
    return above ? rows : rows - 1;
}

/// The pixels of rows 1 to `rows`.
std::int64_t pixels_of_rows(std::int64_t nside, std::int64_t rows) {
    const std::int64_t within = std::clamp<std::int64_t>(rows, 0, 4 * nside - 1);
    return within == 4 * nside - 1 ? 12 * nside * nside : row_start(nside, within + 1);
}

}  // namespace

Ranges query_strip(std::int64_t nside, double theta_1, double theta_2, const QueryOptions& options) {
    check_options(nside, options);
    for (const auto& [name, theta] : {std::pair{"theta_1", theta_1}, std::pair{"theta_2", theta_2}})
        if (!(theta >= 0 && theta <= pi)) throw InvalidArgument(name, theta, "must be from 0 to pi");
    // Pixels reach to the rows above and below theirs; what rounding may hide is added.
    const double reach = 1 + 0x1p-46 * static_cast<double>(nside);
    const auto north_of = [&](double theta) {  // the pixels wholly north of theta, or with their centres
        const auto rows = options.inclusive
                              ? static_cast<std::int64_t>(std::ceil(row_of_theta(nside, theta) - reach)) - 1
                              : rows_north_of(nside, theta);
        return pixels_of_rows(nside, rows);
    };
    const auto to = [&](double theta) {  // the pixels that reach north of theta, or with their centres
        const auto rows = options.inclusive
                              ? static_cast<std::int64_t>(std::floor(row_of_theta(nside, theta) + reach))
                              : rows_north_of(nside, theta);
        return pixels_of_rows(nside, rows);
    };
    Ranges ranges;
    if (theta_1 < theta_2) {
        append(ranges, {north_of(theta_1), to(theta_2)});
    } else {
        const std::int64_t north_end = to(theta_2);
        append(ranges, {0, north_end});
        append(ranges, {std::max(north_end, north_of(theta_1)), 12 * nside * nside});
    }
    return in_order(nside, ranges, options.order);
}

Ranges intersection(const Ranges& a, const Ranges& b) {
    Ranges common;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
        append(common, {std::max(i->first, j->first), std::min(i->end, j->end)});
        i->end < j->end ? ++i : ++j;
    }
    return common;
}

}  // namespace zonal::healpix
