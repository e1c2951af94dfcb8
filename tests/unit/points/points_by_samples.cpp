#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "point_helpers.hpp"
#include "points/point_plan.hpp"
#include "points/sphere_samples.hpp"

// Points that are sorted by their samples, for many fields, against those that only tiles sort.
namespace zonal::test {
namespace {

constexpr std::int64_t n_maps = 3;  // of spin 2: six fields

PointOptions cpu_point_options(int spin, double error, int threads) {
    PointOptions options = point_options(40, spin, error, threads);
    options.device = Device::cpu();  // a GPU sorts in its own way
    return options;
}

/// Points anywhere, of which several have the same samples, and 5,000 in one pixel.
Points dense_points() {
    Points points = random_points(30000, 3);
    std::mt19937_64 generator(11);
    std::uniform_real_distribution<double> near(-1e-3, 1e-3);
    for (int i = 0; i < 5000; ++i) points.add(1.1 + near(generator), 2.2 + near(generator));
    return points;
}

struct Sorted {
    Sorted(const SphereSamples& samples, const Points& points, std::int64_t n_fields)
        : plan(samples, points.theta_view(), points.phi_view(), n_fields), samples(samples) {}

    std::vector<MapArray> interpolated(const SampleArray& of) const {
        std::vector<MapArray> made;
        for (int i = 0; i < 3; ++i) made.emplace_back(std::array{n_maps, std::int64_t{2}, plan.n_points()});
        plan.interpolate<double>(of, made[0].view(), made[1].view(), made[2].view());
        return made;
    }
    SampleArray spread(const MapArray& values) const {
        SampleArray made = samples.make_array(n_maps);
        plan.spread<double>(values.view(), made);
        return made;
    }

    PointPlan plan;
    SphereSamples samples;
};

TEST(PointsBySamples, HaveTheSameValuesAndSums) {
    const Points points = dense_points();
    MapArray values({n_maps, 2, points.size()}), sizes(values.extents());
    std::mt19937_64 generator(5);
    std::normal_distribution<double> normal;
    for (std::int64_t i = 0; i < values.size(); ++i)
        sizes.data()[i] = std::abs(values.data()[i] = normal(generator));
    for (const double error : {1e-1, 1e-3, 1e-6, 1e-9, 1e-12}) {
        const SphereSamples samples(cpu_point_options(2, error, 3));
        SampleArray given = samples.make_array(n_maps);
        samples.synthesize<double>(random_spin_alm(AlmLayout(40), n_maps, 2, 2, 8).view(), given);
        const Sorted by_tiles(samples, points, 1), by_samples(samples, points, 6);
        ASSERT_FALSE(by_tiles.plan.implementation().by_samples);
        ASSERT_TRUE(by_samples.plan.implementation().by_samples);
        // A point's sum is made in the same order, whichever points are summed beside it.
        const auto expected = by_tiles.interpolated(given), found = by_samples.interpolated(given);
        for (std::size_t i = 0; i < 3; ++i)
            EXPECT_TRUE(std::equal(found[i].begin(), found[i].end(), expected[i].begin()))
                << error << ", " << i;
        // A sample's sum is made in another order: each errs by a rounding for each point, of the sum of
        // sizes.
        const SampleArray wanted = by_tiles.spread(values), made = by_samples.spread(values),
                          scale = by_tiles.spread(sizes);
        const double rounding =
            2 * std::numeric_limits<double>::epsilon() * static_cast<double>(points.size());
        double worst = 0;
        for (std::int64_t f = 0; f < 2 * n_maps; ++f) {
            const auto a = wanted.storage().field(f), b = made.storage().field(f),
                       s = scale.storage().field(f);
            for (std::int64_t row = a.rows.first; row < a.rows.end; ++row)
                for (std::int64_t i = 0; i < a.stride; ++i) {
                    EXPECT_LE(std::abs(a.row(row)[i] - b.row(row)[i]), rounding * s.row(row)[i])
                        << error << ", " << row << ", " << i;
                    worst = std::max(worst, std::abs(a.row(row)[i]));
                }
        }
        EXPECT_GT(worst, 1);
    }
}

TEST(PointsBySamples, AreSortedAlikeByAnyNumberOfThreads) {
    const Points points = dense_points();
    std::vector<std::vector<std::int64_t>> orders;
    for (const int threads : {1, 2, 5}) {
        const PointPlan plan(SphereSamples(cpu_point_options(0, 1e-6, threads)), points.theta_view(),
                             points.phi_view(), 8);
        auto& order = orders.emplace_back();
        for (std::int64_t i = 0; i < points.size(); ++i)
            order.push_back(plan.implementation().placed[i].caller);
    }
    EXPECT_EQ(orders[1], orders[0]);
    EXPECT_EQ(orders[2], orders[0]);
    std::sort(orders[0].begin(), orders[0].end());
    for (std::int64_t i = 0; i < points.size(); ++i) ASSERT_EQ(orders[0][static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace zonal::test
