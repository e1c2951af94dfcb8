#include <fmt/core.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/interruption.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/spectra/simulated_spectra.hpp"

namespace zonal {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// x^a e^-x / Gamma(a + 1).
double leading_term(double a, double x) {
    return x == 0 ? 0 : std::exp(a * std::log(x) - x - std::lgamma(a + 1));
}

/// P(a, x) = x^a e^-x / Gamma(a+1) sum_n x^n / ((a+1) .. (a+n)) (DLMF 8.7.1); for x < a + 1.
double lower_by_series(double a, double x) {
    double term = 1, sum = 1;
    for (double n = 1; term > eps * sum / 4; ++n) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * leading_term(a, x);
}

/// Q(a, x) by the continued fraction of DLMF 8.9.2, by Lentz's method; for x >= a + 1.
double upper_by_fraction(double a, double x) {
    double b = x + 1 - a, c = std::numeric_limits<double>::max(), d = 1 / b, fraction = d;
    for (double n = 1;; ++n) {
        const double numerator = -n * (n - a);
        b += 2;
        d = 1 / (numerator * d + b);
        c = b + numerator / c;
        fraction *= c * d;
        if (std::abs(c * d - 1) < eps) return fraction * a * leading_term(a, x);
    }
}

/// |L^-1 d|^2 for A = L L^T. Columns in blocks, so that it can be interrupted; what is above the diagonal of
/// A is not used.
double whitened_square(Eigen::MatrixXd& a, Eigen::VectorXd& d) {
    constexpr Eigen::Index block = 64;
    const core::InterruptionPoll poll;
    const auto n = a.rows();
    for (Eigen::Index first = 0; first < n; first += block) {
        const auto width = std::min(block, n - first), below = n - first - width;
        const Eigen::LLT<Eigen::MatrixXd> factor(a.block(first, first, width, width));
        if (factor.info() != Eigen::Success)
            throw InvalidArgument("covariance",
                                  "is not positive definite: leave out values that depend on others, or take "
                                  "wider bands");
        factor.matrixL().solveInPlace(d.segment(first, width));
        if (below == 0) break;
        auto panel = a.block(first + width, first, below, width);
        factor.matrixU().solveInPlace<Eigen::OnTheRight>(panel);
        d.tail(below).noalias() -= panel * d.segment(first, width);
        for (Eigen::Index j = 0; j < below; j += block) {
            poll();
            const auto columns = std::min(block, below - j);
            a.block(first + width + j, first + width + j, below - j, columns).noalias() -=
                panel.bottomRows(below - j) * panel.middleRows(j, columns).transpose();
        }
    }
    return d.squaredNorm();
}

}  // namespace

double upper_gamma_share(double a, double x) {
    if (!(a > 0) || !std::isfinite(a)) throw InvalidArgument("a", a, "must be positive and finite");
    if (!(x >= 0)) throw InvalidArgument("x", x, "must be 0 or more");
    if (std::isinf(x)) return 0;
    return x < a + 1 ? 1 - lower_by_series(a, x) : upper_by_fraction(a, x);
}

ChiSquared chi_squared(View<const double, 1> residual, View<const double, 2> covariance, double factor) {
    const std::int64_t n = residual.size();
    if (n < 1) throw InvalidArgument("residual", "is empty: must have one value at least");
    for (const int axis : {0, 1}) sht::check_extent("covariance", covariance, axis, "value", n);
    if (!(factor > 0) || !std::isfinite(factor))
        throw InvalidArgument("factor", factor, "must be positive and finite");
    // What rounding may leave in products of matrices, in units of the errors.
    constexpr double asymmetry = 1e-10;
    // In units of the errors, so that values of very different sizes lose no digits.
    Eigen::VectorXd scaled(n), sigma(n);
    for (std::int64_t i = 0; i < n; ++i) {
        if (!std::isfinite(residual[i]))
            throw InvalidArgument(fmt::format("residual[{}]", i), residual[i], "must be a finite number");
        if (!(covariance(i, i) > 0) || !std::isfinite(covariance(i, i)))
            throw InvalidArgument(fmt::format("covariance[{0}, {0}]", i), covariance(i, i),
                                  "must be positive and finite");
        sigma[i] = std::sqrt(covariance(i, i));
        for (std::int64_t j = 0; j < i; ++j)
            if (!(std::abs(covariance(i, j) - covariance(j, i)) <= asymmetry * sigma[i] * sigma[j]))
                throw InvalidArgument(fmt::format("covariance[{}, {}]", j, i), covariance(j, i),
                                      fmt::format("must be what covariance[{}, {}] = {} is, a finite number",
                                                  i, j, covariance(i, j)));
        scaled[i] = residual[i] / sigma[i];
    }
    Eigen::MatrixXd correlation(n, n);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) correlation(i, j) = covariance(i, j) / (sigma[i] * sigma[j]);
    const double squares = whitened_square(correlation, scaled);
    const double value = factor * squares;
    return {value, upper_gamma_share(static_cast<double>(n) / 2, value / 2)};
}

}  // namespace zonal
