#include "sht/spin_to_scalar.hpp"

#include <algorithm>
#include <cmath>

namespace zonal::sht {
namespace {

/// Weights of lambda_{l-2}..lambda_{l+2} in -sin^s F+ (even) and of lambda_{l-1}, lambda_l, lambda_{l+1} in
/// -sin^s F- (odd). The sign is that of Q + iU = -sum (E + iB) sY.
struct Weights {
    double even[5];
    double odd[3];
};

/// With e_l = eps_lm, spin 2, N = 2 / sqrt((l+2)(l+1)l(l-1)):
///   sin^2 F+ = N { l(l-1)/2 e_{l+1} e_{l+2} lambda_{l+2}
///                  + [m^2 - l - l(l-1)/2 (1 - e_l^2 - e_{l+1}^2) + (2l+1) e_l^2] lambda_l
///                  + (l+1)(l+2)/2 e_l e_{l-1} lambda_{l-2} }
///   sin^2 F- = -N m { (l-1) e_{l+1} lambda_{l+1} - (l+2) e_l lambda_{l-1} }
/// spin 1, N = 1 / sqrt(l(l+1)):
///   sin F+ = -N { l e_{l+1} lambda_{l+1} - (l+1) e_l lambda_{l-1} },  sin F- = N m lambda_l
Weights weights(int spin, std::int64_t degree, std::int64_t order, const double* e) {
    const double l = static_cast<double>(degree), m = static_cast<double>(order);
    const double e0 = e[degree - order], e1 = e[degree - order + 1];
    if (spin == 1) {
        const double norm = 1 / std::sqrt(l * (l + 1));
        return {{0, -norm * (l + 1) * e0, 0, norm * l * e1, 0}, {0, -norm * m, 0}};
    }
    const double norm = 2 / std::sqrt((l + 2) * (l + 1) * l * (l - 1));
    const double e2 = e[degree - order + 2], below = degree > order ? e[degree - order - 1] : 0;
    const double centre = m * m - l - l * (l - 1) / 2 * (1 - e0 * e0 - e1 * e1) + (2 * l + 1) * e0 * e0;
    return {
        {-norm * (l + 1) * (l + 2) / 2 * e0 * below, 0, -norm * centre, 0, -norm * l * (l - 1) / 2 * e1 * e2},
        {-norm * m * (l + 2) * e0, 0, norm * m * (l - 1) * e1}};
}

}  // namespace

void spin_to_scalar(int spin, std::int64_t m, std::int64_t lmax, const double* epsilon,
                    const std::complex<double>* e, const std::complex<double>* b, std::complex<double>* q,
                    std::complex<double>* u) {
    std::fill(q, q + lmax + spin - m + 1, 0.0);
    std::fill(u, u + lmax + spin - m + 1, 0.0);
    for (std::int64_t l = std::max<std::int64_t>(m, spin); l <= lmax; ++l) {
        const Weights w = weights(spin, l, m, epsilon);
        const std::int64_t k = l - m;
        const std::complex<double> i_e(-e[k].imag(), e[k].real()), i_b(-b[k].imag(), b[k].real());
        for (std::int64_t j = std::max<std::int64_t>(-spin, -k); j <= spin; ++j) {
            q[k + j] += w.even[j + 2] * e[k];
            u[k + j] += w.even[j + 2] * b[k];
        }
        for (std::int64_t j = std::max<std::int64_t>(-1, -k); j <= 1; ++j) {
            q[k + j] += w.odd[j + 1] * i_b;
            u[k + j] -= w.odd[j + 1] * i_e;
        }
    }
}

void scalar_to_spin(int spin, std::int64_t m, std::int64_t lmax, const double* epsilon,
                    const std::complex<double>* q, const std::complex<double>* u, std::complex<double>* e,
                    std::complex<double>* b) {
    std::fill(e, e + lmax - m + 1, 0.0);
    std::fill(b, b + lmax - m + 1, 0.0);
    for (std::int64_t l = std::max<std::int64_t>(m, spin); l <= lmax; ++l) {
        const Weights w = weights(spin, l, m, epsilon);
        const std::int64_t k = l - m;
        std::complex<double> e_sum = 0, b_sum = 0, e_odd = 0, b_odd = 0;
        for (std::int64_t j = std::max<std::int64_t>(-spin, -k); j <= spin; ++j) {
            e_sum += w.even[j + 2] * q[k + j];
            b_sum += w.even[j + 2] * u[k + j];
        }
        for (std::int64_t j = std::max<std::int64_t>(-1, -k); j <= 1; ++j) {
            b_odd += w.odd[j + 1] * q[k + j];
            e_odd += w.odd[j + 1] * u[k + j];
        }
        // The transposes of q += i b and u -= i e: conj(i) = -i.
        e[k] = e_sum + std::complex<double>(-e_odd.imag(), e_odd.real());
        b[k] = b_sum + std::complex<double>(b_odd.imag(), -b_odd.real());
    }
}

}  // namespace zonal::sht
