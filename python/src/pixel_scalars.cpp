// zonal.healpy's functions of one pixel or direction, which make no arrays on their way. Each returns None
// for arguments that are not single numbers, and for some of those that are not valid: its caller then goes
// the way of arrays, which has the words for the error.

#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "numpy.hpp"
#include "zonal/grids/healpix_batch.hpp"
#include "zonal/grids/healpix_regions.hpp"

namespace zonal::python {
namespace {

using healpix::Angles;
using healpix::Order;
using nb::handle;
using Int = std::int64_t;

constexpr double pi = std::numbers::pi;

Order order_of(handle nest) {
    return truth(nest) ? Order::nest : Order::ring;
}

// Degrees as NumPy has them, to the last bit.
double degrees(double radians) {
    return radians * (180 / pi);
}
double radians(double degrees) {
    return degrees * (pi / 180);
}

/// Angles from theta and phi, or from longitude and latitude.
std::optional<Angles> angles_of(handle theta, handle phi, handle lonlat) {
    const auto first = numpy().real(theta), second = numpy().real(phi);
    if (!first || !second) return {};
    if (!truth(lonlat)) return Angles{*first, *second};
    if (!(std::abs(*second) <= 90)) return {};
    return Angles{radians(90 - *second), radians(*first)};
}

nb::object angles_to_python(const Angles& angles, bool lonlat) {
    if (lonlat)
        return nb::make_tuple(numpy().scalar(degrees(angles.phi)),
                              numpy().scalar(90 - degrees(angles.theta)));
    return nb::make_tuple(numpy().scalar(angles.theta), numpy().scalar(angles.phi));
}

Answer ang2pix(handle nside, handle theta, handle phi, handle nest, handle lonlat) {
    const auto size = numpy().integer(nside);
    if (!size) return nb::none();
    const auto angles = angles_of(theta, phi, lonlat);
    if (!angles) return nb::none();
    return numpy().scalar(healpix::ang2pix(*size, order_of(nest), *angles));
}

Answer pix2ang(handle nside, handle pixel, handle nest, handle lonlat) {
    const auto size = numpy().integer(nside), number = numpy().integer(pixel);
    if (!size || !number) return nb::none();
    return angles_to_python(healpix::pix2ang(*size, order_of(nest), *number), truth(lonlat));
}

Answer vec2pix(handle nside, handle x, handle y, handle z, handle nest) {
    const auto size = numpy().integer(nside);
    if (!size) return nb::none();
    const auto a = numpy().real(x), b = numpy().real(y), c = numpy().real(z);
    if (!a || !b || !c) return nb::none();
    return numpy().scalar(healpix::vec2pix(*size, order_of(nest), {*a, *b, *c}));
}

Answer pix2vec(handle nside, handle pixel, handle nest) {
    const auto size = numpy().integer(nside), number = numpy().integer(pixel);
    if (!size || !number) return nb::none();
    const auto [x, y, z] = healpix::pix2vec(*size, order_of(nest), *number);
    return nb::make_tuple(numpy().scalar(x), numpy().scalar(y), numpy().scalar(z));
}

Answer ring2nest(handle nside, handle pixel) {
    const auto size = numpy().integer(nside), number = numpy().integer(pixel);
    if (!size || !number) return nb::none();
    return numpy().scalar(healpix::ring2nest(*size, *number));
}

Answer nest2ring(handle nside, handle pixel) {
    const auto size = numpy().integer(nside), number = numpy().integer(pixel);
    if (!size || !number) return nb::none();
    return numpy().scalar(healpix::nest2ring(*size, *number));
}

Answer pix2xyf(handle nside, handle pixel, handle nest) {
    const auto size = numpy().integer(nside), number = numpy().integer(pixel);
    if (!size || !number) return nb::none();
    const auto [face, x, y] = healpix::pix2xyf(*size, order_of(nest), *number);
    return nb::make_tuple(numpy().scalar(x), numpy().scalar(y), numpy().scalar(face));
}

Answer xyf2pix(handle nside, handle x, handle y, handle face, handle nest) {
    const auto size = numpy().integer(nside), a = numpy().integer(x), b = numpy().integer(y),
               f = numpy().integer(face);
    if (!size || !a || !b || !f) return nb::none();
    return numpy().scalar(healpix::xyf2pix(*size, order_of(nest), {*f, *a, *b}));
}

Answer ang2vec(handle theta, handle phi, handle lonlat) {
    const auto angles = angles_of(theta, phi, lonlat);
    if (!angles || !(angles->theta >= 0 && angles->theta <= pi)) return nb::none();
    const double sine = std::sin(angles->theta);
    auto [array, v] = numpy().vector<double>(3);
    v[0] = sine * std::cos(angles->phi);
    v[1] = sine * std::sin(angles->phi);
    v[2] = std::cos(angles->theta);
    return array;
}

Answer vec2ang(handle values, handle lonlat) {
    const auto vector = numpy().vector_of_three(values);
    if (!vector) return nb::none();
    const auto [x, y, z] = *vector;
    if ((x == 0 && y == 0 && z == 0) || !std::isfinite(x + y + z)) return nb::none();
    const double theta = std::atan2(std::hypot(x, y), z), angle = std::atan2(y, x);
    const double phi = angle < 0 ? angle + 2 * pi : angle;
    const auto first = numpy().vector<double>(1), second = numpy().vector<double>(1);
    const bool in_degrees = truth(lonlat);
    *first.data = in_degrees ? degrees(phi) : theta;
    *second.data = in_degrees ? 90 - degrees(theta) : phi;
    return nb::make_tuple(first.array, second.array);
}

/// theta: the pixel where phi is None.
Answer neighbours(handle nside, handle theta, handle phi, handle nest, handle lonlat) {
    const auto size = numpy().integer(nside);
    if (!size) return nb::none();
    const Order order = order_of(nest);
    std::optional<Int> pixel;
    if (phi.is_none()) {
        pixel = numpy().integer(theta);
    } else if (const auto angles = angles_of(theta, phi, lonlat)) {
        pixel = healpix::ang2pix(*size, order, *angles);
    }
    if (!pixel) return nb::none();
    const auto around = healpix::neighbours(*size, order, *pixel);
    auto [array, data] = numpy().vector<Int>(std::ssize(around));
    std::copy(around.begin(), around.end(), data);
    return array;
}

/// theta: the pixel where phi is None.
Answer interpolation_weights(handle nside, handle theta, handle phi, handle nest, handle lonlat) {
    const auto size = numpy().integer(nside);
    if (!size) return nb::none();
    const Order order = order_of(nest);
    std::optional<Angles> angles;
    if (!phi.is_none())
        angles = angles_of(theta, phi, lonlat);
    else if (const auto pixel = numpy().integer(theta))
        angles = healpix::pix2ang(*size, order, *pixel);
    if (!angles) return nb::none();
    const auto pixels = numpy().vector<Int>(4);
    const auto weights = numpy().vector<double>(4);
    healpix::interpolation_weights(*size, order, {&angles->theta, {1}}, {&angles->phi, {1}},
                                   View<Int, 2>(pixels.data, {4, 1}), View<double, 2>(weights.data, {4, 1}),
                                   1);
    return nb::make_tuple(pixels.array, weights.array);
}

template <class T>
std::optional<double> interpolated(handle map, Order order, const Angles& angles) {
    nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu> values;
    if (!nb::try_cast(map, values, false)) return {};
    double value = 0;
    healpix::interpolate<T>(order, {values.data(), {1, static_cast<Int>(values.size())}},
                            {&angles.theta, {1}}, {&angles.phi, {1}}, View<double, 2>(&value, {1, 1}), 1);
    return value;
}

Answer interpolate(handle map, handle theta, handle phi, handle nest, handle lonlat) {
    if (!numpy().is_plain_array(map)) return nb::none();
    const auto angles = angles_of(theta, phi, lonlat);
    if (!angles) return nb::none();
    const Order order = order_of(nest);
    auto value = interpolated<double>(map, order, *angles);
    if (!value) value = interpolated<float>(map, order, *angles);
    if (!value) return nb::none();
    return numpy().scalar(*value);
}

Answer boundaries(handle nside, handle pixel, handle step, handle nest) {
    const auto size = numpy().integer(nside), number = numpy().integer(pixel), steps = numpy().integer(step);
    if (!size || !number || !steps || *steps < 1) return nb::none();
    healpix::pix2xyf(*size, order_of(nest), *number);  // checks them before there is memory for a large step
    auto [array, data] = numpy().matrix<double>(3, 4 * *steps);
    healpix::boundaries(*size, order_of(nest), {&*number, {1}}, *steps,
                        View<double, 3>(data, {1, 3, 4 * *steps}), 1);
    return array;
}

/// Passes None on, too: the functions for arrays refuse it by the argument's name.
template <class Result, class... Arguments>
void define(nb::module_& module, const char* name, Result (*function)(Arguments...)) {
    module.def(name, function, (static_cast<void>(sizeof(Arguments)), nb::arg().none())...);
}

}  // namespace

void bind_pixel_scalars(nb::module_& module) {
    numpy();  // imports it now, not in the first call
    define(module, "ang2pix_one", &ang2pix);
    define(module, "pix2ang_one", &pix2ang);
    define(module, "vec2pix_one", &vec2pix);
    define(module, "pix2vec_one", &pix2vec);
    define(module, "ring2nest_one", &ring2nest);
    define(module, "nest2ring_one", &nest2ring);
    define(module, "pix2xyf_one", &pix2xyf);
    define(module, "xyf2pix_one", &xyf2pix);
    define(module, "ang2vec_one", &ang2vec);
    define(module, "vec2ang_one", &vec2ang);
    define(module, "neighbours_one", &neighbours);
    define(module, "interpolation_weights_one", &interpolation_weights);
    define(module, "interpolate_one", &interpolate);
    define(module, "boundaries_one", &boundaries);
}

}  // namespace zonal::python
