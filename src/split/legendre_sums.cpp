#include "split/legendre_sums.hpp"

#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "split/legendre_sums.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <cmath>
#include <numbers>

#include "grids/latitude_nodes.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::split::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Nodes of a block; a multiple of every target's lanes.
constexpr std::int64_t block = 32;

// As in spline_windows.cpp. weights: [parity of l, block].
void add_block(const double* h, const double* weights, std::int64_t lmax, double* window) {
    constexpr std::int64_t lanes = HWY_MAX_BYTES / sizeof(double), n = block / lanes;
    const hn::FixedTag<double, lanes> d;
    using V = hn::Vec<decltype(d)>;
    V p[n], e[n];
    for (std::int64_t i = 0; i < n; ++i) {
        p[i] = hn::Set(d, 1.0);
        e[i] = hn::Zero(d);
    }
    for (std::int64_t l = 0; l <= lmax; ++l) {
        const double* weight = weights + l % 2 * block;
        const V step = hn::Set(d, -static_cast<double>(2 * l + 1));
        const V share = hn::Set(d, 1.0 / static_cast<double>(l + 1));
        V sum = hn::Zero(d);
        for (std::int64_t i = 0; i < n; ++i) {
            sum = hn::MulAdd(hn::LoadU(d, weight + i * lanes), p[i], sum);
            e[i] = hn::MulAdd(hn::Mul(step, hn::LoadU(d, h + i * lanes)), p[i], e[i]);
            p[i] = hn::MulAdd(e[i], share, p[i]);
        }
        window[l] += hn::GetLane(hn::SumOfLanes(d, sum));
    }
}

}  // namespace zonal::split::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::split {

HWY_EXPORT(add_block);

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

LegendreNode legendre_node(const QuadratureNode& node) {
    constexpr double pi = std::numbers::pi;
    const bool south = node.theta > pi / 2;
    const double half = std::sin(0.5 * (south ? pi - node.theta : node.theta));
    return {node.theta, 2 * half * half, 2 * pi * std::sin(node.theta) * node.weight, south ? -1.0 : 1.0};
}

std::vector<double> legendre_window(const std::vector<LegendreNode>& nodes, const std::vector<double>& values,
                                    std::int64_t lmax) {
    constexpr std::int64_t block = 32;
    std::vector<double> window(lmax + 1);
    for (std::int64_t first = 0; first < std::ssize(nodes); first += block) {
        double h[block] = {}, weights[2][block] = {};
        for (auto i = first; i < std::min<std::int64_t>(first + block, std::ssize(nodes)); ++i) {
            h[i - first] = nodes[i].h;
            weights[0][i - first] = nodes[i].weight * values[i];
            weights[1][i - first] = weights[0][i - first] * nodes[i].odd_sign;
        }
        HWY_DYNAMIC_DISPATCH(add_block)(h, weights[0], lmax, window.data());
    }
    return window;
}

}  // namespace zonal::split
#endif
