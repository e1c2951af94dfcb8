// What arithmetic on coefficients computes, how solvers use it, and which device is taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "gwrm/backend.hpp"
#include "gwrm/linear/elimination_math.hpp"
#include "gwrm_helpers.hpp"
#include "zonal/error.hpp"

namespace zonal::gwrm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class GwrmBackend : public testing::Test {
  protected:
    std::unique_ptr<Backend> backend_ = make_backend(Device::cpu(), 1);
};

TEST_F(GwrmBackend, LargestKeepsNaN) {
    const std::vector<double> a{1, NAN, 2, -3, 1, 0};
    const auto found = backend_->numbers_of(Largest{.n_segments = 2, .n = 3, .a = a.data()});
    EXPECT_TRUE(std::isnan(found[0]));
    EXPECT_EQ(found[1], 3);
}

TEST_F(GwrmBackend, LargestOfTheLastModesOfAnAxis) {
    std::vector<double> a(24);  // [2, 4, 3]
    std::iota(a.begin(), a.end(), 0.0);
    const Largest of_last{
        .n_segments = 2, .n = 12, .a = a.data(), .stride = 3, .n_modes = 4, .first_mode = 3};
    EXPECT_THAT(backend_->numbers_of(of_last), ElementsAre(11, 23));
    std::fill(a.begin() + 9, a.begin() + 12, 0.0);
    EXPECT_THAT(backend_->numbers_of(of_last), ElementsAre(0, 23));
}

TEST_F(GwrmBackend, ResizesEveryBlock) {
    const Shape small{.dimensions = 3, .extents = {2, 2, 2}, .n_fields = 2, .n_subdomains = 1};
    const auto other = small.with_extents({3, 1, 3});
    std::vector<double> a(16), result(18, NAN);
    std::iota(a.begin(), a.end(), 1.0);
    resize(*backend_, small, a.data(), other, result.data());
    EXPECT_THAT(result, ElementsAre(1, 2, 0, 5, 6, 0, 0, 0, 0, 9, 10, 0, 13, 14, 0, 0, 0, 0));
}

TEST_F(GwrmBackend, SumsOverTime) {
    const Shape shape{.dimensions = 2, .extents = {4, 2, 1}, .n_fields = 1, .n_subdomains = 1};
    const std::vector<double> a{1, 10, 2, 20, 3, 30, 4, 40};
    std::vector<double> result(2);
    sum_over_time(*backend_, shape, TimeSum::Kind::end, a.data(), result.data());
    EXPECT_THAT(result, ElementsAre(10, 100));
    sum_over_time(*backend_, shape, TimeSum::Kind::mean, a.data(), result.data());
    EXPECT_THAT(result, ElementsAre(1 - 3.0 / 3, 10 - 30.0 / 3));
}

TEST_F(GwrmBackend, AddsMoreArraysThanOneTaskTakes) {
    const std::vector<double> one{1, 2};
    std::vector<double> sum(2);
    std::vector<WeightedArray> arrays;
    for (int k = 0; k < 2 * AddArrays::most + 1; ++k) arrays.push_back({one.data(), 2, sum.data()});
    backend_->add(2, arrays);
    EXPECT_THAT(sum, ElementsAre(66, 132));
}

/// Of boundary rows alone: segments by their numbers, as CUDA takes them.
class RowsByNumber final : public Backend {
  public:
    RowsByNumber() : Backend(Device::cpu(), 1) {}
    void run(const Task&) override { FAIL() << "is no reduction"; }
    void reduce(const Reduction& reduction) override {
        const auto& rows = std::get<BoundaryRows>(reduction);
        for (std::int64_t s = 0; s < rows.n_segments; ++s) {
            const auto segment = rows.segment(s);
            double sum = 0;
            for (std::int64_t i = 0; i < segment.length; ++i) sum += segment.value(i);
            rows.store(s, sum);
        }
    }
    std::unique_ptr<Inverse> dense_inverse(const VectorPlaces&, const double*) override { return nullptr; }
    std::unique_ptr<Inverse> frozen_inverse(const Shape&, const TimeBasis&, double, const double*,
                                            const double*) override {
        return nullptr;
    }

  private:
    void upload_bytes_now(const void* host, std::int64_t bytes, void* to) override {
        std::copy_n(static_cast<const char*>(host), bytes, static_cast<char*>(to));
    }
    void download_now(const double*, std::int64_t, double*) override { FAIL() << "has no results"; }
};

class GwrmBoundaryRows : public testing::TestWithParam<int> {};

TEST_P(GwrmBoundaryRows, AreTheSameByNumber) {
    for (const auto& problem :
         {test::varied_gwrm_problem(GetParam()), test::plane_gwrm_problem(GetParam())}) {
        const auto shape = shape_of(problem, 4);
        const auto cpu = make_backend(Device::cpu(), 1);
        RowsByNumber by_number;
        Boundary expected_rows(problem, shape, *cpu), found_rows(problem, shape, by_number);
        expected_rows.set_time({0, 0.5});
        found_rows.set_time({0, 0.5});
        std::vector<double> a(static_cast<std::size_t>(2 * shape.size())), expected(a.size(), 7.0);
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(3.0 * static_cast<double>(i));
        auto found = expected;
        for (const auto kind :
             {BoundaryRows::Kind::whole, BoundaryRows::Kind::linear, BoundaryRows::Kind::zero}) {
            expected_rows.replace(kind, a.data(), 2, expected.data());
            found_rows.replace(kind, a.data(), 2, found.data());
            EXPECT_EQ(found, expected);
            const auto untouched = std::count(found.begin(), found.end(), 7.0);
            EXPECT_GT(untouched, 0);
            EXPECT_LT(untouched, std::ssize(found));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Subdomains, GwrmBoundaryRows, testing::Values(1, 2, 3));

template <class T>
struct Elements;
template <>
struct Elements<double> {
    static constexpr double one = 1;
    static double random(std::mt19937& engine) { return std::normal_distribution<>()(engine); }
};
template <>
struct Elements<Complex> {
    static constexpr Complex one{1, 0};
    static Complex random(std::mt19937& engine) {
        return {std::normal_distribution<>()(engine), std::normal_distribution<>()(engine)};
    }
};

/// The steps that CUDA's threads share, one after the other.
template <class T>
double error_of_inverse(std::int64_t n) {
    std::mt19937 engine(1);
    std::vector<T> matrix(static_cast<std::size_t>(n * n)), row(static_cast<std::size_t>(n)), column(row);
    for (auto& element : matrix) element = Elements<T>::random(engine);
    matrix[0] = T{};  // asks for another row
    const auto original = matrix;
    std::vector<std::int64_t> order(row.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<double> pivots(row.size());
    const Elimination<T> elimination{
        n, matrix.data(), row.data(), column.data(), order.data(), pivots.data()};
    for (std::int64_t k = 0; k < n; ++k) {
        std::int64_t pivot = k;
        for (std::int64_t i = k; i < n; ++i)
            if (elimination.size(k, i) > elimination.size(k, pivot)) pivot = i;
        const double size = elimination.size(k, pivot);
        const T inverse = elimination.inverse_pivot(k, pivot);
        for (std::int64_t j = 0; j < n; ++j) elimination.exchange(k, pivot, inverse, j);
        elimination.record(k, pivot, size);
        for (std::int64_t i = 0; i < n; ++i) elimination.take_column(k, i);
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j) elimination.eliminate(k, i, j);
    }
    double error = 0;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            // A^-1 = (P A)^-1 P: column order[k] of it is column k of what is there.
            T sum{};
            for (std::int64_t k = 0; k < n; ++k)
                sum =
                    sum + matrix[static_cast<std::size_t>(i * n + k)] *
                              original[static_cast<std::size_t>(order[static_cast<std::size_t>(k)] * n + j)];
            error = test::larger(error, magnitude(sum - (i == j ? Elements<T>::one : T{})));
        }
    EXPECT_GT(*std::min_element(pivots.begin(), pivots.end()), 0);
    return error;
}

TEST(GwrmElimination, InvertsMatrices) {
    // Rounding grows by n and by the condition, which is near n for normal numbers.
    for (const std::int64_t n : {2, 5, 40}) {
        // A product of complex numbers rounds more often.
        const double bound = 2 * 0x1p-52 * static_cast<double>(n * n);
        EXPECT_LT(error_of_inverse<double>(n), bound) << n;
        EXPECT_LT(error_of_inverse<Complex>(n), 4 * bound) << n;
    }
}

TEST(GwrmTraffic, IsScalarsAloneInAnInterval) {
    const auto backend = make_backend(Device::cpu(), 1);
    test::expect_scalars_only(*backend);
}

TEST(GwrmSolvers, AgreeOnEveryBuiltInProblem) {
    for (const auto& problem : test::gwrm_cases()) {
        SCOPED_TRACE(problem.problem + " in " + std::to_string(problem.subdomains));
        const SolveOptions options{.estimate_error = false, .device = Device::cpu()};
        auto with = options;
        with.solver = Solver::newton_krylov;
        const auto krylov = problem.solve(with);
        for (const auto solver : {Solver::newton, Solver::sir}) {
            with.solver = solver;
            // gwrm_agreement allows for what other devices may add.
            EXPECT_LE(test::difference(problem.solve(with), krylov), test::gwrm_agreement)
                << to_string(solver);
        }
    }
}

TEST(GwrmSolvers, DisagreeWhereOneCoefficientIsNan) {
    const std::vector<double> good{1, 2, 3, 4};
    EXPECT_EQ(test::difference(good, good, 2), 0);
    EXPECT_EQ(test::difference({1, 4, 3, 4}, good, 2), 1);
    for (std::size_t k = 0; k < good.size(); ++k) {
        auto bad = good;
        bad[k] = std::nan("");
        EXPECT_TRUE(std::isnan(test::difference(bad, good, 2))) << k;
        EXPECT_TRUE(std::isnan(test::difference(good, bad, 2))) << k;
    }
}

TEST(GwrmDevice, IsTheCpuForFewUnknownsByAutomaticChoice) {
    EXPECT_EQ(device_for(Device::automatic(), 500), Device::cpu());
    EXPECT_EQ(device_for(Device::cpu(), 1'000'000), Device::cpu());
    EXPECT_EQ(device_for(Device::automatic(), 1'000'000), resolve_device(Device::automatic()));
    EXPECT_EQ(solve(make_library_problem("brusselator").problem).report().device, Device::cpu());
}

TEST(GwrmDevice, IsNamedWhereItIsNotThere) {
    try {
        solve(make_library_problem("brusselator").problem, {.device = Device::cuda(4711)});
        FAIL() << "solved";
    } catch (const BackendUnavailable& error) {
        EXPECT_THAT(error.what(), HasSubstr("device = cuda:4711: "));
    }
}

}  // namespace
}  // namespace zonal::gwrm
