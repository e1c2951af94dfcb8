#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "distributed/rank_sky.hpp"
#include "distributed/transport.hpp"
#include "distributed_helpers.hpp"
#include "planning/way_seconds.hpp"
#include "zonal/planning/planner.hpp"

// The choice of a way over several ranks.
namespace zonal::test {
namespace {

using enum ConvolutionMethod;

TEST(ExposedSeconds, AreOfTheChunkThatIsAloneAndOfWhatTakesLongerThanTheStage) {
    EXPECT_DOUBLE_EQ(planning::exposed_seconds(5, 3, 1), 3);
    EXPECT_DOUBLE_EQ(planning::exposed_seconds(5, 4, 4), 1);
    EXPECT_DOUBLE_EQ(planning::exposed_seconds(5, 9, 4), 2.25 + 0.75 * 4);
    EXPECT_EQ(planning::exposed_seconds(5, 0, 4), 0);
}

constexpr std::int64_t lmax = 256;

ConvolutionRequest request_of(double fwhm, bool has_spin = false) {
    ConvolutionRequest request;
    request.grid = Grid::healpix(128);
    request.kernel = RadialKernel::gaussian(fwhm);
    if (has_spin) request.polarization = PolarizationKernel::gaussian(fwhm);
    request.lmax = lmax;
    request.n_maps = 1;
    request.error = 1e-4;
    request.reference = ConvolutionReference::discrete;
    request.gain = 0.1;
    request.threads = 1;
    return request;
}

const ConvolutionChoice& first_of(const std::vector<ConvolutionChoice>& choices, ConvolutionMethod method) {
    return *std::find_if(choices.begin(), choices.end(),
                         [&](const auto& choice) { return choice.method == method; });
}

struct Planned {
    std::vector<ConvolutionChoice> choices;
    TransformShare transform;
    Traffic halo;  ///< of the first choice of ring FFTs
};

/// What each rank plans by costs that are `slower` than usual, [rank].
std::vector<Planned> plan_on_ranks(const ConvolutionRequest& request, const std::vector<double>& slower,
                                   const MessageCosts& messages, const std::vector<double>& speeds = {}) {
    std::vector<Planned> planned(slower.size());
    const auto errors = on_ranks(static_cast<int>(slower.size()), [&](const Communicator& ranks) {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        ranks.transport()->message_costs = messages;
        const distributed::RankSky sky(ranks, request.grid, lmax, lmax, 1, speeds, Device::cpu());
        auto costs = default_cost_model(1);
        for (auto* one : {&costs.devices[0].scalar, &costs.devices[0].polarization}) {
            for (auto* cost : {&one->smoothing, &one->iteration}) {
                cost->legendre_flop *= slower[rank];
                cost->pixel *= slower[rank];
            }
            for (auto* cost : {&one->ring_fft_single, &one->ring_fft_double})
                for (auto* each : {&cost->kernel_value, &cost->mode_product, &cost->pixel_product,
                                   &cost->uneven_product, &cost->pixel_row, &cost->fft_pixel})
                    *each *= slower[rank];
        }
        auto& mine = planned[rank];
        mine.choices = plan_convolution(request, costs, Device::automatic(), sky);
        mine.transform = sky.transform_share(lmax, request.polarization ? 2 : 0);
        if (request.method == automatic)
            mine.halo = sky.halo_share(first_of(mine.choices, ring_fft).support).traffic;
    });
    EXPECT_THAT(errors, testing::Each(""));
    return planned;
}

void expect_same(const std::vector<ConvolutionChoice>& choices,
                 const std::vector<ConvolutionChoice>& expected, double tolerance) {
    ASSERT_EQ(choices.size(), expected.size());
    for (std::size_t i = 0; i < choices.size(); ++i) {
        EXPECT_EQ(choices[i].method, expected[i].method) << i;
        EXPECT_EQ(choices[i].precision, expected[i].precision) << i;
        EXPECT_EQ(choices[i].support, expected[i].support) << i;
        EXPECT_EQ(choices[i].l_cut, expected[i].l_cut) << i;
        EXPECT_EQ(choices[i].excluded, expected[i].excluded) << i;
        EXPECT_NEAR(choices[i].seconds, expected[i].seconds, tolerance * expected[i].seconds) << i;
    }
}

TEST(DistributedPlanning, OfOneRankIsThatOfOneProcess) {
    for (const bool has_spin : {false, true}) {
        const auto request = request_of(0.05, has_spin);
        const auto planned = plan_on_ranks(request, {1}, {1, 1});
        // 1e-12: a share of all of the work is 1 to rounding.
        expect_same(planned[0].choices, plan_convolution(request, default_cost_model(1), Device::cpu()),
                    1e-12);
        for (const auto& choice : planned[0].choices) EXPECT_EQ(choice.exchange_seconds, 0);
    }
}

TEST(DistributedPlanning, OfRanksIsTheSameOnAllAndOfTheSlowest) {
    const auto request = request_of(0.05);
    const auto one = plan_convolution(request, default_cost_model(1), Device::cpu());
    const auto even = plan_on_ranks(request, {1, 1, 1}, {});
    const std::vector<std::vector<Planned>> uneven{plan_on_ranks(request, {8, 1, 1}, {}),
                                                   plan_on_ranks(request, {1, 8, 1}, {}),
                                                   plan_on_ranks(request, {1, 1, 8}, {})};
    for (const auto& rank : even) expect_same(rank.choices, even[0].choices, 0);
    for (const auto& planned : uneven)
        for (const auto& rank : planned) expect_same(rank.choices, planned[0].choices, 0);
    for (const auto method : {harmonic, ring_fft}) {
        const double seconds = first_of(even[0].choices, method).seconds;
        // A rank has a third of the Legendre work and of the rings; its halo, and kernel values that ranks
        // make for themselves, come on top.
        EXPECT_GT(seconds, 0.3 * first_of(one, method).seconds) << to_string(method);
        EXPECT_LT(seconds, 0.6 * first_of(one, method).seconds) << to_string(method);
        // The rank that decides is the one that is slow. What calls cost is not slower here.
        double slowest = 0;
        for (const auto& planned : uneven) {
            EXPECT_GT(first_of(planned[0].choices, method).seconds, 4 * seconds) << to_string(method);
            slowest = std::max(slowest, first_of(planned[0].choices, method).seconds);
        }
        EXPECT_LE(slowest, 8 * seconds) << to_string(method);
        EXPECT_GT(slowest, 7.5 * seconds) << to_string(method);
    }
    const auto fitting = plan_on_ranks(request, {1, 8, 1}, {}, {8, 1, 8});
    EXPECT_LT(first_of(fitting[0].choices, harmonic).seconds,
              0.4 * first_of(uneven[1][0].choices, harmonic).seconds);
}

TEST(DistributedPlanning, CountsTheMessagesThatTheWorkDoesNotHide) {
    for (const bool has_spin : {false, true}) {
        auto request = request_of(0.05, has_spin);
        request.n_maps = 2;
        const MessageCosts slow{1e-3, 1e-6};  // a megabyte takes a second, much longer than the work
        const auto fast_planned = plan_on_ranks(request, {1, 1, 1}, {}),
                   slow_planned = plan_on_ranks(request, {1, 1, 1}, slow);
        double halo = 0, transform = 0, least = HUGE_VAL;
        for (const auto& rank : slow_planned) {
            halo = std::max(halo, slow.seconds(rank.halo));
            transform = std::max(transform, slow.seconds(rank.transform.traffic));
            least = std::min(least, slow.seconds(rank.transform.traffic));
        }
        const auto& sums = first_of(slow_planned[0].choices, ring_fft);
        const double n_rows = has_spin ? 4 : 2;
        // The slowest rank is not always that with the longest messages.
        EXPECT_NEAR(sums.exchange_seconds, n_rows * halo, 0.1 * n_rows * halo);
        const auto& fast = first_of(fast_planned[0].choices, harmonic);
        const auto& way = first_of(slow_planned[0].choices, harmonic);
        ASSERT_EQ(way.iterations, fast.iterations);
        const double transforms = 2.0 * static_cast<double>(request.n_maps) * (1 + way.iterations);
        // Part of it is hidden behind the work of the Legendre stage.
        EXPECT_LE(way.exchange_seconds, transforms * transform);
        EXPECT_GE(way.exchange_seconds, transforms * least - fast.seconds);
        EXPECT_NEAR(way.seconds, fast.seconds + way.exchange_seconds, 0.1 * fast.seconds);
        EXPECT_EQ(fast.exchange_seconds, 0);
    }
}

/// A narrow kernel needs the pixels near a rank's rings, the transforms all coefficients.
TEST(DistributedPlanning, TakesSumsWhereMessagesAreSlow) {
    auto request = request_of(0.05);
    const auto costs = default_cost_model(1);
    const auto fast = plan_on_ranks(request, {1, 1}, {}), slow = plan_on_ranks(request, {1, 1}, {0, 1e-5});
    const auto ratio = [](const Planned& planned) {
        return first_of(planned.choices, harmonic).seconds / first_of(planned.choices, ring_fft).seconds;
    };
    EXPECT_GT(ratio(slow[0]), 1.5 * ratio(fast[0]));
    EXPECT_NE(slow[0].choices[0].method, harmonic);
}

/// Which cut and precision it takes, and so the bits of the result.
TEST(DistributedPlanning, OfAMethodThatIsGivenIsThatOfTheFirstRankAlone) {
    for (const auto method : {harmonic, ring_fft, pixel_sum}) {
        auto request = request_of(0.05);
        request.method = method;
        const auto planned = plan_on_ranks(request, {1, 9, 3}, {1, 1});
        const auto one = plan_convolution(request, default_cost_model(1), Device::cpu());
        for (const auto& rank : planned) expect_same(rank.choices, one, 0);
    }
}

}  // namespace
}  // namespace zonal::test
