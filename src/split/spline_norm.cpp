#include "split/spline_norm.hpp"

#include <algorithm>
#include <cmath>

#include "core/interruption.hpp"
#include "split/spline_windows.hpp"

namespace zonal::split {

SplineNorm::SplineNorm(const SplineBasis& basis) : factor_(basis_products(basis)) {
    const auto n = factor_.extent(0), width = factor_.extent(1);
    for (std::int64_t c = 0; c < n; ++c) {
        const double pivot = std::sqrt(factor_(c, 0));
        for (std::int64_t k = 0; k < width; ++k) factor_(c, k) /= pivot;
        for (std::int64_t j = 1; j < std::min(width, n - c); ++j)
            for (std::int64_t k = j; k < width; ++k) factor_(c + j, k - j) -= factor_(c, j) * factor_(c, k);
    }
}

void SplineNorm::orthonormalize(View<double, 2> windows) const {
    const auto n = factor_.extent(0), width = factor_.extent(1);
    const core::InterruptionPoll poll;
    for (std::int64_t l = 0; l < windows.extent(0); ++l) {
        poll();
        for (std::int64_t c = 0; c < n; ++c) {  // forward substitution, L y = row
            windows(l, c) /= factor_(c, 0);
            for (std::int64_t k = 1; k < std::min(width, n - c); ++k)
                windows(l, c + k) -= factor_(c, k) * windows(l, c);
        }
    }
}

std::vector<double> SplineNorm::coefficients(const std::vector<double>& y) const {
    const auto n = factor_.extent(0), width = factor_.extent(1);
    auto c = y;
    for (auto i = n - 1; i >= 0; --i) {
        for (std::int64_t k = 1; k < std::min(width, n - i); ++k) c[i] -= factor_(i, k) * c[i + k];
        c[i] /= factor_(i, 0);
    }
    return c;
}

}  // namespace zonal::split
