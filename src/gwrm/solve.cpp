#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "gwrm/root.hpp"
#include "gwrm/system.hpp"
#include "zonal/gwrm.hpp"

namespace zonal::gwrm {

/// Estimates the error of a chain of intervals by one Newton step on a finer box in each of them. The step
/// begins at the solution, and at the better initial value to which the steps before have led: error = F'^-1
/// F. So errors go from one interval to the next as the equations carry them.
class ErrorEstimate {
  public:
    ErrorEstimate(const Problem& problem, const Shape& shape, const SolveOptions& options, Backend& backend);

    /// The largest error of each field at the end of the next interval, whose solution is a. Infinite from
    /// the first interval on for which the step cannot be found.
    std::vector<double> after(Interval time, const double* a);
    RootSolver::Memory memory() const { return solver_.memory(); }

  private:
    std::vector<double> largest_values(const Vector& a);
    std::vector<double> with_uncertainty(std::vector<double> errors);

    Backend& backend_;
    Shape shape_;
    System system_;
    RootSolver solver_;
    Vector u0_, start_, residual_, error_, end_error_;
    std::vector<double> scales_;  ///< [field], the largest value at the end of an interval so far
    int intervals_ = 0;
    bool lost_ = false;
};

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

/// Returns the largest value of each field at one time. The sum over the modes of a block bounds the values,
/// as |T_l| <= 1.
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

namespace {

void check(const Problem& problem, const SolveOptions& options) {
    problem.check();
    const auto require = [](bool holds, const char* name, auto value, const char* range) {
        if (!holds) throw InvalidArgument(name, value, fmt::format("must be {}", range));
    };
    require(std::isfinite(options.t0), "t0", options.t0, "finite");
    require(std::isfinite(options.t1) && options.t1 > options.t0, "t1", options.t1, "finite and above t0");
    require(options.time_modes >= 2 && options.time_modes <= 1024, "time_modes", options.time_modes,
            "2 to 1024");
    require(options.interval >= 0 && std::isfinite(options.interval), "interval", options.interval,
            "0 or more");
    require(options.tolerance >= 1e-15 && options.tolerance < 1, "tolerance", options.tolerance,
            "from 1e-15 to below 1");
    require(options.max_iterations >= 1, "max_iterations", options.max_iterations, "1 or more");
    require(options.max_intervals >= 1, "max_intervals", options.max_intervals, "1 or more");
    require(options.highest_mode != HighestMode::kept, "highest_mode", "kept", "projection or tau");
    constexpr std::int64_t most_dense = 6000;
    const auto unknowns = shape_of(problem, options.time_modes).size();
    if (options.solver == Solver::newton || options.solver == Solver::sir)
        require(unknowns <= most_dense, "solver",
                fmt::format("{} with {} unknowns", to_string(options.solver), unknowns),
                "newton-krylov above 6000 unknowns");
}

}  // namespace

/// Time intervals one after the other.
class Chain {
  public:
    Chain(const Problem& problem, const SolveOptions& options, Backend& backend)
        : options_(options),
          backend_(backend),
          system_(problem, shape_of(problem, options.time_modes), options.highest_mode, backend),
          solver_(system_, options),
          solution_(problem, options.time_modes),
          u0_(backend, shape().spatial()),
          a_(backend, shape().size()),
          scales_(static_cast<std::size_t>(problem.n_fields())) {
        report().device = backend.device();
        upload_initial_value(problem, shape(), options.t0, backend, u0_);
        if (options.estimate_error) estimate_.emplace(problem, shape(), options, backend);
        check_memory();
    }

    Solution solve() {
        double t = options_.t0, length = options_.interval > 0 ? options_.interval : first_length();
        while (t < options_.t1) {
            // Equal shares of what is left; a little more than asked for rather than a sliver at the end.
            const double left = options_.t1 - t;
            const double count = std::max(1.0, std::ceil(left / length - 1e-6));
            const Interval time{t, count == 1 ? options_.t1 : t + left / count};
            const double next = attempt(time);
            if (accepted_) t = time.upper;
            if (options_.interval == 0) length = next;
            report_progress(t);
        }
        return std::move(solution_);
    }

  private:
    void check_memory() const {
        const auto own = solver_.memory(), finer = estimate_ ? estimate_->memory() : RootSolver::Memory{};
        options_.check_memory(own.kept + finer.kept + std::max(own.passing, finer.passing),
                              fmt::format("solving for {} unknowns at a time", shape().size()));
    }
    const Shape& shape() const { return system_.shape(); }
    SolveReport& report() { return solution_.report_; }

    /// A time in which the solution changes by about itself.
    double first_length() {
        const double span = options_.t1 - options_.t0;
        system_.set_time({options_.t0, options_.t0 + 1e-3 * span});
        start_constant_in_time();
        Vector rate(backend_, shape().size());
        system_.right_hand_side(a_.data(), rate.data());
        const auto largest = [&](const Vector& vector) {
            return backend_.numbers_of(Largest{.n_segments = 1, .n = vector.size(), .a = vector.data()})[0];
        };
        const double u = largest(a_), du = largest(rate);
        return du > 0 && u > 0 ? std::min(span, u / du) : span;
    }

    /// a = u_0
    void start_constant_in_time() {
        const auto frozen = shape().with_extents({1, shape().extents[1], shape().extents[2]});
        resize(backend_, frozen, u0_.data(), shape(), a_.data());
    }

    /// Solves one interval and says how long the next should be; in accepted_ whether it is kept.
    double attempt(Interval time) {
        system_.set_time(time);
        system_.set_initial(u0_.data());
        start_constant_in_time();
        const auto root = solver_.solve(a_.data());
        report().iterations += root.iterations;
        report().linear_iterations += root.linear_iterations;
        const double length = time.upper - time.lower;
        accepted_ = false;
        if (!root.converged) return shorter(time, root, 0.5 * length);
        const double tail = last_modes(0);
        // What the other axes do not resolve, time need not; it is the error estimate that tells.
        double wanted = options_.tolerance;
        for (int axis = 1; axis < shape().dimensions; ++axis) wanted = std::max(wanted, last_modes(axis));
        // Coefficients fall geometrically: by another factor they reach the tolerance at mode K.
        const double fall =
            std::pow(wanted / std::max(tail, 1e-17), 1.0 / static_cast<double>(shape().extents[0] - 1));
        if (options_.interval == 0 && !(tail <= wanted))
            return shorter(time, root, length * std::clamp(0.9 * fall, 0.2, 0.8));
        accept(time, root);
        constexpr int many_steps = 8;
        return length * std::clamp(0.9 * fall, 0.5, root.iterations > many_steps ? 0.8 : 2.0);
    }

    double shorter(Interval time, const RootResult& root, double length) {
        ++report().rejected;
        const auto solver = to_string(resolve_solver(options_.solver, shape().size()));
        if (options_.interval > 0)
            throw NotConverged(
                fmt::format("{} did not converge on the interval t = [{}, {}]: {}; residual {:.2g} after {} "
                            "steps. A shorter interval, or one of automatic length, may",
                            solver, time.lower, time.upper, root.reason, root.residual, root.iterations),
                time.lower, time.upper, root.residual);
        if (length < 1e-12 * (options_.t1 - options_.t0) || time.lower + length == time.lower)
            throw NotConverged(
                fmt::format(
                    "no interval from t = {} on is short enough, the last ended at {}: {}; residual {:.2g}. "
                    "More modes may help",
                    time.lower, time.upper,
                    root.converged ? "the highest modes in time do not fall to the tolerance"
                                   : solver + ": " + root.reason,
                    root.residual),
                time.lower, time.upper, root.residual);
        return length;
    }

    /// Largest of the last two modes along an axis, relative to the largest value of each field so far.
    double last_modes(int axis) {
        const auto& s = shape();
        const auto n = s.extents.at(static_cast<std::size_t>(axis));
        std::int64_t stride = 1;
        for (int inner = axis + 1; inner < 3; ++inner)
            stride *= s.extents.at(static_cast<std::size_t>(inner));
        Largest whole{.n_segments = s.n_fields, .n = s.per_field(), .a = a_.data()}, tail = whole;
        tail.stride = stride;
        tail.n_modes = n;
        tail.first_mode = n - 2;
        const auto sizes = backend_.numbers_of(whole), last = backend_.numbers_of(tail);
        double relative = 0;
        for (std::size_t field = 0; field < sizes.size(); ++field) {
            auto& scale = scales_[field];
            scale = std::max(scale, sizes[field]);
            if (scale > 0) relative = Maximum::combine(relative, last[field] / scale);
        }
        return relative;
    }

    void accept(Interval time, const RootResult& root) {
        accepted_ = true;
        if (++report().intervals > options_.max_intervals)
            throw NotConverged(fmt::format("max_intervals = {} reached at t = {} of {}",
                                           options_.max_intervals, time.lower, options_.t1),
                               time.lower, time.upper, root.residual);
        report().residual = std::max(report().residual, root.residual);
        Solution::Piece piece{time, std::vector<double>(static_cast<std::size_t>(shape().size())), {}};
        if (estimate_) piece.errors = estimate_->after(time, a_.data());
        sum_over_time(backend_, shape(), TimeSum::Kind::end, a_.data(), u0_.data());
        backend_.download(a_.data(), shape().size(), piece.coefficients.data());
        solution_.pieces_.push_back(std::move(piece));
    }

    void report_progress(double t) const {
        if (options_.progress && !options_.progress((t - options_.t0) / (options_.t1 - options_.t0)))
            throw Cancelled("solve: stopped by the progress callback");
    }

    const SolveOptions& options_;
    Backend& backend_;
    System system_;
    RootSolver solver_;
    std::optional<ErrorEstimate> estimate_;
    Solution solution_;
    Vector u0_, a_;  ///< the first values and the solution
    std::vector<double> scales_;
    bool accepted_ = false;
};

Solution solve(const Problem& problem, const SolveOptions& options) {
    check(problem, options);
    const auto unknowns = shape_of(problem, options.time_modes).size();
    const auto backend = make_backend(device_for(options.device, unknowns), options.threads);
    return Chain(problem, options, *backend).solve();
}

}  // namespace zonal::gwrm
