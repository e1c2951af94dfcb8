#include "zonal/healpix.hpp"

#include <fmt/core.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <numbers>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "numpy.hpp"
#include "zonal/grids/healpix_batch.hpp"
#include "zonal/grids/healpix_regions.hpp"
#include "zonal/memory.hpp"

namespace zonal::python {
namespace {

using healpix::Order;
using Int = std::int64_t;
using Doubles = HostArrayOfRank<const double, 1>;
using Integers = HostArrayOfRank<const Int, 1>;

Order order_of(bool nest) {
    return nest ? Order::nest : Order::ring;
}

/// A new array for n results.
template <class T>
struct Output {
    explicit Output(std::size_t n) : Output(numpy().vector<T>(static_cast<Int>(n)), static_cast<Int>(n)) {}

    nb::object array;
    View<T, 1> view;

  private:
    Output(Made<T> made, Int n) : array(std::move(made.array)), view(made.data, {n}) {}
};

Answer ang2pix(Int nside, bool nest, const Doubles& theta, const Doubles& phi, int threads) {
    const Output<Int> pixels(theta.size());
    without_gil([&] {
        healpix::ang2pix(nside, order_of(nest), view_of<1>(theta), view_of<1>(phi), pixels.view, threads);
    });
    return pixels.array;
}

Answer pix2ang(Int nside, bool nest, const Integers& pixels, int threads) {
    const Output<double> theta(pixels.size()), phi(pixels.size());
    without_gil(
        [&] { healpix::pix2ang(nside, order_of(nest), view_of<1>(pixels), theta.view, phi.view, threads); });
    return nb::make_tuple(theta.array, phi.array);
}

Answer vec2pix(Int nside, bool nest, const Doubles& x, const Doubles& y, const Doubles& z, int threads) {
    const Output<Int> pixels(x.size());
    without_gil([&] {
        healpix::vec2pix(nside, order_of(nest), view_of<1>(x), view_of<1>(y), view_of<1>(z), pixels.view,
                         threads);
    });
    return pixels.array;
}

Answer pix2vec(Int nside, bool nest, const Integers& pixels, int threads) {
    const Output<double> x(pixels.size()), y(pixels.size()), z(pixels.size());
    without_gil([&] {
        healpix::pix2vec(nside, order_of(nest), view_of<1>(pixels), x.view, y.view, z.view, threads);
    });
    return nb::make_tuple(x.array, y.array, z.array);
}

Answer pix2xyf(Int nside, bool nest, const Integers& pixels, int threads) {
    const Output<Int> x(pixels.size()), y(pixels.size()), face(pixels.size());
    without_gil([&] {
        healpix::pix2xyf(nside, order_of(nest), view_of<1>(pixels), x.view, y.view, face.view, threads);
    });
    return nb::make_tuple(x.array, y.array, face.array);
}

Answer xyf2pix(Int nside, bool nest, const Integers& x, const Integers& y, const Integers& face,
               int threads) {
    const Output<Int> pixels(x.size());
    without_gil([&] {
        healpix::xyf2pix(nside, order_of(nest), view_of<1>(x), view_of<1>(y), view_of<1>(face), pixels.view,
                         threads);
    });
    return pixels.array;
}

Answer ring2nest(Int nside, const Integers& pixels, int threads) {
    const Output<Int> nest(pixels.size());
    without_gil([&] { healpix::ring2nest(nside, view_of<1>(pixels), nest.view, threads); });
    return nest.array;
}

Answer nest2ring(Int nside, const Integers& pixels, int threads) {
    const Output<Int> ring(pixels.size());
    without_gil([&] { healpix::nest2ring(nside, view_of<1>(pixels), ring.view, threads); });
    return ring.array;
}

/// Rings are counted from 0.
Answer rings_of_pixels(Int nside, const Integers& pixels) {
    const Output<Int> rings(pixels.size());
    without_gil([&] {
        const auto view = view_of<1>(pixels);
        for (Int i = 0; i < view.size(); ++i) rings.view[i] = healpix::ring_of_pixel(nside, view[i]);
    });
    return rings.array;
}

void neighbours(Int nside, bool nest, const Integers& pixels, const HostArrayOfRank<Int, 2>& around,
                int threads) {
    without_gil(
        [&] { healpix::neighbours(nside, order_of(nest), view_of<1>(pixels), view_of<2>(around), threads); });
}

void interpolation_weights(Int nside, bool nest, const Doubles& theta, const Doubles& phi,
                           const HostArrayOfRank<Int, 2>& pixels, const HostArrayOfRank<double, 2>& weights,
                           int threads) {
    without_gil([&] {
        healpix::interpolation_weights(nside, order_of(nest), view_of<1>(theta), view_of<1>(phi),
                                       view_of<2>(pixels), view_of<2>(weights), threads);
    });
}

template <class T>
void interpolate(bool nest, const HostArrayOfRank<const T, 2>& maps, const Doubles& theta, const Doubles& phi,
                 const HostArrayOfRank<double, 2>& values, int threads) {
    without_gil([&] {
        healpix::interpolate<T>(order_of(nest), view_of<2>(maps), view_of<1>(theta), view_of<1>(phi),
                                view_of<2>(values), threads);
    });
}

void boundaries(Int nside, bool nest, const Integers& pixels, Int step,
                const HostArrayOfRank<double, 3>& points, int threads) {
    without_gil([&] {
        healpix::boundaries(nside, order_of(nest), view_of<1>(pixels), step, view_of<3>(points), threads);
    });
}

/// Returns the pixels of query() one by one, or [n, 2], first and end of each range. brief: the query takes
/// no longer than it takes to let other threads of Python run.
template <class Query>
Answer found(bool as_ranges, const Query& query, bool brief = false) {
    healpix::Ranges ranges;
    if (brief)
        ranges = query();
    else
        without_gil([&] { ranges = query(); });
    if (as_ranges) {
        auto [array, data] = numpy().matrix<Int>(std::ssize(ranges), 2);
        for (const auto& [first, end] : ranges) {
            *data++ = first;
            *data++ = end;
        }
        return array;
    }
    const Int n = healpix::count_pixels(ranges);
    if (!brief)
        require_memory(static_cast<double>(n) * sizeof(Int),
                       fmt::format("a list of {} pixels (ranges need less: return_ranges = True)", n));
    const auto [array, data] = numpy().vector<Int>(n);
    const View<Int, 1> pixels(data, {n});
    if (brief)
        healpix::list_pixels(ranges, pixels);
    else
        without_gil([&] { healpix::list_pixels(ranges, pixels); });
    return array;
}

healpix::QueryOptions options_of(bool inclusive, Int fact, bool nest) {
    return {.order = order_of(nest), .inclusive = inclusive, .fact = fact};
}

/// Returns None for arguments that are not plain numbers, a vector of three and a positive fact.
Answer query_disc(nb::handle nside, nb::handle vec, nb::handle radius, nb::handle inclusive, nb::handle fact,
                  nb::handle nest, nb::handle as_ranges) {
    const auto size = numpy().integer(nside), steps = numpy().integer(fact);
    const auto angle = numpy().real(radius);
    const auto centre = numpy().vector_of_three(vec);
    if (!size || !steps || *steps < 1 || !angle || !centre) return nb::none();
    const bool overlaps = truth(inclusive);
    // The limit of fact depends on nside, and centres do not need it.
    const auto options = options_of(overlaps, overlaps ? *steps : 1, truth(nest));
    const double within = std::numbers::pi < *angle ? std::numbers::pi : *angle;
    const bool brief = within * static_cast<double>(*size) * static_cast<double>(options.fact) < 32;
    return found(
        truth(as_ranges),
        [&] { return healpix::query_disc(*size, healpix::vec2ang(*centre), within, options); }, brief);
}

Answer query_strip(Int nside, double theta_1, double theta_2, bool inclusive, bool nest, bool as_ranges) {
    return found(as_ranges, [&] {
        return healpix::query_strip(nside, theta_1, theta_2,
                                    {.order = order_of(nest), .inclusive = inclusive});
    });
}

Answer query_polygon(Int nside, const std::vector<healpix::Vector>& vertices, bool inclusive, Int fact,
                     bool nest, bool as_ranges) {
    return found(as_ranges,
                 [&] { return healpix::query_polygon(nside, vertices, options_of(inclusive, fact, nest)); });
}

}  // namespace

void bind_healpix(nb::module_& module) {
    module.def("max_pixel_radius", &healpix::max_pixel_radius);
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
    module.def("query_disc", &query_disc, nb::arg().none(), nb::arg().none(), nb::arg().none(),
               nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none());
    module.def("query_strip", &query_strip);
    module.def("query_polygon", &query_polygon);
}

}  // namespace zonal::python
