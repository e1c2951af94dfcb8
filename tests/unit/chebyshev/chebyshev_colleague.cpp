#include "chebyshev/roots/colleague_math.hpp"

#include <numbers>
#include <random>

#include "chebyshev_roots_helpers.hpp"
#include "zonal/chebyshev/evaluation.hpp"
#include "zonal/chebyshev/roots.hpp"

// The eigenvalues that CUDA finds of colleague matrices, here with one thread.
namespace zonal::test {
namespace {

using Complex = std::complex<double>;
constexpr double eps = std::numeric_limits<double>::epsilon();

/// a: plain coefficients, the last one not 0
std::vector<Complex> roots_by_one_thread(const std::vector<Complex>& a) {
    using Matrix = chebyshev::HessenbergMatrix<chebyshev::SingleThread>;
    const auto degree = static_cast<std::int64_t>(a.size()) - 1;
    std::vector<core::Complex> coefficients, elements(static_cast<std::size_t>(Matrix::size(degree)));
    for (const Complex& value : a) coefficients.push_back({value.real(), value.imag()});
    Matrix matrix(chebyshev::SingleThread(), elements.data(), degree);
    matrix.set_colleague(coefficients.data());
    matrix.balance();
    EXPECT_TRUE(matrix.diagonalize());
    std::vector<Complex> roots;
    for (std::int64_t k = 0; k < degree; ++k)
        roots.emplace_back(matrix.diagonal(k).re, matrix.diagonal(k).im);
    return roots;
}

std::vector<Complex> roots_on_the_host(const std::vector<Complex>& a) {
    ChebyshevSeries<Complex, 1, ChebyshevConvention::plain> f({static_cast<std::int64_t>(a.size())});
    for (std::size_t k = 0; k < a.size(); ++k) f(static_cast<std::int64_t>(k)) = a[k];
    return all_roots(f);
}

/// However large a_K makes the first row.
TEST(ColleagueMatrix, IsBalancedToTheEnd) {
    using Matrix = chebyshev::HessenbergMatrix<chebyshev::SingleThread>;
    for (const std::int64_t n : {2, 9, 40})
        for (const double last : {1e-3, 1e-15, 1e-100}) {
            std::vector<core::Complex> a, elements(static_cast<std::size_t>(Matrix::size(n)));
            for (std::int64_t k = 0; k < n; ++k) a.push_back({std::pow(0.1, static_cast<double>(k)), 0.5});
            a.push_back({last, 0});
            Matrix matrix(chebyshev::SingleThread(), elements.data(), n);
            matrix.set_colleague(a.data());
            const auto unbalanced = [&] {
                int count = 0;
                for (std::int64_t i = 0; i < n; ++i) {
                    double row = 0, column = 0;
                    for (std::int64_t k = 0; k < n; ++k) {
                        if (k == i) continue;
                        row += magnitude(elements[static_cast<std::size_t>(i * (n | 1) + k)]);
                        column += magnitude(elements[static_cast<std::size_t>(k * (n | 1) + i)]);
                    }
                    // A power of 2 would bring them nearer to each other, and their sum down by a twentieth.
                    const double better = std::exp2(std::round(std::log2(row / column) / 2));
                    count += column * better + row / better < 0.95 * (column + row) ? 1 : 0;
                }
                return count;
            };
            EXPECT_GT(unbalanced(), 0) << n << ' ' << last;
            matrix.balance();
            EXPECT_EQ(unbalanced(), 0) << n << ' ' << last;
        }
}

TEST(ColleagueMatrix, OfAChebyshevPolynomialHasItsRoots) {
    for (const int n : {1, 2, 3, 4, 7, 32, 60, 118}) {
        std::vector<Complex> a(static_cast<std::size_t>(n) + 1), expected;
        a.back() = 3;
        for (int j = 0; j < n; ++j) expected.emplace_back(std::cos(std::numbers::pi * (j + 0.5) / n));
        auto found = roots_by_one_thread(a);
        // The matrix is symmetric and of norm 1.
        std::sort(found.begin(), found.end(), [](Complex x, Complex y) { return x.real() > y.real(); });
        for (std::size_t j = 0; j < found.size(); ++j)
            EXPECT_LE(std::abs(found[j] - expected[j]), n * eps) << n;
    }
}

TEST(ColleagueMatrix, HasTheEigenvaluesThatTheHostFinds) {
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (const bool is_complex : {false, true})
        for (const double decay : {1.0, 0.8, 0.3, 1.2})  // 1.2: roots crowd together at 0
            for (const int degree : {1, 2, 3, 5, 16, 33, 64}) {
                std::vector<Complex> a;
                for (int k = 0; k <= degree; ++k)
                    a.push_back(std::pow(decay, k) *
                                Complex(normal(random), is_complex ? normal(random) : 0.0));
                SCOPED_TRACE(testing::Message() << degree << " " << decay << " " << is_complex);
                expect_same_roots(a, roots_by_one_thread(a), roots_on_the_host(a));
            }
}

/// T_n(x) = cosh y where x = cos((2 pi k + i y) / n): one or two real roots, and pairs.
TEST(ColleagueMatrix, OfARealSeriesHasConjugatePairs) {
    const double y = 4;
    for (const int n : {2, 3, 8, 31}) {
        ChebyshevSeries<double, 1, ChebyshevConvention::plain> f({n + 1});
        f(0) = -std::cosh(y);
        f(n) = 1;
        std::vector<Complex> expected;
        for (int k = 0; k < n; ++k)
            expected.push_back(std::cos(Complex(2 * std::numbers::pi * k, y) / (1.0 * n)));
        const auto a = plain_coefficients(n + 1, false, [&](std::int64_t k) { return f(k); });
        SCOPED_TRACE(n);
        expect_same_roots(a, all_roots(f), expected);
        expect_same_roots(a, roots_by_one_thread(a), expected);
    }
}

TEST(ColleagueMatrix, IsBalanced) {
    // sin on [0, 20]: the highest coefficients are noise.
    const auto f = interpolate<double, 1>([](const std::array<double, 1>& x) { return std::sin(x[0]); }, {60},
                                          ChebyshevDomain<1>{Interval{0, 20}});
    const auto a = plain_coefficients(60, true, [&](std::int64_t k) { return f(k); });
    const auto found = roots_by_one_thread(a);
    for (int k = 1; k < 7; ++k) {
        double nearest = HUGE_VAL;
        for (const Complex& root : found)
            nearest = std::min(nearest, std::abs(10.0 + 10.0 * root - k * std::numbers::pi));
        EXPECT_LE(nearest, 60 * 10 * eps) << k;
    }
}

TEST(ColleagueMatrix, MultipleRootsSplitByTheRootOfRounding) {
    // (x - 1/2)^2 (x + 1/4) = T_3 / 4 - 3/8 T_2 + 3/4 T_1 - 5/16 T_0
    const auto found = roots_by_one_thread({-5.0 / 16, 0.75, -0.375, 0.25});
    int near_double = 0, near_single = 0;
    for (const Complex& root : found) {
        near_double += std::abs(root - 0.5) <= 4 * std::sqrt(eps);
        near_single += std::abs(root + 0.25) <= 40 * eps;
    }
    EXPECT_EQ(near_double, 2);
    EXPECT_EQ(near_single, 1);
}

/// QR steps are shifted by such roots: wrong ones may show in nothing but more steps.
TEST(ColleagueMatrix, TakesSquareRootsOfComplexNumbers) {
    for (const double size : {1e-300, 1e-8, 1.0, 1e300})
        for (const Complex direction : {Complex(1, 0), Complex(-1, 0), Complex(0, 1), Complex(0, -1),
                                        Complex(3, 4), Complex(-3, 4), Complex(-3, -4), Complex(-1, 1e-9)}) {
            const Complex square = size * direction, expected = std::sqrt(square);
            const auto found = core::square_root({square.real(), square.imag()});
            // Each part to its own last bits, as parts do not cancel.
            EXPECT_NEAR(found.re, expected.real(), 4 * eps * expected.real()) << square;
            EXPECT_NEAR(found.im, expected.imag(), 4 * eps * std::abs(expected.imag())) << square;
        }
    EXPECT_EQ(core::square_root({}).re, 0);
    EXPECT_EQ(core::square_root({}).im, 0);
}

TEST(ColleagueMatrix, SaysWhereItsEigenvaluesDoNotConverge) {
    using Matrix = chebyshev::HessenbergMatrix<chebyshev::SingleThread>;
    std::vector<core::Complex> elements(static_cast<std::size_t>(Matrix::size(4)), {NAN, 0});
    EXPECT_FALSE(Matrix(chebyshev::SingleThread(), elements.data(), 4).diagonalize());
}

}  // namespace
}  // namespace zonal::test
