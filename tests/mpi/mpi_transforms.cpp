#include <gtest/gtest.h>

#include "distributed_helpers.hpp"
#include "zonal/distributed/mpi.hpp"
#include "zonal/error.hpp"

// All ranks of a job run these tests.
namespace zonal::test {
namespace {

/// The first rank is the slowest, by a factor of the number of ranks.
std::vector<double> unequal_speeds(int n_ranks) {
    std::vector<double> speeds;
    for (int rank = 0; rank < n_ranks; ++rank) speeds.push_back(1.0 + rank);
    return speeds;
}

TEST(MpiTransforms, GiveTheBitsOfOneProcess) {
    const Communicator world(mpi::world());
    for (const auto& speeds : {std::vector<double>(world.size(), 1.0), unequal_speeds(world.size())}) {
        OneProcess<double>(Grid::healpix(28), cpu_options(60, 60, 0)).expect_of(world, speeds);
        OneProcess<float>(Grid::healpix(28), cpu_options(50, 40, 2), 2).expect_of(world, speeds);
    }
    // Large enough for several chunks, which travel while the next one is worked on.
    OneProcess<double>(Grid::healpix(256), cpu_options(256, 256, 0))
        .expect_of(world, unequal_speeds(world.size()));
}

TEST(MpiTransforms, ThrowOnAllRanksWhatFailsOnOne) {
    const Communicator world(mpi::world());
    const int last = world.size() - 1;
    const auto complaint = [&](const auto& call) {
        try {
            call();
        } catch (const InvalidArgument& error) {
            return std::string(error.what());
        }
        return std::string("nothing was thrown");
    };
    const std::string prefix = "rank " + std::to_string(last) + ": ";
    EXPECT_EQ(complaint([&] {
                  DistributedPlan(world, Grid::healpix(32),
                                  {cpu_options(world.rank() == last ? -1 : 32, -1, 0), {}});
              }),
              prefix + "lmax = -1: must be given, 0 or more");
    const DistributedPlan plan(world, Grid::healpix(32), {cpu_options(32, -1, 0), {}});
    for (int round = 0; round < 50; ++round) {
        const std::int64_t more = world.rank() == last ? 1 : 0;
        Array<Complex, 3> alm({1, 1, plan.local().layout().size()});
        Array<double, 3> map({1, 1, plan.local().grid().n_pixels() + more});
        EXPECT_EQ(complaint([&] {
                      plan.local().synthesize<double>(alm.view(), map.view());
                  }).find(prefix + "map: axis 2"),
                  0u);
    }
}

}  // namespace
}  // namespace zonal::test
