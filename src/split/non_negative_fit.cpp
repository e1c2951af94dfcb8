#include "split/non_negative_fit.hpp"

#include <algorithm>
#include <cstdint>

namespace zonal::split {

// One unknown after the other is set to its best value, or 0 (Gauss-Seidel on the normal equations), which
// converges for these few. Columns without any count stay 0.
std::vector<double> non_negative_fit(View<const double, 2> counts, const std::vector<double>& values) {
    const auto n = counts.extent(1);
    std::vector<double> x(n);
    auto residual = values;
    constexpr int n_rounds = 20000;
    for (int round = 0; round < n_rounds; ++round)
        for (std::int64_t j = 0; j < n; ++j) {
            double product = 0, square = 0;
            for (std::int64_t i = 0; i < counts.extent(0); ++i) {
                product += counts(i, j) * residual[i];
                square += counts(i, j) * counts(i, j);
            }
            if (square == 0) continue;
            const double step = std::max(product / square, -x[j]);
            x[j] += step;
            for (std::int64_t i = 0; i < counts.extent(0); ++i) residual[i] -= counts(i, j) * step;
        }
    return x;
}

}  // namespace zonal::split
