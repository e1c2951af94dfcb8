#pragma once

#include <algorithm>
#include <cstdint>

#include "chebyshev/transform/cosine_kernels.hpp"
#include "zonal/chebyshev/product.hpp"

namespace zonal::chebyshev {

/// Values of fields at points: field f's plane p begins at data + (f * n_planes + p) * distance.
template <class R>
struct FieldValues {
    const R* data;
    std::int64_t distance;
};

/// sum += weight * prod of the term's fields, at n points, a multiple of column_unit. n_planes: 2 for complex
/// values, of which the planes of sum lie n apart; scratch: [2 n_planes, n].
template <class R>
void add_term(const ChebyshevTerm& term, const FieldValues<R>& fields, int n_planes, std::int64_t n, R* sum,
              R* scratch) {
    const auto plane = [&](std::size_t factor, int p) {
        return fields.data +
               (static_cast<std::int64_t>(term.factors[factor]) * n_planes + p) * fields.distance;
    };
    const auto weight = static_cast<R>(term.weight);
    const auto n_factors = term.factors.size();
    if (n_factors == 1) {
        for (int p = 0; p < n_planes; ++p) add(weight, plane(0, p), n, sum + p * n);
        return;
    }
    const R* left[2] = {plane(0, 0), plane(0, n_planes - 1)};
    for (std::size_t factor = 1; factor + 1 < n_factors; ++factor) {
        R* product = scratch + (factor % 2) * static_cast<std::size_t>(n_planes * n);
        multiply(R{1}, left[0], plane(factor, 0), n, product);
        if (n_planes == 2) {
            multiply_add(R{-1}, left[1], plane(factor, 1), n, product);
            multiply(R{1}, left[0], plane(factor, 1), n, product + n);
            multiply_add(R{1}, left[1], plane(factor, 0), n, product + n);
        }
        left[0] = product;
        left[1] = product + (n_planes - 1) * n;
    }
    multiply_add(weight, left[0], plane(n_factors - 1, 0), n, sum);
    if (n_planes == 2) {
        multiply_add(-weight, left[1], plane(n_factors - 1, 1), n, sum);
        multiply_add(weight, left[0], plane(n_factors - 1, 1), n, sum + n);
        multiply_add(weight, left[1], plane(n_factors - 1, 0), n, sum + n);
    }
}

}  // namespace zonal::chebyshev
