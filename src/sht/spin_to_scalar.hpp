#pragma once

#include <complex>
#include <cstdint>

/// Spin 1 and 2 through scalar functions: sin^s theta F+ and sin^s theta F- are combinations of
/// lambda_{l-s}.. lambda_{l+s} of the same order, so that sin^s Q_m = sum_l q_l lambda_lm, sin^s U_m = sum_l
/// u_l lambda_lm with l up to lmax + s. Works where sin theta is not small.
namespace zonal::sht {

/// One order's row of coefficients q, u from E, B (or the transpose).
/// epsilon: [l - m], l = m..lmax + 2. e, b: [lmax - m + 1]. q, u: [lmax + s - m + 1], overwritten.
void spin_to_scalar(int spin, std::int64_t m, std::int64_t lmax, const double* epsilon,
                    const std::complex<double>* e, const std::complex<double>* b, std::complex<double>* q,
                    std::complex<double>* u);

/// The transpose: e, b overwritten.
void scalar_to_spin(int spin, std::int64_t m, std::int64_t lmax, const double* epsilon,
                    const std::complex<double>* q, const std::complex<double>* u, std::complex<double>* e,
                    std::complex<double>* b);

}  // namespace zonal::sht
