#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chebyshev/product/product.hpp"
#include "chebyshev_helpers.hpp"
#include "simd_helpers.hpp"

namespace zonal::test {
namespace {

ChebyshevProductOptions with(ChebyshevMethod method, bool full = false, int threads = 1) {
    ChebyshevProductOptions options;
    options.method = method;
    options.full = full;
    options.threads = threads;
    return options;
}

template <class T, int D, ChebyshevConvention C>
void expect_exact_products(const std::array<std::int64_t, D>& extents, ChebyshevMethod method, bool full) {
    SCOPED_TRACE(::testing::Message() << ::testing::PrintToString(extents) << " full " << full << " method "
                                      << static_cast<int>(method));
    const ChebyshevProductPlan<T, D, C> plan(extents, with(method, full));
    const auto a = random_series<T, D, C>(extents, 1), b = random_series<T, D, C>(extents, 2);
    ChebyshevSeries<T, D, C> product(plan.extents_out());
    plan.multiply(a.view(), b.view(), product.view());
    const auto x = reference_of<C>(a.coefficients()), y = reference_of<C>(b.coefficients());
    const auto error = error_of<C>(product.coefficients(), reference_product(x, y),
                                   reference_product(magnitudes(x), magnitudes(y)));
    EXPECT_LE(method == direct ? error.componentwise : error.normwise, bound<T>(method, extents));
}

TEST(ChebyshevError, IsNanWhereOneCoefficientIs) {
    auto series = random_series<double, 1, primed>({5}, 1);
    const auto exact = reference_of<primed>(series.coefficients());
    EXPECT_EQ(error_of<primed>(series.coefficients(), exact, magnitudes(exact)).componentwise, 0);
    series(1) = std::numeric_limits<double>::quiet_NaN();
    const auto error = error_of<primed>(series.coefficients(), exact, magnitudes(exact));
    EXPECT_TRUE(std::isnan(error.componentwise));
    EXPECT_TRUE(std::isnan(error.normwise));
}

template <class T>
void expect_exact_products_in_all_dimensions(ChebyshevMethod method) {
    for (const bool full : {false, true}) {
        for (const std::int64_t n : {1, 2, 3, 8, 17, 64, 101}) {
            expect_exact_products<T, 1, primed>({n}, method, full);
            expect_exact_products<T, 1, plain>({n}, method, full);
        }
        for (const std::array<std::int64_t, 2>& n :
             {std::array<std::int64_t, 2>{1, 1}, {1, 9}, {9, 1}, {7, 12}, {16, 5}}) {
            expect_exact_products<T, 2, primed>(n, method, full);
            expect_exact_products<T, 2, plain>(n, method, full);
        }
        for (const std::array<std::int64_t, 3>& n :
             {std::array<std::int64_t, 3>{1, 1, 1}, {2, 1, 5}, {5, 4, 3}, {3, 6, 7}}) {
            expect_exact_products<T, 3, primed>(n, method, full);
            expect_exact_products<T, 3, plain>(n, method, full);
        }
    }
}

class ChebyshevProduct : public ::testing::TestWithParam<ChebyshevMethod> {};

TEST_P(ChebyshevProduct, OfDoublesMatchesReference) {
    expect_exact_products_in_all_dimensions<double>(GetParam());
}
TEST_P(ChebyshevProduct, OfFloatsMatchesReference) {
    expect_exact_products_in_all_dimensions<float>(GetParam());
}
TEST_P(ChebyshevProduct, OfComplexNumbersMatchesReference) {
    expect_exact_products_in_all_dimensions<std::complex<double>>(GetParam());
    expect_exact_products<std::complex<float>, 2, primed>({7, 12}, GetParam(), false);
}

/// Of so many coefficients that the FFT is taken.
TEST(ChebyshevProductByFft, MatchesReference) {
    expect_exact_products<double, 1, primed>({601}, transform, false);
    expect_exact_products<std::complex<double>, 1, plain>({450}, transform, false);
    expect_exact_products<float, 2, plain>({3, 500}, transform, false);
    expect_exact_products<double, 2, primed>({500, 3}, transform, false);
    expect_exact_products<double, 3, primed>({2, 450, 2}, transform, false);
}

TEST_P(ChebyshevProduct, OfPolynomialsIsHalfOfSumAndDifference) {
    const std::int64_t n = 12;
    const ChebyshevProductPlan<double, 1, plain> plan({n}, with(GetParam(), true));
    for (const std::int64_t i : {0, 1, 5, 11})
        for (const std::int64_t j : {0, 1, 6, 11}) {
            ChebyshevSeries<double, 1, plain> a({n}), b({n}), product(plan.extents_out());
            a(i) = b(j) = 1;
            plan.multiply(a.view(), b.view(), product.view());
            product(i + j) -= 0.5;
            product(std::abs(i - j)) -= 0.5;
            for (std::int64_t k = 0; k < product.size(); ++k)
                EXPECT_NEAR(product(k), 0, bound<double>(GetParam(), std::array{n}))
                    << i << " " << j << " " << k;
        }
}

TEST_P(ChebyshevProduct, IsCommutativeAndDistributive) {
    const std::array<std::int64_t, 2> n{9, 14};
    const ChebyshevProductPlan<double, 2> plan(n, with(GetParam()));
    const auto a = random_series<double, 2>(n, 1), b = random_series<double, 2>(n, 2),
               c = random_series<double, 2>(n, 3);
    auto sum = b;
    for (std::int64_t i = 0; i < sum.size(); ++i) sum.data()[i] += c.data()[i];
    ChebyshevSeries<double, 2> ab(n), ba(n), ac(n), a_sum(n);
    plan.multiply(a.view(), b.view(), ab.view());
    plan.multiply(b.view(), a.view(), ba.view());
    plan.multiply(a.view(), c.view(), ac.view());
    plan.multiply(a.view(), sum.view(), a_sum.view());
    // A bound's n roundings add as in a random walk, as the numbers do: 1 / n of n |a| * |b|; the largest of
    // many.
    const double scale = 4 * bound<double>(GetParam(), n);
    for (std::int64_t i = 0; i < ab.size(); ++i) {
        EXPECT_NEAR(ab.data()[i], ba.data()[i], scale);
        EXPECT_NEAR(a_sum.data()[i], ab.data()[i] + ac.data()[i], 3 * scale);
    }
}

/// Whole products are cut off only at the end.
TEST_P(ChebyshevProduct, OfThreeAndFourFactorsIsExact) {
    const std::array<std::int64_t, 2> n{5, 6};
    for (const bool full : {false, true})
        for (const std::vector<int>& factors : {std::vector<int>{0, 1, 2}, {0, 1, 2, 0}, {1, 1, 1, 1}, {2}}) {
            using T = std::complex<double>;
            const ChebyshevProductPlan<T, 2> plan(n, 3, 1, {{0, 1.0, factors}}, with(GetParam(), full));
            std::vector<ChebyshevSeries<T, 2>> fields;
            for (const unsigned seed : {1, 2, 3}) fields.push_back(random_series<T, 2>(n, seed));
            ChebyshevSeries<T, 2> product(plan.extents_out());
            const std::vector<ChebyshevView<const T, 2>> views{fields[0].view(), fields[1].view(),
                                                               fields[2].view()};
            const std::vector<ChebyshevView<T, 2>> out{product.view()};
            plan.sum(views, out);
            auto exact = reference_of<primed>(fields[factors[0]].coefficients()),
                 magnitude = magnitudes(exact);
            for (std::size_t f = 1; f < factors.size(); ++f) {
                const auto factor = reference_of<primed>(fields[factors[f]].coefficients());
                exact = reference_product(exact, factor);
                magnitude = reference_product(magnitude, magnitudes(factor));
            }
            const auto error = error_of<primed>(product.coefficients(), exact, magnitude);
            // n of the intermediate products is up to 3^2 n. A bound for any numbers; random ones reach
            // little of it.
            EXPECT_LE(GetParam() == direct ? error.componentwise : error.normwise,
                      bound<T>(GetParam(), n, 9 * static_cast<double>(factors.size())));
        }
}

TEST_P(ChebyshevProduct, SumsAreThoseOfTheTerms) {
    const std::array<std::int64_t, 1> n{21};
    const std::vector<ChebyshevTerm> terms{
        {0, 2.0, {0, 1}}, {0, -0.5, {2, 2}}, {2, 1.0, {1}}, {0, 1.0, {0, 1, 2}}};
    const ChebyshevProductPlan<double, 1> plan(n, 3, 3, terms, with(GetParam()));
    std::vector<ChebyshevSeries<double, 1>> fields;
    for (const unsigned seed : {1, 2, 3}) fields.push_back(random_series<double, 1>(n, seed));
    std::vector<ChebyshevSeries<double, 1>> sums(3, ChebyshevSeries<double, 1>(n));
    sums[1](3) = 7;  // an output without a term becomes 0
    std::vector<ChebyshevView<const double, 1>> in;
    std::vector<ChebyshevView<double, 1>> out;
    for (auto& field : fields) in.push_back(field.view());
    for (auto& sum : sums) out.push_back(sum.view());
    plan.sum(in, out);
    ChebyshevSeries<double, 1> expected(n), part(n);
    for (const auto& term : terms) {
        if (term.output != 0) continue;
        const ChebyshevProductPlan<double, 1> one(n, 3, 1, {{0, term.weight, term.factors}}, with(direct));
        one.sum(in, std::vector<ChebyshevView<double, 1>>{part.view()});
        for (std::int64_t k = 0; k < part.size(); ++k) expected(k) += part(k);
    }
    for (std::int64_t k = 0; k < part.size(); ++k) {
        // Triple products of normal numbers are up to 21 or so.
        EXPECT_NEAR(sums[0](k), expected(k), 21 * 3 * bound<double>(GetParam(), n));
        EXPECT_EQ(sums[1](k), 0);
        EXPECT_NEAR(sums[2](k), fields[1](k), bound<double>(GetParam(), n));
    }
}

TEST_P(ChebyshevProduct, OfStridedBatchesInPlaceMatchesOneByOneOnAnyNumberOfThreads) {
    const std::array<std::int64_t, 2> n{40, 33};
    const std::int64_t n_batch = 37;                               // enough work for threads
    const auto a = random_array<double, 3>({n_batch, 33, 40}, 1);  // transposed
    const auto b = random_array<double, 3>({n_batch, 40, 33}, 2);
    const View<const double, 3> turned(a.data(), {n_batch, 40, 33}, {40 * 33, 1, 40});
    std::vector<double> results[2];
    for (const int threads : {1, 3}) {
        const ChebyshevProductPlan<double, 2> plan(n, with(GetParam(), false, threads));
        auto workspace = plan.make_workspace(n_batch);
        auto product = b;
        plan.multiply(ChebyshevView<const double, 2>(turned),
                      ChebyshevView<const double, 2>(std::as_const(product).view()),
                      ChebyshevView<double, 2>(product.view()), workspace);
        results[threads / 2].assign(product.begin(), product.end());
        Array<double, 2> one(n);
        for (std::int64_t item = 0; item < n_batch; item += 9) {
            plan.multiply(ChebyshevView<const double, 2>(turned[item]),
                          ChebyshevView<const double, 2>(b.view()[item]),
                          ChebyshevView<double, 2>(one.view()), workspace);
            for (std::int64_t i = 0; i < one.size(); ++i)
                EXPECT_EQ(one.data()[i], product.data()[item * one.size() + i]);
        }
    }
    EXPECT_EQ(results[0], results[1]);
}

TEST_P(ChebyshevProduct, OfLargeSeriesIsTheSameOnAnyNumberOfThreads) {
    const std::array<std::int64_t, 2> n{150, 120};
    const auto a = random_series<double, 2>(n, 1), b = random_series<double, 2>(n, 2);
    ChebyshevSeries<double, 2> one(n), three(n);
    ChebyshevProductPlan<double, 2>(n, with(GetParam(), false, 1)).multiply(a.view(), b.view(), one.view());
    ChebyshevProductPlan<double, 2>(n, with(GetParam(), false, 3)).multiply(a.view(), b.view(), three.view());
    for (std::int64_t i = 0; i < one.size(); ++i) ASSERT_EQ(one.data()[i], three.data()[i]);
}

/// Coefficients that fall by 16 orders of magnitude: the small ones keep their digits.
TEST(ChebyshevProductDirect, KeepsTheDigitsOfSmallCoefficients) {
    const std::array<std::int64_t, 1> n{80};
    auto a = random_series<double, 1>(n, 1), b = random_series<double, 1>(n, 2);
    for (std::int64_t k = 0; k < 80; ++k) {
        a(k) *= std::exp(-0.9 * static_cast<double>(k));
        b(k) *= std::exp(-0.9 * static_cast<double>(k)) * (k % 2 == 0 ? 1 : -1);
    }
    ChebyshevProductOptions options;
    options.accuracy = ChebyshevAccuracy::componentwise;
    const ChebyshevProductPlan<double, 1> plan(n, options);
    EXPECT_EQ(plan.options().method, direct);
    ChebyshevSeries<double, 1> product(n);
    plan.multiply(a.view(), b.view(), product.view());
    const auto x = reference_of<primed>(a.coefficients()), y = reference_of<primed>(b.coefficients());
    const auto error = error_of<primed>(product.coefficients(), reference_product(x, y),
                                        reference_product(magnitudes(x), magnitudes(y)));
    EXPECT_LE(error.componentwise, bound<double>(direct, n));
}

INSTANTIATE_TEST_SUITE_P(Methods, ChebyshevProduct, ::testing::Values(direct, transform),
                         [](const auto& info) { return info.param == direct ? "Direct" : "Transform"; });

class ChebyshevOnEveryTarget : public ::testing::TestWithParam<Target> {
  protected:
    const ForcedTarget forced{GetParam().bit};
};

TEST_P(ChebyshevOnEveryTarget, ProductsMatchReference) {
    for (const auto method : {direct, transform}) {
        for (const std::int64_t n : {1, 5, 33, 60}) {
            expect_exact_products<double, 1, primed>({n}, method, false);
            expect_exact_products<float, 1, primed>({n}, method, true);
        }
        expect_exact_products<double, 2, primed>({24, 19}, method, false);
        expect_exact_products<std::complex<float>, 3, plain>({4, 5, 6}, method, false);
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, ChebyshevOnEveryTarget, ::testing::ValuesIn(targets()),
                         [](const auto& info) { return info.param.name; });

TEST(ChebyshevProductChoice, OfAutomaticGoesByLengthBatchAndTerms) {
    const auto method = [](std::int64_t n, std::int64_t n_batch, int n_terms = 1) {
        auto options = with(ChebyshevMethod::automatic);
        options.device = Device::cpu();
        options.n_batch = n_batch;
        const std::vector<ChebyshevTerm> terms(static_cast<std::size_t>(n_terms), {0, 1.0, {0, 1}});
        return ChebyshevProductPlan<double, 1>({n}, 2, 1, terms, options).options().method;
    };
    EXPECT_EQ(method(200, 1), direct);
    EXPECT_EQ(method(200, 64), transform);
    EXPECT_EQ(method(40, 64), direct);
    EXPECT_EQ(method(600, 1), transform);
    EXPECT_EQ(method(200, 1, 3), transform);
}

TEST(ChebyshevProductErrors, SayArgumentValueAndRange) {
    using Plan = ChebyshevProductPlan<double, 1>;
    EXPECT_EQ(message_of([] { Plan({0}); }), "extents[0] = 0: must be 1 to 16777216");
    EXPECT_EQ(message_of([] { Plan({4}, 2, 1, {{1, 1.0, {0, 1}}}); }), "terms[0].output = 1: must be 0 to 0");
    EXPECT_EQ(message_of([] {
                  Plan({4}, 2, 1, {{0, 1.0, {0, 2}}});
              }),
              "terms[0].factors: a field = 2: must be 0 to 1");
    EXPECT_EQ(message_of([] {
                  Plan({4}, 2, 1, {{0, 1.0, {}}});
              }),
              "terms[0].factors: their number = 0: must be 1 to 8");
    EXPECT_EQ(message_of([] { Plan({4}, 2, 1, {{0, NAN, {0}}}); }), "terms[0].weight = nan: must be finite");
    ChebyshevProductOptions options;
    options.method = transform;
    options.accuracy = ChebyshevAccuracy::componentwise;
    EXPECT_EQ(message_of([&] { Plan({4}, options); }),
              "method = transform: has no componentwise accuracy; must be direct or automatic");
    options.n_batch = 0;
    EXPECT_EQ(message_of([&] { Plan({4}, options); }).substr(0, 11), "n_batch = 0");
    const Plan plan({4});
    ChebyshevSeries<double, 1> a({4}), b({5});
    EXPECT_EQ(message_of([&] { plan.multiply(a.view(), b.view(), a.view()); }),
              "fields: axis 0 = 5: must be 4");
    EXPECT_EQ(message_of([&] { plan.multiply(a.view(), a.view(), b.view()); }),
              "sums: axis 0 = 5: must be 4");
    EXPECT_EQ(message_of([&] { plan.make_workspace(0); }).substr(0, 11), "n_batch = 0");
}

TEST(ChebyshevProductErrors, RefusesADeviceThatHasNoCodeForIt) {
    if (chebyshev::has_cuda_products()) GTEST_SKIP() << "this build has code for CUDA";
    ChebyshevProductOptions options;
    options.device = Device::cuda();
    EXPECT_THROW((ChebyshevProductPlan<double, 1>({4}, options)), BackendUnavailable);
    options.device = Device::automatic();
    EXPECT_EQ((ChebyshevProductPlan<double, 1>({4}, options)).options().device, Device::cpu());
}

}  // namespace
}  // namespace zonal::test
