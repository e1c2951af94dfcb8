#include "io/map/multi_order.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "core/interruption.hpp"
#include "zonal/error.hpp"
#include "zonal/grids/healpix_batch.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"
#include "zonal/memory.hpp"

namespace zonal::io {
namespace {

constexpr int max_order = 29;

std::int64_t n_pixels_of(int order) {
    return std::int64_t{12} << (2 * order);
}

/// The order of a cell, by its number; -1 for numbers below that of the first cell.
int order_of(std::int64_t unique) {
    return unique < 4 ? -1 : (std::bit_width(static_cast<std::uint64_t>(unique)) - 3) / 2;
}

}  // namespace

MultiOrderCells::MultiOrderCells(const std::vector<std::int64_t>& unique, std::optional<std::int64_t> nside,
                                 const std::string& source) {
    if (unique.empty()) throw InvalidArgument("multi-order map without cells");
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges;  // of pixels of the finest order there is
    for (const auto number : unique) {
        const int order = order_of(number);
        const auto pixel = order < 0 ? -1 : number - (std::int64_t{4} << (2 * order));
        if (order < 0 || order > max_order || pixel >= n_pixels_of(order))
            throw InvalidArgument(fmt::format("UNIQ = {}: must be 4 nside^2 plus a pixel number", number));
        cells_.push_back({order, pixel});
        order_ = std::max(order_, order);
        const int shift = 2 * (max_order - order);
        ranges.emplace_back(pixel << shift, (pixel + 1) << shift);
    }
    core::RarePoll poll;
    std::sort(ranges.begin(), ranges.end(), [&](const auto& a, const auto& b) {
        poll();
        return a < b;
    });
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
    core::RarePoll poll;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        poll();
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

namespace {

/// The number of a nested pixel or cell, and the place of its value in the map's columns.
struct Leaf {
    std::int64_t number, place;
};

void sort_by_number(std::vector<Leaf>& leaves) {
    core::RarePoll poll;
    std::sort(leaves.begin(), leaves.end(), [&](const Leaf& a, const Leaf& b) {
        poll();
        return a.number < b.number;
    });
}

/// The pixels that are not UNSEEN in every column, in nest order.
std::vector<Leaf> leaves_of(const MapFile& map, const HealpixPixels& pixels) {
    const std::int64_t n = map.partial() ? std::ssize(map.pixels) : full_sky_size(pixels);
    const bool ring = pixels.ordering == healpix::Order::ring;
    std::vector<std::int64_t> numbers = map.pixels;
    if (!map.partial()) {
        numbers.resize(static_cast<std::size_t>(n));
        std::iota(numbers.begin(), numbers.end(), 0);
    }
    const View<std::int64_t, 1> view(numbers.data(), {n});
    // For a full sky, `numbers` becomes the place of each nested pixel; for a partial one, the nested pixel
    // at each place.
    if (ring && map.partial()) healpix::ring2nest(pixels.nside, view, view);
    if (ring && !map.partial()) healpix::nest2ring(pixels.nside, view, view);
    std::vector<Leaf> leaves;
    leaves.reserve(numbers.size());
    core::RarePoll poll;
    for (std::int64_t i = 0; i < n; ++i) {
        poll();
        const std::int64_t number = numbers[static_cast<std::size_t>(i)];
        const Leaf leaf = map.partial() ? Leaf{number, i} : Leaf{i, number};
        const auto unseen = [&](const MapColumn& column) {
            return is_unseen_value(column.values[static_cast<std::size_t>(leaf.place)]);
        };
        if (!std::all_of(map.columns.begin(), map.columns.end(), unseen)) leaves.push_back(leaf);
    }
    if (!map.partial()) return leaves;
    sort_by_number(leaves);
    const auto twice = std::adjacent_find(leaves.begin(), leaves.end(),
                                          [](const Leaf& a, const Leaf& b) { return a.number == b.number; });
    if (twice != leaves.end())
        throw InvalidArgument("pixels", "nested pixel " + std::to_string(twice->number) + " occurs twice");
    return leaves;
}

/// Whether a leaf and the three behind it are the children of one pixel and agree.
bool merge(const MapFile& map, const std::vector<Leaf>& leaves, std::size_t first) {
    const Leaf& leaf = leaves[first];
    if (leaf.number % 4 != 0 || first + 3 >= leaves.size() || leaves[first + 3].number != leaf.number + 3)
        return false;
    return std::all_of(map.columns.begin(), map.columns.end(), [&](const MapColumn& column) {
        const auto value = [&](std::size_t i) {
            return column.values[static_cast<std::size_t>(leaves[first + i].place)];
        };
        return value(0) == value(1) && value(0) == value(2) && value(0) == value(3);
    });
}

}  // namespace

MergedCells merge_cells(const MapFile& map) {
    const auto* pixels = std::get_if<HealpixPixels>(&map.pixelization);
    if (pixels == nullptr || !healpix::is_valid_nside(pixels->nside, healpix::Order::nest))
        throw InvalidArgument(
            fmt::format("multi-order map of {}: must be HEALPix pixels of an nside that is a power of 2",
                        to_string(map.pixelization)));
    constexpr double bytes_of_pixel = 40;  // leaves, cells that grow, or cells and what they become
    const auto n = map.partial() ? std::ssize(map.pixels) : full_sky_size(*pixels);
    require_memory(bytes_of_pixel * static_cast<double>(n), fmt::format("a multi-order map of {} pixels", n));
    std::vector<Leaf> leaves = leaves_of(map, *pixels), cells, parents;
    core::RarePoll poll;
    for (int order = std::countr_zero(static_cast<std::uint64_t>(pixels->nside)); order >= 0; --order) {
        for (std::size_t i = 0; i < leaves.size();) {
            poll();
            if (order > 0 && merge(map, leaves, i)) {
                parents.push_back({leaves[i].number / 4, leaves[i].place});
                i += 4;
            } else {
                cells.push_back({(std::int64_t{4} << (2 * order)) + leaves[i].number, leaves[i].place});
                ++i;
            }
        }
        leaves = std::exchange(parents, {});
    }
    if (cells.empty()) throw InvalidArgument("every pixel is UNSEEN: a multi-order map would have no cells");
    sort_by_number(cells);
    MergedCells merged;
    merged.unique.reserve(cells.size());
    merged.places.reserve(cells.size());
    for (const auto& [unique, place] : cells) {
        merged.unique.push_back(unique);
        merged.places.push_back(place);
    }
    merged.finest_order = order_of(merged.unique.back());
    return merged;
}

}  // namespace zonal::io
