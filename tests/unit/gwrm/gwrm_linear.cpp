// The linear algebra of an interval: the integral's basis, its preconditioner and GMRES.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include "gwrm/time_basis.hpp"
#include "gwrm_helpers.hpp"

namespace zonal::gwrm {
namespace {

constexpr double eps = 0x1p-52;

/// Condition of the basis' vectors: 2e10 at 25 modes, 2.5 less for each mode less (numpy's eig and cond). Of
/// a triangular basis it is 1.
double condition(std::int64_t n_modes) {
    return n_modes > 25 ? 1 : 2e10 * std::pow(2.5, static_cast<double>(n_modes - 25));
}

TEST(GwrmTimeBasis, MakesTheIntegralDiagonalOrTriangular) {
    for (const auto mode : {HighestMode::projection, HighestMode::tau})
        for (const std::int64_t n : {4, 13, 25, 26}) {
            const TimeBasis basis(n, mode);
            const auto integral = time_integral_matrix(n, mode);
            EXPECT_EQ(basis.is_diagonal, n <= 25);
            const auto at = [](const TimeBasis::Numbers& matrix, std::int64_t rows, std::int64_t i,
                               std::int64_t j) { return matrix[static_cast<std::size_t>(j * rows + i)]; };
            const auto m = basis.n_systems;
            double error_of_one = 0, error_of_integral = 0;
            for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < n; ++j) {
                    std::complex<double> one = 0, sum = 0;
                    for (std::int64_t s = 0; s < m; ++s) {
                        one += at(basis.to, n, i, s) * at(basis.from, m, s, j);
                        for (std::int64_t r = basis.is_diagonal ? s : 0; r <= s; ++r)
                            sum += at(basis.to, n, i, s) *
                                   (basis.is_diagonal ? basis.eigenvalue(s) : at(basis.triangle, m, r, s)) *
                                   at(basis.from, m, r, j);
                    }
                    error_of_one = test::larger(error_of_one, std::abs(one.real() - (i == j ? 1 : 0)));
                    // R Int^T, of rows R
                    error_of_integral =
                        test::larger(error_of_integral,
                                     std::abs(sum.real() - integral[static_cast<std::size_t>(i * n + j)]));
                }
            const double bound = static_cast<double>(n * n) * eps * condition(n);
            EXPECT_LE(error_of_one, bound) << n;
            EXPECT_LE(error_of_integral, bound) << n;
        }
}

/// Linear, with coefficients that do not depend on time: what is frozen is then all there is.
Problem linear_problem(int subdomains) {
    Problem problem({{.interval = {-1, 2}, .modes = 6, .subdomains = subdomains}});
    const auto u = problem.unknown("u", [](const Point&) { return 0.0; });
    const auto v = problem.unknown("v", [](const Point&) { return 0.0; });
    problem.evolve(u, 0.3 * u.dx().dx() - u.dx() + problem.coordinate(1) * v);
    problem.evolve(v, 0.1 * v.dx().dx() - 2.0 * v + u);
    problem.dirichlet(u, 1, End::lower);
    problem.robin(u, 1, End::upper, 1, 0.5);
    problem.neumann(v, 1, End::lower);
    problem.dirichlet(v, 1, End::upper);
    return problem;
}
Problem linear_plane() {
    Problem problem({{.modes = 4, .subdomains = 2}, {.name = "y", .modes = 3}});
    const auto u = problem.unknown("u", [](const Point&) { return 0.0; });
    problem.evolve(u, 0.3 * u.dx().dx() + 0.2 * u.dy().dy() - 0.5 * u);
    for (const int axis : {1, 2})
        for (const auto end : {End::lower, End::upper}) problem.dirichlet(u, axis, end);
    return problem;
}

TEST(GwrmFrozenInverse, IsTheInverseOfLinearProblems) {
    for (const auto& problem : {linear_problem(1), linear_problem(2), linear_plane()})
        for (const auto mode : {HighestMode::projection, HighestMode::tau})
            for (const std::int64_t n_modes : {5, 20, 26}) {
                const auto backend = make_backend(Device::cpu(), 1);
                const auto shape = shape_of(problem, n_modes - 1);
                System system(problem, shape, mode, *backend);
                system.set_time({0.5, 1.25});
                const auto n = static_cast<std::size_t>(shape.size());
                std::vector<double> a(n), v(n), image(n), found(n);
                for (std::size_t i = 0; i < n; ++i) v[i] = std::sin(3.0 * static_cast<double>(i) + 1);
                system.set_initial(a.data());
                system.residual(a.data(), image.data());
                system.apply_jacobian(v.data(), 1, image.data());
                const TimeBasis basis(n_modes, mode);
                const auto inverse = frozen_inverse(system, basis, a.data());
                ASSERT_FALSE(inverse->is_singular());
                inverse->solve(image.data(), found.data());
                // Second derivatives in space raise rounding by up to 6^4 / 3, for each of n modes in time.
                const double bound = 432 * static_cast<double>(n_modes) * eps * condition(n_modes);
                for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(found[i], v[i], bound) << n_modes << ' ' << i;
                const auto dense = dense_inverse(system);
                dense->solve(image.data(), found.data());
                for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(found[i], v[i], 432 * 26 * eps) << i;
            }
}

TEST(GwrmInverse, OfASingularMatrixIsToldApart) {
    const auto backend = make_backend(Device::cpu(), 1);
    for (const double last : {1.0, 1e-12, 1e-19, 0.0}) {
        const std::vector<double> matrix{1, 0, 0, last};
        EXPECT_EQ(backend->dense_inverse({2, 2}, matrix.data())->is_singular(), !(last > 1e-18)) << last;
    }
}

/// A matrix with a spectrum about 2, of which GMRES needs many steps.
TEST(GwrmGmres, ReducesTheResidualAsItSays) {
    constexpr std::int64_t n = 40;
    std::mt19937 engine(3);
    std::normal_distribution<> normal;
    std::vector<double> matrix(n * n), b(n), x(n), product(n);
    for (auto& value : matrix) value = 0.1 * normal(engine);
    for (std::int64_t i = 0; i < n; ++i) matrix[static_cast<std::size_t>(i * n + i)] += 2;
    for (auto& value : b) value = normal(engine);
    const auto apply = [&](const double* from, double* to) {
        for (std::int64_t i = 0; i < n; ++i) {
            to[i] = 0;
            for (std::int64_t j = 0; j < n; ++j)
                to[i] += matrix[static_cast<std::size_t>(i * n + j)] * from[j];
        }
    };
    const auto halve = [&](const double* from, double* to) {
        for (std::int64_t i = 0; i < n; ++i) to[i] = from[i] / 2;
    };
    const auto length = [](const std::vector<double>& values) {
        double square = 0;
        for (const double value : values) square += value * value;
        return std::sqrt(square);
    };
    const auto backend = make_backend(Device::cpu(), 1);
    Gmres gmres(*backend, n);
    int before = 0;
    for (const double tolerance : {0.5, 1e-2, 1e-6, 1e-12}) {
        const auto result = gmres.solve(apply, halve, b.data(), tolerance, 60, x.data());
        apply(x.data(), product.data());
        std::vector<double> rest(b);
        for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= product[i];
        // The preconditioner is a number, by which nothing changes.
        const double reduction = length(rest) / length(b);
        EXPECT_LE(reduction, tolerance * (1 + 1e-3));
        EXPECT_NEAR(reduction, result.reduction, 1e-3 * tolerance + 40 * eps);
        EXPECT_GT(result.iterations, before);
        before = result.iterations;
    }
    EXPECT_GT(before, 12);  // more than there is room for at first
    EXPECT_LE(before, 40);
    const auto cut_off = gmres.solve(apply, halve, b.data(), 1e-12, 5, x.data());
    EXPECT_EQ(cut_off.iterations, 5);
    apply(x.data(), product.data());
    std::vector<double> rest(b);
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= product[i];
    EXPECT_NEAR(length(rest) / length(b), cut_off.reduction, 1e-12);
    const std::vector<double> zero(n);
    const auto none = gmres.solve(apply, halve, zero.data(), 1e-3, 60, x.data());
    EXPECT_EQ(none.iterations, 0);
    EXPECT_EQ(none.reduction, 0);
    EXPECT_EQ(x, zero);
}

}  // namespace
}  // namespace zonal::gwrm
