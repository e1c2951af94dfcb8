#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "core/aligned.hpp"
#include "core/parallel.hpp"
#include "points/lensing/displacement_math.hpp"
#include "points/lensing/lensing.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace points {
namespace {

/// Shares of the error that is named: of interpolation, and of what iterations leave.
constexpr double field_share = 0.5, iteration_share = 0.5;

/// Newton's iteration at all points at once, for D + e^{i gamma} d(n') = 0, n' = exp_n(D).
class Inversion {
  public:
    Inversion(const Targets& targets, const DeflectionPotentials& potentials,
              const InverseDeflectionOptions& options)
        : targets_(targets),
          layout_(potentials.layout),
          options_(options),
          threads_(core::resolve_threads(options.threads)),
          n_(targets.n_points()),
          alm_({1, 2, layout_.size()}),
          inverse_({2, n_}),
          rotation_({2, n_}),
          theta_(static_cast<std::size_t>(n_)),
          phi_(static_cast<std::size_t>(n_)) {
        const auto given = deflection_alm(potentials, options.threads);
        std::copy(given.begin(), given.end(), alm_.begin());
    }

    InverseDeflectionReport run() {
        const auto d = deflections(targets_.theta(), targets_.phi());
        for (std::int64_t i = 0; i < n_; ++i)
            for (int c = 0; c < 2; ++c) inverse_(c, i) = -d(0, c, i);
        InverseDeflectionReport report;
        double last = HUGE_VAL;
        for (;;) {
            const State state = step(report.iterations == options_.max_iterations);
            report.residual = state.residual;
            report.contraction = state.contraction;
            if (state.residual <= iteration_share * options_.error * state.largest) return report;
            // Newton's steps square the error where they converge at all: it may rise at first, and must
            // fall in the end.
            if (report.iterations == options_.max_iterations ||
                (report.iterations > 8 && !(state.residual < last)))
                refuse(state, report.iterations);
            last = state.residual;
            ++report.iterations;
        }
    }

    const Array<double, 2>& inverse() const { return inverse_; }

  private:
    /// At D before a step.
    struct State {
        double residual = 0;     ///< the largest
        double contraction = 0;  ///< the largest
        double largest = 0;      ///< |d|
        std::int64_t worst = 0;  ///< point of the largest residual
    };

    WorkArray<double, 3> deflections(View<const double, 1> theta, View<const double, 1> phi) const {
        return values_of({field_options(layout_.lmax(), layout_.mmax(), 1, field_share * options_.error, n_,
                                        threads_, Device::cpu()),
                          theta, phi},
                         alm_.view());
    }

    /// Measures D, and takes Newton's step unless it is right within the error or the last one.
    State step(bool last) {
        const View<double, 1> theta(theta_.data(), {n_}), phi(phi_.data(), {n_});
        for (std::int64_t i = 0; i < n_; ++i)
            if (!(std::hypot(inverse_(0, i), inverse_(1, i)) <= largest_deflection))
                throw InvalidArgument("potentials",
                                      fmt::format("deflect too much for an inverse: none was found at point "
                                                  "{} within {} rad",
                                                  i, largest_deflection));
        displace(targets_.theta(), targets_.phi(), std::as_const(inverse_).view(), theta, phi,
                 rotation_.view(), threads_);
        const auto d = deflections(theta, phi);
        const EthFields fields(layout_, 1, std::as_const(alm_).view(), field_share * options_.error, theta,
                               phi, threads_, Device::cpu());
        const EthValues eth = fields.values();
        State state;
        std::vector<core::Complex> residuals(static_cast<std::size_t>(n_));
        for (std::int64_t i = 0; i < n_; ++i) {
            const core::Complex there{d(0, 0, i), d(0, 1, i)};
            const auto residual = residuals[static_cast<std::size_t>(i)] =
                core::Complex{inverse_(0, i), inverse_(1, i)} + turn(i) * there;
            if (magnitude(residual) > state.residual) {
                state.residual = magnitude(residual);
                state.worst = i;
            }
            state.largest = std::max(state.largest, magnitude(there));
            // |df| <= (|eth f| + |conjugate eth f|) / 2 for each radian.
            state.contraction =
                std::max(state.contraction, (magnitude(eth.raised(i)) + magnitude(eth.lowered(i))) / 2);
        }
        if (last || state.residual <= iteration_share * options_.error * state.largest) return state;
        for (std::int64_t i = 0; i < n_; ++i) {
            const core::Complex there{d(0, 0, i), d(0, 1, i)};
            correct(i, residuals[static_cast<std::size_t>(i)],
                    slopes_by_deflection(1, turn(i) * there, eth.along_theta(i), eth.along_phi(i),
                                         inverse_(0, i), inverse_(1, i), turn(i)));
        }
        return state;
    }

    /// D -= J^-1 residual, J the identity and these slopes.
    void correct(std::int64_t i, core::Complex residual, const DeflectionSlopes& slopes) {
        const double a = 1 + slopes.by_theta.re, b = slopes.by_phi.re, c = slopes.by_theta.im,
                     e = 1 + slopes.by_phi.im, determinant = a * e - b * c;
        inverse_(0, i) -= (e * residual.re - b * residual.im) / determinant;
        inverse_(1, i) -= (a * residual.im - c * residual.re) / determinant;
    }

    core::Complex turn(std::int64_t i) const { return {rotation_(0, i), rotation_(1, i)}; }

    [[noreturn]] void refuse(const State& state, int iterations) const {
        throw InvalidArgument(
            "potentials",
            fmt::format("no inverse was found at point {}: after {} iterations the way back misses by {:.1e} "
                        "rad; deflections change by up to {:.2f} rad per rad, and from 1 on they may fold "
                        "the sky",
                        state.worst, iterations, state.residual, state.contraction));
    }

    const Targets& targets_;
    const AlmLayout layout_;
    const InverseDeflectionOptions options_;
    const int threads_;
    const std::int64_t n_;
    Array<std::complex<double>, 3> alm_;
    Array<double, 2> inverse_, rotation_;
    core::AlignedVector<double> theta_, phi_;
};

InverseDeflectionReport invert(const Targets& targets, const DeflectionPotentials& potentials,
                               const View<double, 2>& inverse, const InverseDeflectionOptions& options) {
    constexpr double least = 4e-14, most = 0.1;
    if (!(options.error >= least && options.error <= most))
        throw InvalidArgument("error", options.error, fmt::format("must be from {} to {}", least, most));
    if (options.max_iterations < 1)
        throw InvalidArgument("max_iterations", options.max_iterations, "must be 1 or more");
    sht::check_host("inverse", inverse);
    sht::check_extent("inverse", inverse, 0, "components", 2);
    sht::check_extent("inverse", inverse, 1, "points", targets.n_values());
    Inversion inversion(targets, potentials, options);
    const auto report = inversion.run();
    for (int c = 0; c < 2; ++c) targets.scatter<double>(inversion.inverse().view()[c], inverse[c]);
    return report;
}

}  // namespace
}  // namespace points

InverseDeflectionReport invert_deflection(const DeflectionPotentials& potentials, View<const double, 1> theta,
                                          View<const double, 1> phi, View<double, 2> inverse,
                                          const InverseDeflectionOptions& options) {
    return points::invert(points::Targets(theta, phi, options.threads, Device::cpu()), potentials, inverse,
                          options);
}

InverseDeflectionReport invert_deflection(const DeflectionPotentials& potentials, const Grid& grid,
                                          View<double, 2> inverse, const InverseDeflectionOptions& options) {
    return points::invert(points::Targets(grid, options.threads, Device::cpu()), potentials, inverse,
                          options);
}

}  // namespace zonal
