#include "zonal/sky/udgrade.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/interruption.hpp"
#include "sky/sky_part.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"
#include "zonal/memory.hpp"

namespace zonal {
namespace {

/// Returns the value of a coarse pixel that holds `children` fine ones. Those that are there have the values
/// value(i) for i from `first` to before `end`.
template <class Value>
double combined(std::int64_t first, std::int64_t end, const Value& value, std::int64_t children,
                const UdgradeOptions& options) {
    double sum = 0;
    std::int64_t good = 0;
    for (auto i = first; i < end; ++i) {
        if (is_unseen_value(value(i))) continue;
        sum += value(i);
        ++good;
    }
    if (good == 0 || (options.pessimistic && good < children)) return unseen_value;
    return options.combine == Combine::mean ? sum / static_cast<double>(good) : sum;
}

/// coarse, fine: [pixel], nest order. A coarse pixel holds fine.size() / coarse.size() fine ones, side by
/// side.
void degrade(View<const double, 1> fine, View<double, 1> coarse, const UdgradeOptions& options) {
    const auto children = fine.size() / coarse.size();
    core::RarePoll poll;
    for (std::int64_t pixel = 0; pixel < coarse.size(); ++pixel) {
        poll();
        const auto value = [&](std::int64_t child) { return fine[child]; };
        coarse[pixel] = combined(pixel * children, (pixel + 1) * children, value, children, options);
    }
}

void upgrade(View<const double, 1> coarse, View<double, 1> fine, const UdgradeOptions& options) {
    const auto children = fine.size() / coarse.size();
    const double divisor = options.combine == Combine::mean ? 1 : static_cast<double>(children);
    core::RarePoll poll;
    for (std::int64_t child = 0; child < fine.size(); ++child) {
        poll();
        const double value = coarse[child / children];
        fine[child] = is_unseen_value(value) ? unseen_value : value / divisor;
    }
}

}  // namespace

void require_udgradable(const MapFile& header) {
    const auto* pixels = std::get_if<HealpixPixels>(&header.pixelization);
    if (pixels == nullptr || !healpix::is_valid_nside(pixels->nside, healpix::Order::nest))
        throw InvalidArgument(fmt::format("{}: {}: udgrade needs a HEALPix map whose nside is a power of 2{}",
                                          header.source, to_string(header.pixelization),
                                          pixels == nullptr ? "; zonal convert --nside makes one" : ""));
    for (const auto& column : header.columns)
        if (column.auxiliary == Auxiliary::error)
            throw InvalidArgument(fmt::format(
                "{}: column {}: errors and covariances do not combine like fields: leave the column out",
                header.source, column.name));
}

void udgrade_nest(View<const double, 1> map, View<double, 1> result, const UdgradeOptions& options) {
    if (result.size() <= map.size())
        degrade(map, result, options);
    else
        upgrade(map, result, options);
}

void udgrade(View<const double, 1> map, View<double, 1> result, const UdgradeOptions& options) {
    Array<double, 1> nest_in({map.size()}), nest_out({result.size()});
    healpix::ring_to_nest<double>(map, nest_in.view());
    udgrade_nest(nest_in.view(), nest_out.view(), options);
    healpix::nest_to_ring<double>(nest_out.view(), result);
}

double bytes_of_udgrade(const SkyMap& map, std::int64_t nside) {
    const double finer = static_cast<double>(nside) / static_cast<double>(map.nside());
    const double in = static_cast<double>(map.grid().n_pixels()), out = finer * finer * in;
    // A row of both in nest order; of a patch, which pixels there are.
    const double order = map.is_patch() ? 2 * in + std::max(in, out) + 2 * out : in + out;
    return 8 * (static_cast<double>(map.rows().extent(0)) * out + order);
}

namespace {

/// The options of a row: hits are always summed.
UdgradeOptions options_of(const SkyMap& map, std::int64_t row, UdgradeOptions options) {
    if (map.column(row).auxiliary == Auxiliary::hits) options.combine = Combine::sum;
    return options;
}

/// The numbers of a patch's pixels in nest order, ascending, and their places in its rows.
std::vector<std::pair<std::int64_t, std::int64_t>> in_nest_order(const SkyMap& map) {
    std::vector<std::pair<std::int64_t, std::int64_t>> pixels;
    pixels.reserve(static_cast<std::size_t>(map.grid().n_pixels()));
    for (const auto& range : map.part()->pixels())
        for (auto pixel = range.first; pixel < range.end; ++pixel)
            pixels.emplace_back(healpix::ring2nest(map.nside(), pixel), std::ssize(pixels));
    std::sort(pixels.begin(), pixels.end());
    return pixels;
}

/// Changes the nside of a patch, which stays one.
SkyMap udgrade_patch(const SkyMap& map, std::int64_t nside, const UdgradeOptions& options) {
    const auto square = [](std::int64_t n) { return n * n; };
    const auto inside = square(std::max<std::int64_t>(1, map.nside() / nside)),  // fine pixels in a result
        copies = square(std::max<std::int64_t>(1, nside / map.nside()));         // results in a pixel
    require_memory(bytes_of_udgrade(map, nside), fmt::format("{}: nside {}", map.header().source, nside));
    const auto pixels = in_nest_order(map);
    MapFile file = map.header();
    const HealpixPixels pixels_out{nside, std::get<HealpixPixels>(file.pixelization).ordering};
    file.pixelization = pixels_out;
    file.pixels.clear();
    file.pixels.reserve(pixels.size() * static_cast<std::size_t>(copies));
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const auto first = pixels[i].first / inside * copies;
        if (i > 0 && pixels[i - 1].first / inside * copies == first) continue;
        for (auto nest = first; nest < first + copies; ++nest) file.pixels.push_back(nest);
    }
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row) {
        const auto of_row = options_of(map, row, options);
        auto& values =
            file.columns[static_cast<std::size_t>(&map.column(row) - map.header().columns.data())].values;
        values.reserve(file.pixels.size());
        const auto value_of = [&](std::int64_t i) {
            return map.rows()(row, pixels[static_cast<std::size_t>(i)].second);
        };
        for (std::int64_t first = 0, end = 0; first < std::ssize(pixels); first = end) {
            const auto coarse = [&](std::int64_t i) {
                return pixels[static_cast<std::size_t>(i)].first / inside;
            };
            while (end < std::ssize(pixels) && coarse(end) == coarse(first)) ++end;
            const double value = combined(first, end, value_of, inside, of_row);
            const bool is_shared = copies > 1 && of_row.combine == Combine::sum && !is_unseen_value(value);
            values.insert(values.end(), static_cast<std::size_t>(copies),
                          is_shared ? value / static_cast<double>(copies) : value);
        }
    }
    if (pixels_out.ordering == healpix::Order::ring)
        for (auto& pixel : file.pixels) pixel = healpix::nest2ring(nside, pixel);
    return SkyMap(std::move(file), Extent::own_pixels);
}

}  // namespace

SkyMap udgrade(const SkyMap& map, std::int64_t nside, const UdgradeOptions& options) {
    require_udgradable(map.header());
    healpix::check_nside(nside, healpix::Order::nest);
    if (map.is_patch()) return udgrade_patch(map, nside, options);
    SkyMap result(map, HealpixPixels{nside, std::get<HealpixPixels>(map.header().pixelization).ordering});
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row)
        udgrade(map.rows()[row], result.rows()[row], options_of(map, row, options));
    return result;
}

}  // namespace zonal
