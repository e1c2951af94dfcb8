#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <new>
#include <string>

#include "distributed/device_link.hpp"
#include "distributed_helpers.hpp"
#include "sht/rings/ring_pairs.hpp"
#include "zonal/error.hpp"
#include "zonal/memory.hpp"
#include "zonal/sky/realization.hpp"
#include "zonal/spectrum.hpp"

// Transforms over ranks that are threads, against one process's, whose answers have tests of their own.
namespace zonal::test {
namespace {

using ::testing::Each, ::testing::ElementsAreArray, ::testing::HasSubstr;

const std::vector<std::vector<double>> all_jobs{
    {1}, {1, 1}, {1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1}, {4, 1}, {1, 0.1, 3}};

template <class T>
class DistributedTransforms : public ::testing::Test {
  protected:
    /// On the ranks of each job, given by their speeds.
    static void check(const Grid& grid, const ShtOptions& options, std::int64_t n_maps,
                      const std::vector<std::vector<double>>& jobs) {
        const OneProcess<T> expected(grid, options, n_maps);
        for (const auto& speeds : jobs) {
            const auto errors = on_ranks(static_cast<int>(speeds.size()), [&](const Communicator& ranks) {
                expected.expect_of(ranks, speeds);
            });
            EXPECT_THAT(errors, Each("")) << speeds.size() << " ranks";
        }
    }
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DistributedTransforms, Reals);

TYPED_TEST(DistributedTransforms, GiveTheBitsOfOneProcessOnHealpix) {
    TestFixture::check(Grid::healpix(28), cpu_options(60, 60, 0), 1, all_jobs);
    TestFixture::check(Grid::healpix(28), cpu_options(50, 40, 2), 1, all_jobs);
}

TYPED_TEST(DistributedTransforms, GiveThemForBatchesAndPartsOfFields) {
    TestFixture::check(Grid::healpix(16), cpu_options(32, 32, 0), 9, {{1, 1}, {1, 2, 1}});
    TestFixture::check(Grid::healpix(16), cpu_options(32, 32, 2), 5, {{1, 1, 1}});
    TestFixture::check(Grid::healpix(16), cpu_options(32, 20, 2, SpinParts::gradient), 1, {{1, 1}});
    TestFixture::check(Grid::healpix(16), cpu_options(32, 20, 1, SpinParts::curl), 1, {{1, 1}});
    TestFixture::check(Grid::healpix(16), cpu_options(30, 30, 3), 1, {{1, 1, 1}});
}

TYPED_TEST(DistributedTransforms, GiveThemOnOtherGridsAndPartsOfTheSky) {
    TestFixture::check(Grid::gauss_legendre(65, 129), cpu_options(64, 64, 0), 1, {{1, 1, 1, 1}});
    TestFixture::check(Grid::equidistant_cylindrical(80, 160), cpu_options(39, 39, 2), 1, {{1, 1, 1}});
    TestFixture::check(Grid::octahedral(20), cpu_options(19, 19, 0), 1, {{1, 1, 1}});
    TestFixture::check(Grid::reduced_gauss_legendre(41, 40, 2), cpu_options(40, 40, 2), 2, {{1, 2}});
    std::vector<std::int64_t> rings;
    for (std::int64_t ring = 10; ring < 47; ++ring) rings.push_back(ring);
    TestFixture::check(Grid::healpix(16).subset(rings), cpu_options(30, 30, 0), 1, {{1, 1}});
}

TYPED_TEST(DistributedTransforms, GiveThemForExactIntegralsOverTheta) {
    TestFixture::check(Grid::fejer1(113, 150), cpu_options(70, 70, 0), 1, all_jobs);
    TestFixture::check(Grid::clenshaw_curtis(66, 100), cpu_options(64, 47, 2), 2, {{1, 1, 1}, {4, 1}});
    TestFixture::check(Grid::driscoll_healy(48, 96), cpu_options(47, 47, 1), 1, {{1, 1}, {1, 0.1, 3}});
    TestFixture::check(Grid::mcewen_wiaux(48, 95), cpu_options(47, 46, 3), 1, {{1, 1, 1}});
}

/// More ranks than pairs of orders: some have no coefficient, and still their rings.
TYPED_TEST(DistributedTransforms, GiveThemToRanksWithoutOrders) {
    TestFixture::check(Grid::healpix(28), cpu_options(50, 3, 0), 1, {{1, 1, 1, 1, 1}});
    TestFixture::check(Grid::healpix(28), cpu_options(4, 4, 2), 1, {{1, 1, 1, 1, 1}});
}

TEST(DistributedPlan, GivesEveryPixelAndOrderToOneRank) {
    for (const auto& speeds : all_jobs) {
        const Grid grid = Grid::healpix(32);
        std::vector<int> pixels(grid.n_pixels()), orders(65);
        std::vector<RankShare> shares;
        std::mutex mutex;
        const auto errors = on_ranks(static_cast<int>(speeds.size()), [&](const Communicator& communicator) {
            const DistributedPlan plan(communicator, grid, {cpu_options(64, 64, 0), speeds});
            const std::lock_guard lock(mutex);
            EXPECT_LE(plan.pixels().size(), 2u);
            std::int64_t n_pixels = 0;
            for (const auto& range : plan.pixels())
                for (auto p = range.first; p < range.end; ++p) ++pixels[p], ++n_pixels;
            for (const auto m : plan.orders()) ++orders[m];
            if (shares.empty()) shares = plan.shares();
            EXPECT_EQ(plan.shares(), shares);
            const RankShare& own = plan.shares()[communicator.rank()];
            EXPECT_EQ(own.n_pixels, n_pixels);
            EXPECT_EQ(own.n_coefficients, plan.local().layout().size());
        });
        EXPECT_THAT(errors, Each(""));
        EXPECT_THAT(pixels, Each(1));
        EXPECT_THAT(orders, Each(1));
    }
}

/// T, E and B lie side by side, and so do I, Q and U.
TEST(DistributedPlan, HasTheSameSharesForEverySpin) {
    for (const int n_ranks : {3, 7})
        for (int rank = 0; rank < n_ranks; ++rank) {
            const auto plan = [&](int spin) {
                return DistributedPlan(Communicator::solo(rank, n_ranks), Grid::healpix(64),
                                       {cpu_options(160, 150, spin), {}});
            };
            const auto scalar = plan(0);
            for (const int spin : {1, 2, 9}) {
                const auto other = plan(spin);
                EXPECT_THAT(other.pixels(), ElementsAreArray(scalar.pixels()));
                EXPECT_THAT(other.orders(), ElementsAreArray(scalar.orders()));
            }
        }
}

TEST(DistributedPlan, RefusesWrongAndDifferentArgumentsOnAllRanks) {
    const auto errors_of = [](const auto& options_of_rank) {
        return on_ranks(3, [&](const Communicator& communicator) {
            DistributedPlan(communicator, Grid::healpix(16), options_of_rank(communicator.rank()));
        });
    };
    EXPECT_THAT(errors_of([](int rank) {
                    return DistributedOptions{cpu_options(rank == 1 ? -1 : 32, -1, 0), {}};
                }),
                Each(HasSubstr("rank 1: lmax = -1")));
    EXPECT_THAT(errors_of([](int rank) {
                    return DistributedOptions{cpu_options(30 + rank / 2, -1, 0), {}};
                }),
                Each(HasSubstr("lmax = 30, mmax = 30, spin = 0")));
    EXPECT_THAT(errors_of([](int rank) {
                    return DistributedOptions{cpu_options(30, -1, 0), {1, 1, 1.0 + rank}};
                }),
                Each(HasSubstr("all must make the same calls")));
    EXPECT_THAT(errors_of([](int) {
                    return DistributedOptions{cpu_options(30, -1, 0), {1, 0, 1}};
                }),
                Each(HasSubstr("speeds[1] = 0: must be positive")));
    EXPECT_THAT(errors_of([](int) {
                    return DistributedOptions{cpu_options(30, -1, 0), {1, 1}};
                }),
                Each(HasSubstr("speeds: has 2 values: must have 3")));
    EXPECT_THAT(errors_of([](int rank) {
                    DistributedOptions options{cpu_options(30, -1, 0), {}};
                    if (rank == 2) options.sht.device = Device::cuda(99);
                    return options;
                }),
                Each(HasSubstr("rank 2: device = cuda:99: ")));
    EXPECT_THAT(errors_of([](int) {
                    DistributedOptions options{cpu_options(30, -1, 0), {}};
                    options.sht.max_workspace_bytes = 1 << 30;
                    return options;
                }),
                Each(HasSubstr("max_workspace_bytes = 1073741824: must be 0")));
    const auto many = on_ranks(5, [](const Communicator& communicator) {
        DistributedPlan(communicator, Grid::healpix(16), {cpu_options(30, -1, 0), {}});
    });
    EXPECT_THAT(many, Each(HasSubstr("ranks: 5 are too many for healpix nside=16: must be at most 4")));
}

TEST(DistributedPlan, ThrowsOnAllRanksWhatFailsOnOne) {
    const Grid grid = Grid::healpix(16);
    const auto call = [&](const auto& work) {
        return on_ranks(3, [&](const Communicator& communicator) {
            const DistributedPlan plan(communicator, grid, {cpu_options(32, 32, 0), {}});
            Array<Complex, 3> alm({1, 1, plan.local().layout().size()});
            Array<double, 3> map({1, 1, plan.local().grid().n_pixels()});
            work(communicator.rank(), plan.local(), alm, map);
            // After an error the plan works as before it.
            plan.local().synthesize<double>(alm.view(), map.view());
        });
    };
    using Alm = Array<Complex, 3>;
    using Map = Array<double, 3>;
    // A wrong shape.
    const auto shape = call([](int rank, const ShtPlan& plan, Alm& alm, Map& map) {
        Map wrong({1, 1, map.extent(2) + 1});
        EXPECT_THROW(plan.synthesize<double>(alm.view(), rank == 2 ? wrong.view() : map.view()),
                     InvalidArgument);
        plan.synthesize<double>(alm.view(), rank == 2 ? wrong.view() : map.view());
    });
    EXPECT_THAT(shape, Each(HasSubstr("rank 2: map: axis 2 (pixel) has length")));
    // Other calls.
    const auto calls = call([](int rank, const ShtPlan& plan, Alm& alm, Map& map) {
        if (rank == 0)
            plan.synthesize<double>(alm.view(), map.view());
        else
            plan.adjoint_synthesis<double>(map.view(), alm.view());
    });
    EXPECT_THAT(calls, Each(HasSubstr("rank 0 makes synthesis of 1 maps")));
    // One rank is cancelled, at any point.
    for (int at = 0; at < 6; ++at) {
        const auto cancelled = call([at](int rank, const ShtPlan& plan, Alm& alm, Map& map) {
            int calls = 0;
            Progress progress;
            if (rank == 1) progress = [&calls, at](double) { return calls++ < at; };
            try {
                plan.adjoint_synthesis<double>(map.view(), alm.view(), progress);
            } catch (const Cancelled& error) {
                EXPECT_THAT(error.what(), HasSubstr("rank 1: transform: cancelled"));
            }
        });
        EXPECT_THAT(cancelled, Each(""));
    }
    // Weights of pixels that one rank gets wrong.
    const auto weights = call([](int rank, const ShtPlan& plan, Alm& alm, Map& map) {
        const std::vector<double> values(plan.grid().n_pixels(), rank == 1 ? -1.0 : 1.0);
        AnalysisOptions options{.iterations = 1};
        options.pixel_weights = View<const double, 1>(values.data(), {map.extent(2)});
        analyze<double>(plan, map.view(), alm.view(), options);
    });
    EXPECT_THAT(weights, Each(HasSubstr("rank 1: pixel_weights[0] = -1")));
}

/// A rank draws its orders' coefficients as one process draws them.
TEST(DistributedPlan, SimulatesAndAnalysesSkiesOfWhichEachRankHasAPart) {
    const Grid grid = Grid::healpix(28);
    const ShtOptions options = cpu_options(50, 50, 0);
    SkySpectra spectra;
    for (int l = 0; l <= 50; ++l) spectra.tt.push_back(1 / (1.0 + l * l));
    const ShtPlan plan(grid, options);
    Array<Complex, 3> alm({1, 1, plan.layout().size()});
    realize<double>(spectra, 7, plan.layout(), alm.view()[0]);
    Array<double, 3> sky({1, 1, grid.n_pixels()});
    plan.synthesize<double>(alm.view(), sky.view());
    const auto expected = cross_spectrum<double>(plan.layout(), alm.view()[0][0], alm.view()[0][0]);
    const auto errors = on_ranks(4, [&](const Communicator& communicator) {
        const DistributedPlan distributed(communicator, grid, {options, {}});
        const AlmLayout& layout = distributed.local().layout();
        Array<Complex, 3> alm_here({1, 1, layout.size()});
        realize<double>(spectra, 7, layout, alm_here.view()[0]);
        Array<double, 3> sky_here({1, 1, distributed.local().grid().n_pixels()});
        distributed.local().synthesize<double>(alm_here.view(), sky_here.view());
        const Parts parts{distributed, plan.layout()};
        EXPECT_EQ(parts.other_pixels<double>(sky_here.view(), sky.view()), 0);
        const auto found =
            communicator.sum(cross_spectrum<double>(layout, alm_here.view()[0][0], alm_here.view()[0][0]));
        // Sums of 51 positive numbers in another order.
        for (int l = 0; l <= 50; ++l) EXPECT_NEAR(found[l], expected[l], 51 * eps * expected[l]);
    });
    EXPECT_THAT(errors, Each(""));
    const auto lengths = on_ranks(2, [](const Communicator& communicator) {
        communicator.sum(std::vector<double>(communicator.rank() + 3));
    });
    EXPECT_THAT(lengths, Each("values: rank 0 has 3, and rank 1 has 4: must be equally many"));
}

TEST(Together, HandsOnWhatKindOfErrorItWas) {
    const auto errors_of = [](const auto& fail) {
        return on_ranks(3, [&](const Communicator& ranks) {
            try {
                ranks.together("work", [&] {
                    if (ranks.rank() == 1) fail();
                });
            } catch (const OutOfMemory& error) {
                throw Error(std::string("memory: ") + error.what());
            } catch (const BackendUnavailable& error) {
                throw Error(std::string("backend: ") + error.what());
            }
        });
    };
    EXPECT_THAT(errors_of([] { throw std::bad_alloc(); }), Each("memory: rank 1: not enough memory"));
    EXPECT_THAT(errors_of([] { throw OutOfMemory("too large"); }), Each("memory: rank 1: too large"));
    EXPECT_THAT(errors_of([] { throw BackendUnavailable("no GPU"); }), Each("backend: rank 1: no GPU"));
}

TEST(Exchange, NeedsAMessageForEachRank) {
    const auto errors = on_ranks(3, [](const Communicator& ranks) {
        ranks.exchange(std::vector<std::string>(ranks.rank() == 1 ? 2 : 3));
    });
    EXPECT_THAT(errors, Each("rank 1: outgoing: has 2 messages: must have 3, one for each rank"));
}

TEST(RequiredMemory, IsThatOfAllRanksOfAMachine) {
    const auto available = available_memory();
    const auto errors_for = [](double bytes) {
        return on_ranks(3, [bytes](const Communicator& ranks) { ranks.require_memory(bytes, "a map"); });
    };
    EXPECT_THAT(errors_for(1e6), Each(""));
    EXPECT_THAT(errors_for(2 * available.bytes), Each(HasSubstr("a map needs")));
    if (!available.is_shared) GTEST_SKIP() << "a limit of the process hides that of the machine";
    // Each has room for its own, but not for the others', too.
    EXPECT_THAT(errors_for(0.6 * available.bytes), Each(HasSubstr("for 3 of 3 ranks; ")));
}

TEST(OwnDevice, IsTheCpuWhereNothingElseIsAskedForOrThere) {
    const auto has_gpu = [] {
        try {
            return resolve_device(Device::cuda()).kind() == Device::Kind::cuda;
        } catch (const BackendUnavailable&) {
            return false;
        }
    };
    EXPECT_THAT(on_ranks(3,
                         [](const Communicator& ranks) {
                             EXPECT_EQ(ranks.own_device(Device::Kind::cpu), Device::cpu());
                         }),
                Each(""));
    if (has_gpu()) GTEST_SKIP() << "is for machines without a GPU";
    EXPECT_THAT(on_ranks(3,
                         [](const Communicator& ranks) {
                             EXPECT_EQ(ranks.own_device(Device::Kind::automatic), Device::cpu());
                             ranks.own_device(Device::Kind::cuda);
                         }),
                Each(HasSubstr("device = cuda:0: ")));
    EXPECT_THAT(on_ranks(2,
                         [](const Communicator& ranks) {
                             ShtOptions options = cpu_options(30, 30, 0);
                             options.device = Device::automatic();
                             const DistributedPlan plan(ranks, Grid::healpix(16), {options, {}});
                             EXPECT_EQ(plan.exchange().reason, "rank 0 computes on the CPU");
                         }),
                Each(""));
}

TEST(OwnDevice, LeavesAloneWhatARankChooses) {
    EXPECT_THAT(on_ranks({Device::cpu(), Device::cuda(3), Device::automatic()},
                         [](const Communicator& ranks, Device device) {
                             const Device found = ranks.resolve_device(device);
                             if (device.kind() == Device::Kind::automatic) {
                                 EXPECT_EQ(found, resolve_device(device, ranks.rank()));
                             } else
                                 EXPECT_EQ(found, device);
                         }),
                Each(""));
}

TEST(ExchangeWay, IsNcclWhereEveryRankHasADeviceOfItsOwn) {
    using distributed::why_no_nccl;
    EXPECT_EQ(why_no_nccl({{"a", ""}}), "");
    EXPECT_EQ(why_no_nccl({{"a", ""}, {"b", ""}, {"c", ""}}), "");
    EXPECT_EQ(why_no_nccl({{"a", ""}, {"", ""}}), "rank 1 computes on the CPU");
    EXPECT_EQ(why_no_nccl({{"a", ""}, {"b", "libnccl.so.2: not found"}}), "rank 1: libnccl.so.2: not found");
    EXPECT_EQ(why_no_nccl({{"a", ""}, {"b", ""}, {"a", ""}}),
              "ranks 0 and 2 have the same GPU, and each must have its own");
}

TEST(ExchangeWay, IsHostMemoryOnCpusAndRefusedOtherwise) {
    const auto errors_with = [](int n_ranks, const auto& way_of, ExchangeReport& found) {
        return on_ranks(n_ranks, [&](const Communicator& ranks) {
            const DistributedPlan plan(ranks, Grid::healpix(16),
                                       {cpu_options(30, 30, 0), {}, way_of(ranks.rank())});
            if (ranks.rank() == 0) found = plan.exchange();
        });
    };
    ExchangeReport found;
    for (const int n_ranks : {1, 2}) {
        const auto always = [](ExchangeWay way) { return [way](int) { return way; }; };
        EXPECT_THAT(errors_with(n_ranks, always(ExchangeWay::automatic), found), Each(""));
        EXPECT_EQ(found.way, ExchangeWay::host);
        EXPECT_EQ(found.text(), n_ranks == 1 ? "host memory (a rank that is alone sends nothing)"
                                             : "host memory (rank 0 computes on the CPU)");
        EXPECT_THAT(errors_with(n_ranks, always(ExchangeWay::host), found), Each(""));
        EXPECT_EQ(found.text(), "host memory (it was asked for)");
        EXPECT_THAT(errors_with(n_ranks, always(ExchangeWay::nccl), found),
                    Each("exchange = nccl: rank 0 computes on the CPU: must be automatic or host for these "
                         "ranks"));
    }
    const DistributedPlan share(Communicator::solo(1, 2), Grid::healpix(16), {cpu_options(30, 30, 0)});
    EXPECT_EQ(share.exchange().text(), "host memory (a rank that is alone sends nothing)");
    const auto other = [](int rank) { return rank == 0 ? ExchangeWay::host : ExchangeWay::automatic; };
    EXPECT_THAT(errors_with(2, other, found),
                Each(HasSubstr("rank 0 makes a plan with exchange = host, and rank 1 a plan with exchange = "
                               "automatic")));
}

/// What ranks send is what no rank can do without: F_m of rings elsewhere.
TEST(DistributedPlan, SendsWhatOtherRanksNeedAndNoMore) {
    const auto solo = [](int n_ranks) {
        return DistributedPlan(Communicator::solo(0, n_ranks), Grid::healpix(512),
                               {cpu_options(1024, 1024, 0), {}});
    };
    const sht::RingPairs pairs(Grid::healpix(512), 1024, 1024, 0);
    double modes = 0;  // of all blocks of 8 pairs, 32 doubles a mode
    for (const std::int64_t m : pairs.last_m) modes += static_cast<double>(m + 1) * 32 * 8;
    for (const int n : {2, 3, 8, 32}) {
        const auto plan = solo(n);
        double sent = 0, most_flops = 0, flops = 0;
        for (const RankShare& share : plan.shares()) {
            sent += static_cast<double>(share.bytes_sent);
            most_flops = std::max(most_flops, share.legendre_flops);
            flops += share.legendre_flops;
        }
        // Shares of pixels and orders are not quite equal, which moves a per cent from one rank to another.
        EXPECT_NEAR(sent / (modes * (n - 1) / n), 1, 0.01) << n;
        EXPECT_LE(most_flops / (flops / n), 1.03) << n;
    }
}

}  // namespace
}  // namespace zonal::test
