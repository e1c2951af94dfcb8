// A plain C face of the functions of HEALPix pixels in batches. nest: 0 for ring order.

#include <algorithm>
#include <vector>

#include "shim_guard.hpp"
#include "zonal/grids/healpix_batch.hpp"
#include "zonal/grids/healpix_regions.hpp"

namespace {

using zonal::View;
namespace healpix = zonal::healpix;
using Integer = std::int64_t;

healpix::Order order_of(int nest) {
    return nest != 0 ? healpix::Order::nest : healpix::Order::ring;
}

/// values: [n]
template <class T>
View<T, 1> view(T* values, Integer n) {
    return {values, {n}};
}

healpix::QueryOptions query_options(int nest, int inclusive, Integer fact) {
    return {.order = order_of(nest), .inclusive = inclusive != 0, .fact = fact};
}

/// Null on failure.
template <class Query>
healpix::Ranges* new_ranges(const Query& query) {
    healpix::Ranges* result = nullptr;
    guarded([&] { result = new healpix::Ranges(query()); });
    return result;
}

}  // namespace

extern "C" {

int zonal_ang2pix(Integer nside, int nest, const double* theta, const double* phi, Integer* pixels, Integer n,
                  int threads) {
    return guarded([&] {
        healpix::ang2pix(nside, order_of(nest), view(theta, n), view(phi, n), view(pixels, n), threads);
    });
}

int zonal_pix2ang(Integer nside, int nest, const Integer* pixels, double* theta, double* phi, Integer n,
                  int threads) {
    return guarded([&] {
        healpix::pix2ang(nside, order_of(nest), view(pixels, n), view(theta, n), view(phi, n), threads);
    });
}

int zonal_vec2pix(Integer nside, int nest, const double* x, const double* y, const double* z, Integer* pixels,
                  Integer n, int threads) {
    return guarded([&] {
        healpix::vec2pix(nside, order_of(nest), view(x, n), view(y, n), view(z, n), view(pixels, n), threads);
    });
}

int zonal_pix2vec(Integer nside, int nest, const Integer* pixels, double* x, double* y, double* z, Integer n,
                  int threads) {
    return guarded([&] {
        healpix::pix2vec(nside, order_of(nest), view(pixels, n), view(x, n), view(y, n), view(z, n), threads);
    });
}

int zonal_ring2nest(Integer nside, const Integer* pixels, Integer* nest, Integer n, int threads) {
    return guarded([&] { healpix::ring2nest(nside, view(pixels, n), view(nest, n), threads); });
}

int zonal_nest2ring(Integer nside, const Integer* pixels, Integer* ring, Integer n, int threads) {
    return guarded([&] { healpix::nest2ring(nside, view(pixels, n), view(ring, n), threads); });
}

int zonal_neighbours(Integer nside, int nest, const Integer* pixels, Integer* around, Integer n,
                     int threads) {
    return guarded([&] {
        healpix::neighbours(nside, order_of(nest), view(pixels, n), {around, {8, n}}, threads);
    });
}

int zonal_interpolation_weights(Integer nside, int nest, const double* theta, const double* phi,
                                Integer* pixels, double* weights, Integer n, int threads) {
    return guarded([&] {
        healpix::interpolation_weights(nside, order_of(nest), view(theta, n), view(phi, n), {pixels, {4, n}},
                                       {weights, {4, n}}, threads);
    });
}

int zonal_interpolate(Integer n_pixels, int nest, const double* map, const double* theta, const double* phi,
                      double* values, Integer n, int threads) {
    return guarded([&] {
        healpix::interpolate<double>(order_of(nest), {map, {1, n_pixels}}, view(theta, n), view(phi, n),
                                     {values, {1, n}}, threads);
    });
}
int zonal_interpolate_float(Integer n_pixels, int nest, const float* map, const double* theta,
                            const double* phi, double* values, Integer n, int threads) {
    return guarded([&] {
        healpix::interpolate<float>(order_of(nest), {map, {1, n_pixels}}, view(theta, n), view(phi, n),
                                    {values, {1, n}}, threads);
    });
}

/// points: [n, 3, 4 step]
int zonal_boundaries(Integer nside, int nest, const Integer* pixels, Integer step, double* points, Integer n,
                     int threads) {
    return guarded([&] {
        healpix::boundaries(nside, order_of(nest), view(pixels, n), step, {points, {n, 3, 4 * step}},
                            threads);
    });
}

healpix::Ranges* zonal_query_disc(Integer nside, const double* centre, double radius, int nest, int inclusive,
                                  Integer fact) {
    return new_ranges([&] {
        return healpix::query_disc(nside, healpix::vec2ang({centre[0], centre[1], centre[2]}), radius,
                                   query_options(nest, inclusive, fact));
    });
}
healpix::Ranges* zonal_query_strip(Integer nside, double theta_1, double theta_2, int nest, int inclusive,
                                   Integer fact) {
    return new_ranges(
        [&] { return healpix::query_strip(nside, theta_1, theta_2, query_options(nest, inclusive, fact)); });
}
/// vertices: [n, 3]
healpix::Ranges* zonal_query_polygon(Integer nside, const double* vertices, Integer n, int nest,
                                     int inclusive, Integer fact) {
    return new_ranges([&] {
        std::vector<healpix::Vector> corners;
        for (Integer k = 0; k < n; ++k)
            corners.push_back({vertices[3 * k], vertices[3 * k + 1], vertices[3 * k + 2]});
        return healpix::query_polygon(nside, corners, query_options(nest, inclusive, fact));
    });
}

Integer zonal_ranges_count(const healpix::Ranges* ranges) {
    return healpix::count_pixels(*ranges);
}
Integer zonal_ranges_size(const healpix::Ranges* ranges) {
    return std::ssize(*ranges);
}
/// limits: [size, 2]
void zonal_ranges_copy(const healpix::Ranges* ranges, Integer* limits) {
    for (const auto& [first, end] : *ranges) {
        *limits++ = first;
        *limits++ = end;
    }
}
int zonal_ranges_list(const healpix::Ranges* ranges, Integer* pixels, Integer n) {
    return guarded([&] { healpix::list_pixels(*ranges, view(pixels, n)); });
}
void zonal_ranges_free(healpix::Ranges* ranges) {
    delete ranges;
}

}  // extern "C"
