#include "zonal/sky/udgrade.hpp"

#include <fmt/core.h>

#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"

namespace zonal {
namespace {

/// coarse, fine: [pixel], nest order. A coarse pixel holds fine.size() / coarse.size() fine ones, side by
/// side.
void degrade(View<const double, 1> fine, View<double, 1> coarse, const UdgradeOptions& options) {
    const auto children = fine.size() / coarse.size();
    for (std::int64_t pixel = 0; pixel < coarse.size(); ++pixel) {
        double sum = 0;
        std::int64_t good = 0;
        for (auto child = pixel * children; child < (pixel + 1) * children; ++child) {
            if (is_unseen_value(fine[child])) continue;
            sum += fine[child];
            ++good;
        }
        const bool unseen = good == 0 || (options.pessimistic && good < children);
        const double divisor = options.combine == Combine::mean ? static_cast<double>(good) : 1;
        coarse[pixel] = unseen ? unseen_value : sum / divisor;
    }
}

void upgrade(View<const double, 1> coarse, View<double, 1> fine, const UdgradeOptions& options) {
    const auto children = fine.size() / coarse.size();
    const double divisor = options.combine == Combine::mean ? 1 : static_cast<double>(children);
    for (std::int64_t child = 0; child < fine.size(); ++child) {
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

SkyMap udgrade(const SkyMap& map, std::int64_t nside, const UdgradeOptions& options) {
    require_udgradable(map.header());
    healpix::check_nside(nside, healpix::Order::nest);
    SkyMap result(map, HealpixPixels{nside, std::get<HealpixPixels>(map.header().pixelization).ordering});
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row) {
        auto of_row = options;
        if (map.column(row).auxiliary == Auxiliary::hits) of_row.combine = Combine::sum;
        udgrade(map.rows()[row], result.rows()[row], of_row);
    }
    return result;
}

}  // namespace zonal
