#include "gwrm/root.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "gwrm/linear/linear.hpp"

namespace zonal::gwrm {
namespace {

constexpr std::int64_t most_dense_unknowns = 32;  // by automatic choice; above, GMRES is faster
constexpr int most_linear_iterations = 80;
/// Another point is frozen when GMRES takes more steps than this.
constexpr int too_many_linear_iterations = 12;

/// Whether steps shrink, have become small enough, or neither.
class StepSizes {
  public:
    explicit StepSizes(double tolerance)
        : floor_(tolerance),
          target_(std::max(1e-2 * tolerance, 8 * std::numeric_limits<double>::epsilon())) {}

    enum class Verdict { go_on, converged, diverged };
    /// linear_error: relative error of the step itself.
    Verdict judge(double size, double linear_error) {
        if (!std::isfinite(size)) return Verdict::diverged;
        const double ratio = std::isfinite(last_) ? size / last_ : 1;
        last_ = size;
        ratio_ = ratio;
        if (size <= target_) return Verdict::converged;
        // A step that is `ratio` of the one before leaves at most about ratio / (1 - ratio) of itself.
        if (ratio < 0.5 && size * (ratio / (1 - ratio) + linear_error) <= target_) return Verdict::converged;
        // Rounding keeps steps of ill-conditioned systems from shrinking further.
        if (ratio > 0.5 && size <= floor_) return Verdict::converged;
        growing_ = ratio > 1.5 ? growing_ + 1 : 0;
        return growing_ >= 2 ? Verdict::diverged : Verdict::go_on;
    }
    /// How exactly to solve for the next step: as its own error will be, and no better than needed.
    double linear_tolerance() const {
        if (!std::isfinite(last_)) return 0.05;
        const double expected = last_ * std::min(1.0, ratio_);
        return std::clamp(0.3 * std::min(ratio_, target_ / std::max(expected, target_)), 1e-6, 0.05);
    }
    double last() const { return last_; }

  private:
    double floor_, target_;
    double last_ = std::numeric_limits<double>::infinity(), ratio_ = 1;
    int growing_ = 0;
};

double largest(const std::vector<double>& values) {
    double result = 0;
    for (const double value : values) result = Maximum::combine(result, value);
    return result;
}

}  // namespace

/// Steps d = F'(a)^-1 F, exact or to a tolerance.
class RootSolver::Steps {
  public:
    Steps(System& system, bool dense) : system_(system), dense_(dense) {
        if (dense) return;
        basis_.emplace(system.shape().extents[0], system.mode());
        gmres_.emplace(system.backend(), system.shape().size());
    }

    bool is_dense() const { return dense_; }
    Memory memory() const {
        if (system_.backend().device().kind() == Device::Kind::cuda) return {};
        const auto size = system_.shape().size(), n = system_.shape().spatial();
        const auto bytes = [](std::int64_t numbers) { return sizeof(double) * static_cast<double>(numbers); };
        // Unit vectors and their images, which become a matrix and its factors.
        if (dense_) return {bytes(system_.numbers_for_jacobian(size)), bytes(4 * size * size)};
        // Complex factors of each system. Unit vectors and two sorts of images, these as matrices, and the
        // complex matrix that is factorised.
        const auto factors = (2 * basis_->n_systems + (basis_->is_diagonal ? 0 : 1)) * n * n;
        return {bytes(factors + system_.numbers_for_frozen_matrices() + gmres_->usual_numbers()),
                bytes(7 * n * n)};
    }
    int iterations() const { return iterations_; }
    /// Forgets the factors where they are for an interval of another length.
    void begin() {
        iterations_ = 0;
        if (std::abs(system_.time().half_width() / half_width_ - 1) > other_length) frozen_.reset();
    }

    /// Empty, or why there is no step.
    std::string solve(const double* a, const double* f, double tolerance, double* d) {
        if (dense_) return solve_dense(f, d);
        const bool is_new = !frozen_;
        if (is_new) {
            frozen_ = frozen_inverse(system_, *basis_, a);
            half_width_ = system_.time().half_width();
            if (frozen_->is_singular()) {
                frozen_.reset();
                return "the linear part is singular";
            }
        }
        const auto result = solve_krylov(f, tolerance, d);
        iterations_ += result.iterations;
        if (result.iterations > too_many_linear_iterations) frozen_.reset();
        if (result.reduction < std::max(0.5, 2 * tolerance)) return "";
        frozen_.reset();
        if (!is_new) return solve(a, f, tolerance, d);
        return fmt::format("GMRES reduced the residual to {:.2g} of itself only", result.reduction);
    }

  private:
    /// Preconditioners of intervals whose lengths differ by less are nearly as good.
    static constexpr double other_length = 0.15;

    std::string solve_dense(const double* f, double* d) {
        const auto inverse = dense_inverse(system_);
        if (inverse->is_singular()) return "the Jacobian is singular";
        inverse->solve(f, d);
        return "";
    }

    GmresResult solve_krylov(const double* f, double tolerance, double* d) {
        const auto jacobian = [&](const double* from, double* to) { system_.apply_jacobian(from, 1, to); };
        const auto precondition = [&](const double* from, double* to) { frozen_->solve(from, to); };
        return gmres_->solve(jacobian, precondition, f, tolerance, most_linear_iterations, d);
    }

    System& system_;
    bool dense_;
    std::optional<TimeBasis> basis_;
    std::optional<Gmres> gmres_;
    std::unique_ptr<Inverse> frozen_;
    double half_width_ = 1;
    int iterations_ = 0;
};

RootSolver::RootSolver(System& system, const SolveOptions& options)
    : system_(system),
      options_(options),
      residual_(system.backend(), system.shape().size()),
      step_(system.backend(), system.shape().size()) {
    const auto solver = resolve_solver(options.solver, system.shape().size());
    steps_ = std::make_unique<Steps>(system, solver != Solver::newton_krylov);
}

RootSolver::~RootSolver() = default;

std::vector<double> RootSolver::largest_of_fields(const double* a) {
    const auto& shape = system_.shape();
    return system_.backend().numbers_of(
        Largest{.n_segments = shape.n_fields, .n = shape.per_field(), .a = a});
}

/// Largest coefficient of d relative to that of the same field in a; of a field of zeros, to all of a.
double RootSolver::relative_size(const double* d, const double* a) {
    const auto of_a = largest_of_fields(a), of_d = largest_of_fields(d);
    const double all = largest(of_a);
    double size = 0;
    for (std::size_t field = 0; field < of_a.size(); ++field) {
        const double scale = of_a[field] > 0 ? of_a[field] : all > 0 ? all : 1;
        size = Maximum::combine(size, of_d[field] / scale);
    }
    return size;
}

double RootSolver::largest_residual(const double* a) {
    system_.residual(a, residual_.data());
    return largest(largest_of_fields(residual_.data()));
}

// What is written through a member of a structure is taken for read.
// NOLINTNEXTLINE(readability-non-const-parameter)
void RootSolver::subtract(double weight, const double* d, double* a) {
    const WeightedArray step{d, -weight, a};
    system_.backend().add(system_.shape().size(), {&step, 1});
}

RootSolver::Memory RootSolver::memory() const {
    return steps_->memory();
}

RootResult RootSolver::solve(double* a) {
    steps_->begin();
    auto result = options_.solver == Solver::sir ? sir(a) : newton(a);
    if (result.converged) result.residual = largest_residual(a);
    return result;
}

bool RootSolver::solve_linearised(const double* a, const double* b, double tolerance, double* d) {
    steps_->begin();
    return steps_->solve(a, b, tolerance, d).empty();
}

RootResult RootSolver::newton(double* a) {
    RootResult result;
    StepSizes sizes(options_.tolerance);
    double *const f = residual_.data(), *const d = step_.data();
    while (result.iterations < options_.max_iterations) {
        result.residual = largest_residual(a);
        if (!std::isfinite(result.residual)) {
            result.reason = "the residual is not finite";
            return result;
        }
        const double tolerance = steps_->is_dense() ? 0 : sizes.linear_tolerance();
        result.reason = steps_->solve(a, f, tolerance, d);
        result.linear_iterations = steps_->iterations();
        if (!result.reason.empty()) return result;
        subtract(1, d, a);
        ++result.iterations;
        const auto verdict = sizes.judge(relative_size(d, a), tolerance);
        result.converged = verdict == StepSizes::Verdict::converged;
        if (verdict == StepSizes::Verdict::diverged)
            result.reason = fmt::format("steps grow, the last is {:.2g}", sizes.last());
        if (verdict != StepSizes::Verdict::go_on) return result;
    }
    result.reason = fmt::format("the last of {} steps is still {:.2g}", result.iterations, sizes.last());
    return result;
}

/// Scheffel & Hakansson (2009): x <- x - (I - R) J^-1 F, R = 0.95 halved after a step that brought F down and
/// brought back towards 1 after one that did not, which is undone.
RootResult RootSolver::sir(double* a) {
    RootResult result;
    StepSizes sizes(options_.tolerance);
    const int most = 8 * options_.max_iterations;
    double damping = 0.95;
    auto& backend = system_.backend();
    const auto n = system_.shape().size();
    trial_.resize(backend, n);
    double *const f = residual_.data(), *const d = step_.data(), *const trial = trial_.data();
    backend.copy(a, n, trial);
    backend.fill(d, n);
    result.residual = std::numeric_limits<double>::infinity();
    while (result.iterations < most) {
        const double residual = largest_residual(trial);
        if (residual < result.residual) {
            damping /= 2;
            if (result.iterations == 0) damping = 0.95;
            backend.copy(trial, n, a);
            result.residual = residual;
            result.reason = steps_->solve(a, f, 0, d);
            if (!result.reason.empty()) return result;
            const double size = relative_size(d, a);
            if (sizes.judge(size, 0) == StepSizes::Verdict::converged) {
                subtract(1, d, a);
                result.converged = true;
                return result;
            }
        } else {
            if (sizes.last() <= options_.tolerance) {  // at the level of rounding
                result.converged = true;
                return result;
            }
            damping = (1 + damping) / 2;
        }
        backend.copy(a, n, trial);
        subtract(1 - damping, d, trial);
        ++result.iterations;
    }
    result.reason = fmt::format("the last of {} steps is still {:.2g}, with R = {:.3g}", result.iterations,
                                sizes.last(), damping);
    return result;
}

Solver resolve_solver(Solver solver, std::int64_t unknowns) {
    if (solver != Solver::automatic) return solver;
    return unknowns <= most_dense_unknowns ? Solver::newton : Solver::newton_krylov;
}

std::string to_string(Solver solver) {
    switch (solver) {
        case Solver::automatic:
            return "automatic";
        case Solver::newton:
            return "newton";
        case Solver::newton_krylov:
            return "newton-krylov";
        case Solver::sir:
            return "sir";
    }
    return "";
}

}  // namespace zonal::gwrm
