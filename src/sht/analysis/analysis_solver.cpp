#include "sht/analysis/analysis_operator.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sht/analysis/field_memory.hpp"
#include "sht/progress_part.hpp"

namespace zonal::sht {
namespace {

const struct { ScratchArray map_residual, map_step, gradient, direction, best; } solver_arrays{};

/// State of the iteration, and its stages.
template <class T>
class Solver {
  public:
    Solver(AnalysisOperator<T>& op, View<const T, 3> map, View<std::complex<T>, 3> alm,
           const AnalysisOptions& options)
        : op_(op),
          map_(map),
          alm_(alm),
          options_(options),
          map_residual_(map_array(solver_arrays.map_residual)),
          map_step_(map_array(solver_arrays.map_step)),
          gradient_(alm_array(solver_arrays.gradient)),
          direction_(alm_array(solver_arrays.direction)),
          best_(alm_array(solver_arrays.best)) {}

    AnalysisReport run() {
        start();
        double previous = 0;
        for (bool first = true;; first = false) {
            report_.residual = largest_residual();
            report_.reached_tolerance = report_.residual <= options_.tolerance;
            // The recursion's residual drifts from the true one by rounding. When a restart from the true one
            // does not even halve it, rounding is all that is left, or numbers that are not finite.
            const bool stagnates = !first && !(report_.residual <= previous / 2);
            if (report_.reached_tolerance || stagnates || report_.iterations >= options_.max_iterations) {
                if (!report_.reached_tolerance) explain(stagnates);
                report_.unresolved = share_unresolved();
                if (options_.power_by_degree) report_.power = op_.alms().powers(gradient_);
                return report_;
            }
            previous = report_.residual;
            iterate();
            compute_true_residual();
        }
    }

  private:
    /// a = 0, r = f, s = S^T W r
    void start() {
        copy_fields<T>(op_.storage(), map_, map_residual_);
        compute_gradient();
        scale_ = gradient_square_;
        op_.alms().set_zero(alm_);
    }

    void compute_true_residual() {
        op_.synthesize(alm_, map_residual_, progress());
        op_.maps().subtract_from(map_, map_residual_);
        compute_gradient();
    }

    void compute_gradient() {
        op_.quadrature(map_residual_, map_step_, gradient_, progress());
        gradient_square_ = op_.alms().squares(gradient_);
    }

    /// Conjugate gradients from the present s on, until the recursion's residual says that all are done, or
    /// that it diverges: where the grid does not determine the alm, rounding is what a step divides by in the
    /// end. They leave the best alm on the way, to a factor of 2 in the residual.
    void iterate() {
        // On grids that determine the alm the residual swings by the condition number of S, 100 at the most.
        constexpr double diverging = 1e4;
        double best = largest_residual();
        copy_fields<std::complex<T>>(op_.storage(), alm_, best_);
        copy_fields<std::complex<T>>(op_.storage(), gradient_, direction_);
        const auto n_batch = static_cast<std::size_t>(alm_.extent(0));
        std::vector<double> step(n_batch), minus_step(n_batch), ratio(n_batch);
        while (report_.iterations < options_.max_iterations &&
               largest_residual() > 0.9 * options_.tolerance) {
            op_.synthesize(direction_, map_step_, progress());
            const auto step_square = op_.maps().weighted_squares(map_step_);
            for (std::size_t b = 0; b < n_batch; ++b) {
                step[b] = step_square[b] > 0 ? gradient_square_[b] / step_square[b] : 0;
                minus_step[b] = -step[b];
            }
            op_.alms().add_scaled(step, direction_, alm_);
            op_.maps().add_scaled(minus_step, map_step_, map_residual_);
            const auto previous_square = gradient_square_;
            compute_gradient();
            for (std::size_t b = 0; b < n_batch; ++b)
                ratio[b] = previous_square[b] > 0 ? gradient_square_[b] / previous_square[b] : 0;
            op_.alms().scale_and_add(gradient_, ratio, direction_);
            ++report_.iterations;
            const double now = largest_residual();
            if (!(now <= diverging * best)) break;
            if (now < best / 2) {
                copy_fields<std::complex<T>>(op_.storage(), alm_, best_);
                best = now;
            }
            // Conjugate gradients gain digits at an even pace.
            const double gained = std::log(now) / std::log(options_.tolerance);
            done_ = std::clamp(gained, done_, 1.0);
        }
        if (!(largest_residual() <= best)) copy_fields<std::complex<T>>(op_.storage(), best_, alm_);
    }

    double largest_residual() const {
        double largest = 0;
        for (std::size_t b = 0; b < scale_.size(); ++b) {
            const double residual = scale_[b] > 0 ? std::sqrt(gradient_square_[b] / scale_[b]) : 0;
            // Squares of small residuals are no normal numbers any more.
            constexpr double least_scale = 1e-270;
            if (std::isnan(residual) || (scale_[b] > 0 && scale_[b] < least_scale))
                return std::numeric_limits<double>::quiet_NaN();
            largest = std::max(largest, residual);
        }
        return largest;
    }

    /// The share of the map that the alm leave, where the residual is the map's true one.
    double share_unresolved() {
        const auto left = op_.maps().weighted_squares(map_residual_), all = op_.maps().weighted_squares(map_);
        double largest = 0;
        for (std::size_t b = 0; b < all.size(); ++b)
            if (all[b] > 0) largest = std::max(largest, left[b] / all[b]);
        return std::sqrt(largest);
    }

    void explain(bool stagnates) {
        if (std::isnan(report_.residual)) {
            report_.note = "the map's values are too large or too small for their squares: scale the map";
            return;
        }
        report_.note =
            stagnates
                ? fmt::format("rounding stopped the solver at a residual of {:.2g}, above the tolerance {:g}",
                              report_.residual, options_.tolerance)
                : fmt::format(
                      "the residual is {:.2g} after {} iterations, above the tolerance {:g}: the "
                      "grid hardly determines this lmax: lower it or allow more iterations",
                      report_.residual, report_.iterations, options_.tolerance);
    }

    View<T, 3> map_array(const ScratchArray& array) {
        return scratch_array<T, 3>(op_.storage(), array, map_.extents());
    }
    View<std::complex<T>, 3> alm_array(const ScratchArray& array) {
        return scratch_array<std::complex<T>, 3>(op_.storage(), array, alm_.extents());
    }
    /// How many iterations it takes nobody knows: the share of max_iterations is a lower bound of what is
    /// done.
    Progress progress() const { return part_of(options_.progress, done_, done_); }

    AnalysisOperator<T>& op_;
    View<const T, 3> map_;
    View<std::complex<T>, 3> alm_;
    const AnalysisOptions& options_;
    View<T, 3> map_residual_, map_step_;                    // r = f - S a; q = S p, or W r
    View<std::complex<T>, 3> gradient_, direction_, best_;  // s = S^T W r; p; the alm of the least |s|
    std::vector<double> gradient_square_, scale_;           // |s|^2, |S^T W f|^2
    double done_ = 0;
    AnalysisReport report_;
};

}  // namespace

template <class T>
AnalysisReport solve_normal_equations(AnalysisOperator<T>& op, View<const T, 3> map,
                                      View<std::complex<T>, 3> alm, const AnalysisOptions& options) {
    return Solver<T>(op, map, alm, options).run();
}

template AnalysisReport solve_normal_equations(AnalysisOperator<float>&, View<const float, 3>,
                                               View<std::complex<float>, 3>, const AnalysisOptions&);
template AnalysisReport solve_normal_equations(AnalysisOperator<double>&, View<const double, 3>,
                                               View<std::complex<double>, 3>, const AnalysisOptions&);

}  // namespace zonal::sht
