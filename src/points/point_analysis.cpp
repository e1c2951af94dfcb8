#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.hpp"
#include "points/point_transform.hpp"
#include "points/sphere_samples.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"

/// Least squares at points: conjugate gradients on S^T W S a = S^T W f.
namespace zonal {
namespace points {
namespace {

using Complex = std::complex<double>;
using Alm = Array<Complex, 3>;
using Values = Array<double, 3>;

std::int64_t points_that_count(const PointTransform& transform, const PointAnalysisOptions& options) {
    if (options.weights.extent(0) == 0) return transform.points().n_points();
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < options.weights.extent(0); ++i) n += options.weights[i] > 0 ? 1 : 0;
    return n;
}

void check_options(const PointTransform& transform, const PointAnalysisOptions& options) {
    const std::int64_t n_points = transform.points().n_points();
    if (!(options.tolerance > 0)) throw InvalidArgument("tolerance", options.tolerance, "must be positive");
    if (const double error = transform.samples().options().error; error > options.tolerance / 10)
        throw InvalidArgument("tolerance", options.tolerance,
                              fmt::format("must be at least 10 times the transform's error, {:g}", error));
    if (options.max_iterations < 1)
        throw InvalidArgument("max_iterations", options.max_iterations, "must be at least 1");
    if (options.weights.extent(0) != 0 && options.weights.extent(0) != n_points)
        throw InvalidArgument("weights", fmt::format("has length {}: must be the number of points, {}",
                                                     options.weights.extent(0), n_points));
    sht::check_host("weights", options.weights);
    for (std::int64_t i = 0; i < options.weights.extent(0); ++i)
        if (!(options.weights[i] >= 0 && std::isfinite(options.weights[i])))
            throw InvalidArgument(fmt::format("weights[{}]", i), options.weights[i], "must be 0 or positive");
    if (n_points > 0 && points_that_count(transform, options) == 0)
        throw InvalidArgument("weights", "are all 0: must be positive for some points");
}

/// The values of a map, 0 where the weight is 0, divided by a power of two so that their squares are neither
/// infinite nor 0.
struct ScaledValues {
    Values values;
    int exponent = 0;
};

template <class T>
ScaledValues scaled_values(View<const T, 3> values, std::int64_t map, const PointAnalysisOptions& options) {
    ScaledValues scaled{Values({1, values.extent(1), values.extent(2)})};
    double largest = 0;
    for (std::int64_t c = 0; c < values.extent(1); ++c)
        for (std::int64_t i = 0; i < values.extent(2); ++i) {
            if (options.weights.extent(0) > 0 && options.weights[i] == 0) continue;
            const double value = values(map, c, i);
            if (!std::isfinite(value) || is_unseen_value(value))
                throw InvalidArgument(values.extent(1) == 1 && values.extent(0) == 1
                                          ? fmt::format("values[{}]", i)
                                          : fmt::format("values[{}, {}, {}]", map, c, i),
                                      value, "must be a finite number, or the point's weight 0");
            scaled.values(0, c, i) = value;
            largest = std::max(largest, std::abs(value));
        }
    if (largest == 0) return scaled;
    scaled.exponent = std::ilogb(largest);
    for (double& value : scaled.values) value = std::ldexp(value, -scaled.exponent);
    return scaled;
}

/// One map's problem.
class Solver {
  public:
    Solver(const PointTransform& transform, const Values& values, PointWorkspace& workspace,
           const PointAnalysisOptions& options)
        : transform_(transform),
          layout_(transform.samples().layout()),
          components_(transform.samples().components()),
          threads_(transform.samples().options().threads),
          workspace_(workspace),
          options_(options),
          values_(values),
          at_points_({1, components_, transform.points().n_points()}),
          gradient_({1, components_, layout_.size()}),
          direction_({1, components_, layout_.size()}) {}

    /// alm: the answer, zeros at first.
    PointAnalysisReport run(Alm& alm) {
        PointAnalysisReport report;
        residual_ = values_;
        double square = gradient(residual_);
        const double scale = square;
        double done = 0;
        const auto relative = [&] { return scale > 0 ? std::sqrt(square / scale) : 0; };
        for (double before = std::numeric_limits<double>::infinity();;) {
            report.residual = relative();
            report.reached_tolerance = report.residual <= options_.tolerance;
            // The recursion's residual drifts from the true one; when starting anew does not even halve that,
            // rounding is all that is left, or numbers that are not finite.
            const bool stagnates = !(report.residual <= before / 2);
            if (report.reached_tolerance || stagnates || report.iterations >= options_.max_iterations) break;
            before = report.residual;
            direction_ = gradient_;
            while (report.iterations < options_.max_iterations && relative() > 0.9 * options_.tolerance) {
                transform_.synthesize<double>(direction_.view(), at_points_.view(), workspace_);
                const double curvature = weighted_square(at_points_);
                if (!(curvature > 0)) break;
                const double step = square / curvature;
                add(step, direction_, alm);
                add(-step, at_points_, residual_);
                const double previous = square;
                square = gradient(residual_);
                const double ratio = square / previous;
                scale_and_add(gradient_, ratio, direction_);
                ++report.iterations;
                done = std::clamp(std::log(relative()) / std::log(options_.tolerance), done, 1.0);
                if (options_.progress && !options_.progress(done)) throw Cancelled("analysis: cancelled");
            }
            transform_.synthesize<double>(alm.view(), residual_.view(), workspace_);
            for (std::int64_t i = 0; i < residual_.size(); ++i)
                residual_.data()[i] = values_.data()[i] - residual_.data()[i];
            square = gradient(residual_);
        }
        return report;
    }

  private:
    double weight(std::int64_t point) const {
        return options_.weights.extent(0) == 0 ? 1 : options_.weights[point];
    }

    /// gradient_ = S^T W r; its square.
    double gradient(const Values& residual) {
        const std::int64_t n = residual.extent(2);
        core::for_pieces(n, threads_, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t c = 0; c < components_; ++c)
                for (std::int64_t i = first; i < last; ++i)
                    at_points_.data()[c * n + i] = weight(i) * residual.data()[c * n + i];
        });
        transform_.adjoint<double>(at_points_.view(), gradient_.view(), workspace_);
        double sum = 0;
        for (std::int64_t c = 0; c < components_; ++c)
            for (std::int64_t k = 0; k < layout_.size(); ++k)
                sum += (k <= layout_.lmax() ? 1 : 2) * std::norm(gradient_.data()[c * layout_.size() + k]);
        return sum;
    }

    /// sum_p w_p f_p^2, in an order that does not depend on threads.
    double weighted_square(const Values& f) const {
        const std::int64_t n = f.extent(2);
        double sum = 0;
        for (std::int64_t c = 0; c < components_; ++c)
            for (std::int64_t i = 0; i < n; ++i) sum += weight(i) * f.data()[c * n + i] * f.data()[c * n + i];
        return sum;
    }

    /// y += factor x
    template <class Numbers>
    void add(double factor, const Numbers& x, Numbers& y) const {
        core::for_pieces(x.size(), threads_, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) y.data()[i] += factor * x.data()[i];
        });
    }
    /// y = x + factor y
    void scale_and_add(const Alm& x, double factor, Alm& y) const {
        core::for_pieces(x.size(), threads_, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) y.data()[i] = x.data()[i] + factor * y.data()[i];
        });
    }

    const PointTransform& transform_;
    const AlmLayout layout_;
    const std::int64_t components_;
    const int threads_;
    PointWorkspace& workspace_;
    const PointAnalysisOptions& options_;
    const Values& values_;
    Values residual_, at_points_;
    Alm gradient_, direction_;
};

std::string note_of(const PointTransform& transform, const PointAnalysisReport& report,
                    const PointAnalysisOptions& options) {
    const auto& layout = transform.samples().layout();
    const double unknowns = 2.0 * static_cast<double>(layout.size()) - static_cast<double>(layout.lmax() + 1);
    const auto n_points = static_cast<double>(points_that_count(transform, options));
    std::string note;
    if (!report.reached_tolerance)
        note = fmt::format("the residual is {:.2g} after {} iterations, above the tolerance {:g}",
                           report.residual, report.iterations, options.tolerance);
    if (n_points < 2 * unknowns)
        note += fmt::format(
            "{}{} points{} are fewer than two for each of the {} unknowns: the alm amplify what the "
            "values err by, and more points or a lower lmax would not",
            note.empty() ? "" : "; ", n_points, options.weights.extent(0) == 0 ? "" : " of a positive weight",
            unknowns);
    return note;
}

}  // namespace
}  // namespace points

template <class T>
PointAnalysisReport PointTransform::analyze(ConstView<T, 3> values, View<std::complex<T>, 3> alm,
                                            PointWorkspace& workspace,
                                            const PointAnalysisOptions& options) const {
    using points::Alm;
    using points::check_options;
    using points::Complex;
    using points::note_of;
    using points::scaled_values;
    using points::Solver;
    check_options(*this, options);
    sht::check_extent("alm", alm, 0, "map", values.extent(0));
    sht::check_extent("alm", alm, 1, "component", samples_.components());
    sht::check_extent("alm", alm, 2, "coefficient", samples_.layout().size());
    sht::check_host("alm", alm);
    sht::check_contiguous("alm", alm);
    sht::check_extent("values", values, 1, "component", samples_.components());
    sht::check_extent("values", values, 2, "point", points_.n_points());
    sht::check_host("values", values);
    PointAnalysisReport all;
    const std::int64_t n_maps = values.extent(0);
    for (std::int64_t map = 0; map < n_maps; ++map) {
        const auto of_map = scaled_values<T>(values, map, options);
        Alm answer({1, samples_.components(), samples_.layout().size()});
        PointAnalysisOptions of_solver = options;
        if (options.progress)
            of_solver.progress = [&, map](double done) {
                return options.progress((static_cast<double>(map) + done) / static_cast<double>(n_maps));
            };
        const auto report = Solver(*this, of_map.values, workspace, of_solver).run(answer);
        for (std::int64_t c = 0; c < samples_.components(); ++c)
            for (std::int64_t k = 0; k < samples_.layout().size(); ++k) {
                const Complex a = answer(0, c, k);
                alm(map, c, k) = {static_cast<T>(std::ldexp(a.real(), of_map.exponent)),
                                  static_cast<T>(std::ldexp(a.imag(), of_map.exponent))};
            }
        all.iterations = std::max(all.iterations, report.iterations);
        if (!(report.residual <= all.residual)) all.residual = report.residual;
        all.reached_tolerance = all.reached_tolerance && report.reached_tolerance;
    }
    all.note = note_of(*this, all, options);
    return all;
}

template PointAnalysisReport PointTransform::analyze<float>(View<const float, 3>,
                                                            View<std::complex<float>, 3>, PointWorkspace&,
                                                            const PointAnalysisOptions&) const;
template PointAnalysisReport PointTransform::analyze<double>(View<const double, 3>,
                                                             View<std::complex<double>, 3>, PointWorkspace&,
                                                             const PointAnalysisOptions&) const;

}  // namespace zonal
