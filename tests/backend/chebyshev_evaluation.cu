#include <gmock/gmock.h>

#include <algorithm>

#include "backend/chebyshev_device.cuh"
#include "zonal/chebyshev/evaluation.hpp"

// Values of Chebyshev series and series through values on CUDA against the CPU's.
namespace zonal::test {
namespace {

using ::testing::HasSubstr;

class ChebyshevEvaluationOnCuda : public OnCuda {};

template <class T, int N>
void expect_close(const Array<T, N>& found, const Array<T, N>& expected, double bound) {
    ASSERT_EQ(found.extents(), expected.extents());
    for (std::int64_t k = 0; k < found.size(); ++k)
        ASSERT_LE(std::abs(found.data()[k] - expected.data()[k]), bound) << k;
}

/// On either side a step of Clenshaw's recurrence rounds by less than 4 eps of the sum of all |a|, which for
/// random coefficients is below size * largest; there are as many steps as coefficients along all axes, and
/// T_s where parts of a sum begin is off by less than s eps.
template <class T, int D>
double bound_of_values(const Array<T, D + 1>& f) {
    double steps = 0, size = 1;
    for (int axis = 1; axis <= D; ++axis) {
        steps += static_cast<double>(f.extent(axis));
        size *= static_cast<double>(f.extent(axis));
    }
    return 9 * steps * size * epsilon<T> * largest(f);
}

/// Points near the ends, at them, between and beyond, by so little that T_1500 is below 2.
double point(std::int64_t i) {
    const double some[] = {0.3, -1, 1, -0.9999999, 0.51, -0.5, 0, 0.99, -0.7, 1.0000001};
    return some[i % 10] * (1 - 1e-3 * static_cast<double>(i / 10 % 999));
}

template <class T, int D, ChebyshevConvention C>
void expect_values(std::int64_t n_batch, const std::array<std::int64_t, D>& extents, std::int64_t n_points) {
    SCOPED_TRACE(::testing::Message()
                 << "batch " << n_batch << " of " << ::testing::PrintToString(extents) << " at " << n_points);
    auto f = random_batch<T, D>(n_batch, extents, 1);
    const DeviceBatch<T, D> there(f);
    Array<double, 2> points({n_points, D});
    for (std::int64_t i = 0; i < points.size(); ++i) points.data()[i] = point(i + i / D);
    Array<T, 2> expected({n_batch, n_points});
    const DeviceBatch<double, 1> points_there(points);
    const DeviceBatch<T, 1> values(expected);
    evaluate<T, D, C>(there.template series<C>(), points_there.template series<C>().coefficients,
                      values.template series<C>().coefficients);
    evaluate<T, D, C>(ChebyshevView<T, D, C>(f.view()), points.view(), expected.view());
    expect_close(values.host(), expected, bound_of_values<T, D>(f));
}

template <class T, ChebyshevConvention C>
void expect_values_in_all_dimensions() {
    for (const std::int64_t n : {1, 2, 3, 33, 64, 100, 1500}) expect_values<T, 1, C>(3, {n}, 17);
    expect_values<T, 1, C>(1, {5000}, 1);
    using Plane = std::array<std::int64_t, 2>;
    for (const auto& n : {Plane{1, 1}, Plane{1, 9}, Plane{70, 1}, Plane{40, 6}})
        expect_values<T, 2, C>(2, n, 11);
    using Box = std::array<std::int64_t, 3>;
    for (const auto& n : {Box{1, 1, 1}, Box{2, 1, 5}, Box{65, 4, 3}}) expect_values<T, 3, C>(2, n, 10);
}

TEST_F(ChebyshevEvaluationOnCuda, AtPointsEqualsTheCpus) {
    expect_values_in_all_dimensions<double, primed>();
    expect_values_in_all_dimensions<float, plain>();
    expect_values_in_all_dimensions<std::complex<double>, plain>();
    expect_values_in_all_dimensions<std::complex<float>, primed>();
    expect_values<double, 2, plain>(3, {21, 12}, scaled(7001));  // a thread for each
}

template <class T, int D>
std::array<View<const double, 1>, D> views_of(const std::array<T, D>& points, MemorySpace space) {
    std::array<View<const double, 1>, D> views;
    for (int axis = 0; axis < D; ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        views[at] = {points[at].data(), {static_cast<std::int64_t>(points[at].size())}, space};
    }
    return views;
}

/// With points in either memory.
template <class T, int D, ChebyshevConvention C>
void expect_grids(std::int64_t n_batch, const std::array<std::int64_t, D>& extents,
                  const std::array<std::int64_t, D>& n_points) {
    SCOPED_TRACE(::testing::Message() << "batch " << n_batch << " of " << ::testing::PrintToString(extents)
                                      << " at " << ::testing::PrintToString(n_points));
    auto f = random_batch<T, D>(n_batch, extents, 1);
    const DeviceBatch<T, D> there(f);
    std::array<std::vector<double>, D> points;
    std::array<core::DeviceArray<double>, D> points_there;
    for (std::size_t axis = 0; axis < D; ++axis) {
        for (std::int64_t i = 0; i < n_points[axis]; ++i)
            points[axis].push_back(point(i + static_cast<std::int64_t>(axis)));
        points_there[axis] = core::DeviceArray<double>(points[axis]);
    }
    Array<T, D + 1> expected(batch_extents<D>(n_batch, n_points));
    evaluate_on_grid<T, D, C>(ChebyshevView<T, D, C>(f.view()),
                              views_of<std::vector<double>, D>(points, MemorySpace::host), expected.view());
    for (const auto space : {MemorySpace::host, MemorySpace::cuda}) {
        const DeviceBatch<T, D> values(Array<T, D + 1>(expected.extents()));
        const auto x = space == MemorySpace::host
                           ? views_of<std::vector<double>, D>(points, space)
                           : views_of<core::DeviceArray<double>, D>(points_there, space);
        evaluate_on_grid<T, D, C>(there.template series<C>(), x, values.template series<C>().coefficients);
        expect_close(values.host(), expected, bound_of_values<T, D>(f));
    }
}

TEST_F(ChebyshevEvaluationOnCuda, OnGridsEqualsTheCpus) {
    for (const std::int64_t n : {1, 2, 33, 400}) expect_grids<double, 1, primed>(3, {n}, {7});
    expect_grids<double, 2, plain>(2, {9, 70}, {5, 8});
    expect_grids<float, 2, primed>(2, {70, 1}, {1, 3});
    expect_grids<std::complex<double>, 3, plain>(2, {4, 1, 40}, {3, 2, 5});
    expect_grids<std::complex<float>, 1, primed>(2, {12}, {9});
    expect_grids<double, 3, primed>(1, {12, 9, 10}, {scaled(61), 20, 30});  // a thread for each
}

/// A coefficient is a sum of n values with weights up to 1 per axis, on both sides with n / 2 + 3 roundings
/// of eps / 2 of all of them together, and cosines to one eps; then comes a factor of at most 2 / (n - 1).
template <class T, int D, ChebyshevConvention C>
void expect_series_through(ChebyshevNodes nodes, std::int64_t n_batch,
                           const std::array<std::int64_t, D>& n_values,
                           const std::array<std::int64_t, D>& extents) {
    SCOPED_TRACE(::testing::Message() << "batch " << n_batch << " of " << ::testing::PrintToString(n_values)
                                      << " nodes " << static_cast<int>(nodes));
    const auto values = random_batch<T, D>(n_batch, n_values, 1);
    const DeviceBatch<T, D> there(values), result(Array<T, D + 1>(batch_extents<D>(n_batch, extents)));
    auto expected = result.host();
    interpolate<T, D, C>(there.template series<C>().coefficients, nodes, result.template series<C>());
    interpolate<T, D, C>(values.view(), nodes, ChebyshevView<T, D, C>(expected.view()));
    double bound = epsilon<T> * largest(values), steps = 0;
    for (const auto n : n_values) {
        bound *= 4;  // 2 n / (n - 1), n >= 2
        steps += static_cast<double>(n) + 6;
    }
    expect_close(result.host(), expected, bound * steps);
}

TEST_F(ChebyshevEvaluationOnCuda, SeriesThroughValuesEqualTheCpus) {
    for (const auto nodes : {ChebyshevNodes::gauss, ChebyshevNodes::lobatto}) {
        for (const std::int64_t n : {2, 3, 33, 200}) {
            expect_series_through<double, 1, primed>(nodes, 3, {n}, {n});
            expect_series_through<float, 1, plain>(nodes, 3, {n}, {n - 1});
        }
        expect_series_through<double, 2, plain>(nodes, 2, {9, 70}, {9, 40});
        expect_series_through<std::complex<double>, 3, primed>(nodes, 2, {4, 3, 40}, {4, 3, 40});
        expect_series_through<std::complex<float>, 2, plain>(nodes, 2, {34, 3}, {34, 1});
        const auto n = std::max<std::int64_t>(2, scaled(40));
        expect_series_through<double, 3, plain>(nodes, 1, {21, 30, n}, {21, 30, n});
    }
    expect_series_through<double, 1, primed>(ChebyshevNodes::gauss, 2, {1}, {1});
}

/// Values within the box are at most the sum of all |a| on the old box, as above, and are summed again.
template <class T, int D, ChebyshevConvention C>
void expect_restriction(const std::array<std::int64_t, D>& extents) {
    auto f = random_batch<T, D>(2, extents, 1);
    const DeviceBatch<T, D> there(f), result(f);
    ChebyshevDomain<D> from, part;
    from.fill({-2, 3});
    part.fill({0.5, 3});
    restricted<T, D, C>(there.template series<C>(), from, part, result.template series<C>());
    auto expected = f;
    restricted<T, D, C>(ChebyshevView<T, D, C>(f.view()), from, part,
                        ChebyshevView<T, D, C>(expected.view()));
    expect_close(result.host(), expected, std::pow(4, D) * 2 * bound_of_values<T, D>(f));
}

TEST_F(ChebyshevEvaluationOnCuda, RestrictionToAPartOfTheBoxEqualsTheCpus) {
    expect_restriction<double, 1, primed>({40});
    expect_restriction<double, 2, plain>({12, 9});
    expect_restriction<std::complex<float>, 2, primed>({5, 8});
}

TEST_F(ChebyshevEvaluationOnCuda, RefusesArraysInTheWrongPlace) {
    auto f = random_batch<double, 1>(2, {9}, 1), points = random_batch<double, 1>(3, {1}, 2);
    const DeviceBatch<double, 1> there(f), points_there(points), values(random_batch<double, 1>(2, {3}, 3));
    auto host_values = values.host();
    const auto at = [&](View<const double, 2> x, View<double, 2> v) {
        return message_of([&] { evaluate<double, 1, primed>(there.series<primed>(), x, v); });
    };
    const auto x = points_there.series<primed>().coefficients, v = values.series<primed>().coefficients;
    EXPECT_THAT(at(points.view(), v), HasSubstr("points: must be in the memory of f"));
    EXPECT_THAT(at(x, host_values.view()), HasSubstr("values: must be in the memory of f"));
    EXPECT_THAT(at({points.data(), {3, 1}, MemorySpace::cuda}, v),
                HasSubstr("points: is not in device memory"));
    EXPECT_EQ(at(x.slice(0, 2), v), "values: axis 0 = 3: must be 2");
    const auto lobatto = [&] {
        interpolate<double, 1, primed>(
            View<const double, 2>(there.memory.data(), {2, 1}, MemorySpace::cuda), ChebyshevNodes::lobatto,
            ChebyshevView<double, 1>(View<double, 2>(v.data(), {2, 1}, MemorySpace::cuda)));
    };
    EXPECT_EQ(message_of(lobatto), "n = 1: must be at least 2 for Lobatto nodes");
}

}  // namespace
}  // namespace zonal::test
