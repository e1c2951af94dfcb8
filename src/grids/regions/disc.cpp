#include <algorithm>
#include <array>
#include <cmath>

#include "core/constants.hpp"
#include "core/interruption.hpp"
#include "grids/healpix_pixel.hpp"
#include "grids/regions/region_rows.hpp"

namespace zonal::healpix {

using core::pi;

namespace {

/// Rows whose widths are worked out together: they stay in the first cache.
constexpr std::int64_t chunk = 512;

/// A centre is on the rim of a disc if it is this near to it (rad): 2^-48 of half_widths, and as much as
/// callers may round a direction and a radius by.
constexpr double rim = 0x1p-43;

/// Half widths of a disc on some rows, of what is clear of the rim and of what is on it or inside.
struct RimWidths {
    std::array<double, chunk> clear, with_rim;

    RimWidths(std::int64_t nside, const Disc& disc, std::int64_t first_row, std::int64_t n) {
        const auto rows = static_cast<std::size_t>(n);
        const Disc inner{disc.theta, disc.phi, disc.radius - rim},
            outer{disc.theta, disc.phi, disc.radius + rim};
        if (inner.radius < 0)
            std::fill_n(clear.begin(), rows, -1.0);
        else
            half_widths(nside, inner, first_row, {clear.data(), rows});
        if (outer.radius >= pi)
            std::fill_n(with_rim.begin(), rows, pi);
        else
            half_widths(nside, outer, first_row, {with_rim.data(), rows});
    }
};

/// Whether a disc around a pole has a row that lies on its rim. As with strips, such a row belongs to the
/// side north of the rim, but in the southern cap to the side south of it.
bool has_row_on_rim(std::int64_t nside, const Disc& disc, std::int64_t row) {
    return (disc.theta < pi / 2) == (row <= 3 * nside);
}

}  // namespace

double row_of_theta(std::int64_t nside, double theta) {
    const Direction direction{std::cos(theta), std::sin(theta), 0};
    if (!in_cap(direction)) return static_cast<double>(nside) * (2 - 1.5 * direction.cos_theta);
    const double from_pole = cap_row(nside, direction);
    return direction.cos_theta > 0 ? from_pole : static_cast<double>(4 * nside) - from_pole;
}

Rows rows_of_disc(std::int64_t nside, const Disc& disc) {
    const double top = row_of_theta(nside, std::max(0.0, disc.theta - disc.radius));
    const double bottom = row_of_theta(nside, std::min(pi, disc.theta + disc.radius));
    return {std::max<std::int64_t>(1, static_cast<std::int64_t>(top)),
            std::min(4 * nside - 1, static_cast<std::int64_t>(bottom) + 1)};
}

void append(Ranges& ranges, const Range& range) {
    if (range.first >= range.end) return;
    if (!ranges.empty() && ranges.back().end == range.first)
        ranges.back().end = range.end;
    else
        ranges.push_back(range);
}

void append_row(Ranges& ranges, std::int64_t nside, std::int64_t row, std::int64_t west, std::int64_t east) {
    if (east < west) return;
    const std::int64_t begin = row_start(nside, row), length = row_length(nside, row), end = begin + length;
    if (east - west + 1 >= length) return append(ranges, {begin, end});
    const std::int64_t first = begin + ((west % length) + length) % length, past = first + east - west + 1;
    if (past > end) append(ranges, {begin, past - length});
    append(ranges, {first, std::min(past, end)});
}

// Where the rim crosses a row, the row's eastern end in the disc belongs to it and the western one does not.
// Where it touches the row, that point belongs to the side that the rest of the row is on.
Ranges disc_centres(std::int64_t nside, const Disc& disc, const Rows& rows) {
    Ranges ranges;
    const core::InterruptionPoll poll;
    for (std::int64_t begin = rows.first; begin <= rows.last; begin += chunk) {
        poll();
        const std::int64_t n = std::min(chunk, rows.last - begin + 1);
        const RimWidths widths(nside, disc, begin, n);
        for (std::int64_t row = begin; row < begin + n; ++row) {
            const auto at = static_cast<std::size_t>(row - begin);
            const double clear = widths.clear[at], with_rim = widths.with_rim[at];
            const bool everywhere = with_rim >= pi, nowhere = clear < 0;
            if (nowhere && !(everywhere && has_row_on_rim(nside, disc, row))) continue;
            const std::int64_t length = row_length(nside, row);
            const double per_radian = static_cast<double>(length) / (2 * pi);
            const double middle = disc.phi * per_radian - 0.5 * static_cast<double>(row_shift(nside, row));
            if (everywhere)
                append_row(ranges, nside, row, 0, length - 1);
            else
                append_row(ranges, nside, row,
                           static_cast<std::int64_t>(std::ceil(middle - clear * per_radian)),
                           static_cast<std::int64_t>(std::floor(middle + with_rim * per_radian)));
        }
    }
    return ranges;
}

}  // namespace zonal::healpix
