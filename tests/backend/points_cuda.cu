#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "backend/cuda_helpers.cuh"
#include "core/cuda_transfer.cuh"
#include "point_helpers.hpp"

// Transforms at points on a GPU beside those of the CPU, and with arrays in its memory. (With
// ZONAL_TEST_DEVICE=cuda the unit tests of points run there, too.)
namespace zonal::test {
namespace {

constexpr double pi = std::numbers::pi;

class PointsOnCuda : public OnCuda {};

PointOptions options_on(Device device, std::int64_t lmax, int spin, double error) {
    PointOptions options = point_options(lmax, spin, error);
    options.device = device;
    return options;
}

Points points_everywhere(std::int64_t n) {
    Points points = random_points(n, 3);
    for (const double theta : {0.0, pi, 1e-9, 1e-3, pi - 1e-9, 0.5 * pi}) points.add(theta, 100 * theta - 9);
    return points;
}

MapArray random_map(std::int64_t components, std::int64_t n) {
    std::mt19937_64 generator(5);
    std::normal_distribution<double> normal;
    MapArray map({1, components, n});
    for (double& value : map) value = normal(generator);
    return map;
}

/// Synthesis with slopes, and adjoint.
struct Results {
    Results(const PointTransform& transform, const AlmArray& alm, const MapArray& given)
        : values(given.extents()), by_theta(given.extents()), by_phi(given.extents()), back(alm.extents()) {
        auto workspace = transform.make_workspace();
        transform.synthesize<double>(alm.view(), values.view(), by_theta.view(), by_phi.view(), workspace,
                                     &report);
        transform.adjoint<double>(given.view(), back.view(), workspace);
    }
    MapArray values, by_theta, by_phi;
    AlmArray back;
    PointReport report;
};

/// Where circles, rows and recurrences are many: more than one pass of each.
TEST_F(PointsOnCuda, AgreesWithTheCpuInSeveralPasses) {
    const std::int64_t lmax = scaled(3000);
    const double error = 1e-11;
    for (const int spin : {0, 2}) {
        const std::int64_t components = spin == 0 ? 1 : 2;
        const Points points = points_everywhere(20000);
        const AlmArray alm = random_spin_alm(AlmLayout(lmax), 1, components, spin, 8);
        const MapArray given = random_map(components, points.size());
        const auto made = [&](Device device) {
            PointOptions options = options_on(device, lmax, spin, error);
            options.threads = 0;
            return Results(PointTransform(points.theta_view(), points.phi_view(), options), alm, given);
        };
        const Results there = made(Device::cuda()), here = made(Device::cpu());
        // Each errs by `error`, of max |f|, which is a few times that of these values.
        EXPECT_LT(largest_difference(there.values, here.values), 4 * error * largest(here.values));
        EXPECT_LT(relative_difference(there.by_theta, here.by_theta), 4 * 13 * error);
        EXPECT_LT(relative_difference(there.by_phi, here.by_phi), 4 * 13 * error);
        EXPECT_LT(relative_difference(there.back, here.back), 4 * error * std::sqrt(lmax));
        for (const PointReport& report : {there.report, here.report}) {
            EXPECT_LT(report.mean_error, report.bound);
            EXPECT_GT(report.mean_error, 0);
        }
    }
}

TEST_F(PointsOnCuda, TakesArraysOfTheHostAndOfItsMemoryAlike) {
    const std::int64_t lmax = 90;
    const Points points = points_everywhere(3000);
    const AlmArray alm = random_spin_alm(AlmLayout(lmax), 3, 2, 2, 8);
    MapArray given({3, 2, points.size()});
    for (std::int64_t i = 0; i < given.size(); ++i) given.data()[i] = std::sin(static_cast<double>(i));
    const PointTransform transform(points.theta_view(), points.phi_view(),
                                   options_on(Device::cuda(), lmax, 2, 1e-9));
    const Results wanted(transform, alm, given);
    // Angles in its memory, every second element of an array.
    std::vector<double> pairs;
    for (std::size_t i = 0; i < points.theta.size(); ++i) {
        pairs.push_back(points.theta[i]);
        pairs.push_back(points.phi[i]);
    }
    const core::DeviceArray<double> angles(pairs);
    const View<const double, 1> theta(angles.data(), {points.size()}, {2}, MemorySpace::cuda),
        phi(angles.data() + 1, {points.size()}, {2}, MemorySpace::cuda);
    const PointTransform other(theta, phi, options_on(Device::cuda(), lmax, 2, 1e-9));
    const OnDevice<Complex> alm_there(alm), back_there(AlmArray(alm.extents()));
    const OnDevice<double> given_there(given);
    const OnDevice<double> values_there[3] = {OnDevice<double>(MapArray(given.extents())),
                                              OnDevice<double>(MapArray(given.extents())),
                                              OnDevice<double>(MapArray(given.extents()))};
    auto workspace = other.make_workspace();
    other.synthesize<double>(alm_there.view(), values_there[0].view(), values_there[1].view(),
                             values_there[2].view(), workspace);
    EXPECT_EQ(largest_difference(values_there[0].host(), wanted.values), 0);
    EXPECT_EQ(largest_difference(values_there[1].host(), wanted.by_theta), 0);
    EXPECT_EQ(largest_difference(values_there[2].host(), wanted.by_phi), 0);
    other.adjoint<double>(given_there.view(), back_there.view(), workspace);
    EXPECT_EQ(relative_difference(back_there.host(), wanted.back), 0);
}

TEST_F(PointsOnCuda, WorksOnTheCallersStream) {
    const std::int64_t lmax = 60;
    const Points points = points_everywhere(1000);
    const PointTransform transform(points.theta_view(), points.phi_view(),
                                   options_on(Device::cuda(), lmax, 0, 1e-9));
    const AlmArray alm = random_alm(AlmLayout(lmax), 1, 1, 8);
    const MapArray given = random_map(1, points.size());
    const Results wanted(transform, alm, given);
    const OnDevice<Complex> alm_there(alm), back_there(AlmArray(alm.extents()));
    const OnDevice<double> given_there(given), values_there{MapArray(given.extents())};
    const core::OwnStream stream;
    auto workspace = transform.make_workspace();
    workspace.use_stream(stream.get());
    transform.synthesize<double>(alm_there.view(), values_there.view(), workspace);
    transform.adjoint<double>(given_there.view(), back_there.view(), workspace);
    core::check_cuda(cudaStreamSynchronize(stream.get()), "waiting");
    EXPECT_EQ(largest_difference(values_there.host(), wanted.values), 0);
    EXPECT_EQ(relative_difference(back_there.host(), wanted.back), 0);
}

TEST_F(PointsOnCuda, TakesNoPoints) {
    const Points points;
    const PointTransform transform(points.theta_view(), points.phi_view(),
                                   options_on(Device::cuda(), 8, 0, 1e-9));
    const AlmArray alm = random_alm(AlmLayout(8), 1, 1, 8);
    const Results made(transform, alm, MapArray({1, 1, 0}));
    for (const Complex a : made.back) EXPECT_EQ(a, Complex(0));
}

TEST_F(PointsOnCuda, NamesAPointThatIsNowhere) {
    const SphereSamples samples(options_on(Device::cuda(), 8, 0, 1e-9));
    const auto message = [&](const std::vector<double>& theta, const std::vector<double>& phi) {
        const core::DeviceArray<double> t(theta), p(phi);
        const auto n = std::ssize(theta);
        try {
            const PointPlan plan(samples, View<const double, 1>(t.data(), {n}, MemorySpace::cuda),
                                 View<const double, 1>(p.data(), {n}, MemorySpace::cuda));
        } catch (const InvalidArgument& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(message({1, 2, 3}, {0, 1e9, -1e9}), "");
    EXPECT_EQ(message({1, -1e-300, nan}, {0, 0, 0}), "theta = -1e-300: must be from 0 to pi (point 1)");
    EXPECT_NE(message({1, 2, nan}, {0, 0, 0}).find("(point 2)"), std::string::npos);
    EXPECT_NE(message({1, 2, 3}, {0, nan, 2e9}).find("phi = nan"), std::string::npos);
}

TEST_F(PointsOnCuda, RefusesSamplesOfAnotherDevice) {
    const Points points = points_everywhere(10);
    const SphereSamples there(options_on(Device::cuda(), 8, 0, 1e-9)),
        here(options_on(Device::cpu(), 8, 0, 1e-9));
    const PointPlan plan(there, points.theta_view(), points.phi_view());
    const auto array = here.make_array();
    MapArray values({1, 1, points.size()});
    EXPECT_THROW(plan.interpolate<double>(array, values.view()), InvalidArgument);
    const View<double, 3> false_place(values.data(), values.extents(), MemorySpace::cuda);
    EXPECT_THROW(plan.interpolate<double>(there.make_array(), false_place), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
