#include "io/map/multi_order.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"
#include "zonal/memory.hpp"

namespace zonal::io {
namespace {

constexpr int max_order = 29;

std::int64_t n_pixels_of(int order) {
    return std::int64_t{12} << (2 * order);
}

}  // namespace

MultiOrderCells::MultiOrderCells(const std::vector<std::int64_t>& unique, std::optional<std::int64_t> nside,
                                 const std::string& source) {
    if (unique.empty()) throw InvalidArgument("multi-order map without cells");
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges;  // of pixels of the finest order there is
    for (const auto number : unique) {
        const int order = number < 4 ? -1 : (std::bit_width(static_cast<std::uint64_t>(number)) - 3) / 2;
        const auto pixel = order < 0 ? -1 : number - (std::int64_t{4} << (2 * order));
        if (order < 0 || order > max_order || pixel >= n_pixels_of(order))
            throw InvalidArgument(fmt::format("UNIQ = {}: must be 4 nside^2 plus a pixel number", number));
        cells_.push_back({order, pixel});
        order_ = std::max(order_, order);
        const int shift = 2 * (max_order - order);
        ranges.emplace_back(pixel << shift, (pixel + 1) << shift);
    }
    std::sort(ranges.begin(), ranges.end());
    for (std::size_t i = 1; i < ranges.size(); ++i)
        if (ranges[i].first < ranges[i - 1].second)
            throw InvalidArgument("cells of a multi-order map overlap: must be pixels that share no area");
    if (nside) {
        if (!healpix::is_valid_nside(*nside, healpix::Order::nest))
            throw InvalidArgument("nside", *nside, "must be a power of 2 up to 2^29 for a multi-order map");
        order_ = std::countr_zero(static_cast<std::uint64_t>(*nside));
    }
    require_memory(2 * sizeof(double) * static_cast<double>(n_pixels_of(order_)),
                   fmt::format("{}: nside {} for a multi-order map (a smaller one: multi_order_nside, "
                               "--multi-order-nside)",
                               source, std::int64_t{1} << order_));
    const int shift = 2 * (max_order - order_);
    std::int64_t next = 0;
    for (const auto& [first, end] : ranges)
        for (next = std::max(next, first >> shift); next < ((end - 1) >> shift) + 1; ++next)
            pixels_.push_back(next);
    if (std::ssize(pixels_) == n_pixels_of(order_)) pixels_ = {};
}

HealpixPixels MultiOrderCells::pixelization() const {
    return {std::int64_t{1} << order_, healpix::Order::nest};
}

std::vector<double> MultiOrderCells::spread(const std::vector<double>& values) const {
    std::vector<double> map(static_cast<std::size_t>(n_pixels_of(order_)), unseen_value);
    std::vector<double> areas(map.size());  // of finer cells that a pixel has, as a part of its own
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        const auto [order, pixel] = cells_[i];
        if (order <= order_) {
            const int shift = 2 * (order_ - order);
            std::fill_n(map.begin() + (pixel << shift), std::int64_t{1} << shift, values[i]);
        } else if (!is_unseen_value(values[i])) {
            const int shift = 2 * (order - order_);
            const auto at = static_cast<std::size_t>(pixel >> shift);
            const double area = 1 / static_cast<double>(std::int64_t{1} << shift);
            map[at] = (areas[at] > 0 ? map[at] : 0) + area * values[i];
            areas[at] += area;
        }
    }
    for (std::size_t i = 0; i < map.size(); ++i)
        if (areas[i] > 0) map[i] /= areas[i];
    if (pixels_.empty()) return map;
    std::vector<double> part;
    part.reserve(pixels_.size());
    for (const auto pixel : pixels_) part.push_back(map[static_cast<std::size_t>(pixel)]);
    return part;
}

}  // namespace zonal::io
