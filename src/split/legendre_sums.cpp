#include "split/legendre_sums.hpp"

#include <cmath>

#include "core/constants.hpp"
#include "grids/latitude_nodes.hpp"
#include "radial/kernels/legendre_sum.hpp"

namespace zonal::split {

GaussRule::GaussRule(std::int64_t n) : nodes_(n) {
    const auto northern = grids::gauss_legendre_nodes(n);
    for (std::int64_t k = 0; k < std::ssize(northern); ++k) {
        nodes_[n - 1 - k] = {northern[k].cos_theta, northern[k].weight};
        nodes_[k] = {-northern[k].cos_theta, northern[k].weight};
    }
}

QuadratureNode GaussRule::at(std::int64_t number, double a, double b) const {
    const double half = 0.5 * (b - a);
    return {0.5 * (a + b) + half * nodes_[number].theta, half * nodes_[number].weight};
}

RecurrenceNode recurrence_node(const QuadratureNode& node, int spin) {
    using core::pi;
    const bool mirrored = spin == 0 && node.theta > pi / 2;
    const double half = std::sin(0.5 * (mirrored ? pi - node.theta : node.theta));
    const double factor = 2 * pi * std::sin(node.theta) * std::pow(std::cos(0.5 * node.theta), 4 * spin);
    return {node.theta, 2 * half * half, factor * node.weight, mirrored ? -1.0 : 1.0};
}

std::vector<double> legendre_window(const std::vector<RecurrenceNode>& nodes,
                                    const std::vector<double>& values, std::int64_t lmax) {
    std::vector<double> theta, weight, window(lmax + 1);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        theta.push_back(nodes[i].theta);
        weight.push_back(nodes[i].weight * values[i]);
    }
    radial::legendre_moments(theta, weight, window);
    return window;
}

}  // namespace zonal::split
