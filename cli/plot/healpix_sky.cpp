#include <fmt/core.h>

#include "plot/plot.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"

namespace zonal::plot {

namespace {

template <class T>
SkyFunction nearest_pixel(std::int64_t nside, std::span<const T> map, healpix::Order order) {
    healpix::check_nside(nside, order);
    if (static_cast<std::int64_t>(map.size()) != healpix::n_pixels(nside))
        throw InvalidArgument("map", fmt::format("has {} pixels, must have 12 nside^2 = {} for nside = {}",
                                                 map.size(), healpix::n_pixels(nside), nside));
    return [=](double theta, double phi) {
        return static_cast<double>(map[healpix::ang2pix(nside, order, healpix::Angles{theta, phi})]);
    };
}

}  // namespace

SkyFunction healpix_ring(std::int64_t nside, std::span<const double> map) {
    return nearest_pixel(nside, map, healpix::Order::ring);
}

SkyFunction healpix_ring(std::int64_t nside, std::span<const float> map) {
    return nearest_pixel(nside, map, healpix::Order::ring);
}

SkyFunction healpix_nest(std::int64_t nside, std::span<const double> map) {
    return nearest_pixel(nside, map, healpix::Order::nest);
}

SkyFunction healpix_nest(std::int64_t nside, std::span<const float> map) {
    return nearest_pixel(nside, map, healpix::Order::nest);
}

}  // namespace zonal::plot
