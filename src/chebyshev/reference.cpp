#include "chebyshev/reference.hpp"

#include <cmath>

namespace zonal::chebyshev {
namespace {

/// The indices of T_i T_j, two of weight 1/2 each (which may be the same).
std::array<std::int64_t, 2> of_product(std::int64_t i, std::int64_t j) {
    return {i + j, std::abs(i - j)};
}

}  // namespace

ReferenceSeries::ReferenceSeries(const std::array<std::int64_t, 3>& n)
    : extents(n), plain(static_cast<std::size_t>(n[0] * n[1] * n[2])) {}

ReferenceSeries reference_product(const ReferenceSeries& a, const ReferenceSeries& b) {
    const auto &n = a.extents, &m = b.extents;
    ReferenceSeries product({n[0] + m[0] - 1, n[1] + m[1] - 1, n[2] + m[2] - 1});
    for (std::int64_t i = 0; i < n[0] * n[1] * n[2]; ++i)
        for (std::int64_t j = 0; j < m[0] * m[1] * m[2]; ++j) {
            const auto term =
                a.plain[static_cast<std::size_t>(i)] * b.plain[static_cast<std::size_t>(j)] / 8.0L;
            for (const auto x : of_product(i / (n[1] * n[2]), j / (m[1] * m[2])))
                for (const auto y : of_product(i / n[2] % n[1], j / m[2] % m[1]))
                    for (const auto z : of_product(i % n[2], j % m[2])) product.at(x, y, z) += term;
        }
    return product;
}

ReferenceSeries magnitudes(const ReferenceSeries& a) {
    auto result = a;
    for (auto& value : result.plain) value = std::abs(value);
    return result;
}

}  // namespace zonal::chebyshev
