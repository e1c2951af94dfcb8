#include <array>
#include <optional>

#include "grids/healpix_pixel.hpp"
#include "zonal/healpix.hpp"

namespace zonal::healpix {
namespace {

/// Face east (+1) or west (-1) of a face in the same row of four.
std::int64_t beside(std::int64_t face, std::int64_t step) {
    return face / 4 * 4 + (face + step + 4) % 4;
}

// Gorski et al. (2005), figure 4: how the twelve faces touch. east, west: -1, 0 or 1, the side on which x and
// y leave the face (the corner where x = y = nside is its north, x = y = 0 its south). Across an edge between
// two faces of a cap the axes turn by a quarter, across the pole by a half. At the corners where three faces
// meet there is nothing.
std::optional<FacePixel> across(std::int64_t nside, FacePixel pixel, int x_side, int y_side) {
    const std::int64_t last = 2 * nside - 1, quarter = pixel.face % 4;
    const auto [face, x, y] = pixel;
    const bool opposite_corner = x_side * y_side < 0;
    switch (face / 4) {
        case 0:
            if (opposite_corner) return {};
            if (x_side > 0 && y_side > 0) return FacePixel{beside(face, 2), last - x, last - y};
            if (x_side > 0) return FacePixel{beside(face, 1), y, last - x};
            if (y_side > 0) return FacePixel{beside(face, -1), last - y, x};
            if (x_side < 0 && y_side < 0) return FacePixel{8 + quarter, x + nside, y + nside};
            if (x_side < 0) return FacePixel{4 + quarter, x + nside, y};
            return FacePixel{4 + (quarter + 1) % 4, x, y + nside};
        case 1:
            if (x_side * y_side > 0) return {};
            if (opposite_corner)
                return FacePixel{beside(face, x_side), x - x_side * nside, y - y_side * nside};
            if (x_side > 0) return FacePixel{quarter, x - nside, y};
            if (y_side > 0) return FacePixel{beside(quarter, -1), x, y - nside};
            if (x_side < 0) return FacePixel{beside(8 + quarter, -1), x + nside, y};
            return FacePixel{8 + quarter, x, y + nside};
        default:
            if (opposite_corner) return {};
            if (x_side < 0 && y_side < 0) return FacePixel{beside(face, 2), -1 - x, -1 - y};
            if (x_side < 0) return FacePixel{beside(face, -1), y, -1 - x};
            if (y_side < 0) return FacePixel{beside(face, 1), -1 - y, x};
            if (x_side > 0 && y_side > 0) return FacePixel{quarter, x - nside, y - nside};
            if (x_side > 0) return FacePixel{4 + (quarter + 1) % 4, x - nside, y};
            return FacePixel{4 + quarter, x, y - nside};
    }
}

/// -1 below 0, 1 from nside on, else 0.
int side(std::int64_t nside, std::int64_t coordinate) {
    return coordinate < 0 ? -1 : coordinate >= nside ? 1 : 0;
}

}  // namespace

std::array<std::int64_t, 8> neighbours(std::int64_t nside, Order order, std::int64_t pixel) {
    check_pixel(nside, order, pixel);
    const FacePixel centre = to_face_pixel(nside, order, pixel);
    std::array<std::int64_t, 8> found{};
    for (std::size_t direction = 0; direction < found.size(); ++direction) {
        const FacePixel step{centre.face, centre.x + neighbour_steps_x[direction],
                             centre.y + neighbour_steps_y[direction]};
        const int x_side = side(nside, step.x), y_side = side(nside, step.y);
        const auto neighbour =
            x_side == 0 && y_side == 0 ? std::optional(step) : across(nside, step, x_side, y_side);
        found[direction] = neighbour ? to_pixel(nside, order, *neighbour) : -1;
    }
    return found;
}

}  // namespace zonal::healpix
