#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "point_helpers.hpp"
#include "points/point_plan.hpp"

namespace zonal::test {
namespace {

constexpr double pi = std::numbers::pi;

MapArray random_values(std::int64_t maps, std::int64_t components, std::int64_t points, unsigned seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    MapArray values({maps, components, points});
    for (double& value : values) value = normal(generator);
    return values;
}

double dot(const MapArray& a, const MapArray& b) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) sum += a.data()[i] * b.data()[i];
    return sum;
}

/// Points near the poles among those anywhere.
Points some_points(std::int64_t n, unsigned seed) {
    Points points = random_points(n, seed);
    for (const double theta : {0.0, pi, 1e-4, pi - 1e-4, 0.02, pi - 0.03}) points.add(theta, 40 * theta + 7);
    return points;
}

TEST(PointAdjoint, IsTheTransposeOfSynthesis) {
    for (const std::int64_t lmax : {0, 1, 5, 40, 97})
        for (const int spin : {0, 1, 2, 3}) {
            if (spin > lmax) continue;
            for (const double error : {1e-2, 1e-6, 1e-12}) {
                const AlmLayout layout(lmax);
                const std::int64_t components = spin == 0 ? 1 : 2;
                const Points points = some_points(500, 3);
                const PointTransform transform(points.theta_view(), points.phi_view(),
                                               point_options(lmax, spin, error));
                const AlmArray alm = random_spin_alm(layout, 3, components, spin, 8);
                const MapArray values = random_values(3, components, points.size(), 9);
                const MapArray made = values_at(transform, alm);
                const double forth = dot(made, values),
                             back = inner_product(layout, alm, adjoint_of(transform, values));
                const double size = std::sqrt(dot(made, made) * dot(values, values));
                EXPECT_LT(std::abs(forth - back) / size, transpose_rounding(lmax, spin, values.size()))
                    << lmax << ", " << spin << ", " << error;
            }
        }
}

TEST(PointAdjoint, MatchesDirectSums) {
    const std::int64_t lmax = 24;
    const AlmLayout layout(lmax);
    for (const int spin : {0, 2}) {
        const std::int64_t components = spin == 0 ? 1 : 2;
        const Points points = some_points(200, 4);
        const PointTransform transform(points.theta_view(), points.phi_view(),
                                       point_options(lmax, spin, 1e-12));
        const MapArray values = random_values(1, components, points.size(), 5);
        // Each value's part errs by (lmax + 1) / sqrt(4 pi) times the error in |.|_2.
        EXPECT_LT(relative_difference(adjoint_of(transform, values),
                                      reference_adjoint(points.grid(), layout, spin, values)),
                  8e-12);
    }
}

TEST(PointAdjoint, OfFewerOrdersIsTheTransposeToo) {
    PointOptions options = point_options(30, 1, 1e-9);
    options.mmax = 7;
    const AlmLayout layout(30, 7);
    const Points points = some_points(300, 6);
    const PointTransform transform(points.theta_view(), points.phi_view(), options);
    const AlmArray alm = random_spin_alm(layout, 1, 2, 1, 8);
    const MapArray wanted = direct_values(points, layout, 1, alm), made = values_at(transform, alm);
    // The error asked for, which is a bound for any function and point.
    EXPECT_LT(largest_difference(made, wanted), 1e-9 * largest(wanted));
    const MapArray values = random_values(1, 2, points.size(), 9);
    EXPECT_NEAR(dot(made, values), inner_product(layout, alm, adjoint_of(transform, values)),
                transpose_rounding(30, 1, values.size()) * std::sqrt(dot(made, made) * dot(values, values)));
}

class PointThreads : public ::testing::TestWithParam<int> {};

/// 1e5 points in one pixel, others anywhere: crowded tiles and quiet ones.
Points crowded_points() {
    Points points = some_points(20000, 7);
    std::mt19937_64 generator(11);
    std::uniform_real_distribution<double> near(-1e-3, 1e-3);
    for (int i = 0; i < 100000; ++i) points.add(1.1 + near(generator), 2.2 + near(generator));
    return points;
}

TEST_P(PointThreads, DoNotChangeABit) {
    const int spin = GetParam();
    const std::int64_t lmax = 70, components = spin == 0 ? 1 : 2;
    const AlmLayout layout(lmax);
    const Points points = crowded_points();
    const AlmArray alm = random_spin_alm(layout, 2, components, spin, 8);
    const MapArray values = random_values(2, components, points.size(), 9);
    std::vector<MapArray> made;
    std::vector<AlmArray> back;
    for (const int threads : {1, 2, 3, 8}) {
        const PointTransform transform(points.theta_view(), points.phi_view(),
                                       point_options(lmax, spin, 1e-7, threads));
        made.push_back(values_at(transform, alm));
        back.push_back(adjoint_of(transform, values));
    }
    for (std::size_t i = 1; i < made.size(); ++i) {
        EXPECT_TRUE(std::equal(made[0].begin(), made[0].end(), made[i].begin()));
        EXPECT_TRUE(std::equal(back[0].begin(), back[0].end(), back[i].begin()));
    }
    EXPECT_NEAR(dot(made[0], values), inner_product(layout, alm, back[0]),
                transpose_rounding(lmax, spin, values.size()) *
                    std::sqrt(dot(made[0], made[0]) * dot(values, values)));
}
INSTANTIATE_TEST_SUITE_P(Spins, PointThreads, ::testing::Values(0, 2));

TEST(PointOrder, DoesNotMatterToValues) {
    Points points = some_points(3000, 12), turned;
    for (std::size_t i = points.theta.size(); i-- > 0;) turned.add(points.theta[i], points.phi[i]);
    const AlmArray alm = random_alm(AlmLayout(50), 1, 1, 2);
    const auto options = point_options(50, 0, 1e-8);
    const auto one = values_at(PointTransform(points.theta_view(), points.phi_view(), options), alm);
    const auto other = values_at(PointTransform(turned.theta_view(), turned.phi_view(), options), alm);
    for (std::int64_t i = 0; i < points.size(); ++i)
        EXPECT_EQ(one(0, 0, i), other(0, 0, points.size() - 1 - i));
}

TEST(PointFloats, AreTheDoublesRounded) {
    const std::int64_t lmax = 40;
    const AlmLayout layout(lmax);
    const Points points = some_points(400, 13);
    const PointTransform transform(points.theta_view(), points.phi_view(), point_options(lmax, 2, 1e-9));
    AlmArray alm = random_spin_alm(layout, 2, 2, 2, 8);
    Array<std::complex<float>, 3> narrow(alm.extents());
    for (std::int64_t i = 0; i < alm.size(); ++i) {
        narrow.data()[i] = std::complex<float>(alm.data()[i]);
        alm.data()[i] = Complex(narrow.data()[i]);
    }
    const MapArray wanted = values_at(transform, alm);
    Array<float, 3> values(wanted.extents());
    auto workspace = transform.make_workspace();
    transform.synthesize<float>(narrow.view(), values.view(), workspace);
    for (std::int64_t i = 0; i < wanted.size(); ++i)
        EXPECT_EQ(values.data()[i], static_cast<float>(wanted.data()[i]));
    MapArray given(wanted.extents());
    for (std::int64_t i = 0; i < wanted.size(); ++i) given.data()[i] = values.data()[i];
    const AlmArray back = adjoint_of(transform, given);
    Array<std::complex<float>, 3> narrow_back(alm.extents());
    transform.adjoint<float>(values.view(), narrow_back.view(), workspace);
    for (std::int64_t i = 0; i < back.size(); ++i)
        EXPECT_EQ(narrow_back.data()[i], std::complex<float>(back.data()[i]));
}

}  // namespace
}  // namespace zonal::test
