#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "points/point_plan.hpp"
#include "points/sample_stage.hpp"

/// Sums over points in their plan's order, whatever the values are made of.
namespace zonal::points {

/// Points of a task.
inline constexpr std::int64_t task_points = 4096;

/// Nanoseconds, about, of a point's sums on one thread.
double time_of_point(std::int64_t width, std::int64_t n_fields);

/// Writes values: [field][stride] of the sorted points [first, end), end - first <= task_points. Threads call
/// it at once.
using ValuesOfPoints =
    std::function<void(std::int64_t first, std::int64_t end, double* values, std::int64_t stride)>;

/// fields = the transpose of interpolation, of these values. All fields have the points' rows.
void spread_sorted(const PointPlan::Implementation& points, const std::vector<SampleView>& fields,
                   const ValuesOfPoints& values);

}  // namespace zonal::points
