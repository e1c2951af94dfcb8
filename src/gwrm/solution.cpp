#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gwrm/shape.hpp"
#include "zonal/chebyshev/evaluation.hpp"
#include "zonal/gwrm.hpp"

namespace zonal::gwrm {
namespace {

/// n: numbers of coefficients and, where errors are estimated, of errors.
void check_piece(const Solution::Piece& piece, std::size_t index, std::int64_t n_coefficients,
                 std::int64_t n_errors) {
    const auto fail = [index](const std::string& what) {
        throw InvalidArgument(fmt::format("interval {}: {}", index, what));
    };
    const auto& [time, coefficients, errors] = piece;
    if (!(time.lower < time.upper) || !std::isfinite(time.lower) || !std::isfinite(time.upper))
        fail(fmt::format("t = [{}, {}]: must be finite and not empty", time.lower, time.upper));
    if (std::ssize(coefficients) != n_coefficients)
        fail(fmt::format("{} coefficients: must be {}", coefficients.size(), n_coefficients));
    const auto bad =
        std::find_if(coefficients.begin(), coefficients.end(), [](double a) { return !std::isfinite(a); });
    if (bad != coefficients.end())
        fail(fmt::format("coefficient {} is {}: must be finite", bad - coefficients.begin(), *bad));
    if (std::ssize(errors) != n_errors) fail(fmt::format("{} errors: must be {}", errors.size(), n_errors));
    for (const double error : errors)
        if (error < 0) fail(fmt::format("error {}: must not be negative", error));
}

}  // namespace

Solution::Solution(const Problem& problem, std::int64_t time_modes)
    : names_(problem.names()), axes_(problem.axes()), extents_(shape_of(problem, time_modes).extents) {}

Solution::Solution(std::vector<std::string> names, std::vector<Axis> axes, std::int64_t time_modes,
                   std::vector<Piece> pieces, const SolveReport& report)
    : Solution(Problem(std::move(axes)), time_modes) {
    names_ = std::move(names);
    pieces_ = std::move(pieces);
    report_ = report;
    if (names_.empty()) throw InvalidArgument("names", "must have a field at least");
    if (time_modes < 0 || time_modes > 4096)
        throw InvalidArgument("time_modes", time_modes, "must be 0 to 4096");
    if (pieces_.empty()) throw InvalidArgument("pieces", "must have an interval at least");
    const std::int64_t n_subdomains = axes_.empty() ? 1 : axes_[0].subdomains;
    const auto n_coefficients = n_fields() * n_subdomains * extents_[0] * extents_[1] * extents_[2];
    const std::int64_t n_errors = pieces_[0].errors.empty() ? 0 : n_fields();
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        check_piece(pieces_[i], i, n_coefficients, n_errors);
        const double start = pieces_[i].time.lower;
        if (i > 0 && start != pieces_[i - 1].time.upper)
            throw InvalidArgument(
                fmt::format("interval {}: begins at {}: must begin where interval {} ends, {}", i, start,
                            i - 1, pieces_[i - 1].time.upper));
    }
}

std::int64_t Solution::find(double t) const {
    if (!(t >= t0() && t <= t1()))
        throw InvalidArgument("t", t, fmt::format("must be from {} to {}", t0(), t1()));
    const auto found =
        std::lower_bound(pieces_.begin(), pieces_.end(), t,
                         [](const Piece& piece, double time) { return piece.time.upper < time; });
    return found - pieces_.begin();
}

Interval Solution::interval_of(int axis, std::int64_t interval, int subdomain) const {
    if (axis == 0) return pieces_.at(static_cast<std::size_t>(interval)).time;
    return subdomain_interval(axes_.at(static_cast<std::size_t>(axis - 1)), axis == 1 ? subdomain : 0);
}

const double* Solution::block(int field, std::int64_t interval, int subdomain, int dimensions) const {
    const auto require = [](const char* name, std::int64_t value, std::int64_t end) {
        if (value < 0 || value >= end)
            throw InvalidArgument(name, value, fmt::format("must be 0 to {}", end - 1));
    };
    const int n_subdomains = axes_.empty() ? 1 : axes_[0].subdomains;
    require("field", field, n_fields());
    require("interval", interval, std::ssize(pieces_));
    require("subdomain", subdomain, n_subdomains);
    if (dimensions != 1 + static_cast<int>(axes_.size()))
        throw InvalidArgument("D", dimensions, fmt::format("must be {}", 1 + axes_.size()));
    const auto size = extents_[0] * extents_[1] * extents_[2];
    return pieces_[static_cast<std::size_t>(interval)].coefficients.data() +
           (field * n_subdomains + subdomain) * size;
}

double Solution::operator()(int field, const Point& point) const {
    const auto interval = find(point[0]);
    int subdomain = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        const auto& axis = axes_[i];
        const double z = point.at(i + 1);
        if (!(z >= axis.interval.lower && z <= axis.interval.upper))
            throw InvalidArgument(
                axis.name, z, fmt::format("must be from {} to {}", axis.interval.lower, axis.interval.upper));
        if (i == 0)
            while (subdomain + 1 < axis.subdomains && z > subdomain_interval(axis, subdomain).upper)
                ++subdomain;
    }
    Shape shape;
    shape.dimensions = 1 + static_cast<int>(axes_.size());
    shape.extents = extents_;
    std::array<double, 3> sigma{};
    for (int axis = 0; axis < shape.dimensions; ++axis)
        sigma.at(static_cast<std::size_t>(axis)) =
            interval_of(axis, interval, subdomain).to_reference(point.at(static_cast<std::size_t>(axis)));
    return chebyshev::evaluate<double>(shape.blocks(block(field, interval, subdomain, shape.dimensions), 1),
                                       sigma.data());
}

std::vector<double> Solution::times(int n) const {
    std::vector<double> result{t0()};
    for (const auto& piece : pieces_) {
        const auto more = piece.time.points(n + 1);
        result.insert(result.end(), more.begin() + 1, more.end());
    }
    return result;
}

double Solution::error(int field, double t) const {
    const auto& errors = pieces_[static_cast<std::size_t>(find(t))].errors;
    if (errors.empty()) return std::numeric_limits<double>::quiet_NaN();
    return errors.at(static_cast<std::size_t>(field));
}

}  // namespace zonal::gwrm
