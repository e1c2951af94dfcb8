#include "zonal/healpix.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/grids/healpix_batch.hpp"
#include "zonal/grids/healpix_regions.hpp"

namespace zonal::python {
namespace {

using healpix::Order;
using Int = std::int64_t;
using Doubles = HostArrayOfRank<const double, 1>;
using Integers = HostArrayOfRank<const Int, 1>;

Order order_of(bool nest) {
    return nest ? Order::nest : Order::ring;
}

template <class T>
View<T, 1> view_of_vector(std::vector<T>& values) {
    return {values.data(), {static_cast<Int>(values.size())}};
}

/// Calls work() without the GIL.
template <class Work>
void run(const Work& work) {
    without_gil(nb::none(), [&](const Progress&) { work(); });
}

auto ang2pix(Int nside, bool nest, const Doubles& theta, const Doubles& phi, int threads) {
    std::vector<Int> pixels(theta.size());
    run([&] {
        healpix::ang2pix(nside, order_of(nest), view_of<1>(theta), view_of<1>(phi), view_of_vector(pixels),
                         threads);
    });
    return to_numpy(std::move(pixels));
}

auto pix2ang(Int nside, bool nest, const Integers& pixels, int threads) {
    std::vector<double> theta(pixels.size()), phi(theta);
    run([&] {
        healpix::pix2ang(nside, order_of(nest), view_of<1>(pixels), view_of_vector(theta),
                         view_of_vector(phi), threads);
    });
    return std::tuple(to_numpy(std::move(theta)), to_numpy(std::move(phi)));
}

auto vec2pix(Int nside, bool nest, const Doubles& x, const Doubles& y, const Doubles& z, int threads) {
    std::vector<Int> pixels(x.size());
    run([&] {
        healpix::vec2pix(nside, order_of(nest), view_of<1>(x), view_of<1>(y), view_of<1>(z),
                         view_of_vector(pixels), threads);
    });
    return to_numpy(std::move(pixels));
}

auto pix2vec(Int nside, bool nest, const Integers& pixels, int threads) {
    std::vector<double> x(pixels.size()), y(x), z(x);
    run([&] {
        healpix::pix2vec(nside, order_of(nest), view_of<1>(pixels), view_of_vector(x), view_of_vector(y),
                         view_of_vector(z), threads);
    });
    return std::tuple(to_numpy(std::move(x)), to_numpy(std::move(y)), to_numpy(std::move(z)));
}

auto pix2xyf(Int nside, bool nest, const Integers& pixels, int threads) {
    std::vector<Int> x(pixels.size()), y(x), face(x);
    run([&] {
        healpix::pix2xyf(nside, order_of(nest), view_of<1>(pixels), view_of_vector(x), view_of_vector(y),
                         view_of_vector(face), threads);
    });
    return std::tuple(to_numpy(std::move(x)), to_numpy(std::move(y)), to_numpy(std::move(face)));
}

auto xyf2pix(Int nside, bool nest, const Integers& x, const Integers& y, const Integers& face, int threads) {
    std::vector<Int> pixels(x.size());
    run([&] {
        healpix::xyf2pix(nside, order_of(nest), view_of<1>(x), view_of<1>(y), view_of<1>(face),
                         view_of_vector(pixels), threads);
    });
    return to_numpy(std::move(pixels));
}

auto ring2nest(Int nside, const Integers& pixels, int threads) {
    std::vector<Int> nest(pixels.size());
    run([&] { healpix::ring2nest(nside, view_of<1>(pixels), view_of_vector(nest), threads); });
    return to_numpy(std::move(nest));
}

auto nest2ring(Int nside, const Integers& pixels, int threads) {
    std::vector<Int> ring(pixels.size());
    run([&] { healpix::nest2ring(nside, view_of<1>(pixels), view_of_vector(ring), threads); });
    return to_numpy(std::move(ring));
}

/// Rings are counted from 0.
auto rings_of_pixels(Int nside, const Integers& pixels) {
    std::vector<Int> rings(pixels.size());
    run([&] {
        const auto view = view_of<1>(pixels);
        for (Int i = 0; i < view.size(); ++i)
            rings[static_cast<std::size_t>(i)] = healpix::ring_of_pixel(nside, view[i]);
    });
    return to_numpy(std::move(rings));
}

void neighbours(Int nside, bool nest, const Integers& pixels, const HostArrayOfRank<Int, 2>& around,
                int threads) {
    run([&] { healpix::neighbours(nside, order_of(nest), view_of<1>(pixels), view_of<2>(around), threads); });
}

void interpolation_weights(Int nside, bool nest, const Doubles& theta, const Doubles& phi,
                           const HostArrayOfRank<Int, 2>& pixels, const HostArrayOfRank<double, 2>& weights,
                           int threads) {
    run([&] {
        healpix::interpolation_weights(nside, order_of(nest), view_of<1>(theta), view_of<1>(phi),
                                       view_of<2>(pixels), view_of<2>(weights), threads);
    });
}

template <class T>
void interpolate(bool nest, const HostArrayOfRank<const T, 2>& maps, const Doubles& theta, const Doubles& phi,
                 const HostArrayOfRank<double, 2>& values, int threads) {
    run([&] {
        healpix::interpolate<T>(order_of(nest), view_of<2>(maps), view_of<1>(theta), view_of<1>(phi),
                                view_of<2>(values), threads);
    });
}

void boundaries(Int nside, bool nest, const Integers& pixels, Int step,
                const HostArrayOfRank<double, 3>& points, int threads) {
    run([&] {
        healpix::boundaries(nside, order_of(nest), view_of<1>(pixels), step, view_of<3>(points), threads);
    });
}

/// Returns the pixels of query() one by one, or [first, end] of each range, as the one vector
/// first, end, first, end, ...
template <class Query>
auto found(bool as_ranges, const Query& query) {
    std::vector<Int> numbers;
    run([&] {
        const healpix::Ranges ranges = query();
        if (!as_ranges) {
            numbers = healpix::list_pixels(ranges);
            return;
        }
        numbers.reserve(2 * ranges.size());
        for (const auto& range : ranges) numbers.insert(numbers.end(), {range.first, range.end});
    });
    return to_numpy(std::move(numbers));
}

healpix::QueryOptions options_of(bool inclusive, Int fact, bool nest) {
    return {.order = order_of(nest), .inclusive = inclusive, .fact = fact};
}

auto query_disc(Int nside, const healpix::Vector& centre, double radius, bool inclusive, Int fact, bool nest,
                bool as_ranges) {
    return found(as_ranges, [&] {
        return healpix::query_disc(nside, healpix::vec2ang(centre), radius,
                                   options_of(inclusive, fact, nest));
    });
}

auto query_strip(Int nside, double theta_1, double theta_2, bool inclusive, bool nest, bool as_ranges) {
    return found(as_ranges, [&] {
        return healpix::query_strip(nside, theta_1, theta_2,
                                    {.order = order_of(nest), .inclusive = inclusive});
    });
}

auto query_polygon(Int nside, const std::vector<healpix::Vector>& vertices, bool inclusive, Int fact,
                   bool nest, bool as_ranges) {
    return found(as_ranges,
                 [&] { return healpix::query_polygon(nside, vertices, options_of(inclusive, fact, nest)); });
}

/// One pixel or direction: no arrays.
void bind_single_pixels(nb::module_& module) {
    module.def("ang2pix_one", [](Int nside, bool nest, double theta, double phi) {
        return healpix::ang2pix(nside, order_of(nest), healpix::Angles{theta, phi});
    });
    module.def("pix2ang_one", [](Int nside, bool nest, Int pixel) {
        const auto angles = healpix::pix2ang(nside, order_of(nest), pixel);
        return std::tuple(angles.theta, angles.phi);
    });
    module.def("vec2pix_one", [](Int nside, bool nest, double x, double y, double z) {
        return healpix::vec2pix(nside, order_of(nest), {x, y, z});
    });
    module.def("pix2vec_one", [](Int nside, bool nest, Int pixel) {
        const auto v = healpix::pix2vec(nside, order_of(nest), pixel);
        return std::tuple(v[0], v[1], v[2]);
    });
    module.def("ring2nest_one", [](Int nside, Int pixel) { return healpix::ring2nest(nside, pixel); });
    module.def("nest2ring_one", [](Int nside, Int pixel) { return healpix::nest2ring(nside, pixel); });
    module.def("max_pixel_radius", &healpix::max_pixel_radius);
}

}  // namespace

void bind_healpix(nb::module_& module) {
    bind_single_pixels(module);
    module.def("ang2pix", &ang2pix);
    module.def("pix2ang", &pix2ang);
    module.def("vec2pix", &vec2pix);
    module.def("pix2vec", &pix2vec);
    module.def("pix2xyf", &pix2xyf);
    module.def("xyf2pix", &xyf2pix);
    module.def("ring2nest", &ring2nest);
    module.def("nest2ring", &nest2ring);
    module.def("rings_of_pixels", &rings_of_pixels);
    module.def("neighbours", &neighbours, nb::arg(), nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg());
    module.def("interpolation_weights", &interpolation_weights, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
               nb::arg().noconvert(), nb::arg().noconvert(), nb::arg());
    module.def("interpolate", &interpolate<double>, nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(),
               nb::arg().noconvert(), nb::arg());
    module.def("interpolate", &interpolate<float>, nb::arg(), nb::arg().noconvert(), nb::arg(), nb::arg(),
               nb::arg().noconvert(), nb::arg());
    module.def("boundaries", &boundaries, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().noconvert(),
               nb::arg());
    module.def("query_disc", &query_disc);
    module.def("query_strip", &query_strip);
    module.def("query_polygon", &query_polygon);
}

}  // namespace zonal::python
