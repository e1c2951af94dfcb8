#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/host_device.hpp"

/// How even and odd parts of an axis lie in memory. Coefficients: even and odd ones take turns. Values at the
/// 2 half Gauss points: [v_0 .. v_{half-1}, v_{2 half - 1} .. v_half], near points and their mirror images.
namespace zonal::chebyshev {

/// cos(pi t / (2 m)) for any t >= 0, the angle reduced exactly: to a unit in the last place.
class CosineTable {
  public:
    explicit CosineTable(std::int64_t m) : m_(m), values_(static_cast<std::size_t>(m) + 1) {
        for (std::int64_t t = 0; t <= m; ++t) values_[static_cast<std::size_t>(t)] = first_quarter(t);
    }
    double operator()(std::int64_t t) const {
        t %= 4 * m_;
        if (t > 2 * m_) t = 4 * m_ - t;
        return t <= m_ ? values_[static_cast<std::size_t>(t)]
                       : -values_[static_cast<std::size_t>(2 * m_ - t)];
    }
    /// T_k at Gauss point j of m.
    double gauss(std::int64_t k, std::int64_t j) const { return (*this)(k * (2 * j + 1)); }
    /// T_k at Lobatto point j of m + 1.
    double lobatto(std::int64_t k, std::int64_t j) const { return (*this)(2 * k * j); }

  private:
    /// Angles above pi / 4 as sines, so that the zero is exact.
    double first_quarter(std::int64_t t) const {
        const double unit = std::numbers::pi / (2 * static_cast<double>(m_));
        return 2 * t <= m_ ? std::cos(unit * static_cast<double>(t))
                           : std::sin(unit * static_cast<double>(m_ - t));
    }

    std::int64_t m_;
    std::vector<double> values_;
};

/// Even (parity 0) or odd (1) ones of n coefficients.
ZONAL_HOST_DEVICE constexpr std::int64_t n_of_parity(std::int64_t n, int parity) {
    return (n + 1 - parity) / 2;
}

/// Where one side of a transform finds what belongs to (i, part): i * step + part * part_step, i <
/// count[part].
struct AxisParts {
    std::int64_t step = 1, part_step = 0;
    std::int64_t count[2] = {0, 0};
};

/// part: the parity.
ZONAL_HOST_DEVICE constexpr AxisParts coefficient_parts(std::int64_t n) {
    return {2, 1, {n_of_parity(n, 0), n_of_parity(n, 1)}};
}

/// part: 0 for near points, 1 for mirror images.
ZONAL_HOST_DEVICE constexpr AxisParts value_parts(std::int64_t half) {
    return {1, half, {half, half}};
}

/// Which column of an array number p is along an axis: [batch, first, second], the last one fastest.
struct ColumnIndex {
    std::int64_t batch, first, second;
};

ZONAL_HOST_DEVICE constexpr ColumnIndex column_index(std::int64_t p, std::int64_t n_first,
                                                     std::int64_t n_second) {
    const std::int64_t outer = p / n_second;
    return {outer / n_first, outer % n_first, p % n_second};
}

/// A complex number, one real line in its real and another in its imaginary part.
struct LinePairValue {
    double re, im;
};

/// V_k of Makhoul (1980): w_k (X_k - i X_{m-k}) of the DCT-II X of a sequence is the Fourier transform of
/// x_0, x_2, .., x_3, x_1, w_k = exp(i pi k / 2m). Here of half of two lines' coefficients; root: w_k.
ZONAL_HOST_DEVICE inline LinePairValue synthesis_mode(LinePairValue low, LinePairValue high,
                                                      LinePairValue root) {
    const double re = 0.5 * (low.re + high.im), im = 0.5 * (low.im - high.re);
    return {root.re * re - root.im * im, root.re * im + root.im * re};
}

/// c_k = weight Re(conj(w_k) V_k) of each line: V of the first is half of the part of `low`, V_k of both,
/// that is even under conjugation; mirrored: V_{m-k}.
ZONAL_HOST_DEVICE inline LinePairValue analysis_mode(LinePairValue low, LinePairValue mirrored,
                                                     LinePairValue root, double weight) {
    const LinePairValue even{low.re + mirrored.re, low.im - mirrored.im};
    const LinePairValue odd{low.re - mirrored.re, low.im + mirrored.im};
    return {weight * (root.re * even.re + root.im * even.im), weight * (root.re * odd.im - root.im * odd.re)};
}

}  // namespace zonal::chebyshev
