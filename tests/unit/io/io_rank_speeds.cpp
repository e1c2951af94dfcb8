#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "distributed_helpers.hpp"
#include "zonal/io/cache.hpp"
#include "zonal/io/cost_model.hpp"

namespace zonal::test {
namespace {

/// A cache folder of its own, for a test.
class CacheFolder {
  public:
    CacheFolder()
        : path_((std::filesystem::temp_directory_path() / ("zonal_speeds" + std::to_string(getpid())))
                    .string()),
          before_(std::getenv("XDG_CACHE_HOME") == nullptr ? "" : std::getenv("XDG_CACHE_HOME")) {
        std::filesystem::create_directory(path_);
        setenv("XDG_CACHE_HOME", path_.c_str(), 1);
    }
    ~CacheFolder() {
        before_.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before_.c_str(), 1);
        std::filesystem::remove_all(path_);
    }
    CacheFolder(const CacheFolder&) = delete;
    CacheFolder& operator=(const CacheFolder&) = delete;

  private:
    std::string path_, before_;
};

/// As zonal calibrate, of a machine that takes this for a floating point operation.
void write_costs(int threads, double legendre_flop) {
    auto costs = default_cost_model(1).devices[0];
    costs.scalar.smoothing = {.legendre_flop = legendre_flop};
    io::write_cost_model(io::cost_cache_path(io::make_cache_folder(), threads),
                         {machine_fingerprint(threads), {costs}});
}

TEST(MeasuredSpeeds, AreTheInversesOfWhatATransformTakesEachRank) {
    const CacheFolder folder;
    for (const int threads : {1, 2, 3}) write_costs(threads, threads == 2 ? 4e-10 : 1e-10 * threads);
    const auto errors = on_ranks(3, [](const Communicator& ranks) {
        const auto speeds =
            io::measured_speeds(ranks, Grid::healpix(64), 100, ranks.rank() + 1, Device::cpu());
        ASSERT_EQ(speeds.size(), 3);
        // A few products are rounded; files hold all digits.
        EXPECT_DOUBLE_EQ(speeds[1] / speeds[0], 1.0 / 4);
        EXPECT_DOUBLE_EQ(speeds[2] / speeds[0], 1.0 / 3);
        EXPECT_DOUBLE_EQ(1 / speeds[0],
                         1e-10 * transform_work(Grid::healpix(64), 100, Device::cpu()).legendre_flops);
        const DistributedPlan plan(ranks, Grid::healpix(64), {cpu_options(100, 100, 0), speeds});
        const auto& shares = plan.shares();
        EXPECT_GT(shares[0].legendre_flops, 2.5 * shares[1].legendre_flops);
        EXPECT_EQ(plan.speeds(), speeds);
    });
    EXPECT_THAT(errors, testing::Each(""));
}

TEST(MeasuredSpeeds, AreAnErrorOnAllRanksWhereOneHasNotMeasuredThem) {
    const CacheFolder folder;
    write_costs(1, 1e-10);
    const auto errors = on_ranks(2, [](const Communicator& ranks) {
        io::measured_speeds(ranks, Grid::healpix(64), 100, ranks.rank() + 1, Device::cpu());
    });
    EXPECT_THAT(errors,
                testing::Each(testing::HasSubstr("rank 1: threads = 2, device = cpu: speeds follow")));
}

}  // namespace
}  // namespace zonal::test
