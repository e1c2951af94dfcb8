#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "chebyshev/evaluation/evaluation_math.hpp"
#include "chebyshev_helpers.hpp"
#include "zonal/chebyshev/calculus.hpp"
#include "zonal/chebyshev/evaluation.hpp"
#include "zonal/chebyshev/roots.hpp"
#include "zonal/interruption.hpp"

namespace zonal::test {
namespace {

constexpr double eps = 0x1p-52;
using Series1 = ChebyshevSeries<double, 1>;
using Point1 = std::array<double, 1>;
using Point2 = std::array<double, 2>;

double sum_of_magnitudes(const double* a, std::int64_t n) {
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += std::abs(a[k]);
    return sum;
}

/// The integral counts every a_k with at most 1, a derivative takes that times 2k back.
template <ChebyshevConvention C>
void expect_derivative_undoes_integral() {
    const std::array<std::int64_t, 3> n{6, 5, 7};
    const ChebyshevDomain<3> domain{Interval{0, 3}, Interval{-2, -1}, Interval{-1, 1}};
    const ChebyshevSeries<double, 3, C> f(random_array<double, 3>(n, 1), domain);
    for (int axis = 0; axis < 3; ++axis) {
        const auto back = derivative(integral(f, axis), axis);
        for_coefficients(f.coefficients(), [&](auto i, auto j, auto k, const double& value) {
            EXPECT_NEAR(back(i, j, k), value,
                        8 * 7 * eps * 4);  // normal numbers below 4, rounded twice a step
        });
        const auto with_constant = evaluate<double, 3, C>(integral(f, axis), {0, -2, -1});
        // Every integral begins at the lower end; a sum of 210 normal numbers.
        EXPECT_NEAR(with_constant, 0, 2 * 4 * std::sqrt(210.0) * eps);
    }
}
TEST(ChebyshevCalculus, DerivativeUndoesIntegral) {
    expect_derivative_undoes_integral<primed>();
    expect_derivative_undoes_integral<plain>();
}

TEST(ChebyshevCalculus, DerivativeIsThatOfTheFunction) {
    // exp on [0, 2] with 24 coefficients is resolved; a derivative magnifies rounding by k^2.
    const ChebyshevDomain<1> domain{Interval{0, 2}};
    const auto f = interpolate<double, 1>([](const Point1& x) { return std::exp(x[0]); }, {24}, domain);
    const auto slope = derivative(f);
    for (const double x : {0.0, 0.3, 1.1, 2.0})
        EXPECT_NEAR(evaluate(slope, x), std::exp(x), 24 * 24 * eps * std::exp(2));
    EXPECT_EQ(slope(23), 0);
}

TEST(ChebyshevCalculus, ProductRule) {
    const std::array<std::int64_t, 2> n{7, 6};
    const auto f = random_series<double, 2>(n, 1), g = random_series<double, 2>(n, 2);
    ChebyshevProductOptions options;
    options.full = true;
    const ChebyshevProductPlan<double, 2> plan(n, options);
    for (int axis = 0; axis < 2; ++axis) {
        ChebyshevSeries<double, 2> fg(plan.extents_out()), left(fg), right(fg);
        plan.multiply(f.view(), g.view(), fg.view());
        plan.multiply(derivative(f, axis).view(), g.view(), left.view());
        plan.multiply(f.view(), derivative(g, axis).view(), right.view());
        const auto whole = derivative(fg, axis);
        for (std::int64_t i = 0; i < fg.size(); ++i)  // |a| * |b| below 42, times 2k k of derivatives
            EXPECT_NEAR(whole.data()[i], left.data()[i] + right.data()[i], 42 * 2 * 13 * 13 * eps);
    }
}

TEST(ChebyshevCalculus, HighestModeOfProjectionTauAndWholeIntegrals) {
    // f = T_3, whose integral from -1 is T_4 / 8 - T_2 / 4 - 1/8 (plain).
    ChebyshevSeries<double, 1, plain> f({4});
    f(3) = 1;
    EXPECT_THAT(integral(f, 0, HighestMode::kept).coefficients().extents()[0], 5);
    const auto expect = [&](HighestMode mode, std::vector<double> expected) {
        const auto found = integral(f, 0, mode);
        ASSERT_EQ(found.size(), static_cast<std::int64_t>(expected.size()));
        for (std::size_t k = 0; k < expected.size(); ++k)
            EXPECT_NEAR(found(k), expected[k], eps) << k << " mode " << static_cast<int>(mode);
    };
    expect(HighestMode::kept, {0.125, 0, -0.25, 0, 0.125});
    expect(HighestMode::projection, {0.125, 0, -0.25, 0});
    expect(HighestMode::tau, {0, 0, 0, 0});
}

TEST(ChebyshevCalculus, OfOneCoefficient) {
    const Series1 f(random_array<double, 1>({1}, 3), {Interval{2, 6}});
    EXPECT_EQ(derivative(f)(0), 0);
    EXPECT_DOUBLE_EQ(definite_integral(f), 4 * f(0) / 2);
    EXPECT_DOUBLE_EQ(evaluate(integral(f), 6.0), 4 * f(0) / 2);
    EXPECT_EQ(integral(f, 0, HighestMode::tau)(0), 0);
}

TEST(ChebyshevCalculus, DefiniteIntegralIsThatOfTheFunction) {
    const ChebyshevDomain<2> domain{Interval{0, 1}, Interval{0, std::numbers::pi}};
    const auto f = interpolate<double, 2, plain>(
        [](const Point2& x) { return std::exp(x[0]) * std::sin(x[1]); }, {18, 26}, domain);
    EXPECT_NEAR(definite_integral(f), 2 * (std::exp(1.0) - 1), 44 * eps * std::numbers::pi);
    const auto over_first = integrate_out(f, 0);
    EXPECT_NEAR(evaluate(over_first, 1.0), (std::exp(1.0) - 1) * std::sin(1.0), std::sqrt(44.0) * eps * 3);
}

template <ChebyshevConvention C>
void expect_values_of_the_sum() {
    const std::array<std::int64_t, 3> n{4, 1, 6};
    const auto f = random_series<std::complex<double>, 3, C>(n, 5);
    for (const std::array<double, 3>& x :
         {std::array<double, 3>{0.1, -0.3, 0.7}, {-1, 1, -0.99}, {1, 0.2, -1}}) {
        ReferenceSeries::Value sum = 0;
        for_coefficients(f.coefficients(), [&](auto i, auto j, auto k, const auto& value) {
            sum += ReferenceSeries::Value(value) * to_plain<3, C>(i, j, k) *
                   std::cos(i * std::acos((long double)x[0])) * std::cos(j * std::acos((long double)x[1])) *
                   std::cos(k * std::acos((long double)x[2]));
        });
        const auto value = evaluate<std::complex<double>, 3, C>(f, x);
        // 24 normal numbers, 3 roundings a step, as in a random walk.
        EXPECT_LE(std::abs(ReferenceSeries::Value(value) - sum), 2 * 3 * std::sqrt(24.0) * eps);
        const auto grid = evaluate_on_grid<std::complex<double>, 3, C>(f, {{{x[0]}, {0.5, x[1]}, {x[2]}}});
        EXPECT_EQ(grid(0, 1, 0), value);
    }
}
TEST(ChebyshevEvaluation, IsTheSum) {
    expect_values_of_the_sum<primed>();
    expect_values_of_the_sum<plain>();
}

/// As a device's threads share it.
TEST(ChebyshevEvaluation, PartsOfASumMakeUpTheWhole) {
    constexpr std::int64_t n = 100;
    const auto f = random_series<double, 1>({n}, 1);
    for (const double x : {-1.0, -0.999999, -0.6, -0.5, 0.0, 0.3, 0.51, 0.9999999, 1.0, 1.001, -1.001}) {
        double sum = 0;
        for (std::int64_t first = 0; first < n; first += 13) {
            const auto a = [&](std::int64_t k) { return f(first + k); };
            sum += chebyshev::clenshaw<double>(a, std::min<std::int64_t>(13, n - first), x,
                                               chebyshev::clenshaw_start(x, first), first == 0 ? 0.5 : 1.0);
        }
        const double largest = std::cosh(n * std::acosh(std::max(1.0, std::abs(x))));
        EXPECT_NEAR(sum, evaluate(f, x), 9 * n * eps * sum_of_magnitudes(f.data(), n) * largest) << x;
    }
}

TEST(ChebyshevEvaluation, BatchesAreSeriesOneByOne) {
    auto batch = random_array<double, 3>({3, 4, 5}, 1);
    Array<double, 2> points({7, 2}), values({3, 7});
    for (std::int64_t i = 0; i < 14; ++i) points.data()[i] = std::cos(static_cast<double>(i));
    const ChebyshevView<const double, 2> all(ChebyshevView<double, 2>(batch.view()));
    evaluate<double, 2, primed>(all, points.view(), values.view());
    Array<double, 3> grid({3, 1, 1}), back({3, 1, 1});
    for (std::int64_t i = 0; i < 7; ++i) {
        evaluate_on_grid<double, 2, primed>(
            all, {View<const double, 1>(&points(i, 0), {1}), {&points(i, 1), {1}}}, grid.view());
        for (std::int64_t item = 0; item < 3; ++item) {
            const ChebyshevView<const double, 2> one(all.coefficients[item]);
            EXPECT_EQ(values(item, i),
                      chebyshev::evaluate<double>(chebyshev::series_array(one), &points(i, 0)));
            EXPECT_EQ(grid(item, 0, 0), values(item, i));
        }
    }
    interpolate<double, 2, primed>(grid.view(), ChebyshevNodes::gauss, ChebyshevView<double, 2>(back.view()));
    for (std::int64_t item = 0; item < 3; ++item)  // a primed a_00 counts a quarter
        EXPECT_DOUBLE_EQ(back(item, 0, 0), 4 * grid(item, 0, 0));
}

/// Many points of a line go side by side.
template <class T>
void expect_points_side_by_side_as_one_by_one() {
    const auto f = random_array<T, 2>({2, 40}, 3);
    Array<double, 2> points({21, 1});
    Array<T, 2> values({2, 21});
    for (std::int64_t i = 0; i < 21; ++i) points(i, 0) = 1.02 * std::cos(static_cast<double>(i));
    const ChebyshevView<const T, 1> all(f.view());
    evaluate<T, 1, primed>(all, points.view(), values.view());
    for (std::int64_t item = 0; item < 2; ++item)
        for (std::int64_t i = 0; i < 21; ++i) {
            const ChebyshevView<const T, 1> one(all.coefficients[item]);
            EXPECT_EQ(values(item, i), chebyshev::evaluate<T>(chebyshev::series_array(one), &points(i, 0)));
        }
}
TEST(ChebyshevEvaluation, PointsSideBySideAreAsOneByOne) {
    expect_points_side_by_side_as_one_by_one<double>();
    expect_points_side_by_side_as_one_by_one<std::complex<float>>();
}

TEST(ChebyshevEvaluation, LongSeriesCanBeInterrupted) {
    const auto f = random_series<double, 1>({100'000}, 1);  // at as many points a minute
    const InterruptionCheck check([] { return true; });
    EXPECT_THROW(restricted(f, {Interval{0, 0.5}}), Cancelled);
    Array<double, 1> values({100'000});
    EXPECT_THROW(series_through(values, ChebyshevNodes::gauss), Cancelled);
}

TEST(ChebyshevEvaluation, OfAProductIsTheProductOfEvaluations) {
    const std::array<std::int64_t, 1> n{40};
    ChebyshevProductOptions options;
    options.full = true;
    for (const auto method : {ChebyshevMethod::direct, ChebyshevMethod::transform}) {
        options.method = method;
        const ChebyshevProductPlan<double, 1> plan(n, options);
        const auto f = random_series<double, 1>(n, 1), g = random_series<double, 1>(n, 2);
        Series1 product(plan.extents_out());
        plan.multiply(f.view(), g.view(), product.view());
        const double scale = sum_of_magnitudes(f.data(), 40) * sum_of_magnitudes(g.data(), 40);
        for (const double x : {-1.0, -0.4, 0.0, 0.77, 1.0})
            // 40 steps as in a random walk, of numbers that add up to a root of 40 less than their
            // magnitudes.
            EXPECT_NEAR(evaluate(product, x), evaluate(f, x) * evaluate(g, x), 2 * eps * scale);
    }
}

TEST(ChebyshevEvaluation, InterpolationReproducesPolynomialsAtBothKindsOfNodes) {
    const std::array<std::int64_t, 2> n{6, 9};
    const auto f = random_series<double, 2, plain>(n, 1);
    for (const auto nodes : {ChebyshevNodes::gauss, ChebyshevNodes::lobatto}) {
        const auto points = interpolation_points<2>(n, nodes);
        const auto back =
            series_through<double, 2, plain>(evaluate_on_grid<double, 2, plain>(f, points), nodes);
        for (std::int64_t i = 0; i < f.size(); ++i)
            EXPECT_NEAR(back.data()[i], f.data()[i], 54 * 15 * eps);  // values are sums of 54 normal numbers
    }
}

TEST(ChebyshevEvaluation, NodesAreSymmetricAndDescend) {
    for (const std::int64_t n : {2, 5, 64}) {
        for (const auto nodes : {ChebyshevNodes::gauss, ChebyshevNodes::lobatto}) {
            const auto x = chebyshev_nodes(nodes, n);
            for (std::size_t j = 0; j < x.size(); ++j) EXPECT_EQ(x[j], -x[x.size() - 1 - j]);
            EXPECT_TRUE(std::is_sorted(x.rbegin(), x.rend()));
        }
    }
    EXPECT_EQ(chebyshev_nodes(ChebyshevNodes::lobatto, 3), (std::vector<double>{1, 0, -1}));
    EXPECT_EQ(chebyshev_nodes(ChebyshevNodes::gauss, 1), (std::vector<double>{0}));
}

TEST(ChebyshevEvaluation, RestrictionAndDomainMaps) {
    const Interval interval{2, 5};
    EXPECT_EQ(interval.to_reference(2), -1);
    EXPECT_EQ(interval.to_reference(5), 1);
    EXPECT_EQ(interval.from_reference(-1), 2);
    EXPECT_EQ(interval.to_reference(interval.from_reference(0.25)), 0.25);
    const Series1 f(random_array<double, 1>({12}, 1), {interval});
    const auto part = restricted<double, 1>(f, {Interval{2.5, 3}});
    for (const double z : {2.5, 2.7, 3.0}) EXPECT_NEAR(evaluate(part, z), evaluate(f, z), 12 * 12 * 4 * eps);
}

TEST(ChebyshevChop, FindsWhereAFunctionIsResolved) {
    // exp needs 15 coefficients for 2^-52, 1/(1 + 25 x^2) those until (sqrt(26) - 1)/5 to the k is that.
    const auto f = interpolate<double, 1>([](const Point1& x) { return std::exp(x[0]); }, {40});
    EXPECT_NEAR(chop_length(f), 15, 2);
    const auto g = interpolate<double, 1>([](const Point1& x) { return 1 / (1 + 25 * x[0] * x[0]); }, {400});
    const double rate = (1 + std::sqrt(26.0)) / 5;
    EXPECT_NEAR(chop_length(g), 52 * std::log(2) / std::log(rate), 20);
    EXPECT_LT(chop_length(g, 0, 1e-6), chop_length(g) / 2);
    const auto short_series = chopped(g);
    for (const double x : {-0.9, 0.1, 0.5})
        EXPECT_NEAR(evaluate(short_series, x), 1 / (1 + 25 * x * x),
                    20 * eps);                                      // what is cut adds up to 6 eps
    EXPECT_EQ(chop_length(random_series<double, 1>({40}, 1)), 40);  // noise is not resolved
    EXPECT_EQ(chop_length(Series1({30})), 1);
}

TEST(ChebyshevRoots, OfPolynomialsAndFunctions) {
    ChebyshevSeries<double, 1, plain> t8({12});
    t8(8) = 1;
    const auto expected = chebyshev_nodes(ChebyshevNodes::gauss, 8);
    const auto found = roots(t8);
    ASSERT_EQ(found.size(), 8u);
    for (std::size_t j = 0; j < 8; ++j) EXPECT_NEAR(found[j], expected[7 - j], 8 * eps);
    const ChebyshevDomain<1> domain{Interval{0, 20}};
    const auto f =
        chopped(interpolate<double, 1>([](const Point1& x) { return std::sin(x[0]); }, {60}, domain));
    const auto zeros = roots(f);
    ASSERT_EQ(zeros.size(), 7u);
    for (int k = 1; k < 7; ++k)  // normwise backward stable, slopes of 1, 10 units of the domain in each
        EXPECT_NEAR(zeros[static_cast<std::size_t>(k)], k * std::numbers::pi, 60 * 10 * eps);
    ChebyshevSeries<std::complex<double>, 1, plain> line({2});
    line(0) = {1, 2};
    line(1) = 2;
    const auto one = all_roots(line);
    ASSERT_EQ(one.size(), 1u);
    EXPECT_LE(std::abs(one[0] - std::complex<double>(-0.5, -1)), 4 * eps);
    ChebyshevSeries<double, 1, plain> constant({5});
    constant(0) = 1;
    EXPECT_TRUE(all_roots(constant).empty());
}

TEST(ChebyshevRoots, OfLongSeriesAreFoundInParts) {
    ChebyshevSeries<double, 1, plain> t500({501});
    t500(500) = 1;
    const auto expected = chebyshev_nodes(ChebyshevNodes::gauss, 500);
    const auto found = roots(t500);
    ASSERT_EQ(found.size(), 500u);
    // Clenshaw's n steps have 3 roundings each of sums of up to 1 / sin t, which grow by as much (x = cos t);
    // slopes are n / sin t; nine halvings at most.
    for (std::size_t j = 0; j < 500; ++j) {
        const double x = expected[499 - j];
        EXPECT_NEAR(found[j], x, 9 * 3 * eps / std::sqrt(1 - x * x)) << j;
    }
    // A root where the domain is first divided, and a double one elsewhere.
    const double middle = -0.0045312;
    const auto g = interpolate<double, 1>(
        [&](const Point1& x) { return (x[0] - middle) * std::pow(x[0] - 0.6, 2) * std::exp(x[0]); }, {200});
    const auto zeros = roots(g, 1e-6);
    ASSERT_EQ(zeros.size(), 3u);
    EXPECT_NEAR(zeros[0], middle, 50 * eps);
    // Rounding moves a double root by its own root, as a rule.
    for (const std::size_t k : {1, 2}) EXPECT_NEAR(zeros[k], 0.6, 1e-6);
}

TEST(Chebyshev, RootsOfABatchAreThoseOfEachSeries) {
    const auto values = random_series<double, 2>({5, 24}, 3);
    const View<const double, 2> every_other(values.data(), {5, 12}, {24, 2}, MemorySpace::host);
    const auto roots = all_roots(ChebyshevView<const double, 1>(every_other), 2);
    ASSERT_EQ(roots.size(), 5u);
    for (std::int64_t s = 0; s < 5; ++s) {
        Series1 one({12});
        for (std::int64_t k = 0; k < 12; ++k) one(k) = values(s, 2 * k);
        EXPECT_EQ(roots[static_cast<std::size_t>(s)], all_roots(one)) << s;
    }
    EXPECT_EQ(chop_length(ChebyshevView<const double, 1>(every_other)), 12);
}

TEST(ChebyshevSeries, ConventionsConvertBothWays) {
    const auto f = random_series<float, 3, primed>({3, 1, 4}, 1);
    const auto other = f.to<plain>();
    EXPECT_EQ(other(0, 0, 0), f(0, 0, 0) / 8);
    EXPECT_EQ(other(1, 0, 2), f(1, 0, 2) / 2);
    const auto back = other.to<primed>();
    for (std::int64_t i = 0; i < f.size(); ++i) EXPECT_EQ(back.data()[i], f.data()[i]);
}

TEST(ChebyshevSeries, OfABatchConvertEach) {
    const std::array<std::int64_t, 3> extents{4, 3, 2};
    const auto f = random_array<double, 3>(extents, 1);
    Array<double, 3> other(extents), back(extents);
    const auto convert = [](const auto& from, const auto& to) {
        chebyshev::convert<double>(chebyshev::series_array(from), chebyshev::series_array(to));
    };
    convert(ChebyshevView<const double, 2, primed>(f.view()), ChebyshevView<double, 2, plain>(other.view()));
    for (std::int64_t series = 0; series < 4; ++series)
        for (std::int64_t i = 0; i < 3; ++i)
            for (std::int64_t j = 0; j < 2; ++j)  // powers of 2 do not round
                EXPECT_EQ(other(series, i, j), f(series, i, j) * (i == 0 ? 0.5 : 1) * (j == 0 ? 0.5 : 1));
    convert(ChebyshevView<const double, 2, plain>(other.view()),
            ChebyshevView<double, 2, primed>(back.view()));
    for (std::int64_t i = 0; i < f.size(); ++i) EXPECT_EQ(back.data()[i], f.data()[i]);
}

TEST(ChebyshevErrors, SayArgumentValueAndRange) {
    Series1 f({4}), g({3});
    EXPECT_EQ(message_of([&] { differentiate(f.view(), 0, Interval{}, g.view()); }),
              "derivative: axis 0 = 3: must be 4");
    EXPECT_EQ(message_of([&] { differentiate(f.view(), 0, Interval{}, f.view()); }),
              "derivative: must not be f itself");
    EXPECT_EQ(message_of([&] { differentiate(f.view(), 1, Interval{}, g.view()); }),
              "axis = 1: must be 0 to 0");
    EXPECT_EQ(message_of([] { chebyshev_nodes(ChebyshevNodes::lobatto, 1); }),
              "n = 1: must be at least 2 for Lobatto nodes");
    EXPECT_EQ(message_of([&] { chop_length(f, 0, 2.0); }), "tolerance = 2: must be above 0 and below 1");
    EXPECT_EQ(message_of([&] { all_roots(f); }), "f: all coefficients are 0: every number is a root");
    f(2) = NAN;
    EXPECT_EQ(message_of([&] { all_roots(f); }), "f: coefficient 2 is not finite");
    EXPECT_EQ(message_of([&] { chop_length(f); }), "f: a coefficient is nan: all must be finite");
    const Array<double, 2> batch({2, 3});
    EXPECT_EQ(message_of([&] { all_roots(ChebyshevView<const double, 1>(batch.view())); }),
              "f: series 0: all coefficients are 0: every number is a root");
}

}  // namespace
}  // namespace zonal::test
