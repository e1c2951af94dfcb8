#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <vector>

#include "chebyshev/roots/colleague_math.hpp"

/// What roots of Chebyshev series are compared by.
namespace zonal::test {

/// How far a root z of sum_k a_k T_k, k = 0 .. K, may be off as an eigenvalue of its colleague matrix H. The
/// QR algorithm finds those of H + E, on either side of a comparison: a rotation changes what it is applied
/// to by up to sqrt(2) gamma_6 = 4.25 eps of it (Higham 2002, lemma 19.8), K of them follow each other, |E|
/// <= 4.25 K eps |H| (Frobenius). An eigenvalue with the right vector x and the left one y moves by |x| |y| /
/// |y x| times as much (Golub & Van Loan 2013, 7.2.2).
inline double root_tolerance(const std::vector<std::complex<double>>& a, std::complex<double> z) {
    using Wide = std::complex<long double>;
    const auto n = static_cast<std::int64_t>(a.size()) - 1;
    const auto coupling = [](std::int64_t i, std::int64_t j) -> long double {
        return chebyshev::colleague_coupling(i, j);
    };
    std::vector<Wide> x(a.size()), y(a.size());
    std::vector<Wide> last(a.size());  // the last row but for its coupling
    for (std::int64_t j = 0; j < n; ++j)
        last[j] = Wide(a[j]) / Wide(a.back()) * static_cast<long double>(chebyshev::colleague_factor(n, j));
    x[0] = y[n - 1] = 1;
    for (std::int64_t i = 0; i + 1 < n; ++i)
        x[i + 1] = (Wide(z) * x[i] - (i > 0 ? coupling(i, i - 1) * x[i - 1] : 0)) / coupling(i, i + 1);
    for (std::int64_t j = n - 1; j > 0; --j)
        y[j - 1] = ((Wide(z) + (j == n - 1 ? last[j] : 0)) * y[j] + (j < n - 1 ? last[j] * y[n - 1] : 0) -
                    (j < n - 1 ? coupling(j + 1, j) * y[j + 1] : 0)) /
                   coupling(j - 1, j);
    long double squares_x = 0, squares_y = 0, squares = 0;
    Wide product = 0;
    for (std::int64_t j = 0; j < n; ++j) {
        squares_x += std::norm(x[j]);
        squares_y += std::norm(y[j]);
        product += x[j] * y[j];
        for (std::int64_t i = 0; i < n; ++i)
            squares += std::norm(coupling(i, j) - (i == n - 1 ? last[j] : 0));
    }
    const long double backward = 4.25L * static_cast<long double>(n) * std::numeric_limits<double>::epsilon();
    return static_cast<double>(2 * backward * std::sqrt(squares * squares_x * squares_y) / std::abs(product));
}

/// The same roots in any order. a: plain coefficients
inline void expect_same_roots(const std::vector<std::complex<double>>& a,
                              std::vector<std::complex<double>> found,
                              const std::vector<std::complex<double>>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& root : expected) {
        const auto nearest = std::min_element(found.begin(), found.end(), [&](const auto& x, const auto& y) {
            return std::abs(x - root) < std::abs(y - root);
        });
        EXPECT_LE(std::abs(*nearest - root), root_tolerance(a, root)) << *nearest << " for " << root;
        found.erase(nearest);
    }
}

/// The series of a batch as plain coefficients. row(k): coefficient k
template <class Row>
std::vector<std::complex<double>> plain_coefficients(std::int64_t n, bool is_primed, const Row& row) {
    std::vector<std::complex<double>> a;
    for (std::int64_t k = 0; k < n; ++k) a.emplace_back(row(k));
    if (is_primed) a[0] /= 2;
    return a;
}

}  // namespace zonal::test
