#include "split/spline_windows.hpp"

#include "core/constants.hpp"
#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "split/spline_windows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "core/aligned.hpp"
#include "core/interruption.hpp"
#include "core/parallel.hpp"
#include "split/legendre_sums.hpp"
#include "split/split_progress.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::split::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Intervals at once: one per lane.
constexpr std::int64_t lanes = HWY_MAX_BYTES / sizeof(double);
using D = hn::FixedTag<double, lanes>;
using V = hn::Vec<D>;

std::int64_t group_size() {
    return lanes;
}

// R_l = d^l_{s,s}(theta) / cos^2s(theta/2), P_l for s = 0, by differences, in which nothing cancels near
// theta = 0: with h = 1 - cos theta, R_s = 1, e_s = 0,
//   e_{l+1} = e_l - (2l+1) h R_l,   R_{l+1} = R_l + e_{l+1} (l+1) / ((l+1)^2 - s^2)
// (DLMF 18.9.1 for the Jacobi polynomials (0, 2s)), and for each interval and each of its six B-splines the
// sum over the interval's nodes.
void group_windows(const IntervalGroup& group, std::int64_t lmax, int spin, double* windows) {
    const D d;
    core::AlignedVector<double> p(group.n_nodes * lanes, 1.0), e(group.n_nodes * lanes, 0.0);
    for (std::int64_t l = spin; l <= lmax; ++l) {
        const double* weight = group.weights[l % 2].data();
        const auto after = static_cast<double>(l + 1);
        const V step = hn::Set(d, -static_cast<double>(2 * l + 1)),
                share = hn::Set(d, after / (after * after - spin * spin));
        V sum[splines_at_once];
        for (auto& s : sum) s = hn::Zero(d);
        for (std::int64_t node = 0; node < group.n_nodes; ++node, weight += splines_at_once * lanes) {
            const V p_l = hn::Load(d, p.data() + node * lanes);
            for (int k = 0; k < splines_at_once; ++k)
                sum[k] = hn::MulAdd(hn::Load(d, weight + k * lanes), p_l, sum[k]);
            const V h = hn::Load(d, group.h.data() + node * lanes);
            const V next = hn::MulAdd(hn::Mul(step, h), p_l, hn::Load(d, e.data() + node * lanes));
            hn::Store(next, d, e.data() + node * lanes);
            hn::Store(hn::MulAdd(next, share, p_l), d, p.data() + node * lanes);
        }
        double* row = windows + l * (lanes + spline_degree);
        for (int k = 0; k < splines_at_once; ++k)
            hn::StoreU(hn::Add(hn::LoadU(d, row + k), sum[k]), d, row + k);
    }
}

}  // namespace zonal::split::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::split {

HWY_EXPORT(group_size);
HWY_EXPORT(group_windows);

namespace {

using core::pi;

/// Intervals [first, first + n_lanes), of which those past the last have weight 0. Lanes share a number of
/// nodes.
IntervalGroup make_group(const SplineBasis& basis, std::int64_t lmax, int spin, std::int64_t first,
                         std::int64_t n_lanes) {
    const auto& knots = basis.knots();
    const auto end = std::min(first + n_lanes, basis.n_intervals());
    IntervalGroup group;
    for (auto i = first; i < end; ++i)
        group.n_nodes = std::max(group.n_nodes, nodes_per_interval(knots[i + 1] - knots[i], lmax));
    const GaussRule rule(group.n_nodes);
    group.h.resize(group.n_nodes * n_lanes);
    for (auto& weights : group.weights) weights.resize(group.n_nodes * splines_at_once * n_lanes);
    for (auto i = first; i < end; ++i)
        for (std::int64_t node = 0; node < group.n_nodes; ++node) {
            const auto at = recurrence_node(rule.at(node, knots[i], knots[i + 1]), spin);
            const auto values = basis.values(i, at.theta);
            group.h[node * n_lanes + i - first] = at.h;
            for (int k = 0; k < splines_at_once; ++k)
                for (const int parity : {0, 1})
                    group.weights[parity][(node * splines_at_once + k) * n_lanes + i - first] =
                        values[k] * at.weight * (parity == 1 ? at.odd_sign : 1);
        }
    return group;
}

/// Adds the windows of a group's B-splines to those of the functions that they belong to.
void add_group(const core::AlignedVector<double>& windows, std::int64_t first, std::int64_t width,
               View<double, 2> sums) {
    for (std::int64_t l = 0; l < sums.extent(0); ++l)
        for (std::int64_t k = 0; k < width; ++k) {
            const auto c = SplineBasis::function(first, static_cast<int>(k));
            if (c < sums.extent(1)) sums(l, c) += windows[l * width + k];
        }
}

}  // namespace

std::int64_t nodes_per_interval(double interval, std::int64_t lmax) {
    // P_l oscillates by +-phase about the middle. n nodes are exact to degree 2 n - 1; a cosine of that phase
    // needs degree phase + 6 phase^(1/3) + 10 (Bessel functions beyond are below 1e-16), the quintic 5.
    const double phase = 0.5 * interval * (static_cast<double>(lmax) + 0.5);
    return static_cast<std::int64_t>(std::ceil((phase + 6 * std::cbrt(phase) + 16) / 2));
}

Array<double, 2> basis_windows(const SplineBasis& basis, std::int64_t lmax, int spin, int n_threads,
                               const Progress& progress) {
    const auto n_lanes = HWY_DYNAMIC_DISPATCH(group_size)();
    const auto n_groups = (basis.n_intervals() + n_lanes - 1) / n_lanes;
    const auto width = n_lanes + spline_degree;
    std::vector<core::AlignedVector<double>> parts(n_groups);
    core::parallel_for(n_groups, n_threads, [&](std::int64_t g, int thread) {
        if (thread == 0) report(progress, static_cast<double>(g) / static_cast<double>(n_groups));
        parts[g].resize((lmax + 1) * width);
        HWY_DYNAMIC_DISPATCH(group_windows)
        (make_group(basis, lmax, spin, g * n_lanes, n_lanes), lmax, spin, parts[g].data());
    });
    Array<double, 2> windows({lmax + 1, basis.size()});
    const core::InterruptionPoll poll;
    for (std::int64_t g = 0; g < n_groups; ++g) {
        poll();
        add_group(parts[g], g * n_lanes, width, windows.view());
    }
    return windows;
}

double bytes_of_basis_windows(const SplineBasis& basis, std::int64_t lmax) {
    const auto n_lanes = HWY_DYNAMIC_DISPATCH(group_size)();
    const auto n_groups = (basis.n_intervals() + n_lanes - 1) / n_lanes;
    const auto values = (lmax + 1) * (n_groups * (n_lanes + spline_degree) + basis.size());
    return static_cast<double>(values) * sizeof(double);
}

std::vector<double> spline_window(const SplineBasis& basis, const std::vector<double>& coefficients,
                                  std::int64_t lmax) {
    const auto& knots = basis.knots();
    std::vector<RecurrenceNode> nodes;
    std::vector<double> values;
    for (std::int64_t i = 0; i < basis.n_intervals(); ++i) {
        constexpr std::int64_t more = 6;
        const GaussRule rule(nodes_per_interval(knots[i + 1] - knots[i], lmax) + more);
        for (std::int64_t node = 0; node < rule.size(); ++node) {
            nodes.push_back(recurrence_node(rule.at(node, knots[i], knots[i + 1]), 0));
            values.push_back(basis.evaluate(coefficients, nodes.back().theta));
        }
    }
    return legendre_window(nodes, values, lmax);
}

Array<double, 2> basis_products(const SplineBasis& basis) {
    Array<double, 2> products({basis.size(), splines_at_once});
    const auto& knots = basis.knots();
    const GaussRule rule(2 * spline_degree);  // quintic by quintic by sin theta
    for (std::int64_t i = 0; i < basis.n_intervals(); ++i)
        for (std::int64_t node = 0; node < rule.size(); ++node) {
            const auto at = recurrence_node(rule.at(node, knots[i], knots[i + 1]), 0);
            const auto value = basis.values(i, at.theta);
            for (int a = 0; a < splines_at_once; ++a)
                for (int b = 0; b < splines_at_once; ++b) {
                    const auto c = SplineBasis::function(i, a), d = SplineBasis::function(i, b);
                    if (c <= d && d < basis.size()) products(c, d - c) += at.weight * value[a] * value[b];
                }
        }
    return products;
}

}  // namespace zonal::split
#endif
