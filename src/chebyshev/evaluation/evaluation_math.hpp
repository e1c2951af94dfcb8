#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.hpp"

/// Values of series and their way back, of one line, for the CPU and CUDA.
namespace zonal::chebyshev {

/// -1 or 1, the end of [-1, 1] on the side of x.
ZONAL_HOST_DEVICE inline double end_beside(double x) {
    return x < 0 ? -1 : 1;
}
ZONAL_HOST_DEVICE inline bool is_near_end(double x) {
    return x > 0.5 || x < -0.5;
}

/// Where sums of a_k T_{s+k}(x) begin: T_s(x), and T_{s+1}(x), less end * T_s(x) near an end.
struct ClenshawStart {
    double value, next;
};

/// Beyond the ends hyperbolic functions take the place of the circular ones.
ZONAL_HOST_DEVICE inline ClenshawStart clenshaw_start(double x, std::int64_t s) {
    const double end = end_beside(x), size = end * x, degree = static_cast<double>(s);
    if (s == 0) return {1, is_near_end(x) ? x - end : x};
    const double sign = s % 2 == 1 ? end : 1;  // T_s(-x) = (-1)^s T_s(x)
    if (size > 1) {
        const double angle = std::acosh(size);
        return {sign * std::cosh(degree * angle),
                2 * sign * end * std::sinh((degree + 0.5) * angle) * std::sinh(angle / 2)};
    }
    const double angle = std::acos(size);
    return {sign * std::cos(degree * angle),
            is_near_end(x) ? -2 * sign * end * std::sin((degree + 0.5) * angle) * std::sin(angle / 2)
                           : sign * end * std::cos((degree + 1) * angle)};
}

/// sum_{k<n} a(k) T_{s+k}(x), a(0) times first_weight. Clenshaw (1955): b_k = a_k + 2 x b_{k+1} - b_{k+2},
/// the sum T_s (a_0 - b_2) + T_{s+1} b_1. Within 1/2 of the ends in differences, d_k = b_k -+ b_{k+1}
/// (Reinsch's form), which keeps digits there.
template <class T, class R, class Coefficient>
ZONAL_HOST_DEVICE T clenshaw(const Coefficient& a, std::int64_t n, double x, const ClenshawStart& start,
                             R first_weight) {
    const bool near_end = is_near_end(x);
    const auto end = static_cast<R>(end_beside(x)), two_x = static_cast<R>(2 * x);
    const auto h = static_cast<R>(2 * (x - end_beside(x)));
    T b{}, next{};  // b_{k+1}; d_{k+1} or b_{k+2}
    for (std::int64_t k = n - 1; k >= 1; --k) {
        if (near_end) {
            next = a(k) + h * b + end * next;
            b = next + end * b;
        } else {
            const T present = a(k) + two_x * b - next;
            next = b;
            b = present;
        }
    }
    const T first = a(0) * first_weight, rest = near_end ? end * next : -next;
    return static_cast<R>(start.value) * (first + rest) + static_cast<R>(start.next) * b;
}

/// c_k = weight(k) sum_j share(j) v_j T_k(x_j): 2 / n at n Gauss points; at n Lobatto points 2 / (n - 1),
/// with half of the first and last v_j and of the last c_k (primed; Mason & Handscomb 2003, section 6.3).
struct NodeSums {
    bool is_gauss, is_plain;
    std::int64_t n;

    /// T_k(x_j) = cos(pi t / 2m), t = quarter_turns(k, j).
    ZONAL_HOST_DEVICE std::int64_t m() const { return is_gauss ? n : n - 1; }
    ZONAL_HOST_DEVICE std::int64_t quarter_turns(std::int64_t k, std::int64_t j) const {
        return (is_gauss ? k * (2 * j + 1) : 2 * k * j) % (4 * m());
    }
    ZONAL_HOST_DEVICE double share(std::int64_t j) const {
        return !is_gauss && (j == 0 || j == n - 1) ? 0.5 : 1;
    }
    ZONAL_HOST_DEVICE double weight(std::int64_t k) const {
        const double halves = (is_plain && k == 0 ? 0.5 : 1) * (!is_gauss && k == n - 1 ? 0.5 : 1);
        return 2 * halves / static_cast<double>(m());
    }
};

}  // namespace zonal::chebyshev
