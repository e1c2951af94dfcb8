#pragma once

#include <cstdint>

#include "core/host_device.hpp"

/// Derivative and integral of one line of coefficients on [-1, 1], for the CPU and CUDA. `first`: what a_0 is
/// multiplied with to be primed, 1 or 2. Elements of a line lie a stride apart.
namespace zonal::chebyshev {

/// 2k a_k, which coefficients k - 1, k - 3, .. of the derivative are sums of.
template <class T, class R>
ZONAL_HOST_DEVICE T derivative_share(const T& a_k, std::int64_t k, R scale) {
    return a_k * (2 * static_cast<R>(k) * scale);
}

/// a'_{k-1} = a'_{k+1} + 2k a_k (primed; Mason & Handscomb 2003, section 2.4.5). a, derivative: [n]
template <class T, class R>
ZONAL_HOST_DEVICE void differentiate_line(const T* a, std::int64_t stride, std::int64_t n, R scale, R first,
                                          T* derivative, std::int64_t derivative_stride) {
    T above{}, present{};  // a'_{k+1} and a'_k
    for (std::int64_t k = n - 1; k >= 1; --k) {
        const T below = above + derivative_share(a[k * stride], k, scale);
        derivative[k * derivative_stride] = present;
        above = present;
        present = below;
    }
    derivative[0] = present / first;
}

/// A_k = (a_{k-1} - a_{k+1}) / 2k, k >= 1, of a series of n_used coefficients (primed; Mason & Handscomb
/// 2003, section 2.4.4).
template <class T, class R>
ZONAL_HOST_DEVICE T integral_mode(const T* a, std::int64_t stride, std::int64_t n_used, std::int64_t k,
                                  R scale, R first) {
    const T below = k == 1 ? a[0] * first : a[(k - 1) * stride];
    const T above = k + 1 < n_used ? a[(k + 1) * stride] : T{};
    return (below - above) * (scale / (2 * static_cast<R>(k)));
}

/// A_k as above, A_0 = -2 sum_{k>=1} (-1)^k A_k. a: [n], of which the first n_used count; integral: [n_out];
/// modes up to n_used are counted in A_0.
template <class T, class R>
ZONAL_HOST_DEVICE void integrate_line(const T* a, std::int64_t stride, std::int64_t n_used, R scale, R first,
                                      T* integral, std::int64_t integral_stride, std::int64_t n_out) {
    T constant{};
    for (std::int64_t k = n_used; k >= 1; --k) {
        const T mode = integral_mode(a, stride, n_used, k, scale, first);
        if (k < n_out) integral[k * integral_stride] = mode;
        constant = k % 2 == 0 ? constant - mode : constant + mode;
    }
    for (std::int64_t k = n_used + 1; k < n_out; ++k) integral[k * integral_stride] = T{};
    integral[0] = constant * (2 / first);
}

/// What an even a_k has in int_{-1}^{1} f: 2 a_k / (1 - k^2). `first`: 2 for a plain a_0, 1 for a primed one,
/// of which half counts.
template <class T, class R>
ZONAL_HOST_DEVICE T integral_share(const T& a_k, std::int64_t k, R first) {
    const R degree = static_cast<R>(k);
    return a_k * (k == 0 ? first : 2 / (1 - degree * degree));
}

/// int_{-1}^{1} f, the smallest weights first.
template <class T, class R>
ZONAL_HOST_DEVICE T integral_of_line(const T* a, std::int64_t stride, std::int64_t n, R scale, R first) {
    T sum{};
    for (std::int64_t k = (n - 1) / 2 * 2; k >= 0; k -= 2) sum += integral_share(a[k * stride], k, first);
    return sum * scale;
}

}  // namespace zonal::chebyshev
