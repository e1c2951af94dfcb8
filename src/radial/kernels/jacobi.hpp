#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

/// The Jacobi polynomials that d^l_{2,+-2} are made of (polarization_kernel.cpp).
namespace zonal::radial {

/// P^(alpha, 4 - alpha)_n(1) = C(n + alpha, n).
inline double jacobi_at_one(int alpha, std::size_t n) {
    double value = 1;
    for (int k = 1; k <= alpha; ++k) value *= (static_cast<double>(n) + k) / k;
    return value;
}

/// R_n = P^(alpha, 4 - alpha)_n(cos theta) / P_n(1) at many colatitudes, some at a time.
class JacobiRecurrence {
  public:
    /// So many colatitudes hide the latency of a step.
    static constexpr std::size_t block = 8;

    JacobiRecurrence(int alpha, std::size_t n_degrees) : n_degrees_(n_degrees) {
        // DLMF 18.9.1: a R_n = (b x + c) R_{n-1} - e R_{n-2}, R_n = P_n / P_n(1) so that a = b + c - e; then
        //   R_n = R_{n-1} + d_n,   d_n = (e d_{n-1} - b (1 - x) R_{n-1}) / a,
        // which loses nothing near theta = 0, where 1 - x = 2 sin^2(theta/2).
        for (std::size_t k = 1; k < n_degrees; ++k) {
            const double n = static_cast<double>(k), a = alpha, b = 4 - a;
            const double first = 2 * n * (n + 4) * (2 * n + 2) * (n + a) / n;
            const double last = 2 * (n + a - 1) * (n + b - 1) * (2 * n + 4);
            difference_factor_.push_back(k == 1 ? 0 : last * (n - 1) / (n - 1 + a) / first);
            value_factor_.push_back((2 * n + 3) * (2 * n + 4) * (2 * n + 2) / first);
        }
    }

    /// visit(n, r) for n = 0, 1, ...; r: [block], R_n at up to `block` colatitudes (rad), and 1 where there
    /// are fewer.
    template <class Visit>
    void run(std::span<const double> theta, Visit&& visit) const {
        theta.size() == 1 ? run_some<1>(theta, visit) : run_some<block>(theta, visit);
    }

  private:
    template <std::size_t width, class Visit>
    void run_some(std::span<const double> theta, Visit&& visit) const {
        double h[block] = {}, r[block], d[block] = {};
        for (std::size_t i = 0; i < theta.size(); ++i) {
            const double sine = std::sin(theta[i] / 2);
            h[i] = 2 * sine * sine;
        }
        std::fill_n(r, block, 1.0);
        if (n_degrees_ > 0) visit(0, r);
        for (std::size_t n = 1; n < n_degrees_; ++n) {
            const double of_difference = difference_factor_[n - 1], of_value = value_factor_[n - 1];
            for (std::size_t i = 0; i < width; ++i) {
                d[i] = of_difference * d[i] - of_value * h[i] * r[i];
                r[i] += d[i];
            }
            visit(n, r);
        }
    }

    std::size_t n_degrees_;
    std::vector<double> difference_factor_, value_factor_;
};

}  // namespace zonal::radial
