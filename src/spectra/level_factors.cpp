#include "spectra/level_factors.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <numeric>

#include "zonal/error.hpp"

namespace zonal::masked {

Array<double, 3> level_factors(const char* name, const View<const double, 3>& c_l,
                               const std::vector<int>& order) {
    constexpr double rounding = 1e-6;
    const auto n = std::ssize(order);
    Array<double, 3> factors({c_l.extent(2), n, n});
    for (std::int64_t l = 0; l < c_l.extent(2); ++l)
        for (std::int64_t j = 0; j < n; ++j) {
            const auto at = [&](std::int64_t k) { return order[static_cast<std::size_t>(k)]; };
            for (std::int64_t i = j; i < n; ++i) {
                double rest = c_l(at(i), at(j), l);
                for (std::int64_t k = 0; k < j; ++k)
                    rest -= factors(l, at(i), at(k)) * factors(l, at(j), at(k));
                const double scale = std::sqrt(std::abs(c_l(at(i), at(i), l) * c_l(at(j), at(j), l)));
                double& factor = factors(l, at(i), at(j));
                const double diagonal = factors(l, at(j), at(j));
                if (i == j)
                    factor = rest > 4e-16 * static_cast<double>(n) * scale ? std::sqrt(rest) : 0;
                else if (diagonal > 0)
                    factor = rest / diagonal;
                if ((i == j && rest < -rounding * scale) ||
                    (i != j && diagonal == 0 && std::abs(rest) > rounding * scale))
                    throw InvalidArgument(
                        name,
                        fmt::format("is no covariance at l = {}: the matrix of the components' spectra must "
                                    "be positive semi-definite",
                                    l));
            }
        }
    return factors;
}

void check_levels(const char* name, const View<const double, 3>& c_l) {
    for (std::int64_t l = 0; l < c_l.extent(2); ++l)
        for (std::int64_t i = 0; i < c_l.extent(0); ++i)
            for (std::int64_t j = 0; j < c_l.extent(1); ++j)
                if (!std::isfinite(c_l(i, j, l)))
                    throw InvalidArgument(
                        name, fmt::format("has {} at l = {}: must hold finite numbers", c_l(i, j, l), l));
                else if (j < i && c_l(i, j, l) != c_l(j, i, l))
                    throw InvalidArgument(
                        name,
                        fmt::format("[{0}, {1}] and [{1}, {0}] differ at l = {2}: must be equal", i, j, l));
}

void require_covariance(const char* name, const View<const double, 3>& c_l) {
    std::vector<int> order(static_cast<std::size_t>(c_l.extent(0)));
    std::iota(order.begin(), order.end(), 0);
    level_factors(name, c_l, order);
}

}  // namespace zonal::masked
