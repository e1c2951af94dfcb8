#include "gwrm/shape.hpp"

#include "zonal/chebyshev/evaluation.hpp"

namespace zonal::gwrm {

Shape shape_of(const Problem& problem, std::int64_t time_modes) {
    Shape shape;
    const auto& axes = problem.axes();
    shape.dimensions = 1 + static_cast<int>(axes.size());
    shape.n_fields = problem.n_fields();
    shape.extents[0] = time_modes + 1;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        shape.extents.at(i + 1) = axes[i].modes + 1;
        shape.n_subdomains *= axes[i].subdomains;
    }
    return shape;
}

Interval subdomain_interval(const Axis& axis, int subdomain) {
    const auto edge = [&](int i) {
        const double share = static_cast<double>(i) / axis.subdomains;
        return i == axis.subdomains
                   ? axis.interval.upper
                   : axis.interval.lower + share * (axis.interval.upper - axis.interval.lower);
    };
    return {edge(subdomain), edge(subdomain + 1)};
}

void interpolate_function(const Problem& problem, const Shape& shape, Interval time, const Function& function,
                          double* coefficients) {
    const auto& axes = problem.axes();
    std::array<std::int64_t, 3> n{1, 1, 1};
    std::array<std::vector<double>, 3> nodes{std::vector{0.0}, std::vector{0.0}, std::vector{0.0}};
    for (std::size_t axis = 0; axis < n.size(); ++axis) {
        n.at(axis) = shape.extents.at(axis) > 1 ? 2 * shape.extents.at(axis) : 1;
        nodes.at(axis) = chebyshev_nodes(ChebyshevNodes::gauss, n.at(axis));
    }
    std::vector<double> values(static_cast<std::size_t>(n[0] * n[1] * n[2]));
    for (int subdomain = 0; subdomain < shape.n_subdomains; ++subdomain) {
        std::array<Interval, 3> domain{time, Interval{}, Interval{}};
        for (std::size_t i = 0; i < axes.size(); ++i)
            domain.at(i + 1) = subdomain_interval(axes[i], i == 0 ? subdomain : 0);
        std::size_t next = 0;
        Point point{};
        for (const double s0 : nodes[0])
            for (const double s1 : nodes[1])
                for (const double s2 : nodes[2]) {
                    const std::array sigma{s0, s1, s2};
                    for (std::size_t axis = 0; axis <= axes.size(); ++axis)
                        point.at(axis) = domain.at(axis).from_reference(sigma.at(axis));
                    values[next++] = function(point);
                }
        chebyshev::interpolate<double>(values.data(), n, ChebyshevNodes::gauss,
                                       shape.blocks(coefficients + subdomain * shape.block(), 1));
    }
}

}  // namespace zonal::gwrm
