#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "point_helpers.hpp"
#include "zonal/error.hpp"

/// Parts of the sky, gradients, errors that are reported, analysis, and what is refused.
namespace zonal::test {
namespace {

constexpr double pi = std::numbers::pi;

Points cap(double theta_1, double theta_2, std::int64_t n) {
    Points points;
    for (std::int64_t i = 0; i < n; ++i) {
        const double t = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
        points.add(theta_1 + (theta_2 - theta_1) * t, 50 * t);
    }
    return points;
}

TEST(PointParts, GiveTheBitsOfTheWholeSkyForLessMemory) {
    const std::int64_t lmax = 120;
    const AlmLayout layout(lmax);
    for (const int spin : {0, 1}) {
        const AlmArray alm = random_spin_alm(layout, 2, spin == 0 ? 1 : 2, spin, 4);
        const SphereSamples samples(point_options(lmax, spin, 1e-9));
        auto whole = samples.make_array(2);
        samples.synthesize<double>(alm.view(), whole);
        for (const auto& [first, last] : {std::pair(0.0, 0.1), {0.7, 0.8}, {pi - 0.05, pi}, {1.5, 1.5}}) {
            const Points points = cap(first, last, 50);
            const PointPlan plan(samples, points.theta_view(), points.phi_view());
            auto part = samples.make_array(2, plan.rows());
            EXPECT_LT(part.bytes(), whole.bytes() / 4);
            samples.synthesize<double>(alm.view(), part);
            MapArray wanted({2, alm.extent(1), points.size()}), made(wanted.extents());
            plan.interpolate<double>(whole, wanted.view());
            plan.interpolate<double>(part, made.view());
            // Two rows share a transform, of which the other rounds it: one unit of the largest value or so.
            EXPECT_LT(largest_difference(made, wanted), 1e-14 * largest(wanted));
            // And their transposes.
            plan.spread<double>(wanted.view(), part);
            AlmArray of_part(alm.extents()), of_whole(alm.extents());
            samples.adjoint<double>(part, of_part.view());
            auto again = samples.make_array(2);
            plan.spread<double>(wanted.view(), again);
            samples.adjoint<double>(again, of_whole.view());
            EXPECT_LT(relative_difference(of_part, of_whole), 1e-14);
        }
    }
}

TEST(PointParts, APlanServesEverySpin) {
    const std::int64_t lmax = 40;
    const Points points = cap(0, pi, 200);
    const SphereSamples scalar(point_options(lmax, 0, 1e-9));
    const PointPlan shared(scalar, points.theta_view(), points.phi_view());
    for (const int spin : {0, 1, 2}) {
        const SphereSamples samples(point_options(lmax, spin, 1e-9));
        const PointPlan own(samples, points.theta_view(), points.phi_view());
        const AlmArray alm = random_spin_alm(AlmLayout(lmax), 1, spin == 0 ? 1 : 2, spin, 4);
        auto array = samples.make_array(1);
        samples.synthesize<double>(alm.view(), array);
        MapArray wanted({1, alm.extent(1), points.size()}), made(wanted.extents());
        own.interpolate<double>(array, wanted.view());
        shared.interpolate<double>(array, made.view());
        EXPECT_EQ(largest_difference(made, wanted), 0) << spin;
        AlmArray of_own(alm.extents()), of_shared(alm.extents());
        own.spread<double>(wanted.view(), array);
        samples.adjoint<double>(array, of_own.view());
        shared.spread<double>(wanted.view(), array);
        samples.adjoint<double>(array, of_shared.view());
        EXPECT_EQ(relative_difference(of_shared, of_own), 0) << spin;
    }
}

TEST(PointParts, RowsBetweenAreEnough) {
    const SphereSamples samples(point_options(60, 0, 1e-6));
    EXPECT_EQ(samples.rows_between(0, pi), samples.all_rows());
    const Points points = cap(0.3, 0.9, 100);
    const PointPlan plan(samples, points.theta_view(), points.phi_view());
    const SampleRows between = samples.rows_between(0.3, 0.9);
    EXPECT_LE(between.first, plan.rows().first);
    EXPECT_GE(between.end, plan.rows().end);
    EXPECT_LE(between.end - between.first, plan.rows().end - plan.rows().first + 6);
    EXPECT_THROW(samples.rows_between(0.5, 0.4), InvalidArgument);
    EXPECT_THROW(samples.rows_between(-0.1, 0.4), InvalidArgument);
    EXPECT_THROW(samples.rows_between(0, 3.2), InvalidArgument);
}

TEST(PointGradients, AreThoseOfDirectSums) {
    // By central differences of direct sums in long double: step^2 / 6 lmax^3 and rounding / step.
    const std::int64_t lmax = 20;
    const AlmLayout layout(lmax);
    const double step = 1e-4;
    for (const int spin : {0, 2}) {
        Points points = cap(0.05, pi - 0.05, 60), others[4];
        for (std::size_t i = 0; i < points.theta.size(); ++i) {
            others[0].add(points.theta[i] + step, points.phi[i]);
            others[1].add(points.theta[i] - step, points.phi[i]);
            others[2].add(points.theta[i], points.phi[i] + step);
            others[3].add(points.theta[i], points.phi[i] - step);
        }
        const AlmArray alm = random_spin_alm(layout, 1, spin == 0 ? 1 : 2, spin, 4);
        const PointTransform transform(points.theta_view(), points.phi_view(),
                                       point_options(lmax, spin, 1e-10));
        MapArray values({1, alm.extent(1), points.size()}), slopes[2] = {values, values};
        auto workspace = transform.make_workspace();
        transform.synthesize<double>(alm.view(), values.view(), slopes[0].view(), slopes[1].view(),
                                     workspace);
        EXPECT_LT(relative_difference(values, values_at(transform, alm)), 1e-15);
        for (int by = 0; by < 2; ++by) {
            MapArray wanted = direct_values(others[2 * by], layout, spin, alm);
            const MapArray below = direct_values(others[2 * by + 1], layout, spin, alm);
            for (std::int64_t i = 0; i < wanted.size(); ++i)
                wanted.data()[i] = (wanted.data()[i] - below.data()[i]) / (2 * step);
            EXPECT_LT(relative_difference(slopes[by], wanted), lmax * lmax * step * step / 6 + 1e-11 * 4);
        }
        EXPECT_LE(transform.samples().derivative_bound(), 13e-10);
    }
}

TEST(PointReports, MeanErrorIsTheOneSeen) {
    // 20,000 points whose theta and phi are uniform on the torus' half, where the mean is over: its root is
    // known to a percent or two.
    const std::int64_t lmax = 48;
    const AlmLayout layout(lmax);
    std::mt19937_64 generator(3);
    std::uniform_real_distribution<double> theta(0, pi), phi(0, 2 * pi);
    Points points;
    for (int i = 0; i < 20000; ++i) points.add(theta(generator), phi(generator));
    for (const double error : {1e-3, 1e-6}) {
        PointOptions options = point_options(lmax, 0, error);
        const PointTransform transform(points.theta_view(), points.phi_view(), options);
        const PointTransform exact(points.theta_view(), points.phi_view(), point_options(lmax, 0, 1e-12));
        const AlmArray alm = random_alm(layout, 1, 1, 5);
        MapArray values({1, 1, points.size()});
        auto workspace = transform.make_workspace();
        PointReport report;
        transform.synthesize<double>(alm.view(), values.view(), workspace, &report);
        const MapArray wanted = values_at(exact, alm);
        EXPECT_NEAR(relative_rms(values, wanted) / report.mean_error, 1, 0.1) << error;
        EXPECT_LE(report.bound, error);
        EXPECT_LT(report.mean_error, report.bound);
    }
}

TEST(PointAnalysis, FindsTheAlm) {
    const std::int64_t lmax = 16;
    const AlmLayout layout(lmax);
    for (const int spin : {0, 2}) {
        const Points points = random_points(4 * (lmax + 1) * (lmax + 1), 2);
        const PointTransform transform(points.theta_view(), points.phi_view(),
                                       point_options(lmax, spin, 1e-12));
        const AlmArray alm = random_spin_alm(layout, 2, spin == 0 ? 1 : 2, spin, 3);
        const MapArray values = values_at(transform, alm);
        AlmArray found(alm.extents());
        auto workspace = transform.make_workspace();
        const auto report =
            transform.analyze<double>(values.view(), found.view(), workspace, {.tolerance = 1e-10});
        EXPECT_TRUE(report.reached_tolerance);
        EXPECT_LE(report.residual, 1e-10);
        EXPECT_EQ(report.note, "");
        // The condition number of S^T S is 6^2 at 4 points for each unknown.
        EXPECT_LT(relative_rms(found, alm), 36e-10);
        EXPECT_LT(report.iterations, 100);
    }
}

TEST(PointAnalysis, WeighsAndWarns) {
    const std::int64_t lmax = 8;
    const Points points = random_points(120, 2);
    const PointTransform transform(points.theta_view(), points.phi_view(), point_options(lmax, 0, 1e-12));
    // Values that no alm have: the one of a point without weight does not matter.
    const AlmArray alm = random_alm(AlmLayout(lmax), 1, 1, 3);
    MapArray values = values_at(transform, alm);
    values(0, 0, 5) = 1000;
    std::vector<double> weights(120, 1.0);
    weights[5] = 0;
    AlmArray found(alm.extents());
    auto workspace = transform.make_workspace();
    PointAnalysisOptions options{
        .weights = {weights.data(), {120}}, .tolerance = 1e-10, .max_iterations = 2000};
    const auto report = transform.analyze<double>(values.view(), found.view(), workspace, options);
    EXPECT_TRUE(report.reached_tolerance);
    // The residual's 1e-10 times the condition number of S^T W S, 109 for random directions in place of 119
    // points for 81 unknowns: ((1 + q) / (1 - q))^2, q = sqrt(81 / 119) (Marchenko & Pastur 1967); twice
    // that.
    EXPECT_LT(relative_rms(found, alm), 2 * 109e-10);
    EXPECT_NE(
        report.note.find("119 points of a positive weight are fewer than two for each of the 81 unknowns"),
        std::string::npos);
    options.max_iterations = 3;
    const auto short_one = transform.analyze<double>(values.view(), found.view(), workspace, options);
    EXPECT_FALSE(short_one.reached_tolerance);
    EXPECT_EQ(short_one.iterations, 3);
    EXPECT_NE(short_one.note.find("after 3 iterations"), std::string::npos);
    options.progress = [](double) { return false; };
    EXPECT_THROW(transform.analyze<double>(values.view(), found.view(), workspace, options), Cancelled);
    weights[7] = -1;
    EXPECT_THROW(transform.analyze<double>(values.view(), found.view(), workspace, options), InvalidArgument);
    EXPECT_THROW(transform.analyze<double>(values.view(), found.view(), workspace, {.tolerance = 5e-12}),
                 InvalidArgument);
    EXPECT_THROW(transform.analyze<double>(values.view(), found.view(), workspace, {.tolerance = 0}),
                 InvalidArgument);
    EXPECT_THROW(transform.analyze<double>(values.view(), found.view(), workspace, {.max_iterations = 0}),
                 InvalidArgument);
}

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(PointRefusals, NameTheArgumentAndThePoint) {
    const auto made = [](const PointOptions& options) {
        return [options] { const SphereSamples made(options); };
    };
    EXPECT_EQ(message_of(made(point_options(8, 0, 1e-15))), "error = 1e-15: must be from 2e-14 to 0.1");
    EXPECT_EQ(message_of(made(point_options(8, 0, NAN))), "error = nan: must be from 2e-14 to 0.1");
    EXPECT_EQ(message_of(made(point_options(8, 9, 1e-9))), "spin = 9: must be from 0 to lmax = 8");
    PointOptions on_gpu = point_options(8, 0, 1e-9);
    on_gpu.device = Device::cuda(1000);
    EXPECT_THROW(made(on_gpu)(), BackendUnavailable);
    const SphereSamples samples(point_options(8, 0, 1e-9));
    const auto at = [&](double theta, double phi) {
        Points points;
        points.add(1, 1);
        points.add(theta, phi);
        return message_of([&] { const PointPlan plan(samples, points.theta_view(), points.phi_view()); });
    };
    EXPECT_EQ(at(3, 1e9), "");
    EXPECT_EQ(at(-1e-300, 0), "theta = -1e-300: must be from 0 to pi (point 1)");
    EXPECT_EQ(at(3.1416, 0), "theta = 3.1416: must be from 0 to pi (point 1)");
    EXPECT_EQ(at(NAN, 0), "theta = nan: must be from 0 to pi (point 1)");
    EXPECT_EQ(at(1, INFINITY), "phi = inf: must be a number from -1000000000 to 1000000000 (point 1)");
    EXPECT_EQ(at(1, NAN), "phi = nan: must be a number from -1000000000 to 1000000000 (point 1)");
    // Samples of others, and without the points' rows.
    Points points;
    points.add(2, 2);
    const PointPlan plan(samples, points.theta_view(), points.phi_view());
    MapArray values({1, 1, 1}), two({1, 1, 2});
    for (const auto& options : {point_options(9, 0, 1e-9), point_options(8, 0, 1e-8)}) {
        auto others = SphereSamples(options).make_array();
        EXPECT_THROW(plan.interpolate<double>(others, values.view()), InvalidArgument);
    }
    auto north = samples.make_array(1, samples.rows_between(0, 0.1));
    EXPECT_THROW(plan.interpolate<double>(north, values.view()), InvalidArgument);
    auto array = samples.make_array(1);
    EXPECT_THROW(plan.interpolate<double>(array, two.view()), InvalidArgument);
    EXPECT_THROW(samples.make_array(0), InvalidArgument);
    EXPECT_THROW(samples.make_array(1, {-1000, 5}), InvalidArgument);
    AlmArray alm({1, 1, AlmLayout(9).size()});
    EXPECT_THROW(samples.synthesize<double>(alm.view(), array), InvalidArgument);
}

TEST(PointRefusals, NameTheArrayOfAnotherNumberOfMaps) {
    const Points points = cap(0.5, 1, 4);
    const PointTransform transform(points.theta_view(), points.phi_view(), point_options(8, 0, 1e-9));
    AlmArray alm({2, 1, AlmLayout(8).size()});
    auto workspace = transform.make_workspace();
    const auto of = [&](std::int64_t values, std::int64_t by_theta, std::int64_t by_phi) {
        MapArray arrays[3] = {MapArray({values, 1, 4}), MapArray({by_theta, 1, 4}), MapArray({by_phi, 1, 4})};
        return message_of([&] {
            transform.synthesize<double>(alm.view(), arrays[0].view(), arrays[1].view(), arrays[2].view(),
                                         workspace);
        });
    };
    EXPECT_EQ(of(2, 2, 2), "");
    EXPECT_EQ(of(3, 2, 2), "alm and values: have 2 and 3 maps: must have the same number");
    EXPECT_EQ(of(2, 3, 2), "alm and by_theta: have 2 and 3 maps: must have the same number");
    EXPECT_EQ(of(2, 2, 3), "alm and by_phi: have 2 and 3 maps: must have the same number");
    MapArray three({3, 1, 4});
    const std::string message = "alm and values: have 2 and 3 maps: must have the same number";
    EXPECT_EQ(message_of([&] { transform.synthesize<double>(alm.view(), three.view(), workspace); }),
              message);
    EXPECT_EQ(message_of([&] { transform.adjoint<double>(three.view(), alm.view(), workspace); }), message);
}

TEST(PointRefusals, NoPointsAreNoError) {
    const Points none;
    const PointTransform transform(none.theta_view(), none.phi_view(), point_options(8, 0, 1e-9));
    const AlmArray alm = random_alm(AlmLayout(8), 2, 1, 1);
    const MapArray values = values_at(transform, alm);
    EXPECT_EQ(values.extent(2), 0);
    EXPECT_EQ(largest(adjoint_of(transform, values)), 0);
}

}  // namespace
}  // namespace zonal::test
