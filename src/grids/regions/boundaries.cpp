#include <fmt/core.h>

#include <array>
#include <cmath>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "grids/batch/checks.hpp"
#include "grids/healpix_pixel.hpp"
#include "zonal/error.hpp"
#include "zonal/grids/healpix_regions.hpp"

namespace zonal::healpix {
namespace {

/// A point of a face, 0 <= x, y <= nside, as to_row_pixel for real coordinates.
Vector point_of_face(std::int64_t nside, std::int64_t face, double x, double y) {
    const double n = static_cast<double>(nside), quarter = static_cast<double>(face % 4);
    const std::int64_t southern_corner = face / 4 + 2;  // of the face, in rows of nside
    const double row = static_cast<double>(southern_corner) * n - x - y;
    const double from_pole = std::min(row, 4 * n - row);
    const bool south = row > 2 * n;
    double turns, z, s;
    if (from_pole < n) {
        const double fraction = from_pole > 0 ? (south ? x : n - y) / from_pole : 0;
        const double t = from_pole * from_pole / (3 * n * n);  // 1 - |cos theta|
        turns = quarter + fraction;
        z = south ? t - 1 : 1 - t;
        s = std::sqrt(t * (2 - t));
    } else {
        turns = quarter + (face / 4 == 1 ? 0 : 0.5) + (x - y) / (2 * n);
        z = (2 - row / n) * 2 / 3;
        s = std::sqrt((1 - z) * (1 + z));
    }
    const double phi = turns * (core::pi / 2);
    return {s * std::cos(phi), s * std::sin(phi), z};
}

}  // namespace

void boundaries(std::int64_t nside, Order order, ConstView<std::int64_t, 1> pixels, std::int64_t step,
                View<double, 3> points, int threads) {
    check_nside(nside, order);
    const std::int64_t n = pixels.size();
    if (step < 1) throw InvalidArgument("step", step, "must be positive");
    if (points.extent(0) != n || points.extent(1) != 3 || points.extent(2) != 4 * step)
        throw InvalidArgument("points",
                              fmt::format("shape [{}, {}, {}]: must be [{}, 3, {}]", points.extent(0),
                                          points.extent(1), points.extent(2), n, 4 * step));
    if (n > 0 && (pixels.space() != MemorySpace::host || points.space() != MemorySpace::host))
        throw InvalidArgument("pixels and points", "must be in host memory");
    for (std::int64_t k = 0; k < n; ++k) check_element(nside, pixels, k);
    // From N to W, W to S, S to E, E to N.
    constexpr std::array corner_x{1, 0, 0, 1}, corner_y{1, 1, 0, 0}, towards_x{-1, 0, 1, 0},
        towards_y{0, -1, 0, 1};
    constexpr std::int64_t task = 1024;  // pixels: longer than a thread takes to start
    core::parallel_for((n + task - 1) / task, core::resolve_threads(threads), [&](std::int64_t index, int) {
        for (std::int64_t k = index * task; k < std::min(n, (index + 1) * task); ++k) {
            const FacePixel pixel = to_face_pixel(nside, order, pixels[k]);
            for (std::int64_t at = 0; at < 4 * step; ++at) {
                const auto side = static_cast<std::size_t>(at / step);
                const double along = static_cast<double>(at % step) / static_cast<double>(step);
                const double x = static_cast<double>(pixel.x + corner_x[side]) + towards_x[side] * along;
                const double y = static_cast<double>(pixel.y + corner_y[side]) + towards_y[side] * along;
                const Vector point = point_of_face(nside, pixel.face, x, y);
                for (std::int64_t c = 0; c < 3; ++c) points(k, c, at) = point[static_cast<std::size_t>(c)];
            }
        }
    });
}

}  // namespace zonal::healpix
