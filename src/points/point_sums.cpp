#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/parallel.hpp"
#include "points/point_plan.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

/// PointPlan's sums, on the CPU.
namespace zonal {
namespace points {
namespace {

/// Points of a task, and of a tile beyond which its sum is cut into parts that are added up in order.
constexpr std::int64_t task_points = 4096, crowded_points = 1 << 14;

template <class T>
void check_values(const char* name, const View<T, 3>& values, const PointPlan::Implementation& points,
                  std::int64_t n_maps) {
    sht::check_extent(name, values, 0, "map", n_maps);
    sht::check_extent(name, values, 1, "component", points.samples.components());
    sht::check_extent(name, values, 2, "point", points.n_points);
    sht::check_host(name, values);
    sht::check_contiguous(name, values);
}

void check_samples(const PointPlan::Implementation& points, const SampleArray& samples) {
    check_plan(samples, points.samples.implementation());
    const SampleRows needed = points.rows, there = samples.rows();
    if (there.first > needed.first || there.end < needed.end)
        throw InvalidArgument(
            "samples", fmt::format("rows {} to {}", there.first, there.end),
            fmt::format("must have the rows of the points, {} to {}", needed.first, needed.end));
}

/// Nanoseconds, about, of a point's sums on one thread.
double time_of_point(std::int64_t width, std::int64_t n_fields) {
    const auto w = static_cast<double>(width);
    return 12 + 0.2 * w * (w / 2 + 4) + 0.15 * w * w * static_cast<double>(n_fields);
}

/// values[k]: null, or where the k-th of value, d/dtheta and d/dphi goes.
template <class T>
void interpolate(const PointPlan::Implementation& points, const SampleArray& array, const View<T, 3>& values,
                 const View<T, 3>* by_theta, const View<T, 3>* by_phi) {
    check_samples(points, array);
    const bool slopes = by_theta != nullptr;
    const View<T, 3>* const outputs[3] = {&values, by_theta, by_phi};
    const char* const names[3] = {"values", "by_theta", "by_phi"};
    const int n_outputs = slopes ? 3 : 1;
    for (int k = 0; k < n_outputs; ++k) check_values(names[k], *outputs[k], points, array.n_maps());
    const SampleArray::Storage& samples = array.storage();
    const auto& plan = points.samples.implementation();
    const SampleView first_field = samples.field(0);
    const std::int64_t n_fields = samples.n_fields();
    const SampleFields fields{first_field.data, samples.rows.first + plan.tables.border, plan.tables.stride,
                              (samples.rows.end - samples.rows.first) * plan.tables.stride, n_fields};
    const double per_radian = static_cast<double>(plan.tables.n) / (2 * std::numbers::pi);
    const std::int64_t n_tasks = (points.n_points + task_points - 1) / task_points;
    const int threads = threads_for(
        plan.options, static_cast<double>(points.n_points) * time_of_point(plan.window.width(), n_fields));
    std::vector<core::AlignedVector<double>> sums(static_cast<std::size_t>(threads));
    core::parallel_for(n_tasks, threads, [&](std::int64_t task, int thread) {
        auto& sum = sums[static_cast<std::size_t>(thread)];
        sum.resize(static_cast<std::size_t>(n_outputs * n_fields * task_points));
        const std::int64_t first = task * task_points, end = std::min(first + task_points, points.n_points);
        interpolate_points(plan.polynomials, fields, points.placed(), first, end, slopes, sum.data(),
                           task_points);
        for (int k = 0; k < n_outputs; ++k)
            for (std::int64_t f = 0; f < n_fields; ++f) {
                T* const out = (*outputs[k])[f / plan.components][f % plan.components].data();
                const double* const in = sum.data() + (k * n_fields + f) * task_points;
                const double scale = k == 0 ? 1 : per_radian;
                for (std::int64_t i = first; i < end; ++i)
                    out[points.caller[static_cast<std::size_t>(i)]] = static_cast<T>(scale * in[i - first]);
            }
    });
}

/// Points [begin, end) of a tile, whose sums are made at once.
struct Part {
    std::int64_t tile, begin, end;
};

/// Spreads values to samples: each tile's points are summed in order in a buffer of its own, which is then
/// added to the samples. Tiles of one colour of four do not reach each other's samples, so each sample gets
/// the buffers in the order of colours. Parts of crowded tiles are summed before, and added in order.
template <class T>
class Spreading {
  public:
    Spreading(const PointPlan::Implementation& points, const View<const T, 3>& values, SampleArray& array)
        : points_(points),
          plan_(points.samples.implementation()),
          values_(values),
          samples_(array.storage()),
          n_fields_(samples_.n_fields()) {}

    void run() {
        find_parts();
        const int threads = threads_for(plan_.options, static_cast<double>(points_.n_points) *
                                                           time_of_point(plan_.window.width(), n_fields_));
        const std::int64_t n_rows = samples_.rows.end - samples_.rows.first;
        core::parallel_for(n_fields_ * n_rows, threads, [&](std::int64_t task, int) {
            const SampleView field = samples_.field(task / n_rows);
            std::fill_n(field.row(samples_.rows.first + task % n_rows), field.stride, 0.0);
        });
        const std::size_t size = static_cast<std::size_t>(n_fields_ * Tile::doubles);
        std::vector<core::AlignedVector<double>> of_parts(crowded_.size()),
            of_threads(static_cast<std::size_t>(threads));
        gathered_.resize(static_cast<std::size_t>(threads));
        core::parallel_for(std::ssize(crowded_), threads, [&](std::int64_t i, int thread) {
            auto& sums = of_parts[static_cast<std::size_t>(i)];
            sums.assign(size, 0.0);
            spread(crowded_[static_cast<std::size_t>(i)], sums.data(), thread);
        });
        for (const auto& tiles : quiet_) {
            core::parallel_for(std::ssize(tiles), threads, [&](std::int64_t i, int thread) {
                const Part& part = tiles[static_cast<std::size_t>(i)];
                auto& sums = of_threads[static_cast<std::size_t>(thread)];
                sums.assign(size, 0.0);
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

    void spread(const Part& part, double* sums, int thread) {
        auto& gathered = gathered_[static_cast<std::size_t>(thread)];
        gathered.resize(static_cast<std::size_t>(n_fields_ * task_points));
        for (std::int64_t first = part.begin; first < part.end; first += task_points) {
            const std::int64_t end = std::min(first + task_points, part.end);
            for (std::int64_t f = 0; f < n_fields_; ++f) {
                const T* const in = values_[f / plan_.components][f % plan_.components].data();
                double* const out = gathered.data() + f * task_points;
                for (std::int64_t i = first; i < end; ++i)
                    out[i - first] = static_cast<double>(in[points_.caller[static_cast<std::size_t>(i)]]);
            }
            spread_points(plan_.polynomials, points_.placed(), first, end, points_.tile_row(part.tile),
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
            const SampleView field = samples_.field(f);
            for (std::int64_t r = std::max(row, samples_.rows.first);
                 r < std::min(row + reach, samples_.rows.end); ++r) {
                const double* const in = sums + f * Tile::doubles + (r - row) * Tile::columns;
                double* const out = field.row(r) + column;
                for (std::int64_t c = 0; c < columns; ++c) out[c] += in[c];
            }
        }
    }

    const PointPlan::Implementation& points_;
    const SphereSamples::Implementation& plan_;
    const View<const T, 3>& values_;
    SampleArray::Storage& samples_;
    const std::int64_t n_fields_;
    std::vector<Part> quiet_[4], crowded_;
    std::vector<core::AlignedVector<double>> gathered_;  ///< [thread][field][task_points]
};

}  // namespace
}  // namespace points

template <class T>
void PointPlan::interpolate(const SampleArray& samples, View<T, 3> values) const {
    points::interpolate<T>(*implementation_, samples, values, nullptr, nullptr);
}

template <class T>
void PointPlan::interpolate(const SampleArray& samples, View<T, 3> values, View<T, 3> by_theta,
                            View<T, 3> by_phi) const {
    points::interpolate<T>(*implementation_, samples, values, &by_theta, &by_phi);
}

template <class T>
void PointPlan::spread(ConstView<T, 3> values, SampleArray& samples) const {
    points::check_samples(*implementation_, samples);
    points::check_values("values", values, *implementation_, samples.n_maps());
    points::Spreading<T>(*implementation_, values, samples).run();
}

template void PointPlan::interpolate(const SampleArray&, View<float, 3>) const;
template void PointPlan::interpolate(const SampleArray&, View<double, 3>) const;
template void PointPlan::interpolate(const SampleArray&, View<float, 3>, View<float, 3>,
                                     View<float, 3>) const;
template void PointPlan::interpolate(const SampleArray&, View<double, 3>, View<double, 3>,
                                     View<double, 3>) const;
template void PointPlan::spread<float>(View<const float, 3>, SampleArray&) const;
template void PointPlan::spread<double>(View<const double, 3>, SampleArray&) const;

}  // namespace zonal
