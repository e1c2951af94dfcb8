#include "points/point_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "core/interruption.hpp"
#include "core/parallel.hpp"
#include "points/point_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/memory.hpp"

namespace zonal {
namespace points {
namespace {

/// Throws InvalidArgument for the first point that is nowhere.
[[noreturn]] void reject_points(View<const double, 1> theta, View<const double, 1> phi) {
    check_angles(theta, phi);
    throw Error("points: changed while their plan was made");
}

/// Places of a piece of the points, as many as a cache holds.
struct Piece {
    static constexpr std::int64_t size = 2048;
    std::int32_t row[size], column[size];
    double y_theta[size], y_phi[size];
    double copy[size];

    /// Throws InvalidArgument.
    void find(const SampleTables& t, std::int64_t width, View<const double, 1> theta,
              View<const double, 1> phi, std::int64_t first, std::int64_t count) {
        const PlaceRule in_theta{t.n, width, t.border, false, 0, std::numbers::pi},
            in_phi{t.n, width, t.border, true, -largest_phi, largest_phi};
        bool valid = find_places(in_theta, contiguous(theta, first, count), count, row, y_theta);
        valid = find_places(in_phi, contiguous(phi, first, count), count, column, y_phi) && valid;
        if (!valid) reject_points(theta, phi);
    }

  private:
    const double* contiguous(View<const double, 1> x, std::int64_t first, std::int64_t count) {
        if (x.stride(0) == 1) return x.data() + first;
        for (std::int64_t k = 0; k < count; ++k) copy[k] = x[first + k];
        return copy;
    }
};

/// Points that one thread sorts.
struct SortedPart {
    std::vector<std::int64_t> counts;  ///< [tile], then where its next point goes
    std::int32_t first_row = std::numeric_limits<std::int32_t>::max(), last_row = 0;

    void count(std::size_t tile, std::int32_t row) {
        first_row = std::min(first_row, row);
        last_row = std::max(last_row, row);
        ++counts[tile];
    }
};

/// The rows that they reach; without points, those of the north pole.
SampleRows rows_of(const std::vector<SortedPart>& parts, const SampleTables& t, std::int64_t width) {
    std::int64_t first_row = parts[0].first_row, last_row = -1;
    for (const SortedPart& part : parts) {
        first_row = std::min<std::int64_t>(first_row, part.first_row);
        last_row = std::max<std::int64_t>(last_row, part.last_row);
    }
    if (first_row > last_row) return {0, 1};
    return completed({first_row - t.border, last_row + width - t.border}, t.n);
}

/// Throws OutOfMemory.
void require_room(std::int64_t n_points, std::int64_t n_counts, std::int64_t lmax) {
    const double bytes = static_cast<double>(n_points) * sizeof(PlacedPoint) +
                         static_cast<double>(n_counts) * sizeof(std::int64_t);
    constexpr double few = 1 << 27;  // which any machine holds
    if (bytes > few) require_memory(bytes, fmt::format("a plan of {} points with lmax = {}", n_points, lmax));
}

/// Fields from which on points are sorted by their samples: sums save 2 to 3 ns for each of a point.
constexpr std::int64_t worth_sorting = 5;

/// Puts points of a tile that begin at the same sample next to each other: kernels load and store samples
/// once for these. A stable sort of pieces that a cache holds.
class TileSorter {
  public:
    void sort(PlacedPoint* points, std::int64_t count) {
        constexpr std::int64_t fewer_seldom_meet = 128;
        for (std::int64_t first = 0; first < count; first += piece)
            if (const auto n = std::min(piece, count - first); n >= fewer_seldom_meet)
                sort_piece(points + first, static_cast<std::size_t>(n));
    }

  private:
    static constexpr std::int64_t piece = 2048;

    void sort_piece(PlacedPoint* points, std::size_t n) {
        const auto sample_of = [](const PlacedPoint& point) {
            return static_cast<std::size_t>(point.row % Tile::size * Tile::size + point.column % Tile::size);
        };
        std::fill(std::begin(next_), std::end(next_), 0);
        for (std::size_t i = 0; i < n; ++i) ++next_[sample_of(points[i])];
        std::int32_t sum = 0;
        for (std::int32_t& next : next_) sum += std::exchange(next, sum);
        for (std::size_t i = 0; i < n; ++i)
            sorted_[static_cast<std::size_t>(next_[sample_of(points[i])]++)] = points[i];
        std::copy_n(sorted_, n, points);
    }

    std::int32_t next_[Tile::size * Tile::size];  ///< where the next point of each sample goes
    PlacedPoint sorted_[piece];
};

}  // namespace
}  // namespace points

PointPlan::Implementation::Implementation(const SphereSamples& made_of, View<const double, 1> theta,
                                          View<const double, 1> phi, std::int64_t n_fields)
    : samples(made_of), n_points(theta.extent(0)), by_samples(n_fields >= points::worth_sorting) {
    using points::SampleTables;
    using points::Tile;
    const auto& plan = samples.implementation();
    points::check_arrays(theta, phi, points::space_of(plan));
    if (plan.on_cuda) {
        if (n_points > points::cuda::most_points)
            throw InvalidArgument("theta and phi", fmt::format("have {} points: must be up to {} on a GPU",
                                                               n_points, points::cuda::most_points));
        on_cuda = points::cuda::sort_points(plan, theta, phi);
        rows = points::cuda::rows_of(*on_cuda);
        return;
    }
    const SampleTables& t = plan.tables;
    tile_columns = (t.n + 2 * t.border + Tile::size - 1) / Tile::size;
    sort(theta, phi);
}

void PointPlan::Implementation::sort(View<const double, 1> theta, View<const double, 1> phi) {
    using points::Piece;
    using points::PlacedPoint;
    using points::points_at_once;
    using points::rows_of;
    using points::SampleTables;
    using points::SortedPart;
    using points::threads_for;
    using points::Tile;
    const auto& plan = samples.implementation();
    const SampleTables& t = plan.tables;
    const std::int64_t width = plan.window.width();
    const std::int64_t n_tiles = (t.n / 2 + 1 + 2 * t.border + Tile::size - 1) / Tile::size * tile_columns;
    constexpr double of_point = 10;  // ns
    const std::int64_t n_parts =
        std::max<std::int64_t>(threads_for(plan.options, of_point * static_cast<double>(n_points)), 1);
    points::require_room(n_points, n_tiles * (n_parts + 1), t.lmax);
    const std::int64_t doubles = 4 * (n_points + points_at_once);
    memory_ = sht::take_scratch(doubles);
    auto* const sorted = reinterpret_cast<PlacedPoint*>(memory_.reserve(doubles));
    std::fill_n(sorted + n_points, points_at_once, PlacedPoint{});
    placed = sorted;
    std::vector<SortedPart> parts(static_cast<std::size_t>(n_parts));
    const auto for_pieces = [&](const auto& work) {
        core::parallel_for(n_parts, static_cast<int>(n_parts), [&](std::int64_t number, int) {
            SortedPart& part = parts[static_cast<std::size_t>(number)];
            const auto piece = std::make_unique<Piece>();
            const core::InterruptionPoll poll;
            const std::int64_t end = n_points * (number + 1) / n_parts;
            for (std::int64_t first = n_points * number / n_parts; first < end; first += Piece::size) {
                const std::int64_t count = std::min(Piece::size, end - first);
                piece->find(t, width, theta, phi, first, count);
                work(part, *piece, first, count);
                poll();
            }
        });
    };
    const auto tile_of = [&](const Piece& piece, std::int64_t k) {
        return static_cast<std::size_t>((piece.row[k] >> Tile::log2_size) * tile_columns +
                                        (piece.column[k] >> Tile::log2_size));
    };
    for (SortedPart& part : parts) part.counts.assign(static_cast<std::size_t>(n_tiles), 0);
    for_pieces([&](SortedPart& part, const Piece& piece, std::int64_t, std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k) part.count(tile_of(piece, k), piece.row[k]);
    });
    tile_begin.assign(static_cast<std::size_t>(n_tiles) + 1, 0);
    std::int64_t next = 0;
    for (std::size_t tile = 0; tile < static_cast<std::size_t>(n_tiles); ++tile) {
        tile_begin[tile] = next;
        for (SortedPart& part : parts) next += std::exchange(part.counts[tile], next);
    }
    tile_begin.back() = next;
    for_pieces([&](SortedPart& part, const Piece& piece, std::int64_t first, std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k)
            sorted[part.counts[tile_of(piece, k)]++] = {piece.y_theta[k], piece.y_phi[k], piece.row[k],
                                                        piece.column[k], first + k};
    });
    rows = rows_of(parts, t, width);
    if (by_samples) sort_tiles(sorted, static_cast<int>(n_parts));
}

void PointPlan::Implementation::sort_tiles(points::PlacedPoint* sorted, int threads) const {
    core::parallel_for(n_tiles() / tile_columns, threads, [&](std::int64_t tile_row, int) {
        const auto sorter = std::make_unique<points::TileSorter>();
        for (std::int64_t tile = tile_row * tile_columns; tile < (tile_row + 1) * tile_columns; ++tile) {
            const std::int64_t begin = tile_begin[static_cast<std::size_t>(tile)];
            sorter->sort(sorted + begin, tile_begin[static_cast<std::size_t>(tile) + 1] - begin);
        }
    });
}

PointPlan::PointPlan(const SphereSamples& samples, View<const double, 1> theta, View<const double, 1> phi,
                     std::int64_t n_fields)
    : implementation_(std::make_unique<const Implementation>(samples, theta, phi, n_fields)) {}
PointPlan::~PointPlan() = default;
PointPlan::PointPlan(PointPlan&&) noexcept = default;
PointPlan& PointPlan::operator=(PointPlan&&) noexcept = default;
std::int64_t PointPlan::n_points() const {
    return implementation_->n_points;
}
SampleRows PointPlan::rows() const {
    return implementation_->rows;
}
const SphereSamples& PointPlan::samples() const {
    return implementation_->samples;
}

}  // namespace zonal
