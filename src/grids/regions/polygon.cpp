#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/constants.hpp"
#include "grids/healpix_pixel.hpp"
#include "grids/regions/region_rows.hpp"
#include "zonal/error.hpp"

namespace zonal::healpix {
namespace {

using core::pi;

constexpr double eps = 0x1p-52;

Vector operator-(const Vector& a, const Vector& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
Vector operator+(const Vector& a, const Vector& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
double norm(const Vector& a) {
    return std::hypot(a[0], a[1], a[2]);
}
Vector scaled(const Vector& a, double factor) {
    return {a[0] * factor, a[1] * factor, a[2] * factor};
}
Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

std::vector<Vector> unit_vertices(std::span<const Vector> vertices) {
    if (vertices.size() < 3)
        throw InvalidArgument("vertices", fmt::format("{}: a polygon needs 3 or more", vertices.size()));
    std::vector<Vector> units;
    for (const Vector& vertex : vertices) {
        const double length = norm(vertex);
        if (!(length > 0 && std::isfinite(length)))
            throw InvalidArgument(fmt::format("vertices[{}]", units.size()),
                                  fmt::format("({}, {}, {})", vertex[0], vertex[1], vertex[2]),
                                  "must be finite and not zero");
        units.push_back({vertex[0] / length, vertex[1] / length, vertex[2] / length});
    }
    return units;
}

/// Unit normals of the sides, from vertex k to k + 1. The product of difference and sum keeps its digits
/// where vertices are close.
std::vector<Vector> side_normals(const std::vector<Vector>& vertices) {
    std::vector<Vector> normals;
    for (std::size_t k = 0; k < vertices.size(); ++k) {
        const Vector &a = vertices[k], &b = vertices[(k + 1) % vertices.size()];
        const Vector twice = cross(a - b, a + b);
        const double length = norm(twice);
        if (length < 8 * eps)
            throw InvalidArgument(
                fmt::format("vertices[{}] and [{}] agree or are opposite: no great circle is theirs alone", k,
                            (k + 1) % vertices.size()));
        normals.push_back(scaled(twice, 1 / length));
    }
    return normals;
}

/// Turns the normals inwards, or throws InvalidArgument where the polygon is not convex.
void turn_inwards(const std::vector<Vector>& vertices, std::vector<Vector>& normals) {
    // The vertex furthest from its side says which way the polygon turns.
    double furthest = 0;
    for (const Vector& normal : normals)
        for (const Vector& vertex : vertices)
            if (const double side = dot(normal, vertex); std::abs(side) > std::abs(furthest)) furthest = side;
    if (std::abs(furthest) < 8 * eps) throw InvalidArgument("vertices", "all lie on one great circle");
    for (Vector& normal : normals) normal = scaled(normal, furthest > 0 ? 1 : -1);
    for (std::size_t k = 0; k < normals.size(); ++k)
        for (std::size_t vertex = 0; vertex < vertices.size(); ++vertex)
            if (vertex != k && vertex != (k + 1) % vertices.size() &&
                dot(normals[k], vertices[vertex]) < -8 * eps)
                throw InvalidArgument(fmt::format(
                    "vertices[{}] lies outside the side from [{}] to [{}]: the polygon must be convex",
                    vertex, k, (k + 1) % vertices.size()));
}

Disc disc_around(const Vector& centre, double radius) {
    const Angles angles = vec2ang(centre);
    return {angles.theta, to_direction(angles).phi, radius};
}

/// A disc that holds the polygon and has no vertex on its rim; the whole sphere if that disc would be nearly
/// a hemisphere or larger.
Disc disc_around(const std::vector<Vector>& vertices) {
    Vector sum{0, 0, 0};
    for (const Vector& vertex : vertices) sum = sum + vertex;
    const double length = norm(sum);
    if (length < 1e-6) return {0, 0, pi};
    const Vector centre = scaled(sum, 1 / length);
    double radius = 0;
    for (const Vector& vertex : vertices)
        radius = std::max(radius, 2 * std::asin(std::min(1.0, norm(vertex - centre) / 2)));
    return radius < 0.49 * pi ? disc_around(centre, radius + 0x1p-40) : Disc{0, 0, pi};
}

}  // namespace

// The polygon is what the hemispheres on the inner sides of its sides have in common. A pixel that overlaps
// it overlaps all of them.
Ranges query_polygon(std::int64_t nside, std::span<const Vector> vertices, const QueryOptions& options) {
    check_options(nside, options);
    const std::vector<Vector> units = unit_vertices(vertices);
    std::vector<Vector> normals = side_normals(units);
    turn_inwards(units, normals);
    const Disc around = disc_around(units);
    const Rows rows = rows_to_query(nside, around, options);
    // The disc leaves out pixels near the sides' great circles that are far from a narrow polygon.
    Ranges common = ring_ranges(nside, around, rows, options);
    for (const Vector& normal : normals)
        common = intersection(common, ring_ranges(nside, disc_around(normal, pi / 2), rows, options));
    return in_order(nside, common, options.order);
}

}  // namespace zonal::healpix
