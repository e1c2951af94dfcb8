#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "point_helpers.hpp"
#include "sht/transform_cache.hpp"
#include "zonal/analysis.hpp"
#include "zonal/error.hpp"

// What is kept between calls: plans by their grid and options, scratch memory, rings.
namespace zonal::test {
namespace {

constexpr std::int64_t usual_limit = std::int64_t{256} << 20;

class TransformCache : public ::testing::Test {
  protected:
    TransformCache() { clear_caches(); }
    ~TransformCache() override {
        set_cache_limit(usual_limit);
        clear_caches();
    }
    TransformCache(const TransformCache&) = delete;
    TransformCache& operator=(const TransformCache&) = delete;

    static ShtOptions options(std::int64_t lmax = 12) {
        ShtOptions all = options_of(lmax);
        all.device = Device::cpu();
        all.threads = 1;
        return all;
    }
};

TEST_F(TransformCache, GivesTheSamePlanForTheSameGridAndOptions) {
    const auto first = kept_plan(Grid::healpix(8), options());
    EXPECT_EQ(kept_plan(Grid::healpix(8), options()), first);
    ShtOptions written_out = options();
    written_out.mmax = 12;
    EXPECT_EQ(kept_plan(Grid::healpix(8), written_out), first) << "that is what -1 stands for";
    clear_caches();
    EXPECT_NE(kept_plan(Grid::healpix(8), options()), first);
}

TEST_F(TransformCache, GivesAnotherPlanForEveryOtherOption) {
    const auto first = kept_plan(Grid::healpix(8), options());
    const std::vector<std::function<void(ShtOptions&)>> changes{
        [](ShtOptions& all) { all.lmax = 13; },       [](ShtOptions& all) { all.mmax = 11; },
        [](ShtOptions& all) { all.spin = 2; },        [](ShtOptions& all) { all.threads = 2; },
        [](ShtOptions& all) { all.accuracy = 1e-6; },
    };
    for (const auto& change : changes) {
        ShtOptions other = options();
        change(other);
        const auto plan = kept_plan(Grid::healpix(8), other);
        EXPECT_NE(plan, first);
        EXPECT_EQ(plan->options().lmax, other.lmax);
        EXPECT_EQ(plan->options().mmax, other.mmax == -1 ? other.lmax : other.mmax);
        EXPECT_EQ(plan->options().spin, other.spin);
        EXPECT_EQ(plan->options().threads, other.threads);
        EXPECT_EQ(plan->options().accuracy, other.accuracy);
    }
    ShtOptions polarized = options();
    polarized.spin = 2;
    const auto both = kept_plan(Grid::healpix(8), polarized);
    polarized.parts = SpinParts::curl;
    EXPECT_NE(kept_plan(Grid::healpix(8), polarized), both);
    EXPECT_EQ(kept_plan(Grid::healpix(8), options()), first) << "which is still there";
}

TEST_F(TransformCache, TellsGridsApartThatDifferInOneRingOrInHowTheyWereMade) {
    const Grid made = Grid::fejer1(14, 29);
    const auto first = kept_plan(made, options());
    EXPECT_EQ(kept_plan(Grid::fejer1(14, 29), options()), first) << "whose rings are others in memory";
    EXPECT_NE(kept_plan(Grid::fejer1(14, 29, 0.1), options()), first);
    EXPECT_NE(kept_plan(Grid::fejer1(14, 30), options()), first);
    // The same rings without the rule over theta, whatever the name.
    const auto same_rings = kept_plan(Grid(made.rings(), made.n_pixels(), made.name()), options());
    EXPECT_NE(same_rings, first);
    EXPECT_FALSE(same_rings->grid().equidistant());
    auto rings = made.rings();
    rings[3].weight *= 2;
    const Grid weighted(rings, made.n_pixels(), made.name());
    EXPECT_EQ(kept_plan(weighted, options())->grid().rings()[3].weight, rings[3].weight);
}

TEST_F(TransformCache, MakesThePlanThatRefusesWhatAPlanRefuses) {
    EXPECT_THROW(kept_plan(Grid::healpix(8), options(-1)), InvalidArgument);
    ShtOptions high = options();
    high.mmax = 13;
    EXPECT_THROW(kept_plan(Grid::healpix(8), high), InvalidArgument);
    EXPECT_THROW(set_cache_limit(-1), InvalidArgument);
}

TEST_F(TransformCache, KeepsNoMoreThanItsLimitAndWhatWasUsedLast) {
    const Grid grid = Grid::fejer1(16, 33);
    EXPECT_GT(cached_bytes(), 0) << "nodes";
    const auto first = kept_plan(grid, options(8));
    const auto second = kept_plan(grid, options(9));
    EXPECT_EQ(kept_plan(grid, options(8)), first);
    const auto both = cached_bytes();
    kept_plan(grid, options(10));
    EXPECT_GT(cached_bytes(), both);
    // As many as two plans of three take: that which was used longest ago goes.
    set_cache_limit(both + both / 10);
    EXPECT_LE(cached_bytes(), both + both / 10);
    EXPECT_EQ(kept_plan(grid, options(8)), first);
    EXPECT_NE(kept_plan(grid, options(9)), second);
    set_cache_limit(0);
    EXPECT_EQ(cached_bytes(), 0);
    EXPECT_NE(kept_plan(grid, options(8)), kept_plan(grid, options(8))) << "nothing is kept";
    EXPECT_EQ(cached_bytes(), 0);
}

/// Where the F_m lie, which a transform takes room for: the same memory at the second call.
std::int64_t bytes_after(const ShtPlan& plan) {
    MapArray map({1, plan.map_components(), plan.grid().n_pixels()});
    const AlmArray alm = random_alm(plan.layout(), 1, plan.alm_components(), 5);
    plan.synthesize<double>(alm.view(), map.view());
    return cached_bytes();
}

TEST_F(TransformCache, KeepsScratchMemoryForAllPlansAndTakesItOnce) {
    const ShtPlan scalar(Grid::healpix(16), options(40));
    ShtOptions polarized = options(40);
    polarized.spin = 2;
    const ShtPlan spin(Grid::healpix(16), polarized);
    const auto rings = cached_bytes();
    const auto once = bytes_after(scalar);
    EXPECT_GT(once, rings);
    EXPECT_EQ(bytes_after(scalar), once);
    const auto grown = bytes_after(spin);
    EXPECT_GT(grown, once) << "for it has two components";
    EXPECT_EQ(bytes_after(scalar), grown) << "the same memory";
    ShtWorkspace taken = take_workspace(scalar);
    EXPECT_EQ(cached_bytes(), rings) << "what is used is not kept";
    leave_workspace(spin, std::move(taken));
    EXPECT_EQ(cached_bytes(), grown);
    set_cache_limit(grown + grown / 4);
    EXPECT_EQ(cached_bytes(), grown);
    leave_workspace(scalar, take_workspace(scalar));
    EXPECT_LE(cached_bytes(), rings) << "it is more than half of the limit";
}

TEST_F(TransformCache, FreesScratchMemoryAlone) {
    const auto plan = kept_plan(Grid::healpix(16), options(40));
    const auto without = cached_bytes();
    EXPECT_GT(bytes_after(*plan), without);
    clear_workspaces();
    EXPECT_EQ(cached_bytes(), without);
    EXPECT_EQ(kept_plan(Grid::healpix(16), options(40)), plan);
}

TEST_F(TransformCache, LeavesScratchMemoryToWhatIsLittleSmaller) {
    core::Scratch memory = sht::take_scratch(1000);
    const double* const first = memory.reserve(1000);
    EXPECT_EQ(cached_bytes(), 0) << "what is used is not kept";
    sht::leave_scratch(std::move(memory));
    EXPECT_EQ(cached_bytes(), 8000);
    memory = sht::take_scratch(800);
    EXPECT_EQ(memory.reserve(800), first);
    EXPECT_EQ(cached_bytes(), 0);
    sht::leave_scratch(std::move(memory));
    EXPECT_EQ(sht::take_scratch(799).bytes(), 799 * 8) << "it is too large";
    EXPECT_EQ(cached_bytes(), 0) << "and makes room";
    for (int i = 0; i < 3; ++i) sht::leave_scratch(sht::take_scratch(100 + 30 * i));
    EXPECT_EQ(cached_bytes(), 160 * 8) << "each was too small for the next";
    sht::leave_scratch(sht::take_scratch(1000));
    sht::leave_scratch({});
    EXPECT_EQ(cached_bytes(), 8000);
    const auto plan = kept_plan(Grid::healpix(2), options(2));
    const auto both = cached_bytes();
    set_cache_limit(both);  // of which a 16th is for rings
    EXPECT_EQ(cached_bytes(), both - 8000) << "it was used first";
    EXPECT_EQ(kept_plan(Grid::healpix(2), options(2)), plan);
    sht::leave_scratch(sht::take_scratch(both / 8));
    EXPECT_EQ(cached_bytes(), both - 8000) << "more than half of the limit";
}

TEST_F(TransformCache, PointsDoNotReadWhatTheirMemoryHeldBefore) {
    constexpr std::int64_t n = 300;
    const PointOptions all = point_options(40, 2, 1e-9);
    Array<double, 1> theta({n}), phi({n});
    for (std::int64_t i = 0; i < n; ++i) theta(i) = 0.01 * (i + 1), phi(i) = 0.7 * i;
    const AlmArray alm = random_spin_alm(AlmLayout(40), 1, 2, 2, 3);
    AlmArray not_numbers = alm;
    std::fill_n(not_numbers.data(), not_numbers.size(), std::complex<double>(std::nan(""), std::nan("")));
    const auto made_of = [&](const AlmArray& given, AlmArray& back) {
        const PointTransform transform(theta.view(), phi.view(), all);
        PointWorkspace workspace = transform.make_workspace();
        MapArray values({1, 2, n});
        transform.synthesize<double>(given.view(), values.view(), workspace);
        transform.adjoint<double>(values.view(), back.view(), workspace);
        return values;
    };
    AlmArray expected_back = alm, back = alm;
    const MapArray expected = made_of(alm, expected_back);
    made_of(not_numbers, back);
    EXPECT_GT(cached_bytes(), 1 << 16) << "samples and points";
    EXPECT_EQ(relative_difference(made_of(alm, back), expected), 0);
    EXPECT_EQ(relative_difference(back, expected_back), 0);
}

TEST_F(TransformCache, DoesNotChangeResults) {
    const Grid grid = Grid::healpix(16);
    // The call before had another spin and size, and left its numbers in the scratch memory.
    for (const int spin : {2, 0, 1}) {
        ShtOptions all = options(20 + 7 * spin);
        all.spin = spin;
        const ShtPlan own(grid, all);
        ShtWorkspace fresh = own.make_workspace();
        const AlmArray alm = random_alm(own.layout(), 2, own.alm_components(), 9);
        MapArray expected({2, own.map_components(), grid.n_pixels()}), map = expected;
        own.synthesize<double>(alm.view(), expected.view(), fresh);
        AlmArray expected_back = alm, back = alm;
        analyze<double>(own, expected.view(), expected_back.view(), fresh, {.iterations = 2});
        for (int call = 0; call < 2; ++call) {
            const auto plan = kept_plan(Grid::healpix(16), all);
            plan->synthesize<double>(alm.view(), map.view());
            EXPECT_EQ(relative_difference(map, expected), 0);
            analyze<double>(*plan, map.view(), back.view(), {.iterations = 2});
            EXPECT_EQ(relative_difference(back, expected_back), 0);
        }
    }
}

TEST_F(TransformCache, ServesManyThreadsAtOnce) {
    const ShtPlan own(Grid::healpix(8), options());
    const AlmArray alm = random_alm(own.layout(), 1, 1, 2);
    const MapArray expected = synthesis(own, alm);
    std::vector<double> differences(4, 1.0);
    std::vector<std::thread> threads;
    for (auto& difference : differences)
        threads.emplace_back([&] {
            double largest = 0;
            for (int call = 0; call < 50; ++call) {
                MapArray map({1, 1, own.grid().n_pixels()});
                kept_plan(Grid::healpix(8), options(12))->synthesize<double>(alm.view(), map.view());
                largest = std::max(largest, relative_difference(map, expected));
                if (call % 10 == 0) clear_caches();
            }
            difference = largest;
        });
    for (auto& thread : threads) thread.join();
    for (const double difference : differences) EXPECT_EQ(difference, 0);
}

TEST(KeptGrids, ShareTheirRings) {
    clear_caches();
    const Grid first = Grid::healpix(4), second = Grid::healpix(4);
    EXPECT_EQ(first.rings().data(), second.rings().data());
    EXPECT_EQ(Grid::gauss_legendre(6, 9, 0.5).rings().data(), Grid::gauss_legendre(6, 9, 0.5).rings().data());
    EXPECT_NE(Grid::gauss_legendre(6, 9, 0.5).rings()[0].phi_0, Grid::gauss_legendre(6, 9).rings()[0].phi_0);
    EXPECT_EQ(Grid::octahedral(4).n_rings(), 8);
    EXPECT_EQ(Grid::octahedral(5).n_rings(), 10);
    EXPECT_EQ(Grid::reduced_gauss_legendre(9, 8, 0).n_rings(), 9);
    EXPECT_EQ(Grid::reduced_gauss_legendre(9, 8, 2).name(), "reduced_gauss_legendre n_rings=9 lmax=8 spin=2");
    EXPECT_EQ(Grid::reduced_gauss_legendre(9, 7, 2).name(), "reduced_gauss_legendre n_rings=9 lmax=7 spin=2");
    clear_caches();
    const Grid anew = Grid::healpix(4);
    EXPECT_NE(anew.rings().data(), first.rings().data());
    EXPECT_EQ(anew, first);
    EXPECT_FALSE(anew == Grid::healpix(5));
    EXPECT_FALSE(anew == Grid(first.rings(), first.n_pixels(), first.name()))
        << "which is not known as HEALPix";
    clear_caches();
    set_cache_limit(16 * 15 * static_cast<std::int64_t>(sizeof(Ring)));  // a 16th is for 15 rings
    Grid::healpix(4);
    EXPECT_EQ(cached_bytes(), 15 * static_cast<std::int64_t>(sizeof(Ring)));
    Grid::healpix(5);
    EXPECT_EQ(cached_bytes(), 15 * static_cast<std::int64_t>(sizeof(Ring))) << "too large";
    Grid::healpix(2);
    EXPECT_EQ(cached_bytes(), 7 * static_cast<std::int64_t>(sizeof(Ring))) << "the last one";
    set_cache_limit(usual_limit);
    clear_caches();
}

}  // namespace
}  // namespace zonal::test
