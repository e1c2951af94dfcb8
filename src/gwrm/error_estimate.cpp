#include "gwrm/error_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace zonal::gwrm {
namespace {

/// How many more modes in time the finer box has, as a share of those there are. Modes that fall to the
/// tolerance over K modes fall by another 10^2.5 over K 2.5 / lg(1/tolerance). Where the length of intervals
/// is fixed, nothing is known of that fall.
double share_of_more_modes(const SolveOptions& options) {
    constexpr double least = 0.25;
    return options.interval > 0 ? least : std::clamp(-2.5 / std::log10(options.tolerance), least, 1.0);
}

Shape finer(const Problem& problem, const Shape& shape, const SolveOptions& options) {
    auto extents = shape.extents;
    const auto more = share_of_more_modes(options) * static_cast<double>(extents[0]);
    extents[0] += std::max<std::int64_t>(2, static_cast<std::int64_t>(more));
    for (std::size_t i = 0; i < problem.axes().size(); ++i)
        extents.at(i + 1) += std::max<std::int64_t>(problem.axes()[i].kind == Axis::Kind::space ? 4 : 2,
                                                    extents.at(i + 1) / 4);
    return shape.with_extents(extents);
}

SolveOptions with_automatic_solver(SolveOptions options) {
    options.solver = Solver::automatic;
    return options;
}

/// How exactly to solve in the interval after `n_before` others. In a field without space, a small error may
/// be what is left when large ones have faded, so that the first solves count; with space, the sum of many
/// modes hides what a solve leaves. What all of them leave adds up like a logarithm.
double linear_tolerance(const Shape& shape, int n_before) {
    const double first = shape.dimensions == 1 ? 1e-4 : 1e-2;
    return std::max(first / (n_before + 1), 1e-6);
}

}  // namespace

ErrorEstimate::ErrorEstimate(const Problem& problem, const Shape& shape, const SolveOptions& options,
                             Backend& backend)
    : backend_(backend),
      shape_(shape),
      system_(problem, finer(problem, shape, options), options.highest_mode, backend),
      solver_(system_, with_automatic_solver(options)),
      u0_(backend, system_.shape().spatial()),
      start_(backend, system_.shape().size()),
      residual_(backend, start_.size()),
      error_(backend, start_.size()),
      end_error_(backend, u0_.size()),
      scales_(static_cast<std::size_t>(problem.n_fields())) {
    upload_initial_value(problem, system_.shape(), options.t0, backend, u0_);
}

std::vector<double> ErrorEstimate::after(Interval time, const double* a) {
    const auto& fine = system_.shape();
    system_.set_time(time);
    system_.set_initial(u0_.data());
    resize(backend_, shape_, a, fine, start_.data());
    system_.residual(start_.data(), residual_.data());
    const double tolerance = linear_tolerance(fine, intervals_++);
    lost_ = lost_ || !solver_.solve_linearised(start_.data(), residual_.data(), tolerance, error_.data());
    if (lost_)
        return std::vector(static_cast<std::size_t>(fine.n_fields), std::numeric_limits<double>::infinity());
    sum_over_time(backend_, fine, TimeSum::Kind::end, start_.data(), u0_.data());
    sum_over_time(backend_, fine, TimeSum::Kind::end, error_.data(), end_error_.data());
    const WeightedArray correction{end_error_.data(), -1, u0_.data()};
    backend_.add(fine.spatial(), {&correction, 1});
    return with_uncertainty(largest_values(end_error_));
}

/// Of each field at one time. The sum over the modes of a block bounds the values, as |T_l| <= 1.
std::vector<double> ErrorEstimate::largest_values(const Vector& a) {
    const auto& fine = system_.shape();
    const auto sums = backend_.numbers_of(
        Magnitudes{.n_segments = fine.n_blocks(), .n = fine.spatial_block(), .a = a.data()});
    std::vector<double> values(static_cast<std::size_t>(fine.n_fields));
    for (std::size_t i = 0; i < sums.size(); ++i) {
        auto& value = values[i / static_cast<std::size_t>(fine.n_subdomains)];
        value = Maximum::combine(value, sums[i]);
    }
    return values;
}

/// The step is as exact as its largest part, and values are rounded in each interval: so every field gets a
/// share of the largest relative error of all fields, and the rounding of a random walk.
std::vector<double> ErrorEstimate::with_uncertainty(std::vector<double> errors) {
    constexpr double share = 0.1, rounding = 4 * std::numeric_limits<double>::epsilon();
    const auto values = largest_values(u0_);
    double worst = 0;
    for (std::size_t field = 0; field < errors.size(); ++field) {
        scales_[field] = std::max(scales_[field], values[field]);
        if (scales_[field] > 0) worst = Maximum::combine(worst, errors[field] / scales_[field]);
    }
    const double uncertainty = share * worst + rounding * std::sqrt(intervals_);
    for (std::size_t field = 0; field < errors.size(); ++field) errors[field] += uncertainty * scales_[field];
    return errors;
}

}  // namespace zonal::gwrm
