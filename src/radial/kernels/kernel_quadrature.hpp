#pragma once

#include <vector>

namespace zonal::radial {

/// Nodes (rad) and weights of a rule for integrals over theta.
struct Quadrature {
    std::vector<double> theta, weight;
};

/// The Gauss rule between each two neighbouring edges (rad, ascending) that integrates what oscillates no
/// faster than P_l of this degree to rounding.
Quadrature quadrature_between(const std::vector<double>& edges, double degree);

}  // namespace zonal::radial
