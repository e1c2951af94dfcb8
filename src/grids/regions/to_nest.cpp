#include <algorithm>

#include "grids/healpix_pixel.hpp"
#include "grids/regions/region_rows.hpp"

namespace zonal::healpix {
namespace {

/// Which of some pixels are in a set of ranges.
enum class Share { none, some, all };

/// Finds a set's pixels in nest order: a square of pixels of a face is one range of nest numbers, and on each
/// row of the grid it is one range of ring numbers. Squares that the set holds in part are cut in four.
class NestRanges {
  public:
    NestRanges(std::int64_t nside, const Ranges& ring_ranges) : nside_(nside), ring_ranges_(ring_ranges) {
        first_row_ = row_pixel_of_ring(nside, ring_ranges.front().first).i;
        last_row_ = row_pixel_of_ring(nside, ring_ranges.back().end - 1).i;
        std::size_t index = 0;
        for (std::int64_t row = first_row_; row <= last_row_; ++row) {
            const std::int64_t start = row_start(nside, row);
            while (index + 1 < ring_ranges.size() && ring_ranges[index].end <= start) ++index;
            first_range_.push_back(index);
        }
    }

    void add_square(const FacePixel& south, std::int64_t side) {
        const Share share = share_of(south, side);
        if (share == Share::none) return;
        if (share == Share::all) {
            const std::int64_t first = nest_of_face_pixel(nside_, south);
            return append(ranges_, {first, first + side * side});
        }
        const std::int64_t half = side / 2;
        for (const std::int64_t y : {south.y, south.y + half})
            for (const std::int64_t x : {south.x, south.x + half}) add_square({south.face, x, y}, half);
    }

    Ranges take() { return std::move(ranges_); }

  private:
    Share share_of(const FacePixel& south, std::int64_t side) const {
        const std::int64_t far = side - 1;
        const std::int64_t top = to_row_pixel(nside_, {south.face, south.x + far, south.y + far}).i;
        const std::int64_t begin = std::max(top, first_row_), end = std::min(top + 2 * far, last_row_) + 1;
        if (begin >= end) return Share::none;
        // A square with rows beyond the set's is not all in it.
        const Share share = share_of_row(south, side, begin - top, begin);
        if (share != Share::none && end - begin <= 2 * far) return Share::some;
        for (std::int64_t row = begin + 1; row < end && share != Share::some; ++row)
            if (share_of_row(south, side, row - top, row) != share) return Share::some;
        return share;
    }

    /// Of the square's pixels in a row, `down` rows below its northern corner.
    Share share_of_row(const FacePixel& south, std::int64_t side, std::int64_t down, std::int64_t row) const {
        const std::int64_t far = side - 1, x = south.x + std::max<std::int64_t>(0, far - down);
        const std::int64_t y = south.y + std::min(far, 2 * far - down),
                           count = std::min(down, 2 * far - down) + 1;
        const std::int64_t first = ring_of_row_pixel(nside_, to_row_pixel(nside_, {south.face, x, y}));
        const std::int64_t row_begin = row_start(nside_, row), row_end = row_begin + row_length(nside_, row);
        if (first + count <= row_end) return share_of_range(row, {first, first + count});
        // The square lies across longitude 0.
        const Share east = share_of_range(row, {row_begin, first + count - (row_end - row_begin)});
        return east == share_of_range(row, {first, row_end}) ? east : Share::some;
    }

    Share share_of_range(std::int64_t row, const Range& pixels) const {
        auto index = first_range_[static_cast<std::size_t>(row - first_row_)];
        while (index < ring_ranges_.size() && ring_ranges_[index].end <= pixels.first) ++index;
        if (index == ring_ranges_.size() || ring_ranges_[index].first >= pixels.end) return Share::none;
        return ring_ranges_[index].first <= pixels.first && ring_ranges_[index].end >= pixels.end
                   ? Share::all
                   : Share::some;
    }

    std::int64_t nside_;
    const Ranges& ring_ranges_;
    std::int64_t first_row_, last_row_;
    std::vector<std::size_t> first_range_;  ///< the first range that ends beyond the row's start
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
