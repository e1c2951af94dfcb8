#pragma once

#include <cstdint>
#include <vector>

#include "points/window.hpp"
#include "zonal/points/samples.hpp"

/// How many samples, and how wide a window, keep an error at the least cost.
namespace zonal::points {

/// Samples of a circle and the window over them.
struct SampleChoice {
    Sampling sampling;
    std::int64_t width;
};

/// The choices that keep the error as far as the window goes, the cheapest first: some may round too much.
/// options: resolved.
std::vector<SampleChoice> sample_choices(const PointOptions& options);

/// What PointOptions::error may be.
inline constexpr double least_named_error = 2e-14, largest_named_error = 0.1;
/// Throws InvalidArgument.
void check_named_error(double error);

/// Shares of `error` that the window itself may take at most, what its polynomials leave of it, and its
/// rounding; together they must not be more than all of it.
inline constexpr double largest_window_share = 0.9, polynomial_share = 0.05, largest_rounding_share = 0.5;

}  // namespace zonal::points
