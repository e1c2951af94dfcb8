
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <vector>

#include "grids/latitude_nodes.hpp"
#include "radial/kernels/kernel_implementation.hpp"
#include "radial/kernels/legendre_sum.hpp"

namespace zonal::radial {
namespace {

/// Nodes of a Gauss rule on [-1, 1] that integrates exp(i omega x) to rounding: n nodes leave the Legendre
/// coefficients of degree 2n and above, j_2n(omega), which fall as exp(-0.94 (2n - omega)^1.5 / omega^0.5).
std::int64_t gauss_nodes(double omega) {
    constexpr double margin = 6.1;  // exp(-40)
    const double n = omega / 2 + margin * (1 + std::cbrt(omega));
    // Rounded up, so that pieces of nearly the same length share their rule.
    return 8 * static_cast<std::int64_t>(std::ceil(n / 8));
}

}  // namespace

Quadrature quadrature_between(const std::vector<double>& edges, double degree) {
    Quadrature result;
    std::map<std::int64_t, std::vector<grids::Node>> rules;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        const double half = (edges[i + 1] - edges[i]) / 2, middle = (edges[i] + edges[i + 1]) / 2;
        const std::int64_t n = gauss_nodes(degree * half);
        auto& northern = rules[n];
        if (northern.empty()) northern = grids::gauss_legendre_nodes(n);
        for (const auto& node : northern) {
            for (const double x : {node.cos_theta, -node.cos_theta}) {
                result.theta.push_back(middle + half * x);
                result.weight.push_back(half * node.weight);
            }
        }
    }
    return result;
}

}  // namespace zonal::radial

namespace zonal {

// K_l = 2 pi int K(theta) P_l(cos theta) sin theta d theta, piece by piece. Between breaks the integrand is
// smooth in theta and oscillates no faster than with the sum of both degrees.
std::vector<double> RadialKernel::Implementation::window(std::int64_t lmax) const {
    auto [theta, weight] = radial::quadrature_between(breaks(), static_cast<double>(lmax) + 1 + bandwidth());
    std::vector<double> value(theta.size());
    profile(theta, value);
    for (std::size_t i = 0; i < value.size(); ++i)
        value[i] *= 2 * std::numbers::pi * weight[i] * std::sin(theta[i]);
    std::vector<double> result(static_cast<std::size_t>(lmax) + 1);
    radial::legendre_moments(theta, value, result);
    return result;
}

}  // namespace zonal

namespace zonal::radial {

KernelExtent find_extent(const RadialKernel& kernel, double threshold) {
    // Narrow kernels need angles of every order of magnitude, oscillating ones many.
    constexpr int n_even = 512, n_per_octave = 32, n_octaves = 40;
    std::vector<double> theta{0};
    for (int i = 1; i <= n_even; ++i) theta.push_back(kernel.support() * i / n_even);
    for (int i = 1; i <= n_per_octave * n_octaves; ++i)
        theta.push_back(kernel.support() * std::exp2(-static_cast<double>(i) / n_per_octave));
    // Between the nodes of a table lies what even angles may miss.
    for (const double edge : kernel.implementation().breaks())
        if (edge <= kernel.support()) theta.push_back(edge);
    std::sort(theta.begin(), theta.end());
    const auto value = kernel.profile(theta);
    double peak = 0;
    for (const double k : value) peak = std::max(peak, std::abs(k));
    std::size_t last = theta.size() - 1;
    while (last > 0 && std::abs(value[last]) <= peak * threshold) --last;
    // The next angle but one, as a zero of an oscillation may hide the last value that counts.
    return {theta[std::min(last + 2, theta.size() - 1)], peak};
}

}  // namespace zonal::radial
