#pragma once

#include "sht/legendre/ishioka_math.hpp"
#include "sht/legendre/legendre_cuda.cuh"

/// What Ishioka's recurrence sees of the a_lm, step by step.
namespace zonal::sht::cuda {

/// Complex number k of an array, in one access (the arrays are aligned to their complex numbers).
__device__ inline double2 complex_at(const double* array, std::int64_t k) {
    return reinterpret_cast<const double2*>(array)[k];
}
__device__ inline double2 complex_at(const float* array, std::int64_t k) {
    const float2 value = reinterpret_cast<const float2*>(array)[k];
    return {value.x, value.y};
}
__device__ inline void store(double* to, double2 value) {
    *reinterpret_cast<double2*>(to) = value;
}
__device__ inline void store(float* to, double2 value) {
    *reinterpret_cast<float2*>(to) = {static_cast<float>(value.x), static_cast<float>(value.y)};
}

/// What write_steps writes.
struct StepValues {
    IshiokaStep step;
    double2 even, odd;
};

/// A field's coefficients at step i of order m; row = null: none.
template <class T>
__device__ StepValues step_values(const LegendreView& t, std::int64_t m, std::int64_t i, const T* row) {
    const std::int64_t lmax = t.lmax + t.spin, l = m + 2 * i, origin = t.row_origin[m];
    const double order = static_cast<double>(m), alpha = t.alpha[t.first_step[m] + i];
    const auto at = [&](std::int64_t degree) {
        return row != nullptr && degree <= lmax ? complex_at(row, origin + degree) : double2{0, 0};
    };
    const double2 a_0 = at(l), a_1 = at(l + 1), a_2 = at(l + 2);
    const double eps_1 = epsilon_lm(static_cast<double>(l + 1), order);
    const double eps_2 = epsilon_lm(static_cast<double>(l + 2), order);
    const double even_0 = alpha * eps_1, even_2 = alpha * eps_2;
    return {ishioka_step(i, alpha, eps_1, eps_2),
            {even_0 * a_0.x + even_2 * a_2.x, even_0 * a_0.y + even_2 * a_2.y},
            {alpha * a_1.x, alpha * a_1.y}};
}

}  // namespace zonal::sht::cuda
