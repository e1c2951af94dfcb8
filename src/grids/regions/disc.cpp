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

Ranges disc_centres(std::int64_t nside, const Disc& disc, const Rows& rows) {
    Ranges ranges;
    std::array<double, chunk> widths;
    const core::InterruptionPoll poll;
    for (std::int64_t begin = rows.first; begin <= rows.last; begin += chunk) {
        poll();
        const std::int64_t n = std::min(chunk, rows.last - begin + 1);
        half_widths(nside, disc, begin, {widths.data(), static_cast<std::size_t>(n)});
        for (std::int64_t row = begin; row < begin + n; ++row) {
            const double width = widths[static_cast<std::size_t>(row - begin)];
            if (width < 0) continue;
            const std::int64_t length = row_length(nside, row);
            const double per_radian = static_cast<double>(length) / (2 * pi);
            const double middle = disc.phi * per_radian - 0.5 * static_cast<double>(row_shift(nside, row));
            if (width >= pi)
                append_row(ranges, nside, row, 0, length - 1);
            else
                append_row(ranges, nside, row,
                           static_cast<std::int64_t>(std::ceil(middle - width * per_radian)),
                           static_cast<std::int64_t>(std::floor(middle + width * per_radian)));
        }
    }
    return ranges;
}

}  // namespace zonal::healpix
