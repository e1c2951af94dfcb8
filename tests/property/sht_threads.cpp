#include <gtest/gtest.h>

#include <thread>

#include "sht_helpers.hpp"
#include "zonal/error.hpp"

// What must not depend on threads, workspaces and reports. ThreadSanitizer runs these tests.
namespace zonal::test {
namespace {

class ShtThreads : public ::testing::TestWithParam<int> {
  protected:
    const int spin = GetParam();
    const Grid grid = Grid::healpix(16);
    static constexpr std::int64_t lmax = 40;

    ShtPlan plan(int threads) const { return {grid, options_of(lmax, spin, -1, threads)}; }
};

TEST_P(ShtThreads, DoNotChangeAnyBit) {
    const ShtPlan serial = plan(1);
    const AlmArray alm = random_alm(serial.layout(), 3, serial.alm_components(), 1);
    const MapArray map = synthesis(serial, alm);
    const AlmArray projection = adjoint(serial, map), weighted = quadrature(serial, map);
    for (const int threads : {2, 3, 7}) {
        const ShtPlan parallel = plan(threads);
        EXPECT_EQ(largest_difference(synthesis(parallel, alm), map), 0) << threads;
        EXPECT_EQ(largest_difference(adjoint(parallel, map), projection), 0) << threads;
        EXPECT_EQ(largest_difference(quadrature(parallel, map), weighted), 0) << threads;
    }
}

TEST_P(ShtThreads, MayShareOnePlan) {
    const ShtPlan shared = plan(2);
    constexpr int n_users = 4;
    std::vector<AlmArray> alm, projections(n_users);
    std::vector<MapArray> maps(n_users);
    for (unsigned user = 0; user < n_users; ++user)
        alm.push_back(random_alm(shared.layout(), 1, shared.alm_components(), user));
    {
        std::vector<std::jthread> users;
        for (int user = 0; user < n_users; ++user)
            users.emplace_back([&, user] {
                maps[user] = synthesis(shared, alm[user]);
                projections[user] = adjoint(shared, maps[user]);
            });
    }
    const ShtPlan own = plan(1);
    for (int user = 0; user < n_users; ++user) {
        EXPECT_EQ(largest_difference(maps[user], synthesis(own, alm[user])), 0);
        EXPECT_EQ(largest_difference(projections[user], adjoint(own, maps[user])), 0);
    }
}

TEST_P(ShtThreads, FindTheSameInAUsedWorkspace) {
    const ShtPlan p = plan(2);
    ShtWorkspace workspace = p.make_workspace();
    for (const std::int64_t n_maps : {3, 1, 5}) {
        const AlmArray alm = random_alm(p.layout(), n_maps, p.alm_components(), 7);
        const MapArray expected = synthesis(p, alm);
        const AlmArray expected_alm = adjoint(p, expected);
        for (int repeat = 0; repeat < 2; ++repeat) {
            MapArray map(expected.extents());
            p.synthesize<double>(alm.view(), map.view(), workspace);
            AlmArray projection(alm.extents());
            p.adjoint_synthesis<double>(map.view(), projection.view(), workspace);
            EXPECT_EQ(largest_difference(map, expected), 0);
            EXPECT_EQ(largest_difference(projection, expected_alm), 0);
        }
    }
}

/// A workspace may go from plan to plan, larger or smaller, and between threads.
TEST_P(ShtThreads, FindTheSameInAnotherPlansWorkspace) {
    ShtWorkspace workspace = plan(3).make_workspace();
    for (const std::int64_t other_lmax : {7, 60, 20})
        for (const Grid& rings : {Grid::gauss_legendre(30, 17), Grid::healpix(4)}) {
            const ShtPlan p(rings, options_of(other_lmax, spin, -1, 2));
            const AlmArray alm = random_alm(p.layout(), 1, p.alm_components(), 7);
            MapArray map({1, p.map_components(), rings.n_pixels()});
            p.synthesize<double>(alm.view(), map.view(), workspace);
            EXPECT_EQ(largest_difference(map, synthesis(p, alm)), 0);
        }
}

TEST_P(ShtThreads, ReportProgressFromTheCallersThread) {
    const ShtPlan p = plan(3);
    AlmArray alm = random_alm(p.layout(), 9, p.alm_components(), 1);
    MapArray map({9, p.map_components(), grid.n_pixels()});
    const auto caller = std::this_thread::get_id();
    std::vector<double> reports;
    bool callers_thread = true;
    const Progress progress = [&](double done) {
        reports.push_back(done);
        callers_thread = callers_thread && std::this_thread::get_id() == caller;
        return true;
    };
    const auto check = [&] {
        ASSERT_GE(reports.size(), 2u);
        EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
        EXPECT_GE(reports.front(), 0);
        EXPECT_EQ(reports.back(), 1);
        EXPECT_TRUE(callers_thread);
        reports.clear();
    };
    p.synthesize<double>(alm.view(), map.view(), progress);
    check();
    p.adjoint_synthesis<double>(map.view(), alm.view(), progress);
    check();
}

TEST_P(ShtThreads, StopWhenTheCallerSaysSo) {
    const ShtPlan p = plan(3);
    AlmArray alm = random_alm(p.layout(), 9, p.alm_components(), 1);
    MapArray map({9, p.map_components(), grid.n_pixels()});
    ShtWorkspace workspace = p.make_workspace();
    for (const double limit : {0.0, 0.2}) {
        const Progress progress = [&](double done) { return done < limit; };
        EXPECT_THROW(p.synthesize<double>(alm.view(), map.view(), workspace, progress), Cancelled);
        EXPECT_THROW(p.adjoint_synthesis<double>(map.view(), alm.view(), workspace, progress), Cancelled);
    }
    // The workspace is as good as before.
    alm = random_alm(p.layout(), 9, p.alm_components(), 1);
    p.synthesize<double>(alm.view(), map.view(), workspace);
    EXPECT_EQ(largest_difference(map, synthesis(p, alm)), 0);
}

TEST_P(ShtThreads, OfACallbackThatThrowsPassItOn) {
    const ShtPlan p = plan(2);
    const AlmArray alm = random_alm(p.layout(), 1, p.alm_components(), 1);
    MapArray map({1, p.map_components(), grid.n_pixels()});
    const Progress progress = [](double) -> bool { throw std::runtime_error("mine"); };
    EXPECT_THROW(p.synthesize<double>(alm.view(), map.view(), progress), std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(Sht, ShtThreads, ::testing::Values(0, 1, 2, 3),
                         [](const auto& info) { return "Spin" + std::to_string(info.param); });

/// Many pixels against few coefficients, so that bands of rings follow one another (96 MiB each).
TEST(ShtThreadsOfBands, DoNotChangeAnyBit) {
    const Grid grid = Grid::gauss_legendre(2048, 4);
    const std::int64_t lmax = 500;
    const ShtPlan serial(grid, options_of(lmax, 2, -1, 1)), parallel(grid, options_of(lmax, 2, -1, 3));
    const AlmArray alm = random_alm(serial.layout(), 4, 2, 1);
    const MapArray map = synthesis(serial, alm);
    EXPECT_EQ(largest_difference(synthesis(parallel, alm), map), 0);
    EXPECT_EQ(largest_difference(adjoint(parallel, map), adjoint(serial, map)), 0);
}

}  // namespace
}  // namespace zonal::test
