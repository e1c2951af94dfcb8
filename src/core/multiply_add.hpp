#pragma once

#include <cmath>

#include "core/host_device.hpp"

namespace zonal::core {

/// a b + c: fused on the device, where it costs half; not on the host, whose baseline has no such
/// instruction.
template <class T>
ZONAL_HOST_DEVICE inline T multiply_add(T a, T b, T c) {
#ifdef __CUDA_ARCH__
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

/// sqrt(n / d), 0 for n = 0; otherwise n and d of the same sign, and of sizes between 1e-100 and 1e100. On
/// CUDA without the branches for special values of the division and the root, behind which several of them
/// would have to queue: approximations to 2^-20, one step of third order, and a residual each, so rounded as
/// there but for rare ties.
ZONAL_HOST_DEVICE inline double root_of_quotient(double n, double d) {
#ifdef __CUDA_ARCH__
    double inverse, inverse_root;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(d));
    const double e = fma(-d, inverse, 1.0);
    inverse = fma(inverse, fma(e, e, e), inverse);
    double quotient = n * inverse;
    quotient = fma(fma(-d, quotient, n), inverse, quotient);
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(inverse_root) : "d"(quotient));
    const double f = fma(-quotient * inverse_root, inverse_root, 1.0);
    inverse_root = fma(inverse_root * f, fma(0.375, f, 0.5), inverse_root);
    const double root = quotient * inverse_root;
    return n == 0 ? 0 : fma(fma(-root, root, quotient), 0.5 * inverse_root, root);
#else
    return n == 0 ? 0 : std::sqrt(n / d);
#endif
}

}  // namespace zonal::core
