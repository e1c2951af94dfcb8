#include "points/point_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/memory.hpp"

namespace zonal {
namespace points {
namespace {

/// Beyond it a cell has no number in a double, and a phi no digits of its angle that mean anything.
constexpr double largest_phi = 1e9;

void check_points(View<const double, 1> theta, View<const double, 1> phi, int threads) {
    if (theta.extent(0) != phi.extent(0))
        throw InvalidArgument("theta and phi",
                              fmt::format("lengths {} and {} differ", theta.extent(0), phi.extent(0)));
    sht::check_host("theta", theta);
    sht::check_host("phi", phi);
    const std::int64_t n = theta.extent(0);
    std::atomic<std::int64_t> wrong{n};  // the first
    core::for_pieces(n, threads, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            if (!(theta[i] >= 0 && theta[i] <= std::numbers::pi && std::abs(phi[i]) <= largest_phi)) {
                std::int64_t before = wrong;
                while (i < before && !wrong.compare_exchange_weak(before, i)) {
                }
                return;
            }
    });
    const std::int64_t i = wrong;
    if (i == n) return;
    if (!(theta[i] >= 0 && theta[i] <= std::numbers::pi))
        throw InvalidArgument("theta", theta[i], fmt::format("must be from 0 to pi (point {})", i));
    throw InvalidArgument(
        "phi", phi[i],
        fmt::format("must be a number from {} to {} (point {})", -largest_phi, largest_phi, i));
}

/// The first of the W samples around cell + fraction, and where in its unit the point lies, from -1 to 1.
struct Place {
    std::int64_t first;
    double y;
    Place(double cell, double fraction, std::int64_t width) {
        const double half = static_cast<double>(width) / 2, start = std::ceil(fraction - half);
        first = static_cast<std::int64_t>(cell) + static_cast<std::int64_t>(start);
        y = 2 * (fraction - start - half) + 1;
    }
};

/// x mod n, not negative.
std::int64_t wrapped(std::int64_t x, std::int64_t n) {
    const std::int64_t rest = x % n;
    return rest < 0 ? rest + n : rest;
}

constexpr std::int64_t piece = 4096;  ///< points of a part of the work; what a cache holds

/// Calls work(first, places theta, places phi, count) for pieces of the points [first, end).
template <class Work>
void for_places(const SampleTables& t, View<const double, 1> theta, View<const double, 1> phi,
                std::int64_t first, std::int64_t end, const Work& work) {
    std::vector<double> numbers(static_cast<std::size_t>(6 * piece));
    double *const cells[2] = {numbers.data(), numbers.data() + piece},
                  *const fractions[2] = {cells[1] + piece, cells[1] + 2 * piece},
                  *const copies[2] = {cells[1] + 3 * piece, cells[1] + 4 * piece};
    for (std::int64_t i = first; i < end; i += piece) {
        const std::int64_t count = std::min(piece, end - i);
        for (std::int64_t k = 0; k < count; ++k) {
            copies[0][k] = theta[i + k];
            copies[1][k] = phi[i + k];
        }
        for (int c = 0; c < 2; ++c) find_places(copies[c], count, t.n, cells[c], fractions[c]);
        work(i, count, cells, fractions);
    }
}

}  // namespace
}  // namespace points

PointPlan::Implementation::Implementation(const SphereSamples& made_of, View<const double, 1> theta,
                                          View<const double, 1> phi)
    : samples(made_of), n_points(theta.extent(0)) {
    using namespace points;
    const auto& plan = samples.implementation();
    const SampleTables& t = plan.tables;
    check_points(theta, phi, plan.options.threads);
    constexpr std::int64_t bytes_of_point = 32, few = 1 << 22;  // which any machine holds
    if (n_points > few)
        require_memory(static_cast<double>((bytes_of_point + 4) * n_points),
                       fmt::format("a plan of {} points", n_points));
    const std::int64_t width = plan.window.width();
    tile_columns = (t.n + 2 * t.border + Tile::size - 1) / Tile::size;
    const std::int64_t n_tile_rows = (t.n / 2 + 1 + 2 * t.border + Tile::size - 1) / Tile::size;
    const std::int64_t n_tiles = n_tile_rows * tile_columns;
    const auto padded = static_cast<std::size_t>(n_points + points_at_once);
    y_theta.resize(padded);
    y_phi.resize(padded);
    row.resize(padded);
    column.resize(padded);
    caller.resize(static_cast<std::size_t>(n_points));
    // Each part of the points counts those of its tiles; with what all parts before it have there, it knows
    // where its own go. The order is that of a stable sort whatever the number of parts.
    constexpr double of_point = 20;  // ns
    const std::int64_t n_parts =
        std::max<std::int64_t>(threads_for(plan.options, of_point * static_cast<double>(n_points)), 1);
    const auto part_begin = [&](std::int64_t part) { return n_points * part / n_parts; };
    std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(n_parts));
    std::vector<SampleRows> reached(static_cast<std::size_t>(n_parts),
                                    {std::numeric_limits<std::int64_t>::max(), 0});
    std::vector<std::uint32_t> tiles(static_cast<std::size_t>(n_points));
    const auto place_in = [&](double cell, double fraction, std::int64_t n) {
        Place place(cell, fraction, width);
        if (n > 0)
            place.first += wrapped(static_cast<std::int64_t>(cell), n) - static_cast<std::int64_t>(cell);
        place.first += t.border;
        return place;
    };
    const auto threads = static_cast<int>(n_parts);
    core::parallel_for(n_parts, threads, [&](std::int64_t part, int) {
        auto& count = counts[static_cast<std::size_t>(part)];
        count.assign(static_cast<std::size_t>(n_tiles), 0);
        SampleRows range = reached[static_cast<std::size_t>(part)];
        for_places(t, theta, phi, part_begin(part), part_begin(part + 1),
                   [&](std::int64_t i, std::int64_t n, double* const* cells, double* const* fractions) {
                       for (std::int64_t k = 0; k < n; ++k) {
                           const std::int64_t r = place_in(cells[0][k], fractions[0][k], 0).first;
                           const std::int64_t c = place_in(cells[1][k], fractions[1][k], t.n).first;
                           range.first = std::min(range.first, r);
                           range.end = std::max(range.end, r + width);
                           const auto tile = static_cast<std::uint32_t>(
                               (r >> Tile::log2_size) * tile_columns + (c >> Tile::log2_size));
                           tiles[static_cast<std::size_t>(i + k)] = tile;
                           ++count[tile];
                       }
                   });
        reached[static_cast<std::size_t>(part)] = range;
    });
    tile_begin.assign(static_cast<std::size_t>(n_tiles) + 1, 0);
    std::int64_t next = 0;
    for (std::size_t tile = 0; tile < static_cast<std::size_t>(n_tiles); ++tile) {
        tile_begin[tile] = next;
        for (auto& count : counts) next += std::exchange(count[tile], next);
    }
    tile_begin.back() = next;
    core::parallel_for(n_parts, threads, [&](std::int64_t part, int) {
        auto& place_of = counts[static_cast<std::size_t>(part)];
        for_places(t, theta, phi, part_begin(part), part_begin(part + 1),
                   [&](std::int64_t i, std::int64_t n, double* const* cells, double* const* fractions) {
                       for (std::int64_t k = 0; k < n; ++k) {
                           const Place in_theta = place_in(cells[0][k], fractions[0][k], 0),
                                       in_phi = place_in(cells[1][k], fractions[1][k], t.n);
                           const auto to =
                               static_cast<std::size_t>(place_of[tiles[static_cast<std::size_t>(i + k)]]++);
                           y_theta[to] = in_theta.y;
                           y_phi[to] = in_phi.y;
                           row[to] = static_cast<std::int32_t>(in_theta.first);
                           column[to] = static_cast<std::int32_t>(in_phi.first);
                           caller[to] = i + k;
                       }
                   });
    });
    SampleRows all = {std::numeric_limits<std::int64_t>::max(), 0};
    for (const SampleRows& range : reached)
        all = {std::min(all.first, range.first), std::max(all.end, range.end)};
    rows = n_points == 0 ? SampleRows{0, 1} : SampleRows{all.first - t.border, all.end - t.border};
    rows = points::completed(rows, t.n);
}

PointPlan::PointPlan(const SphereSamples& samples, View<const double, 1> theta, View<const double, 1> phi)
    : implementation_(std::make_unique<const Implementation>(samples, theta, phi)) {}
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
