#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"

/// Integrals over the sphere against Legendre polynomials, by sums over nodes in the colatitude.
namespace zonal::split {

struct QuadratureNode {
    double theta;
    double weight;  ///< for integrals over theta
};

/// The Gauss-Legendre rule of n nodes on any interval.
class GaussRule {
  public:
    explicit GaussRule(std::int64_t n);
    std::int64_t size() const { return static_cast<std::int64_t>(nodes_.size()); }
    /// The node of that number on [a, b], ascending.
    QuadratureNode at(std::int64_t number, double a, double b) const;

  private:
    std::vector<QuadratureNode> nodes_;  ///< on [-1, 1]
};

/// A node as the recurrence of d^l_{s,s} / cos^2s(theta/2) by differences wants it: for spin s = 0 those of
/// the southern half are mirrored, P_l(-x) = (-1)^l P_l(x).
struct RecurrenceNode {
    double theta;
    double h;         ///< 1 - cos theta, of mirrored nodes 1 + cos theta
    double weight;    ///< for integrals over the sphere: 2 pi sin theta cos^4s(theta/2) times the rule's
    double odd_sign;  ///< of odd l: -1 where mirrored
};
RecurrenceNode recurrence_node(const QuadratureNode& node, int spin);

/// Nodes of as many intervals as there are lanes, [node, lane]; those without an interval have weight 0.
struct IntervalGroup {
    std::int64_t n_nodes = 0;
    core::AlignedVector<double> h;
    /// For even and for odd l: weight times the six B-splines of the interval, [node, spline, lane].
    core::AlignedVector<double> weights[2];
};

/// sum_i weight_i values_i P_l(cos theta_i) for l = 0 .. lmax. values: [nodes.size()].
std::vector<double> legendre_window(const std::vector<RecurrenceNode>& nodes,
                                    const std::vector<double>& values, std::int64_t lmax);

}  // namespace zonal::split
