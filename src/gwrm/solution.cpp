#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "gwrm/shape.hpp"
#include "zonal/chebyshev_evaluation.hpp"
#include "zonal/gwrm.hpp"

namespace zonal::gwrm {

Solution::Solution(const Problem& problem, std::int64_t time_modes)
    : names_(problem.names()), axes_(problem.axes()), extents_(shape_of(problem, time_modes).extents) {}

std::int64_t Solution::find(double t) const {
    if (!(t >= t0() && t <= t1()))
        throw InvalidArgument(fmt::format("t = {}: must be from {} to {}", t, t0(), t1()));
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
            throw InvalidArgument(fmt::format("{} = {}: must be 0 to {}", name, value, end - 1));
    };
    const int n_subdomains = axes_.empty() ? 1 : axes_[0].subdomains;
    require("field", field, n_fields());
    require("interval", interval, std::ssize(pieces_));
    require("subdomain", subdomain, n_subdomains);
    if (dimensions != 1 + static_cast<int>(axes_.size()))
        throw InvalidArgument(fmt::format("D = {}: must be {}", dimensions, 1 + axes_.size()));
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
            throw InvalidArgument(fmt::format("{} = {}: must be from {} to {}", axis.name, z,
                                              axis.interval.lower, axis.interval.upper));
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

double Solution::error(int field, double t) const {
    const auto& errors = pieces_[static_cast<std::size_t>(find(t))].errors;
    if (errors.empty()) return std::numeric_limits<double>::quiet_NaN();
    return errors.at(static_cast<std::size_t>(field));
}

}  // namespace zonal::gwrm
