#include <algorithm>
#include <cmath>
#include <vector>

#include "core/constants.hpp"
#include "core/interruption.hpp"
#include "grids/healpix_pixel.hpp"
#include "grids/regions/region_rows.hpp"

namespace zonal::healpix {
namespace {

using core::pi;

/// Added to radii and half widths (rad), more than what half_widths rounds them by.
constexpr double angle_margin = 0x1p-48;

/// The largest half width of a disc that holds no pole, and the colatitude that has it.
struct Widest {
    double theta;
    double width;
};

// Right-angled triangle of the pole, the centre and the point where a meridian touches the disc:
// sin(width) = sin(radius) / sin(theta_0), tan(theta) = tan(theta_0) cos(width).
Widest widest(const Disc& disc) {
    const double s = std::sin(disc.theta), r = std::sin(disc.radius);
    const double difference =
        2 * std::cos((disc.theta + disc.radius) / 2) * std::sin((disc.theta - disc.radius) / 2);
    const double leg = std::sqrt(std::max(0.0, difference) * (s + r));
    return {std::atan2(leg, std::cos(disc.theta)), std::atan2(r, leg)};
}

/// Upper bounds of a disc's half width between subrows: those of the grid of fact nside.
class WidthBounds {
  public:
    WidthBounds(std::int64_t fine_nside, const Disc& disc) : fine_nside_(fine_nside), disc_(disc) {
        if (disc.theta <= disc.radius || pi - disc.theta <= disc.radius) return;
        const auto [theta, width] = widest(disc);
        widest_ = width;
        widest_subrow_ = static_cast<std::int64_t>(row_of_theta(fine_nside, theta));
    }

    /// For subrows first to last.
    void prepare(std::int64_t first, std::int64_t last) {
        first_ = first;
        widths_.resize(static_cast<std::size_t>(last - first + 1));
        half_widths(fine_nside_, disc_, first, widths_);
    }

    /// Between subrow and subrow + 1; negative where the disc does not reach. In between, the width has no
    /// maximum but the widest place, whose subrow may be one off.
    double operator()(std::int64_t subrow) const {
        const auto at = static_cast<std::size_t>(subrow - first_);
        const double bound = std::max(widths_[at], widths_[at + 1]);
        return std::abs(subrow - widest_subrow_) <= 1 ? std::max(bound, widest_) : bound;
    }

  private:
    std::int64_t fine_nside_;
    Disc disc_;
    double widest_ = -1;
    std::int64_t widest_subrow_ = -2;
    std::int64_t first_ = 0;
    std::vector<double> widths_;
};

/// The pixels of a row that reach a longitude, as real k: those up to `east` have something west of it, those
/// from `west` on something east of it. The slice is at most `away` (0 to 1) of the rows' distance from the
/// row, and no nearer; outwards: away from the pole. turns: longitude / (pi/2).
struct Reach {
    double west, east;
};

// In the belt a pixel is a square on its corner in the plane of longitude and row.
Reach belt_reach(std::int64_t nside, std::int64_t row, double turns, double away) {
    const double k = turns * static_cast<double>(nside) - 0.5 * static_cast<double>(row_shift(nside, row));
    return {k - 0.5 * (1 - away), k + 0.5 * (1 - away)};
}

// In a quarter of a cap, at distance rho of rows from the pole and the fraction f of the quarter, pixel k of
// row i has f rho from k + max(0, rho - i) to k + 1 + min(0, rho - i).
Reach cap_reach(std::int64_t from_pole, double turns, double away, bool outwards) {
    const double quarter = std::floor(turns), i = static_cast<double>(from_pole);
    const double place = (turns - quarter) * (outwards ? i + away : i - away);
    return {quarter * i + place - 1 + (outwards ? 0 : away), quarter * i + place - (outwards ? away : 0)};
}

/// The pixels of a row that overlap the disc, from the bounds of its width in 2 fact slices of the row.
void append_overlaps(Ranges& ranges, std::int64_t nside, std::int64_t row, const Disc& disc,
                     const WidthBounds& bounds, std::int64_t fact) {
    const bool south = row > 2 * nside;
    const std::int64_t from_pole = std::min(row, 4 * nside - row);
    double west = HUGE_VAL, east = -HUGE_VAL;
    for (std::int64_t slice = -fact; slice < fact; ++slice) {
        const double width = bounds(row * fact + slice);
        if (width < 0) continue;
        if (width + angle_margin >= pi) return append_row(ranges, nside, row, 0, row_length(nside, row) - 1);
        const double away = static_cast<double>(slice < 0 ? -slice - 1 : slice) / static_cast<double>(fact);
        const bool outwards = (slice >= 0) != south;
        const bool in_cap = from_pole < nside || (from_pole == nside && !outwards);
        auto reach = [&](double phi) {
            const double turns = phi * (2 / pi);
            return in_cap ? cap_reach(from_pole, turns, away, outwards) : belt_reach(nside, row, turns, away);
        };
        west = std::min(west, reach(disc.phi - width - angle_margin).west);
        east = std::max(east, reach(disc.phi + width + angle_margin).east);
    }
    if (west > east) return;
    const double margin = 0x1p-48 * static_cast<double>(row_length(nside, row));  // of the products above
    append_row(ranges, nside, row, static_cast<std::int64_t>(std::ceil(west - margin)),
               static_cast<std::int64_t>(std::floor(east + margin)));
}

}  // namespace

Ranges disc_overlaps(std::int64_t nside, const Disc& disc, const Rows& rows, std::int64_t fact) {
    const Disc wider{disc.theta, disc.phi, std::min(pi, disc.radius + angle_margin)};
    WidthBounds bounds(fact * nside, wider);
    // Rows whose subrows are worked out together.
    const std::int64_t chunk = std::max<std::int64_t>(1, 1024 / fact);
    Ranges ranges;
    const core::InterruptionPoll poll;
    for (std::int64_t begin = rows.first; begin <= rows.last; begin += chunk) {
        poll();
        const std::int64_t last = std::min(begin + chunk - 1, rows.last);
        bounds.prepare((begin - 1) * fact, (last + 1) * fact);
        for (std::int64_t row = begin; row <= last; ++row)
            append_overlaps(ranges, nside, row, disc, bounds, fact);
    }
    return ranges;
}

}  // namespace zonal::healpix
