#include "split/tail_fits.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "zonal/view.hpp"

namespace zonal::test {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

TEST(TailFits, SolveTheRowsAboveTheCut) {
    constexpr std::int64_t n_rows = 400, n = 7;
    std::mt19937 generator(1);
    std::normal_distribution<double> normal;
    Array<double, 2> rows({n_rows, n});
    Array<double, 1> target({n_rows});
    for (double& value : rows) value = normal(generator);
    for (double& value : target) value = normal(generator);
    const split::TailFits fits(std::as_const(rows).view(), std::as_const(target).view());
    for (const std::int64_t l_cut : {-1, 0, 127, 128, 200, 390}) {
        const auto x = fits.solve(l_cut, 1e-12).x;
        // Normal equations: the residual is orthogonal to every column, to the rounding of n_rows products.
        for (std::int64_t c = 0; c < n; ++c) {
            double product = 0;
            for (std::int64_t l = l_cut + 1; l < n_rows; ++l) {
                double residual = -target(l);
                for (std::int64_t d = 0; d < n; ++d) residual += rows(l, d) * x[d];
                product += rows(l, c) * residual;
            }
            EXPECT_NEAR(product, 0, 16 * eps * n_rows) << l_cut;
        }
    }
}

TEST(TailFits, LeaveOutSmallSingularValues) {
    Array<double, 2> rows({300, 2});
    Array<double, 1> target({300});
    for (std::int64_t l = 0; l < 300; ++l) {
        rows(l, 0) = 1;
        rows(l, 1) = l % 2 == 0 ? 1e-4 : -1e-4;
        target(l) = 1 + rows(l, 1);
    }
    const split::TailFits fits(std::as_const(rows).view(), std::as_const(target).view());
    const auto whole = fits.solve(99, 1e-6), reduced = fits.solve(99, 1e-3);
    EXPECT_EQ(whole.rank, 2);
    EXPECT_NEAR(whole.x[1], 1, eps / 2 / 1e-4);
    EXPECT_EQ(reduced.rank, 1);
    EXPECT_NEAR(reduced.x[1], 0, 64 * eps);
    EXPECT_NEAR(reduced.x[0], 1, 64 * eps);
}

/// A = U S V^T of known singular values, some of them 0, with reflections for U and V.
TEST(TailFits, SolveWithoutTheSingularValuesBelowTheCutoff) {
    constexpr std::int64_t n = 40, n_rows = 170;
    std::mt19937 generator(2);
    std::normal_distribution<double> normal;
    const auto reflection = [&](std::int64_t size) {
        std::vector<double> v(size);
        double squares = 0;
        for (double& value : v) {
            value = normal(generator);
            squares += value * value;
        }
        return [=](std::int64_t i, std::int64_t j) { return (i == j ? 1 : 0) - 2 * v[i] * v[j] / squares; };
    };
    const auto u = reflection(n_rows), v = reflection(n);
    // 25 from 1 to 1e-3, 10 of 1e-10, 5 of 0
    const auto sigma = [](std::int64_t k) {
        return k < 25 ? std::pow(10, -static_cast<double>(k) / 8) : k < 35 ? 1e-10 : 0.0;
    };
    Array<double, 2> rows({n_rows, n});
    Array<double, 1> target({n_rows});
    std::vector<double> expected(n);
    for (double& value : target) value = normal(generator);
    for (std::int64_t k = 0; k < n; ++k) {
        double product = 0;
        for (std::int64_t l = 0; l < n_rows; ++l) product += u(l, k) * target(l);
        for (std::int64_t c = 0; c < n; ++c) {
            if (k < 25) expected[c] += v(c, k) * product / sigma(k);
            for (std::int64_t l = 0; l < n_rows; ++l) rows(l, c) += u(l, k) * sigma(k) * v(c, k);
        }
    }
    const auto fit =
        split::TailFits(std::as_const(rows).view(), std::as_const(target).view()).solve(-1, 1e-6);
    EXPECT_EQ(fit.rank, 25);
    // Rounding of A, of n_rows sums, changes a pseudo-inverse of condition 1e3 by its square (Wedin 1973).
    for (std::int64_t c = 0; c < n; ++c) EXPECT_NEAR(fit.x[c], expected[c], 1e6 * n_rows * eps) << c;
}

/// To be made, a block of rows is factorised beside its triangle, once; solutions, larger here, are as many
/// as are asked for, and none of them is there by then.
TEST(TailFits, TakeTheLargerOfABlockAndTheSolutions) {
    constexpr std::int64_t n_rows = 1280, n = 63, columns = n + 1, block = 128;
    const auto bytes = [](int n_solutions) { return split::TailFits::bytes(n_rows, n, n_solutions); };
    // The rows, and a triangle for each block and one more.
    constexpr double kept = 8.0 * columns * (n_rows + (n_rows / block + 1) * columns);
    // A triangle, its copy, and six of its size for its decomposition.
    constexpr double solution = 8.0 * columns * 8 * columns;
    EXPECT_EQ(bytes(0), kept + 8.0 * columns * (columns + block));
    EXPECT_EQ(bytes(1), kept + solution);
    EXPECT_EQ(bytes(3), kept + 3 * solution);
}

}  // namespace
}  // namespace zonal::test
