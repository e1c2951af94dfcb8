#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

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

}  // namespace zonal::chebyshev
