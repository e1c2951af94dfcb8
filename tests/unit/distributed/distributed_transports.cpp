#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "distributed/agreement.hpp"
#include "distributed/threads.hpp"
#include "transport_helpers.hpp"
#include "zonal/error.hpp"

// Transports between threads, which ThreadSanitizer sees too; those of MPI have tests of their own.
namespace zonal::test {
namespace {

using distributed::Transport;

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

TEST(ThreadTransports, CarryEveryMessageToItsRank) {
    for (const int n : {1, 2, 3, 7}) {
        const auto errors = on_ranks(n, [&](Transport& transport) {
            ASSERT_EQ(transport.size(), n);
            expect_every_message_at_its_rank(transport, 1000);
        });
        EXPECT_THAT(errors, ::testing::Each(""));
    }
}

TEST(ThreadTransports, GatherEveryRanksBytesAgainAndAgain) {
    for (const int n : {1, 3, 4}) {
        const auto errors =
            on_ranks(n, [](Transport& transport) { expect_every_ranks_bytes(transport, 50); });
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

TEST(ThreadTransports, CarryWhatAnErrorSaysOfItsArgument) {
    const auto errors = on_ranks(3, [&](Transport& transport) {
        const auto mine = transport.rank() == 0
                              ? nullptr
                              : std::make_exception_ptr(InvalidArgument("lmax", 7, "must be even: 6 or 8"));
        try {
            distributed::agree(transport, "a call", mine);
        } catch (const InvalidArgument& error) {
            EXPECT_EQ(error.argument(), "lmax");
            EXPECT_EQ(error.value(), "7");
            EXPECT_EQ(error.requirement(), "must be even: 6 or 8");
            EXPECT_EQ(error.facts().origin, "rank 1: ");
            throw;
        }
    });
    EXPECT_THAT(errors, testing::Each("rank 1: lmax = 7: must be even: 6 or 8"));
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
