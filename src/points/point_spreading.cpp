#include "points/point_spreading.hpp"

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"

namespace zonal::points {
namespace {

/// Points of a tile beyond which its sum is cut into parts that are added up in order.
constexpr std::int64_t crowded_points = 1 << 14;

/// Points [begin, end) of a tile, whose sums are made at once.
struct Part {
    std::int64_t tile, begin, end;
};

/// Spreads values to samples: each tile's points are summed in order in a buffer of its own, which is then
/// added to the samples. Tiles of one colour of four do not reach each other's samples, so each sample gets
/// the buffers in the order of colours. Parts of crowded tiles are summed before, and added in order.
class Spreading {
  public:
    Spreading(const PointPlan::Implementation& points, const std::vector<SampleView>& fields,
              const ValuesOfPoints& values)
        : points_(points),
          plan_(points.samples.implementation()),
          values_(values),
          fields_(fields),
          n_fields_(std::ssize(fields)),
          rows_(fields[0].rows) {}

    void run() {
        find_parts();
        const int threads = threads_for(plan_.options, static_cast<double>(points_.n_points) *
                                                           time_of_point(plan_.window.width(), n_fields_));
        const std::int64_t n_rows = rows_.end - rows_.first;
        core::parallel_for(n_fields_ * n_rows, threads, [&](std::int64_t task, int) {
            const SampleView& field = fields_[static_cast<std::size_t>(task / n_rows)];
            std::fill_n(field.row(rows_.first + task % n_rows), field.stride, 0.0);
        });
        const std::size_t size = static_cast<std::size_t>(n_fields_ * Tile::doubles);
        std::vector<core::AlignedVector<double>> of_parts(crowded_.size()),
            of_threads(static_cast<std::size_t>(threads));
        gathered_.resize(static_cast<std::size_t>(threads));
        core::parallel_for(std::ssize(crowded_), threads, [&](std::int64_t i, int thread) {
            auto& sums = of_parts[static_cast<std::size_t>(i)];
            sums.resize(size);
            spread(crowded_[static_cast<std::size_t>(i)], sums.data(), thread);
        });
        for (const auto& tiles : quiet_) {
            core::parallel_for(std::ssize(tiles), threads, [&](std::int64_t i, int thread) {
                const Part& part = tiles[static_cast<std::size_t>(i)];
                auto& sums = of_threads[static_cast<std::size_t>(thread)];
                sums.resize(size);
                spread(part, sums.data(), thread);
                add(part.tile, sums.data());
            });
        }
        // What crowded tiles reach is a small part of the sky: one thread adds their parts.
        for (std::size_t i = 0; i < crowded_.size(); ++i) add(crowded_[i].tile, of_parts[i].data());
    }

  private:
    void find_parts() {
        for (std::int64_t tile = 0; tile < points_.n_tiles(); ++tile) {
            const std::int64_t begin = points_.tile_begin[static_cast<std::size_t>(tile)],
                               end = points_.tile_begin[static_cast<std::size_t>(tile) + 1];
            if (begin == end) continue;
            if (end - begin > crowded_points) {
                for (auto first = begin; first < end; first += crowded_points)
                    crowded_.push_back({tile, first, std::min(first + crowded_points, end)});
                continue;
            }
            const std::int64_t colour = tile / points_.tile_columns % 2 * 2 + tile % points_.tile_columns % 2;
            quiet_[static_cast<std::size_t>(colour)].push_back({tile, begin, end});
        }
    }

    /// sums: [field][Tile::rows][Tile::columns], of which those that points may reach are written.
    void spread(const Part& part, double* sums, int thread) {
        const std::int64_t rows = Tile::size + plan_.window.width() - 1,
                           columns = std::min(rows + longest_vector, Tile::columns);
        for (std::int64_t f = 0; f < n_fields_; ++f)
            for (std::int64_t r = 0; r < rows; ++r)
                std::fill_n(sums + f * Tile::doubles + r * Tile::columns, columns, 0.0);
        auto& gathered = gathered_[static_cast<std::size_t>(thread)];
        gathered.resize(static_cast<std::size_t>(n_fields_ * task_points));
        for (std::int64_t first = part.begin; first < part.end; first += task_points) {
            const std::int64_t end = std::min(first + task_points, part.end);
            values_(first, end, gathered.data(), task_points);
            spread_points(plan_.polynomials, points_.range(first, end), points_.tile_row(part.tile),
                          points_.tile_column(part.tile), gathered.data(), task_points, n_fields_, sums);
        }
    }

    void add(std::int64_t tile, const double* sums) {
        const std::int64_t reach = Tile::size + plan_.window.width() - 1;
        const std::int64_t row = points_.tile_row(tile) - plan_.tables.border,
                           column = points_.tile_column(tile);
        const std::int64_t columns = std::min(reach, plan_.tables.stride - column);
        // Rows and columns beyond the array's are 0: no point reaches them.
        for (std::int64_t f = 0; f < n_fields_; ++f) {
            const SampleView& field = fields_[static_cast<std::size_t>(f)];
            for (std::int64_t r = std::max(row, rows_.first); r < std::min(row + reach, rows_.end); ++r) {
                const double* const in = sums + f * Tile::doubles + (r - row) * Tile::columns;
                double* const out = field.row(r) + column;
                for (std::int64_t c = 0; c < columns; ++c) out[c] += in[c];
            }
        }
    }

    const PointPlan::Implementation& points_;
    const SphereSamples::Implementation& plan_;
    const ValuesOfPoints& values_;
    const std::vector<SampleView>& fields_;
    const std::int64_t n_fields_;
    const SampleRows rows_;
    std::vector<Part> quiet_[4], crowded_;
    std::vector<core::AlignedVector<double>> gathered_;  ///< [thread][field][task_points]
};

}  // namespace

double time_of_point(std::int64_t width, std::int64_t n_fields) {
    const auto w = static_cast<double>(width);
    return 8 + 0.15 * w * w + 0.09 * w * w * static_cast<double>(n_fields);
}

void spread_sorted(const PointPlan::Implementation& points, const std::vector<SampleView>& fields,
                   const ValuesOfPoints& values) {
    Spreading(points, fields, values).run();
}

}  // namespace zonal::points
