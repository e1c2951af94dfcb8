#include <algorithm>
#include <array>
#include <bit>

#include "core/interruption.hpp"
#include "grids/healpix_pixel.hpp"
#include "grids/regions/region_rows.hpp"

namespace zonal::healpix {
namespace {

/// Which of some pixels are in a set of ranges.
enum class Share { none, some, all };

/// Squares of this side are looked through pixel by pixel, with a bit for each.
constexpr std::int64_t small_side = 8;

/// Finds a set's pixels in nest order: a square of pixels of a face is one range of nest numbers, and on each
/// row of the grid it is one range of ring numbers. Squares that the set holds in part are cut in four.
class NestRanges {
  public:
    NestRanges(std::int64_t nside, const Ranges& ring_ranges) : nside_(nside), ring_ranges_(ring_ranges) {
        first_row_ = row_pixel_of_ring(nside, ring_ranges.front().first).i;
        last_row_ = row_pixel_of_ring(nside, ring_ranges.back().end - 1).i;
        auto range = ring_ranges.begin();
        for (std::int64_t row = first_row_; row <= last_row_; ++row) {
            if (row % 1024 == 0) poll_();
            const std::int64_t start = row_start(nside, row);
            range = std::find_if(range, ring_ranges.end() - 1, [&](const Range& r) { return r.end > start; });
            rows_.push_back({start, start + row_length(nside, row), &*range});
        }
    }

    void add_square(const FacePixel& south, std::int64_t side) {
        poll_();
        const Share share = share_of(south, side);
        if (share == Share::none) return;
        if (share == Share::all) {
            const std::int64_t first = nest_of_face_pixel(nside_, south);
            return append(ranges_, {first, first + side * side});
        }
        if (side <= small_side) return add_pixels(south, side);
        const std::int64_t half = side / 2;
        for (const std::int64_t y : {south.y, south.y + half})
            for (const std::int64_t x : {south.x, south.x + half}) add_square({south.face, x, y}, half);
    }

    Ranges take() { return std::move(ranges_); }

  private:
    const core::InterruptionPoll poll_;

    struct Row {
        std::int64_t start, end;
        const Range* range;  ///< the first that ends beyond the row's start, or the last
    };

    /// Calls body(x, y, pixels, range) for the square's pixels in each row of the set, until it returns
    /// false: `pixels` in ring order, from (x, y) on eastwards; `range` the first of the set that may hold
    /// some. Returns false where the square has rows beyond the set's.
    template <class Body>
    bool for_rows(const FacePixel& south, std::int64_t side, const Body& body) const {
        const std::int64_t far = side - 1, band = south.face / 4;
        const std::int64_t top = (band + 2) * nside_ - (south.x + south.y + 2 * far) - 1;
        const std::int64_t begin = std::max(top, first_row_), end = std::min(top + 2 * far, last_row_) + 1;
        // The longest rows first: they tell soonest that the set has a part of the square.
        const std::int64_t middle = std::clamp(top + far, begin, std::max(begin, end - 1));
        for (std::int64_t n = begin; n < end; ++n) {
            const std::int64_t beyond = n - begin + middle,
                               i = beyond < end ? beyond : beyond - (end - begin);
            const Row& row = rows_[static_cast<std::size_t>(i - first_row_)];
            const std::int64_t down = i - top, x = south.x + std::max<std::int64_t>(0, far - down);
            const std::int64_t y = south.y + std::min(far, 2 * far - down);
            const std::int64_t first = row.start + to_row_pixel(nside_, FacePixel{south.face, x, y}).k;
            const std::int64_t past = first + std::min(down, 2 * far - down) + 1;
            if (!body(x, y, Range{first, std::min(past, row.end)}, row.range)) break;
            // What lies east of longitude 0 in a square across it.
            const std::int64_t west = row.end - first;
            if (past > row.end &&
                !body(x + west, y - west, Range{row.start, past - west - first + row.start}, row.range))
                break;
        }
        return end - begin == 2 * far + 1;
    }

    Share share_of(const FacePixel& south, std::int64_t side) const {
        bool any = false, all = true;
        const auto look = [&](std::int64_t, std::int64_t, const Range& pixels, const Range* range) {
            range = first_behind(range, pixels.first);
            const bool in_none = range == end() || range->first >= pixels.end;
            const bool in_all = !in_none && range->first <= pixels.first && range->end >= pixels.end;
            any = any || !in_none;
            all = all && in_all;
            return all || !any;
        };
        if (!for_rows(south, side, look)) all = false;
        return !any ? Share::none : all ? Share::all : Share::some;
    }

    /// Adds those pixels of a small square that are in the set.
    void add_pixels(const FacePixel& south, std::int64_t side) {
        std::uint64_t found = 0;  // a bit for each of its nest numbers
        const auto mark = [&](std::int64_t x, std::int64_t y, const Range& pixels, const Range* range) {
            for (range = first_behind(range, pixels.first); range != end() && range->first < pixels.end;
                 ++range) {
                const std::int64_t last = std::min(range->end, pixels.end);
                for (std::int64_t k = std::max(range->first, pixels.first) - pixels.first;
                     k < last - pixels.first; ++k)
                    found |= std::uint64_t{1} << (spread(x + k - south.x) | spread(y - k - south.y) << 1);
            }
            return true;
        };
        for_rows(south, side, mark);
        const std::int64_t first = nest_of_face_pixel(nside_, south);
        for (int at = 0; at < 64 && found >> at != 0;) {
            at += std::countr_zero(found >> at);
            const int length = std::countr_one(found >> at);
            append(ranges_, {first + at, first + at + length});
            at += length;
        }
    }

    /// The three bits of a coordinate in a small square, at places 0, 2 and 4.
    static std::uint64_t spread(std::int64_t coordinate) {
        constexpr std::array<std::uint8_t, small_side> spread_bits{0, 1, 4, 5, 16, 17, 20, 21};
        return spread_bits[static_cast<std::size_t>(coordinate)];
    }

    const Range* end() const { return ring_ranges_.data() + ring_ranges_.size(); }

    /// The first range, from `range` on, that ends beyond a pixel.
    const Range* first_behind(const Range* range, std::int64_t pixel) const {
        while (range != end() && range->end <= pixel) ++range;
        return range;
    }

    std::int64_t nside_;
    const Ranges& ring_ranges_;
    std::int64_t first_row_, last_row_;
    std::vector<Row> rows_;
    Ranges ranges_;
};

}  // namespace

Ranges to_nest(std::int64_t nside, const Ranges& ring_ranges) {
    if (ring_ranges.empty()) return {};
    NestRanges nest(nside, ring_ranges);
    for (std::int64_t face = 0; face < 12; ++face) nest.add_square({face, 0, 0}, nside);
    return nest.take();
}

}  // namespace zonal::healpix
