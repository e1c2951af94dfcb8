#include "zonal/distributed/map_share.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "zonal/error.hpp"

namespace zonal {
namespace {

HealpixPixels& pixels_of(MapShare& map) {
    auto* pixels = std::get_if<HealpixPixels>(&map.file.pixelization);
    if (pixels == nullptr)
        throw InvalidArgument(
            fmt::format("{}: {}: must be a HEALPix map", map.file.source, to_string(map.file.pixelization)));
    return *pixels;
}

void move_columns(const Communicator& ranks, MapShare& map, const PixelPlaces& to) {
    std::vector<std::vector<double>*> columns;
    for (auto& column : map.file.columns) columns.push_back(&column.values);
    move_pixels(ranks, pixels_of(map).nside, map.places, to, columns);
    map.places = to;
    pixels_of(map).ordering = to.order;
}

}  // namespace

void reorder(const Communicator& ranks, MapShare& map, healpix::Order order) {
    const auto& pixels = pixels_of(map);
    if (pixels.ordering == order) return;
    healpix::check_nside(pixels.nside, healpix::Order::nest);
    move_columns(ranks, map, even_places(ranks, full_sky_size(pixels), 1, order));
}

MapShare udgrade(const Communicator& ranks, MapShare map, std::int64_t nside, const UdgradeOptions& options) {
    const auto [nside_in, order] = pixels_of(map);
    require_udgradable(map.file);
    healpix::check_nside(nside, healpix::Order::nest);
    // Pixels that are put together must be on one rank; in nest order they follow one another.
    const auto ratio = std::max(nside, nside_in) / std::min(nside, nside_in), children = ratio * ratio;
    const bool is_finer = nside > nside_in;
    const auto n_pixels = full_sky_size(map.file.pixelization);
    move_columns(ranks, map, even_places(ranks, n_pixels, is_finer ? 1 : children, healpix::Order::nest));
    pixels_of(map).nside = nside;
    for (auto& place : map.places.ranges) {
        place.first = is_finer ? place.first * children : place.first / children;
        place.end = is_finer ? place.end * children : place.end / children;
    }
    ranks.together("the pixels of a map", [&] {
        for (auto& column : map.file.columns) {
            auto of_column = options;
            if (column.auxiliary == Auxiliary::hits) of_column.combine = Combine::sum;
            std::vector<double> result(static_cast<std::size_t>(map.places.size()));
            if (!result.empty())
                udgrade_nest({column.values.data(), {std::ssize(column.values)}},
                             {result.data(), {std::ssize(result)}}, of_column);
            column.values = std::move(result);
        }
    });
    reorder(ranks, map, order);
    return map;
}

}  // namespace zonal
