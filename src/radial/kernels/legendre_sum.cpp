#include "radial/kernels/legendre_sum.hpp"

#include "core/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "radial/kernels/legendre_sum.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/aligned.hpp"
#include "core/interruption.hpp"

HWY_BEFORE_NAMESPACE();
namespace zonal::radial::HWY_NAMESPACE {
namespace legendre {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr std::size_t n_lanes = HWY_MAX_BYTES < 64 ? HWY_MAX_BYTES / 8 : 8;
/// As many vectors of angles at once as hide the latency of a step's three dependent operations.
constexpr std::size_t n_vectors = 4;
constexpr std::size_t block = n_lanes * n_vectors;

/// l / (l+1) and (2l+1) / (l+1) for l = 0 .. lmax.
struct Coefficients {
    explicit Coefficients(std::size_t n_degrees) : a(n_degrees), b(n_degrees) {
        for (std::size_t i = 0; i < n_degrees; ++i) {
            const auto l = static_cast<double>(i);
            a[i] = l / (l + 1);
            b[i] = (2 * l + 1) / (l + 1);
        }
    }
    std::vector<double> a, b;
};

/// Legendre polynomials of ascending degree at a block of angles of one hemisphere, in differences, in which
/// nothing cancels near the pole: with h = 1 - |cos theta| = 2 sin^2(theta / 2) and d_l = P_l - P_{l-1},
///   (l+1) d_{l+1} = l d_l - (2l+1) h P_l,   P_{l+1} = P_l + d_{l+1}.
/// South of the equator P_l(-x) = (-1)^l P_l(x).
struct Block {
    V h[n_vectors], p[n_vectors], d[n_vectors];

    explicit Block(const double* HWY_RESTRICT height) {
        for (std::size_t i = 0; i < n_vectors; ++i) {
            h[i] = hn::Load(D(), height + i * n_lanes);
            p[i] = hn::Set(D(), 1);
            d[i] = hn::Zero(D());
        }
    }

    HWY_INLINE void step(double a, double b) {
        const V a_l = hn::Set(D(), a), b_l = hn::Set(D(), b);
        for (std::size_t i = 0; i < n_vectors; ++i) {
            d[i] = hn::NegMulAdd(b_l, hn::Mul(h[i], p[i]), hn::Mul(a_l, d[i]));
            p[i] = hn::Add(p[i], d[i]);
        }
    }
};

/// h of up to `block` angles, 0 beyond them.
void load_heights(std::span<const double> theta, double* HWY_RESTRICT height) {
    std::fill_n(height, block, 0.0);
    for (std::size_t i = 0; i < theta.size(); ++i) {
        const double sine = std::sin(std::min(theta[i], std::numbers::pi - theta[i]) / 2);
        height[i] = 2 * sine * sine;
    }
}

double parity_of(double theta) {
    return theta > std::numbers::pi / 2 ? -1 : 1;
}

void series_of_block(const Coefficients& c, std::span<const double> series, std::span<const double> theta,
                     std::span<double> value) {
    HWY_ALIGN double height[block], even_sum[block], odd_sum[block];
    load_heights(theta, height);
    Block p(height);
    V even[n_vectors], odd[n_vectors];
    for (std::size_t i = 0; i < n_vectors; ++i) even[i] = odd[i] = hn::Zero(D());
    const auto add = [&](V(&sum)[n_vectors], std::size_t l) HWY_ATTR {
        const V s = hn::Set(D(), series[l]);
        for (std::size_t i = 0; i < n_vectors; ++i) sum[i] = hn::MulAdd(s, p.p[i], sum[i]);
        p.step(c.a[l], c.b[l]);
    };
    std::size_t l = 0;
    for (; l + 1 < series.size(); l += 2) {
        add(even, l);
        add(odd, l + 1);
    }
    if (l < series.size()) add(even, l);
    for (std::size_t i = 0; i < n_vectors; ++i) {
        hn::Store(even[i], D(), even_sum + i * n_lanes);
        hn::Store(odd[i], D(), odd_sum + i * n_lanes);
    }
    for (std::size_t i = 0; i < theta.size(); ++i) value[i] = even_sum[i] + parity_of(theta[i]) * odd_sum[i];
}

/// Adds the block's part of the moments, lane by lane, to sums [lmax + 1, lane].
void moments_of_block(const Coefficients& c, std::span<const double> theta, std::span<const double> weight,
                      core::AlignedVector<double>& sums) {
    HWY_ALIGN double height[block];
    HWY_ALIGN double weights[2][block] = {};
    load_heights(theta, height);
    for (std::size_t i = 0; i < theta.size(); ++i) {
        weights[0][i] = weight[i];
        weights[1][i] = weight[i] * parity_of(theta[i]);
    }
    Block p(height);
    for (std::size_t l = 0; l < c.a.size(); ++l) {
        const double* w = weights[l % 2];
        V sum = hn::Load(D(), sums.data() + l * n_lanes);
        for (std::size_t i = 0; i < n_vectors; ++i)
            sum = hn::MulAdd(hn::Load(D(), w + i * n_lanes), p.p[i], sum);
        hn::Store(sum, D(), sums.data() + l * n_lanes);
        p.step(c.a[l], c.b[l]);
    }
}

}  // namespace legendre

void legendre_series(std::span<const double> series, std::span<const double> theta, std::span<double> value) {
    const legendre::Coefficients coefficients(series.size());
    const core::InterruptionPoll poll;
    for (std::size_t first = 0; first < theta.size(); first += legendre::block) {
        poll();
        const std::size_t count = std::min(legendre::block, theta.size() - first);
        legendre::series_of_block(coefficients, series, theta.subspan(first, count),
                                  value.subspan(first, count));
    }
}

void legendre_moments(std::span<const double> theta, std::span<const double> weight,
                      std::span<double> moment) {
    const legendre::Coefficients coefficients(moment.size());
    core::AlignedVector<double> sums(moment.size() * legendre::n_lanes, 0.0);
    const core::InterruptionPoll poll;
    for (std::size_t first = 0; first < theta.size(); first += legendre::block) {
        poll();
        const std::size_t count = std::min(legendre::block, theta.size() - first);
        legendre::moments_of_block(coefficients, theta.subspan(first, count), weight.subspan(first, count),
                                   sums);
    }
    for (std::size_t l = 0; l < moment.size(); ++l) {
        moment[l] = 0;
        for (std::size_t i = 0; i < legendre::n_lanes; ++i) moment[l] += sums[l * legendre::n_lanes + i];
    }
}

}  // namespace zonal::radial::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace zonal::radial {

HWY_EXPORT(legendre_series);
HWY_EXPORT(legendre_moments);

void legendre_series(std::span<const double> series, std::span<const double> theta, std::span<double> value) {
    HWY_DYNAMIC_DISPATCH(legendre_series)(series, theta, value);
}

void legendre_moments(std::span<const double> theta, std::span<const double> weight,
                      std::span<double> moment) {
    HWY_DYNAMIC_DISPATCH(legendre_moments)(theta, weight, moment);
}

}  // namespace zonal::radial
#endif
