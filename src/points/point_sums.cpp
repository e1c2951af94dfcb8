#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/parallel.hpp"
#include "points/point_plan.hpp"
#include "points/point_spreading.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

/// PointPlan's sums, on the CPU.
namespace zonal {
namespace points {
namespace {

template <class T>
void check_values(const char* name, const View<T, 3>& values, const PointPlan::Implementation& points,
                  const SampleArray& samples) {
    sht::check_extent(name, values, 0, "map", samples.n_maps());
    sht::check_extent(name, values, 1, "component", samples.storage().plan->components);
    sht::check_extent(name, values, 2, "point", points.n_points);
    sht::check_space(name, values, space_of(points.samples.implementation()));
    sht::check_contiguous(name, values);
}

void check_samples(const PointPlan::Implementation& points, const SampleArray& samples) {
    if (!are_alike(*samples.storage().plan, points.samples.implementation()))
        throw InvalidArgument("samples",
                              "are of another SphereSamples than the points: must be the points' own, or of "
                              "one that differs in its spin alone");
    const SampleRows needed = points.rows, there = samples.rows();
    if (there.first > needed.first || there.end < needed.end)
        throw InvalidArgument(
            "samples", fmt::format("rows {} to {}", there.first, there.end),
            fmt::format("must have the rows of the points, {} to {}", needed.first, needed.end));
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
    for (int k = 0; k < n_outputs; ++k) check_values(names[k], *outputs[k], points, array);
    const SampleArray::Storage& samples = array.storage();
    if (samples.on_cuda)
        return cuda::interpolate<T>(*points.on_cuda, *samples.on_cuda, {values, by_theta, by_phi});
    const auto& plan = *samples.plan;
    const std::int64_t n_fields = samples.n_fields();
    std::vector<const double*> data;
    for (std::int64_t f = 0; f < n_fields; ++f) data.push_back(samples.field(f).data);
    const SampleFields fields{data.data(), samples.rows.first + plan.tables.border, plan.tables.stride,
                              n_fields};
    const double per_radian = static_cast<double>(plan.tables.n) / (2 * std::numbers::pi);
    const std::int64_t n_tasks = (points.n_points + task_points - 1) / task_points;
    const int threads = threads_for(
        plan.options, static_cast<double>(points.n_points) * time_of_point(plan.window.width(), n_fields));
    std::vector<core::AlignedVector<double>> sums(static_cast<std::size_t>(threads));
    core::parallel_for(n_tasks, threads, [&](std::int64_t task, int thread) {
        auto& sum = sums[static_cast<std::size_t>(thread)];
        sum.resize(static_cast<std::size_t>(n_outputs * n_fields * task_points));
        const std::int64_t first = task * task_points, end = std::min(first + task_points, points.n_points);
        interpolate_points(plan.polynomials, fields, points.range(first, end), slopes, sum.data(),
                           task_points);
        for (int k = 0; k < n_outputs; ++k)
            for (std::int64_t f = 0; f < n_fields; ++f) {
                T* const out = (*outputs[k])[f / plan.components][f % plan.components].data();
                const double* const in = sum.data() + (k * n_fields + f) * task_points;
                const double scale = k == 0 ? 1 : per_radian;
                for (std::int64_t i = first; i < end; ++i)
                    out[points.placed[i].caller] = static_cast<T>(scale * in[i - first]);
            }
    });
}

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
    points::check_values("values", values, *implementation_, samples);
    SampleArray::Storage& storage = samples.storage();
    if (storage.on_cuda) return points::cuda::spread<T>(*implementation_->on_cuda, values, *storage.on_cuda);
    std::vector<points::SampleView> fields;
    for (std::int64_t f = 0; f < storage.n_fields(); ++f) fields.push_back(storage.field(f));
    const std::int64_t components = storage.plan->components;
    points::spread_sorted(*implementation_, fields,
                          [&](std::int64_t first, std::int64_t end, double* out, std::int64_t stride) {
                              for (std::int64_t f = 0; f < std::ssize(fields); ++f) {
                                  const T* const in = values[f / components][f % components].data();
                                  for (std::int64_t i = first; i < end; ++i)
                                      out[f * stride + i - first] =
                                          static_cast<double>(in[implementation_->placed[i].caller]);
                              }
                          });
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
