#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "grids/latitude_nodes.hpp"
#include "radial/kernel_implementation.hpp"
#include "radial/legendre_sum.hpp"

namespace zonal {
namespace {

/// Nodes of a Gauss rule on [-1, 1] that integrates exp(i omega x) to rounding: n nodes leave the Legendre
/// coefficients of degree 2n and above, j_2n(omega), which fall as exp(-0.94 (2n - omega)^1.5 / omega^0.5).
std::size_t gauss_nodes(double omega) {
    constexpr double margin = 6.1;  // exp(-40)
    const double n = omega / 2 + margin * (1 + std::cbrt(omega));
    // Rounded up, so that pieces of nearly the same length share their rule.
    return 8 * static_cast<std::size_t>(std::ceil(n / 8));
}

struct Quadrature {
    std::vector<double> theta, weight;

    /// A rule of nodes.size() * 2 nodes on [first, last].
    void add(const std::vector<grids::Node>& northern, double first, double last) {
        const double half = (last - first) / 2, middle = (first + last) / 2;
        for (const auto& node : northern) {
            for (const double x : {node.cos_theta, -node.cos_theta}) {
                theta.push_back(middle + half * x);
                weight.push_back(half * node.weight);
            }
        }
    }
};

}  // namespace

// K_l = 2 pi int K(theta) P_l(cos theta) sin theta d theta, piece by piece. Between breaks the integrand is
// smooth in theta and oscillates no faster than with the sum of both degrees.
std::vector<double> RadialKernel::Implementation::window(std::int64_t lmax) const {
    const double degree = static_cast<double>(lmax) + 1 + bandwidth();
    const auto edges = breaks();
    std::map<std::size_t, std::vector<grids::Node>> rules;
    Quadrature quadrature;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        const std::size_t n = gauss_nodes(degree * (edges[i + 1] - edges[i]) / 2);
        auto& rule = rules[n];
        if (rule.empty()) rule = grids::gauss_legendre_nodes(static_cast<std::int64_t>(n));
        quadrature.add(rule, edges[i], edges[i + 1]);
    }
    std::vector<double> value(quadrature.theta.size());
    profile(quadrature.theta, value);
    for (std::size_t i = 0; i < value.size(); ++i)
        value[i] *= 2 * std::numbers::pi * quadrature.weight[i] * std::sin(quadrature.theta[i]);
    std::vector<double> result(static_cast<std::size_t>(lmax) + 1);
    radial::legendre_moments(quadrature.theta, value, result);
    return result;
}

}  // namespace zonal
