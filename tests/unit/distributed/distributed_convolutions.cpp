#include <gmock/gmock.h>

#include <limits>

#include "distributed/sums/halo.hpp"
#include "distributed_convolution_helpers.hpp"

namespace zonal::test {
namespace {

TEST(DistributedConvolution, FindsWhatOneProcessFinds) {
    for (const auto& one : rank_convolutions()) {
        // Sums over the discs of pixels may be made in another order near the end of a rank's rings: they
        // have fewer than 400 terms, whose absolute values add up to the largest pixel at most and which
        // round as in a random walk.
        const bool is_sum = one.choice.method == ConvolutionMethod::pixel_sum;
        const double tolerance = is_sum ? 20 * std::numeric_limits<double>::epsilon() : 0;
        for (const int n_ranks : {1, 2, 3, 5})
            expect_one_process(one, Devices(static_cast<std::size_t>(n_ranks), Device::cpu()),
                               n_ranks == 3 ? std::vector{1.0, 3.0, 2.0} : std::vector<double>(), tolerance);
    }
}

TEST(DistributedConvolution, ThrowsOnAllRanksWhatIsWrongOnOne) {
    const auto request = narrow_request(0.1, false);
    const auto errors = on_ranks(3, [&](const Communicator& ranks) {
        const DistributedSky sky(ranks, request.grid, 64, 64, 1);
        ConvolutionOptions options;
        options.part = sky.part();
        ConvolutionPlan plan(request, rank_choice(ConvolutionMethod::ring_fft, 0.3), options);
        const std::int64_t n = sky.grid().n_pixels() + (ranks.rank() == 1 ? 1 : 0);
        Array<double, 2> maps({2, n}), convolved({2, n});
        plan.convolve<double>(maps.view(), convolved.view());
    });
    EXPECT_THAT(errors, testing::Each(testing::HasSubstr("rank 1: maps: ")));
}

}  // namespace
}  // namespace zonal::test
