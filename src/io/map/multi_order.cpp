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
                                 const std::string& source, const MemoryCheck& check_memory) {
    if (unique.empty()) throw InvalidArgument("multi-order map without cells");
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges;  // of pixels of the finest order there is
    cells_.reserve(unique.size());
    ranges.reserve(unique.size());
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
    is_finer_ =
        std::any_of(cells_.begin(), cells_.end(), [&](const Cell& cell) { return cell.order > order_; });
    const int shift = 2 * (max_order - order_);
    // Calls visit(first, end) for pixels that the cells reach, each pixel once: small cells may share one.
    const auto for_ranges = [&](const auto& visit) {
        std::int64_t next = 0;
        for (const auto& [first, end] : ranges) {
            const std::int64_t begin = std::max(next, first >> shift);
            next = std::max(next, ((end - 1) >> shift) + 1);
            visit(begin, next);
        }
    };
    for_ranges([&](std::int64_t first, std::int64_t end) { n_pixels_ += end - first; });
    const bool is_partial = n_pixels_ < n_pixels_of(order_);
    const double bytes_of_pixels = is_partial ? sizeof(std::int64_t) * static_cast<double>(n_pixels_) : 0;
    const double bytes_of_ranges = sizeof(ranges[0]) * static_cast<double>(ranges.size());  // gone by then
    check_memory(bytes_of_pixels + std::max(0.0, bytes_of_spreading(1) - bytes_of_ranges),
                 fmt::format("{}: nside {} for a multi-order map (a smaller one: multi_order_nside, "
                             "--multi-order-nside)",
                             source, std::int64_t{1} << order_));
    if (!is_partial) return;
    pixels_.reserve(static_cast<std::size_t>(n_pixels_));
    for_ranges([&](std::int64_t first, std::int64_t end) {
        for (std::int64_t pixel = first; pixel < end; ++pixel) {
            poll();
            pixels_.push_back(pixel);
        }
    });
}

double MultiOrderCells::bytes_of_spreading(std::size_t n_columns) const {
    const auto bytes = [](std::int64_t values) { return sizeof(double) * static_cast<double>(values); };
    // The last column has all pixels first, with the areas of finer cells, and then those that cells reach.
    const auto n_whole = n_pixels_of(order_);
    const double last = bytes(n_whole) * (is_finer_ ? 2 : 1) + (n_pixels_ < n_whole ? bytes(n_pixels_) : 0);
    return static_cast<double>(n_columns - 1) * bytes(n_pixels_) + last;
}

HealpixPixels MultiOrderCells::pixelization() const {
    return {std::int64_t{1} << order_, healpix::Order::nest};
}

std::vector<double> MultiOrderCells::spread(const std::vector<double>& values) const {
    std::vector<double> map(static_cast<std::size_t>(n_pixels_of(order_)), unseen_value);
    std::vector<double> areas(is_finer_ ? map.size()
                                        : 0);  // that a pixel has of finer cells, share of its own
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
    for (std::size_t i = 0; i < areas.size(); ++i)
        if (areas[i] > 0) map[i] /= areas[i];
    if (pixels_.empty()) return map;
    std::vector<double> part;
    part.reserve(pixels_.size());
    for (const auto pixel : pixels_) part.push_back(map[static_cast<std::size_t>(pixel)]);
    return part;
}

namespace {

/// A pixel by its number as a cell, 4 nside^2 plus the nested pixel number, and the place of its value in
/// the map's columns.
struct PlacedCell {
    std::int64_t unique, place;
};

void sort_by_number(std::vector<PlacedCell>& cells) {
    core::RarePoll poll;
    std::sort(cells.begin(), cells.end(), [&](const PlacedCell& a, const PlacedCell& b) {
        poll();
        return a.unique < b.unique;
    });
}

/// The pixels that are not UNSEEN in every column, in nest order.
std::vector<PlacedCell> seen_pixels(const MapFile& map, const HealpixPixels& pixels) {
    const std::int64_t n = map.partial() ? std::ssize(map.pixels) : full_sky_size(pixels);
    const std::int64_t first_cell = 4 * pixels.nside * pixels.nside;
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
    std::vector<PlacedCell> seen;
    seen.reserve(numbers.size());
    core::RarePoll poll;
    for (std::int64_t i = 0; i < n; ++i) {
        poll();
        const std::int64_t number = numbers[static_cast<std::size_t>(i)];
        const auto [nested, place] = map.partial() ? std::pair(number, i) : std::pair(i, number);
        const auto unseen = [place = place](const MapColumn& column) {
            return is_unseen_value(column.values[static_cast<std::size_t>(place)]);
        };
        if (!std::all_of(map.columns.begin(), map.columns.end(), unseen))
            seen.push_back({first_cell + nested, place});
    }
    if (!map.partial()) return seen;
    sort_by_number(seen);
    const auto twice =
        std::adjacent_find(seen.begin(), seen.end(),
                           [](const PlacedCell& a, const PlacedCell& b) { return a.unique == b.unique; });
    if (twice != seen.end())
        throw InvalidArgument("pixels",
                              fmt::format("nested pixel {} occurs twice", twice->unique - first_cell));
    return seen;
}

/// Whether the last four of n cells are the children of one cell and agree.
bool are_one(const MapFile& map, const std::vector<PlacedCell>& cells, std::size_t n) {
    constexpr std::int64_t first_child = 16;  // below are the twelve cells that have no parent
    if (n < 4) return false;
    const auto* const four = &cells[n - 4];
    if (four[0].unique < first_child || four[0].unique % 4 != 0) return false;
    for (int i = 1; i < 4; ++i)
        if (four[i].unique != four[0].unique + i) return false;
    return std::all_of(map.columns.begin(), map.columns.end(), [&](const MapColumn& column) {
        const auto value = [&](int i) { return column.values[static_cast<std::size_t>(four[i].place)]; };
        return value(0) == value(1) && value(0) == value(2) && value(0) == value(3);
    });
}

}  // namespace

double bytes_of_merging(std::int64_t n_pixels) {
    constexpr double bytes_of_cell = sizeof(PlacedCell) + 2 * sizeof(std::int64_t);  // and as it is returned
    return bytes_of_cell * static_cast<double>(n_pixels);
}

MergedCells merge_cells(const MapFile& map) {
    const auto* pixels = std::get_if<HealpixPixels>(&map.pixelization);
    if (pixels == nullptr || !healpix::is_valid_nside(pixels->nside, healpix::Order::nest))
        throw InvalidArgument(
            fmt::format("multi-order map of {}: must be HEALPix pixels of an nside that is a power of 2",
                        to_string(map.pixelization)));
    const auto n_pixels = map.partial() ? std::ssize(map.pixels) : full_sky_size(*pixels);
    require_memory(bytes_of_merging(n_pixels), fmt::format("a multi-order map of {} pixels", n_pixels));
    auto cells = seen_pixels(map, *pixels);
    if (cells.empty()) throw InvalidArgument("every pixel is UNSEEN: a multi-order map would have no cells");
    std::size_t n = 0;
    core::RarePoll poll;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        poll();
        cells[n++] = cells[i];
        for (; are_one(map, cells, n); n -= 3) cells[n - 4].unique /= 4;  // which is the parent's number
    }
    cells.resize(n);
    sort_by_number(cells);
    MergedCells merged;
    merged.unique.reserve(n);
    merged.places.reserve(n);
    for (const auto& [unique, place] : cells) {
        merged.unique.push_back(unique);
        merged.places.push_back(place);
    }
    merged.finest_order = order_of(merged.unique.back());
    return merged;
}

}  // namespace zonal::io
