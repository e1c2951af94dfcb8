#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "grids/healpix_pixel.hpp"
#include "masks/nearest.hpp"

namespace zonal::masks {

/// Pixels x from x to x_end - 1 and y from y to y_end - 1 of a face.
struct Square {
    std::int64_t face, x, y, x_end, y_end;

    std::int64_t width() const { return std::max(x_end - x, y_end - y); }
    bool is_leaf() const { return width() <= 8; }
    static_assert(8 * 8 == leaf_pixels);

    /// Four of them, or two of a square that is one pixel wide.
    std::vector<Square> parts() const {
        const std::int64_t x_half = (x + x_end + 1) / 2, y_half = (y + y_end + 1) / 2;
        std::vector<Square> result;
        for (const auto& [x0, x1] : {std::pair(x, x_half), std::pair(x_half, x_end)})
            for (const auto& [y0, y1] : {std::pair(y, y_half), std::pair(y_half, y_end)})
                if (x0 < x1 && y0 < y1) result.push_back({face, x0, y0, x1, y1});
        return result;
    }
};

/// Calls visit(pixel, x, y, n) for all pixels of a square, row by row: of x + k, y - k the ring number is
/// pixel + k, for k from 0 to n - 1.
template <class Visit>
void for_each_run(std::int64_t nside, const Square& square, const Visit& visit) {
    const auto run = [&](std::int64_t sum, std::int64_t first, std::int64_t end) {
        if (first >= end) return;
        const auto start = healpix::to_row_pixel(nside, {square.face, first, sum - first});
        visit(healpix::ring_of_row_pixel(nside, start), first, sum - first, end - first);
    };
    for (auto sum = square.x + square.y; sum <= square.x_end + square.y_end - 2; ++sum) {
        const auto first = std::max(square.x, sum - square.y_end + 1),
                   end = std::min(square.x_end, sum - square.y + 1);
        // The rows of face 4 begin anew in its middle, at phi = 0.
        const auto middle = square.face == 4 ? std::clamp((sum + 1) / 2, first, end) : end;
        run(sum, first, middle);
        run(sum, middle, end);
    }
}

}  // namespace zonal::masks
