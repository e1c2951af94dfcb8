#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "distributed/threads.hpp"
#include "zonal/error.hpp"

// Transports between threads, which ThreadSanitizer sees too; those of MPI have tests of their own.
namespace zonal::test {
namespace {

using distributed::Message, distributed::Transport;

/// Calls work(transport) on a thread for each rank and returns what each threw, "" for nothing.
template <class Work>
std::vector<std::string> on_ranks(int n_ranks, const Work& work) {
    auto transports = distributed::connect_threads(n_ranks);
    std::vector<std::string> errors(transports.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < transports.size(); ++i)
        threads.emplace_back([&, i] {
            const auto transport = std::move(transports[i]);
            try {
                work(*transport);
            } catch (const Error& error) {
                errors[i] = error.what();
            }
        });
    for (auto& thread : threads) thread.join();
    return errors;
}

/// What rank `from` sends to rank `to` in round `round`; lengths differ, and some messages are empty.
std::vector<std::byte> message(int from, int to, int round) {
    std::vector<std::byte> bytes(static_cast<std::size_t>((from * 7 + to * 3 + round) % 5 * 1000));
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(static_cast<int>(i) * 31 + from * 5 + to * 11 + round);
    return bytes;
}

TEST(ThreadTransports, CarryEveryMessageToItsRank) {
    for (const int n : {1, 2, 3, 7}) {
        const auto errors = on_ranks(n, [&](Transport& transport) {
            const int rank = transport.rank();
            ASSERT_EQ(transport.size(), n);
            constexpr int n_rounds = 20;
            // Two rounds are under way at a time.
            std::vector<std::vector<std::vector<std::byte>>> sent(n_rounds), received(n_rounds);
            std::vector<std::unique_ptr<distributed::Exchange>> exchanges;
            for (int round = 0; round < n_rounds; ++round) {
                std::vector<Message<const std::byte>> send;
                std::vector<Message<std::byte>> receive;
                sent[round].resize(n);
                received[round].resize(n);
                for (int other = 0; other < n; ++other) {
                    if (other == rank) continue;
                    sent[round][other] = message(rank, other, round);
                    received[round][other].resize(message(other, rank, round).size());
                    send.push_back({other, sent[round][other]});
                    receive.push_back({other, received[round][other]});
                }
                exchanges.push_back(transport.exchange(send, receive));
                if (round > 0) exchanges[round - 1]->wait();
            }
            exchanges.back()->wait();
            for (int round = 0; round < n_rounds; ++round)
                for (int other = 0; other < n; ++other) {
                    if (other == rank) continue;
                    EXPECT_EQ(received[round][other], message(other, rank, round));
                }
        });
        EXPECT_THAT(errors, ::testing::Each(""));
    }
}

TEST(ThreadTransports, GatherEveryRanksBytesAgainAndAgain) {
    for (const int n : {1, 3, 4}) {
        const auto errors = on_ranks(n, [&](Transport& transport) {
            for (int round = 0; round < 50; ++round) {
                const auto all = transport.gather(std::string(transport.rank(), 'x') + std::to_string(round));
                ASSERT_EQ(all.size(), static_cast<std::size_t>(n));
                for (int rank = 0; rank < n; ++rank)
                    EXPECT_EQ(all[rank], std::string(rank, 'x') + std::to_string(round));
            }
        });
        EXPECT_THAT(errors, ::testing::Each(""));
    }
}

TEST(ThreadTransports, DoNotWaitForARankThatIsGone) {
    const auto gathered = on_ranks(3, [](Transport& transport) {
        if (transport.rank() != 1) transport.gather("");
    });
    EXPECT_EQ(gathered[1], "");
    for (const int rank : {0, 2}) EXPECT_EQ(gathered[rank], "rank 1: has left the job");
    const auto exchanged = on_ranks(2, [](Transport& transport) {
        std::vector<std::byte> bytes(10);
        if (transport.rank() == 1) return;
        transport.exchange({}, {{1, bytes}})->wait();
    });
    EXPECT_EQ(exchanged[0], "rank 1: has left the job");
    const auto sent = on_ranks(2, [](Transport& transport) {
        const std::vector<std::byte> bytes(10);
        if (transport.rank() == 0) transport.exchange({{1, bytes}}, {})->wait();
    });
    EXPECT_EQ(sent[0], "rank 1: has left the job");
}

TEST(ThreadTransports, RefuseMessagesOfAnotherLength) {
    const auto errors = on_ranks(2, [](Transport& transport) {
        std::vector<std::byte> bytes(transport.rank() == 0 ? 10 : 11);
        if (transport.rank() == 0)
            transport.exchange({{1, bytes}}, {})->wait();
        else
            transport.exchange({}, {{0, bytes}})->wait();
    });
    EXPECT_EQ(errors[1], "rank 0: sent 10 bytes to rank 1, which expected 11");
}

TEST(SoloTransport, LetsOneRankOfManyWorkAlone) {
    const auto transport = distributed::make_solo(17, 128);
    EXPECT_EQ(transport->rank(), 17);
    EXPECT_EQ(transport->size(), 128);
    std::vector<std::byte> bytes(10);
    transport->exchange({{3, bytes}}, {{4, bytes}})->wait();
    EXPECT_THAT(transport->gather("a"), ::testing::AllOf(::testing::SizeIs(128), ::testing::Each("a")));
    EXPECT_THROW(distributed::make_solo(128, 128), InvalidArgument);
    EXPECT_THROW(distributed::make_solo(-1, 2), InvalidArgument);
    EXPECT_THROW(distributed::connect_threads(0), InvalidArgument);
}

}  // namespace
}  // namespace zonal::test
