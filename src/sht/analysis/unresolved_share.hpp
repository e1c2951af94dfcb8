#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace zonal::sht {

/// Knows what share of the maps Jacobi iterations leave, |f - S a|, from norms of alm alone, so that the
/// residual need not be a map. With G = S^T W S, b = S^T W f = a_0, the updates r_k = b - G a_k = (1 - G)^k
/// r_0 and the moments m_j = <r_0, (1 - G)^j r_0>:
///   |f - S a_k|^2 = |f|^2 - <a_k, b> - <a_k, r_k>,   <a_k, b> = <b, b> + <b, r_0> + m_0 + ... + m_{k-2},
///   m_{2k} = |r_k|^2,   <a_k, r_k> = m_{k-1} + m_k + ... + m_{2k-1},
/// the last of which gives m_{2k-1}; <a_k, r_k> follows from |a_k + r_k|.
class UnresolvedShare {
  public:
    /// squares_of_maps, squares_of_alm: |f|^2 and |a_0|^2 of each element of the batch.
    UnresolvedShare(std::vector<double> squares_of_maps, const std::vector<double>& squares_of_alm)
        : maps_(std::move(squares_of_maps)) {
        for (const double square : squares_of_alm) batch_.push_back({square, square, {}});
    }

    /// After an iteration: |r_k|^2, and |a_k + r_k|^2.
    void add(const std::vector<double>& squares_of_update, const std::vector<double>& squares_of_alm) {
        for (std::size_t b = 0; b < batch_.size(); ++b)
            add(batch_[b], squares_of_update[b], squares_of_alm[b]);
        ++iterations_;
    }

    /// A lower bound of |f - S a| / |f| of the least-squares alm a, the largest of the batch. rate: each
    /// update is at most this times the one before.
    double share(double rate) const {
        constexpr double rounding = 1e-12;  // of squares that cancel
        double largest = 0;
        for (std::size_t b = 0; b < batch_.size(); ++b) {
            const auto& one = batch_[b];
            // |f - S a|^2 is less by <a - a_k, r_k>, which is at most |r_k|^2 / (1 - rate).
            const double left = maps_[b] - one.with_b - one.with_update - one.update / (1 - rate);
            if (maps_[b] > 0 && left > rounding * maps_[b]) largest = std::max(largest, left / maps_[b]);
        }
        return std::sqrt(largest);
    }

  private:
    struct Element {
        double alm, with_b;                  ///< |a_k|^2, <a_k, b>
        std::vector<double> moments;         ///< m_0, m_1, ...
        double with_update = 0, update = 0;  ///< <a_k, r_k>, |r_k|^2
    };
    void add(Element& one, double update, double alm) const {
        const auto k = static_cast<std::size_t>(iterations_);
        auto& m = one.moments;
        if (k == 1) one.with_b += one.with_update;  // <b, r_0>
        if (k >= 2) one.with_b += m[k - 2];
        one.with_update = (alm - one.alm - update) / 2;
        if (k >= 1) {
            double known = 0;
            for (std::size_t j = k - 1; j < m.size(); ++j) known += m[j];
            m.push_back(one.with_update - known);
        }
        m.push_back(update);
        one.update = update;
        one.alm = alm;
    }

    std::vector<double> maps_;
    std::vector<Element> batch_;
    int iterations_ = 0;
};

}  // namespace zonal::sht
