#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "distributed/rank_sky.hpp"
#include "distributed/sums/halo.hpp"
#include "distributed/transport.hpp"
#include "distributed_helpers.hpp"

// What ranks send each other, as it is predicted and as a transport sees it.
namespace zonal::test {
namespace {

/// Counts what a rank sends and receives.
class CountingTransport final : public distributed::Transport {
  public:
    explicit CountingTransport(std::shared_ptr<Transport> carrier) : carrier_(std::move(carrier)) {}

    int rank() const override { return carrier_->rank(); }
    int size() const override { return carrier_->size(); }
    std::unique_ptr<distributed::Exchange> exchange(
        std::vector<distributed::Message<const std::byte>> send,
        std::vector<distributed::Message<std::byte>> receive) override {
        add(send, sent_);
        add(receive, received_);
        return carrier_->exchange(std::move(send), std::move(receive));
    }
    std::vector<std::string> gather(const std::string& bytes) override { return carrier_->gather(bytes); }
    void check_ranks() override { carrier_->check_ranks(); }

    /// Since the last time.
    Traffic take() {
        const Traffic sent = std::exchange(sent_, {}), received = std::exchange(received_, {});
        return {std::max(sent.messages, received.messages), std::max(sent.bytes, received.bytes)};
    }

  private:
    template <class Messages>
    static void add(const Messages& messages, Traffic& traffic) {
        traffic.messages += std::ssize(messages);
        for (const auto& message : messages) traffic.bytes += std::ssize(message.bytes);
    }

    std::shared_ptr<Transport> carrier_;
    Traffic sent_, received_;
};

const Grid grid = Grid::healpix(128);
constexpr std::int64_t lmax = 200;

/// Calls work(sky, transport) on ranks of these speeds, each with some of the grid.
template <class Work>
void on_sky(const std::vector<double>& speeds, const Work& work) {
    const auto errors = on_ranks(static_cast<int>(speeds.size()), [&](const Communicator& ranks) {
        const auto transport = std::make_shared<CountingTransport>(ranks.transport());
        const distributed::RankSky sky(Communicator(transport), grid, lmax, lmax, 1, speeds, Device::cpu());
        transport->take();
        work(sky, *transport);
    });
    EXPECT_THAT(errors, testing::Each(""));
}

const std::vector<std::vector<double>> jobs{{1}, {1, 1}, {1, 3}, {2, 1, 1}, {1, 1, 1, 1, 1}};

TEST(Traffic, OfTransformsIsWhatTheRanksSend) {
    for (const auto& speeds : jobs)
        for (const int spin : {0, 2})
            for (const std::int64_t l : {lmax, std::int64_t{40}})
                on_sky(speeds, [&](const distributed::RankSky& sky, CountingTransport& transport) {
                    SCOPED_TRACE(testing::Message()
                                 << speeds.size() << " ranks, spin " << spin << ", lmax " << l);
                    const auto share = sky.transform_share(l, spin);
                    const auto transform = sky.transform({.lmax = l, .spin = spin});
                    transport.take();
                    Array<std::complex<double>, 3> alm(
                        {1, transform->alm_components(), transform->layout().size()});
                    Array<double, 3> map({1, transform->map_components(), transform->grid().n_pixels()});
                    transform->synthesize<double>(alm.view(), map.view());
                    EXPECT_EQ(transport.take(), share.traffic);
                    transform->adjoint_synthesis<double>(map.view(), alm.view());
                    EXPECT_EQ(transport.take(), share.traffic);
                    const auto shares = sky.gather(share.legendre);
                    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-14);
                    EXPECT_EQ(share.traffic.bytes > 0, speeds.size() > 1);
                });
}

TEST(Traffic, OfHalosIsWhatTheRanksSend) {
    for (const auto& speeds : jobs)
        for (const double support : {0.001, 0.1, 0.7, 3.2})
            on_sky(speeds, [&](const distributed::RankSky& sky, CountingTransport& transport) {
                SCOPED_TRACE(testing::Message() << speeds.size() << " ranks, support " << support);
                const auto share = sky.halo_share(support);
                EXPECT_EQ(transport.take(), Traffic{});
                const auto halo = sky.halo(support);
                Array<double, 3> maps({3, 1, sky.grid().n_pixels()});
                HaloMemory memory;
                const auto reached = halo->begin(std::as_const(maps).view(), memory)->wait();
                EXPECT_EQ(reached.extent(2), halo->outer() ? halo->outer()->in.n_pixels() : 0);
                const auto sent = transport.take();
                EXPECT_EQ(sent.messages, share.traffic.messages);  // of all rows at once
                EXPECT_EQ(sent.bytes, 3 * share.traffic.bytes);
                // Every ring is of one kind, and what outer ones reach is a part of what all reach.
                std::int64_t n_rings = 0;
                for (const auto* sums : {&halo->inner(), &halo->outer()})
                    n_rings += *sums ? (*sums)->out.n_rings() : 0;
                EXPECT_EQ(n_rings, sky.grid().n_rings());
                EXPECT_LE(reached.extent(2), share.grid.n_pixels());
                EXPECT_NE(halo->inner().has_value(), halo->outer().has_value());
                EXPECT_EQ(halo->outer().has_value(), speeds.size() > 1 && support > 0.01);
                EXPECT_GE(share.traffic.bytes,
                          8 * (share.grid.n_pixels() - sky.grid().n_pixels()));  // which it receives
            });
}

// On GPUs: every ring is of one kind, and inner ones reach none that is not the rank's.
TEST(Traffic, OfHalosIsForTheOuterRingsOfAGpu) {
    const Grid grid = Grid::healpix(32);
    const auto& rings = grid.rings();
    const std::int64_t middle = rings[50].first_pixel, last = rings[76].first_pixel;
    const std::vector<std::vector<PixelRange>> pixels{{{0, middle}, {last, grid.n_pixels()}},
                                                      {{middle, last}}};
    const std::vector<Device> devices(2, Device::cuda(0));
    for (const double support : {0.05, 0.1, 0.7})
        for (const std::size_t rank : {0U, 1U}) {
            const auto copies = distributed::halo_copies(grid, pixels, devices, rank, support);
            auto all = copies.inner;
            all.insert(all.end(), copies.outer.begin(), copies.outer.end());
            std::sort(all.begin(), all.end());
            EXPECT_EQ(std::ssize(all), rank == 0 ? 50 + 127 - 76 : 26) << support;
            EXPECT_TRUE(std::adjacent_find(all.begin(), all.end()) == all.end());
            for (const auto ring : radial::rings_within(grid, support, grid, copies.inner))
                EXPECT_TRUE(std::binary_search(all.begin(), all.end(), ring)) << ring;
            EXPECT_TRUE(support > 0.5 || !copies.inner.empty()) << support;
            EXPECT_GT(copies.outer.size(), 0U);
            const auto traffic = copies.traffic(rank);
            EXPECT_EQ(traffic.messages, 1);
            EXPECT_LT(traffic.bytes, support > 0.5 ? 8 * grid.n_pixels() : 2 * grid.n_pixels());
        }
}

TEST(MessageCosts, AreTheSameOnAllRanksAndMeasuredOnce) {
    for (const auto& speeds : jobs)
        on_sky(speeds, [&](const distributed::RankSky& sky, CountingTransport& transport) {
            const auto costs = sky.message_costs();
            EXPECT_EQ(transport.take().bytes > 0, speeds.size() > 1);
            EXPECT_EQ(costs.message > 0, speeds.size() > 1);
            EXPECT_TRUE(costs.byte >= 0 && std::isfinite(costs.byte));
            for (const double each : sky.gather(costs.message)) EXPECT_EQ(each, costs.message);
            for (const double each : sky.gather(costs.byte)) EXPECT_EQ(each, costs.byte);
            sky.message_costs();
            EXPECT_EQ(transport.take(), Traffic{});
        });
}

}  // namespace
}  // namespace zonal::test
