// Series of functions and of quotients, resolved to a tolerance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "chebyshev_helpers.hpp"
#include "zonal/chebyshev/approximation.hpp"

namespace zonal::test {
namespace {

constexpr double eps = 0x1p-52;

template <class Function>
GridFunction<1> on_points(const Function& function) {
    return [function](const std::array<std::vector<double>, 1>& points) {
        Array<double, 1> values({std::ssize(points[0])});
        std::transform(points[0].begin(), points[0].end(), values.begin(), function);
        return values;
    };
}

template <class Found, class Exact>
double largest_error(const Found& found, const Exact& exact, Interval interval) {
    double largest = 0;
    for (const double x : interval.points(101)) largest = larger(largest, std::abs(found(x) - exact(x)));
    return largest;
}

TEST(ChebyshevApproximation, ResolvesAFunctionInFewCoefficients) {
    const Interval interval{0, 2};
    const auto exact = [](double x) { return std::exp(-x) * std::cos(8 * x); };
    const auto f = approximate<1>(on_points(exact), {interval});
    // |a_k| is below 2 J_k(8) e: under eps from k = 34 on. Values at 64 points are rounded by an eps each,
    // and Clenshaw's sum rounds once or twice in each of its steps.
    EXPECT_LE(f.extent(0), 40);
    EXPECT_LE(largest_error([&](double x) { return evaluate(f, x); }, exact, interval), 2 * 40 * eps);
}

TEST(ChebyshevApproximation, TakesFewerCoefficientsForALargerTolerance) {
    const auto exact = [](double x) { return 1 / (1 + 25 * x * x); };
    const auto fine = approximate<1>(on_points(exact)), coarse = approximate<1>(on_points(exact), {}, 1e-4);
    EXPECT_LT(coarse.extent(0), fine.extent(0) / 2);
    // Coefficients fall by 0.82 from one to the next, so those left out sum up to 6 of the first, which is
    // near the tolerance.
    EXPECT_LE(largest_error([&](double x) { return evaluate(coarse, x); }, exact, {}), 1e-3);
}

TEST(ChebyshevApproximation, ResolvesEachAxisForItself) {
    const GridFunction<2> function = [](const std::array<std::vector<double>, 2>& points) {
        Array<double, 2> values({std::ssize(points[0]), std::ssize(points[1])});
        for (std::int64_t i = 0; i < values.extent(0); ++i)
            for (std::int64_t j = 0; j < values.extent(1); ++j)
                values(i, j) = std::cos(60 * points[0][static_cast<std::size_t>(i)]) *
                               std::exp(points[1][static_cast<std::size_t>(j)]);
        return values;
    };
    const auto f = approximate<2, plain>(function, {Interval{-1, 1}, Interval{0, 1}});
    EXPECT_GT(f.extent(0), 60);
    EXPECT_LE(f.extent(1), 16);
    const double value = evaluate<double, 2, plain>(f, {0.3, 0.7});
    EXPECT_NEAR(value, std::cos(18.0) * std::exp(0.7), (60 + 2 * 110) * eps * std::exp(1));
}

TEST(ChebyshevApproximation, IsNotFooledByAFunctionThatIsZeroAtItsPoints) {
    const auto exact = [](double x) { return std::cos(32 * std::acos(x)); };  // T_32
    const auto f = approximate<1, plain>(on_points(exact));
    ASSERT_EQ(f.extent(0), 33);
    EXPECT_NEAR(f(32), 1, 32 * 4 * eps);  // acos errs by some eps, 32 times as much in the cosine
}

TEST(ChebyshevApproximation, OfNegativeValuesIsThatOfTheirSizes) {
    const auto f = approximate<1>(on_points([](double x) { return 1e-9 * std::exp(x); })),
               negative = approximate<1>(on_points([](double x) { return -1e-9 * std::exp(x); }));
    ASSERT_EQ(negative.extent(0), f.extent(0));
    for (std::int64_t k = 0; k < f.extent(0); ++k) EXPECT_EQ(negative(k), -f(k));
}

TEST(ChebyshevApproximation, NeedsNoValueInTheMiddle) {
    const auto f = approximate<1>(on_points([](double x) { return std::sin(x) / x; }));
    EXPECT_NEAR(evaluate(f, 0.0), 1, 64 * eps);
}

TEST(ChebyshevApproximation, RefusesWhatItCannotResolve) {
    EXPECT_THROW(approximate<1>(on_points([](double x) { return x < 0.3 ? 0.0 : 1.0; }), {}, 1e-10, 1024),
                 ErrorNotKept);
    EXPECT_THAT(message_of([] { approximate<1>(on_points([](double x) { return std::log(x); })); }),
                testing::HasSubstr("function: a value is"));
    EXPECT_THAT(message_of([] { approximate<1>([](const auto&) { return Array<double, 1>({3}); }); }),
                testing::HasSubstr("function: gives 3 values at 32 points"));
}

TEST(ChebyshevQuotient, TimesTheDivisorIsTheDividend) {
    const ChebyshevDomain<1> domain{Interval{1, 3}};
    const auto f = approximate<1, plain>(on_points([](double x) { return std::sin(4 * x); }), domain);
    const auto g = approximate<1, plain>(on_points([](double x) { return x * x + std::cos(x); }), domain);
    const auto q = quotient(f, g);
    EXPECT_LE(q.extent(0), 48);
    // f, g and q are each right to some eps of their sums of magnitudes, below 3, 14 and 2, in at most 48
    // steps, as in a random walk.
    const double bound = std::sqrt(48.0) * eps * (3 + 2 * 14);
    const auto product = [&](double x) { return evaluate(q, x) * evaluate(g, x); };
    EXPECT_LE(largest_error(
                  product, [&](double x) { return evaluate(f, x); }, domain[0]),
              bound);
}

TEST(ChebyshevQuotient, IsThatOfThePrimedSeries) {
    ChebyshevSeries<double, 1> one({1}), g({2});
    one(0) = 2;          // 1
    g(0) = 6, g(1) = 1;  // 3 + x
    // 1 / (3 + x) = sum_k b_k T_k, b_k = 2 (-r)^k / sqrt(8), r = 3 - sqrt(8), as the series of Poisson's
    // kernel
    const auto q = quotient(one, g);
    for (std::int64_t k = 0; k < q.extent(0); ++k)
        EXPECT_NEAR(q(k), 2 * std::pow(std::sqrt(8.0) - 3, static_cast<double>(k)) / std::sqrt(8.0), 4 * eps)
            << k;
}

TEST(ChebyshevQuotient, RefusesDivisorsWithRoots) {
    ChebyshevSeries<double, 1, plain> f({1}, {Interval{0, 4}}), g({2}, {Interval{0, 4}});
    f(0) = 1;
    EXPECT_EQ(message_of([&] { quotient(f, g); }), "g: is 0, which nothing can be divided by");
    g(0) = 1, g(1) = 2;  // 0 at x = 1
    EXPECT_EQ(message_of([&] { quotient(f, g); }), "g: is 0 at 1: must have no root in [0, 4]");
    const ChebyshevSeries<double, 1, plain> elsewhere({1});
    EXPECT_EQ(message_of([&] { quotient(f, elsewhere); }),
              "g: is a series on [-1, 1]: must be on [0, 4], as f");
}

TEST(ChebyshevTruncation, BoundHoldsAndIsReachedAtTheUpperEnd) {
    // Where no coefficient is negative, their sum is the value at 1.
    ChebyshevSeries<double, 2> f({4, 5});
    for (std::int64_t i = 0; i < f.size(); ++i) f.data()[i] = 1.0 / static_cast<double>(1 + i);
    ChebyshevSeries<double, 2> kept({2, 3});
    for (std::int64_t i = 0; i < 2; ++i)
        for (std::int64_t j = 0; j < 3; ++j) kept(i, j) = f(i, j);
    const double left_out =
        evaluate<double, 2, primed>(f, {1, 1}) - evaluate<double, 2, primed>(kept, {1, 1});
    EXPECT_NEAR((truncation_bound<2, primed>(f, {2, 3})), left_out, 20 * eps);
    EXPECT_NEAR((truncation_bound<2, plain>(f.to<plain>(), {2, 3})), left_out, 20 * eps);
    EXPECT_EQ((truncation_bound<2, primed>(f, {4, 5})), 0);
}

}  // namespace
}  // namespace zonal::test
