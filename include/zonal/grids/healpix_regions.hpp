#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "zonal/healpix.hpp"
#include "zonal/view.hpp"

/// Pixels of the HEALPix grid that lie in a region of the sphere, and the edges of pixels.
namespace zonal::healpix {

/// Pixels first to end - 1.
struct Range {
    std::int64_t first;
    std::int64_t end;
    bool operator==(const Range&) const = default;
};

/// Ascending; no two ranges touch.
using Ranges = std::vector<Range>;

std::int64_t count_pixels(const Ranges& ranges);
/// pixels: [count_pixels(ranges)], in host memory, ascending.
void list_pixels(const Ranges& ranges, View<std::int64_t, 1> pixels);
std::vector<std::int64_t> list_pixels(const Ranges& ranges);

/// Which pixels a query finds, and how it numbers them.
struct QueryOptions {
    Order order = Order::ring;
    /// False: the pixels whose centres lie in the region. A centre on an edge that two regions share belongs
    /// to one of them: two strips, a disc and the disc opposite it that holds the rest, polygons side by
    /// side. True: all pixels that overlap the region, and some that only come near it.
    bool inclusive = false;
    /// With `inclusive`, the edge of the region is followed in steps of 1 / fact of the distance of rings: a
    /// larger one finds fewer pixels that do not overlap, and takes longer. From 1 to 2^29 / nside.
    std::int64_t fact = 4;
};

/// A disc around a direction (vec2ang gives that of a vector). radius: rad, from 0 to pi. A centre on its rim
/// (within 2^-43 rad, for rounding) belongs to it if it is at the eastern end of the disc's part of its ring.
/// Where the rim only touches a ring, it belongs to it if the rest of the ring does. For a ring that lies on
/// the rim, the rule is that of query_strip. So no centre lies in a disc of radius 0.
Ranges query_disc(std::int64_t nside, const Angles& centre, double radius, const QueryOptions& options = {});

/// A strip between two colatitudes (rad, from 0 to pi); theta_1 >= theta_2: what is north of theta_2 or south
/// of theta_1. A ring at one of the two colatitudes belongs to the region north of it, or, in the southern
/// cap, to the one south of it (as far as cos theta, rounded, can tell). With `inclusive`, exactly the pixels
/// that overlap the strip are found.
Ranges query_strip(std::int64_t nside, double theta_1, double theta_2, const QueryOptions& options = {});

/// A convex polygon with sides of great circles, smaller than a hemisphere. vertices: 3 or more, of any
/// length but zero, in either sense of rotation. Throws InvalidArgument that names the vertex where the
/// polygon is not convex or two neighbouring vertices agree or are opposite.
Ranges query_polygon(std::int64_t nside, std::span<const Vector> vertices, const QueryOptions& options = {});

/// Points on the edges of pixels as unit vectors: from the northern corner over the western, southern and
/// eastern one, `step` points on each edge, the first in the corner.
/// points: [n, 3, 4 step], for n pixels, in host memory. threads: 0 means available_cpus().
void boundaries(std::int64_t nside, Order order, ConstView<std::int64_t, 1> pixels, std::int64_t step,
                View<double, 3> points, int threads = 0);

}  // namespace zonal::healpix
