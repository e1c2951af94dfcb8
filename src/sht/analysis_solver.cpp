#include "sht/analysis_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sht/progress_part.hpp"

namespace zonal::sht {
namespace {

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
          map_residual_(map.extents()),
          map_step_(map.extents()),
          gradient_(alm.extents()),
          direction_(alm.extents()) {}

    AnalysisReport run() {
        start();
        double previous = 0;
        for (bool first = true;; first = false) {
            report_.residual = largest_residual();
            report_.converged = report_.residual <= options_.tolerance;
            // The recursion's residual drifts from the true one by rounding. When a restart from the true one
            // does not even halve it, rounding is all that is left.
            const bool stagnates = !first && report_.residual > previous / 2;
            if (report_.converged || stagnates || report_.iterations >= options_.max_iterations) {
                if (!report_.converged) explain(stagnates);
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
        op_.subtract_from(map_, map_residual_.view());
        compute_gradient();
        scale_ = op_.squares(gradient());
        for (std::int64_t b = 0; b < alm_.extent(0); ++b)
            for (std::int64_t c = 0; c < alm_.extent(1); ++c)
                for (std::int64_t i = 0; i < alm_.extent(2); ++i) alm_(b, c, i) = 0;
    }

    void compute_true_residual() {
        op_.synthesize(alm_, map_residual_.view(), progress());
        op_.subtract_from(map_, map_residual_.view());
        compute_gradient();
    }

    void compute_gradient() {
        op_.quadrature(std::as_const(map_residual_).view(), map_step_.view(), gradient_.view(), progress());
        gradient_square_ = op_.squares(gradient());
    }

    /// Conjugate gradients from the present s on, until the recursion's residual says that all are done.
    void iterate() {
        std::copy(gradient_.begin(), gradient_.end(), direction_.begin());
        const auto n_batch = static_cast<std::size_t>(alm_.extent(0));
        std::vector<double> step(n_batch), minus_step(n_batch), ratio(n_batch);
        while (report_.iterations < options_.max_iterations &&
               largest_residual() > 0.9 * options_.tolerance) {
            op_.synthesize(std::as_const(direction_).view(), map_step_.view(), progress());
            const auto step_square = op_.weighted_squares(std::as_const(map_step_).view());
            for (std::size_t b = 0; b < n_batch; ++b) {
                step[b] = step_square[b] > 0 ? gradient_square_[b] / step_square[b] : 0;
                minus_step[b] = -step[b];
            }
            op_.add_scaled(step, std::as_const(direction_).view(), alm_);
            op_.add_scaled(minus_step, std::as_const(map_step_).view(), map_residual_.view());
            const auto previous_square = gradient_square_;
            compute_gradient();
            for (std::size_t b = 0; b < n_batch; ++b)
                ratio[b] = previous_square[b] > 0 ? gradient_square_[b] / previous_square[b] : 0;
            op_.scale_and_add(gradient(), ratio, direction_.view());
            ++report_.iterations;
            // Conjugate gradients gain digits at an even pace.
            const double gained = std::log(largest_residual()) / std::log(options_.tolerance);
            done_ = std::clamp(gained, done_, 1.0);
        }
    }

    double largest_residual() const {
        double largest = 0;
        for (std::size_t b = 0; b < scale_.size(); ++b)
            if (scale_[b] > 0) largest = std::max(largest, std::sqrt(gradient_square_[b] / scale_[b]));
        return largest;
    }

    void explain(bool stagnates) {
        report_.note =
            stagnates
                ? fmt::format("rounding stopped the solver at a residual of {:.2g}, above the tolerance {:g}",
                              report_.residual, options_.tolerance)
                : fmt::format(
                      "the residual is {:.2g} after {} iterations, above the tolerance {:g}: the "
                      "grid hardly determines this lmax: lower it or allow more iterations",
                      report_.residual, report_.iterations, options_.tolerance);
    }

    View<const std::complex<T>, 3> gradient() const { return gradient_.view(); }
    /// How many iterations it takes nobody knows: the share of max_iterations is a lower bound of what is
    /// done.
    Progress progress() const { return part_of(options_.progress, done_, done_); }

    AnalysisOperator<T>& op_;
    View<const T, 3> map_;
    View<std::complex<T>, 3> alm_;
    const AnalysisOptions& options_;
    Array<T, 3> map_residual_, map_step_;             // r = f - S a; q = S p, or W r
    Array<std::complex<T>, 3> gradient_, direction_;  // s = S^T W r; p
    std::vector<double> gradient_square_, scale_;     // |s|^2, |S^T W f|^2
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
