#include "split/spline_basis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "zonal/error.hpp"

namespace zonal::split {

SplineBasis::SplineBasis(std::vector<double> knots) : knots_(std::move(knots)) {
    if (std::ssize(knots_) < min_knots)
        throw InvalidArgument(fmt::format("{} knots: must be at least {}", knots_.size(), min_knots));
    if (knots_[0] != 0) throw InvalidArgument("knots[0]", knots_[0], "must be 0");
    for (std::size_t k = 1; k < knots_.size(); ++k)
        if (!(knots_[k] > knots_[k - 1]) || !std::isfinite(knots_[k]))
            throw InvalidArgument(fmt::format("knots[{}]", k), knots_[k],
                                  fmt::format("must be above the one before, {}", knots_[k - 1]));
}

double SplineBasis::knot(std::int64_t k) const {
    const auto last = n_intervals();
    if (k > last) return knots_.back() + static_cast<double>(k - last) * (knots_.back() - knots_[last - 1]);
    return k < 0 ? -knots_[-k] : knots_[k];
}

std::int64_t SplineBasis::interval_of(double theta) const {
    const auto above = std::upper_bound(knots_.begin(), knots_.end(), theta);
    return std::clamp<std::int64_t>(above - knots_.begin() - 1, 0, n_intervals() - 1);
}

// The recurrence of Cox and de Boor, all functions of an interval at once (de Boor 1978, chapter X).
std::array<double, splines_at_once> SplineBasis::values(std::int64_t interval, double theta) const {
    std::array<double, splines_at_once> value{1};
    std::array<double, splines_at_once> left{}, right{};
    for (int d = 1; d <= spline_degree; ++d) {
        left[d] = theta - knot(interval + 1 - d);
        right[d] = knot(interval + d) - theta;
        double carried = 0;
        for (int k = 0; k < d; ++k) {
            const double share = value[k] / (right[k + 1] + left[d - k]);
            value[k] = carried + right[k + 1] * share;
            carried = left[d - k] * share;
        }
        value[d] = carried;
    }
    return value;
}

double SplineBasis::evaluate(const std::vector<double>& coefficients, double theta) const {
    if (theta >= end()) return 0;
    const auto interval = interval_of(theta);
    const auto value = values(interval, theta);
    double sum = 0;
    for (int k = 0; k < splines_at_once; ++k)
        if (const auto c = function(interval, k); c < size()) sum += coefficients[c] * value[k];
    return sum;
}

std::vector<double> graded_knots(double end, std::int64_t n_intervals, double density) {
    // The spacing is proportional to cosh(a k / n).
    const double a = std::acosh(density);
    std::vector<double> knots(n_intervals + 1);
    for (std::int64_t k = 1; k < n_intervals; ++k) {
        const double share = static_cast<double>(k) / static_cast<double>(n_intervals);
        knots[k] = end * (a > 0 ? std::sinh(a * share) / std::sinh(a) : share);
    }
    knots.back() = end;
    return knots;
}

}  // namespace zonal::split
