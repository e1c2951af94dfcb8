#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <thread>

#include "distributed/mpi/transport.hpp"
#include "transport_helpers.hpp"
#include "zonal/distributed/mpi.hpp"
#include "zonal/error.hpp"
#include "zonal/interruption.hpp"

// All ranks of a job run these tests; test_mpi.py starts them and stops those that hang.
namespace zonal::test {
namespace {

using distributed::connect_mpi, distributed::MpiOptions, distributed::Transport;

std::shared_ptr<Transport> connect(const MpiOptions& options) {
    return connect_mpi(MPI_Comm_c2f(MPI_COMM_WORLD), options);
}

/// What function() throws, "" for nothing.
template <class Function>
std::string error_of(const Function& function) {
    try {
        function();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(MpiTransport, CarriesEveryMessageToItsRank) {
    for (const bool with_thread : {true, false}) {
        const auto world = connect({.with_thread = with_thread});
        // MPI carries short messages in another way than long ones.
        for (const std::size_t unit : {1000, 100'000}) expect_every_message_at_its_rank(*world, unit);
    }
}

TEST(MpiTransport, GathersEveryRanksBytesAgainAndAgain) {
    for (const bool with_timeout : {false, true}) {
        const auto world = mpi::world();
        const auto narrow = connect({.largest_count = 10 * world->size()});
        if (with_timeout) {
            world->set_timeout(600, {});
            narrow->set_timeout(600, {});
        }
        expect_every_ranks_bytes(*world, 20);
        narrow->gather(std::string(10, 'x'));
        EXPECT_THAT(
            error_of([&] { narrow->gather(std::string(11, 'x')); }),
            ::testing::AllOf(::testing::StartsWith("gather: "), ::testing::HasSubstr("must be at most")));
    }
}

TEST(MpiTransport, NamesTheRankThatFallsSilentWithinAGathering) {
    const auto world = mpi::world();
    const int rank = world->rank(), silent = world->size() - 1;
    if (silent == 0) GTEST_SKIP() << "one rank";
    if (rank != silent) {
        const auto silence = fmt::format("rank {} has not answered for 3 s, which is the timeout", silent);
        std::vector<std::string> heard;
        // 3 s, that ranks which are not silent may take
        world->set_timeout(3, [&](const std::string& text) { heard.push_back(text); });
        std::byte never{};
        auto unwaited = world->exchange({}, {{silent, {&never, 1}}});
        EXPECT_EQ(error_of([&] { world->gather("x"); }), silence);
        EXPECT_EQ(heard, std::vector{silence});
        unwaited.reset();  // does not wait for ever
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    world->exchange({}, {})->wait();
    // Tells its length, as a gathering does first, and receives the others' bytes when they no longer wait.
    const std::string length = fmt::format("{:20}", 1);
    std::vector<std::string> lengths(static_cast<std::size_t>(silent), length);
    std::vector<char> bytes(lengths.size());
    std::vector<distributed::Message<const std::byte>> sent;
    std::vector<distributed::Message<std::byte>> first, second;
    for (int other = 0; other < silent; ++other) {
        const auto i = static_cast<std::size_t>(other);
        sent.push_back({other, std::as_bytes(std::span(length))});
        first.push_back({other, std::as_writable_bytes(std::span(lengths[i]))});
        second.push_back({other, std::as_writable_bytes(std::span(bytes).subspan(i, 1))});
    }
    world->exchange(sent, first)->wait();
    MPI_Barrier(MPI_COMM_WORLD);
    world->exchange({}, second)->wait();
    EXPECT_EQ(bytes, std::vector<char>(bytes.size(), 'x'));
}

/// Every rank sends one message to the next and receives one from the one before. Nothing in a job of one.
std::unique_ptr<distributed::Exchange> pass_on(Transport& transport, std::span<const std::byte> sent,
                                               std::span<std::byte> received) {
    const int n = transport.size();
    if (n == 1) return transport.exchange({}, {});
    return transport.exchange({{(transport.rank() + 1) % n, sent}},
                              {{(transport.rank() + n - 1) % n, received}});
}

/// Passes n_sent bytes on where n_received are expected, which must change no other memory; then a second
/// message, which must arrive. Returns the error of the first.
std::string pass_on_lengths(Transport& transport, std::size_t n_sent, std::size_t n_received) {
    const int rank = transport.rank(), n = transport.size(), before = (rank + n - 1) % n;
    const auto sent = bytes_for(rank, (rank + 1) % n, 0, n_sent);
    const auto coming = bytes_for(before, rank, 0, n_received + 1);
    const auto beyond = ~coming.back();
    std::vector<std::byte> memory(n_received + 1, beyond);
    const auto received = std::span(memory).first(n_received);
    const auto error = error_of([&] { pass_on(transport, sent, received)->wait(); });
    EXPECT_TRUE(memory.back() == beyond);
    if (n_sent == n_received && n > 1) {
        EXPECT_TRUE(std::equal(received.begin(), received.end(), coming.begin()));
    }
    const auto next = bytes_for(rank, (rank + 1) % n, 1, 1000);
    std::vector<std::byte> next_received(1000);
    pass_on(transport, next, next_received)->wait();
    if (n > 1) {
        EXPECT_EQ(next_received, bytes_for(before, rank, 1, 1000));
    }
    return error;
}

constexpr std::size_t block_bytes = 1 << 20;  // as in transport.cpp

TEST(MpiTransport, SendsLongMessagesInBlocks) {
    // Only even ranks take them for long, so that a message may be long for one side alone.
    const auto world = connect({.largest_count = mpi::world()->rank() % 2 == 0 ? 1000 : 1 << 30});
    for (const std::size_t n :
         {std::size_t{1000}, std::size_t{1001}, block_bytes - 1, 2 * block_bytes, 3 * block_bytes + 17})
        EXPECT_EQ(pass_on_lengths(*world, n, n), "");
}

TEST(MpiTransport, RefusesMessagesOfAnotherLength) {
    if (mpi::world()->size() == 1) GTEST_SKIP() << "one rank";
    const int from = (mpi::world()->rank() + mpi::world()->size() - 1) % mpi::world()->size();
    const auto sender = "rank " + std::to_string(from);
    for (const std::int64_t largest_count : {1000, 1 << 30}) {
        const auto world = connect({.largest_count = largest_count});
        for (const std::size_t n : {std::size_t{10}, 3 * block_bytes, 3 * block_bytes + 5}) {
            for (const std::size_t expected : {n - 1, n + 1})
                EXPECT_EQ(pass_on_lengths(*world, n, expected),
                          sender + ": sent " + std::to_string(n) + " bytes where " +
                              std::to_string(expected) + " were expected");
        }
    }
}

TEST(MpiTransport, DoesNotTakeAMessageForOneOfTheNextExchange) {
    const auto world = mpi::world();
    if (world->size() == 1) GTEST_SKIP() << "one rank";
    const auto sent = bytes_for(0, 1, 0, 10);
    if (world->rank() == 0)
        world->exchange({{1, sent}}, {})->wait();
    else
        world->exchange({}, {})->wait();
    EXPECT_EQ(pass_on_lengths(*world, 10, 10), "");
    // The tags begin anew after 32767 exchanges: now rank 1 takes it, so that the communicator is free of
    // messages.
    for (int i = 3; i < 32767; ++i) world->exchange({}, {})->wait();
    std::vector<std::byte> received(sent.size());
    if (world->rank() == 1) {
        world->exchange({}, {{0, received}})->wait();
        EXPECT_EQ(received, sent);
    } else {
        world->exchange({}, {})->wait();
    }
}

TEST(MpiTransport, MovesMessagesWhileTheRankComputes) {
    const auto world = mpi::world();
    if (world->size() == 1) GTEST_SKIP() << "one rank";
    const std::vector<std::byte> sent(10'000'000, std::byte{1});
    std::vector<std::byte> received(sent.size());
    const auto exchange = pass_on(*world, sent, received);
    // No call of MPI: the last byte of what MPI only sends once both sides have agreed.
    const volatile std::byte& last = received.back();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (last != std::byte{1} && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(last == std::byte{1});
    exchange->wait();
    EXPECT_EQ(received, sent);
}

TEST(MpiTransport, StopsWaitingWhenItsCallerIsInterrupted) {
    const auto world = mpi::world();
    if (world->size() == 1) GTEST_SKIP() << "one rank";
    std::vector<std::byte> received(10);
    if (world->rank() == 0) {
        const auto exchange = world->exchange({}, {{1, received}});
        {
            const InterruptionCheck check([] { return true; });
            EXPECT_THROW(exchange->wait(), Cancelled);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        exchange->wait();
        EXPECT_EQ(received, bytes_for(1, 0, 0, 10));
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        const auto sent = bytes_for(1, 0, 0, 10);
        if (world->rank() == 1) world->exchange({{0, sent}}, {})->wait();
    }
}

TEST(MpiTransport, LetsExchangesOutliveIt) {
    auto world = mpi::world();
    const int rank = world->rank(), n = world->size();
    const auto sent = bytes_for(rank, (rank + 1) % n, 0, 1'000'000);
    std::vector<std::byte> received(sent.size());
    auto exchange = pass_on(*world, sent, received);
    world.reset();
    exchange.reset();  // waits
    if (n > 1) {
        EXPECT_EQ(received, bytes_for((rank + n - 1) % n, rank, 0, received.size()));
    }
}

TEST(MpiTransport, RefusesRanksThatAreNotThere) {
    const auto world = mpi::world();
    std::vector<std::byte> bytes(10);
    for (const int rank : {-1, world->size(), world->rank()}) {
        EXPECT_THROW(world->exchange({{rank, bytes}}, {}), InvalidArgument);
        EXPECT_THROW(world->exchange({}, {{rank, bytes}}), InvalidArgument);
    }
}

/// Live copies of a communicator, counted by an attribute that MPI copies and deletes with it.
class CopiesOf {
  public:
    explicit CopiesOf(MPI_Comm communicator) : communicator_(communicator) {
        MPI_Comm_create_keyval(
            [](MPI_Comm, int, void*, void* value, void* copied, int* is_copied) {
                ++*static_cast<int*>(value);
                *static_cast<void**>(copied) = value;
                *is_copied = 1;
                return MPI_SUCCESS;
            },
            [](MPI_Comm, int, void* value, void*) {
                --*static_cast<int*>(value);
                return MPI_SUCCESS;
            },
            &key_, nullptr);
        MPI_Comm_set_attr(communicator, key_, &count_);
    }
    ~CopiesOf() {
        MPI_Comm_delete_attr(communicator_, key_);
        MPI_Comm_free_keyval(&key_);
    }
    CopiesOf(const CopiesOf&) = delete;
    CopiesOf& operator=(const CopiesOf&) = delete;
    int count() const { return count_; }

  private:
    MPI_Comm communicator_;
    int key_ = MPI_KEYVAL_INVALID;
    int count_ = 0;
};

TEST(MpiTransport, FreesTheCommunicatorThatItDuplicates) {
    const CopiesOf copies(MPI_COMM_WORLD);
    auto world = mpi::world();
    EXPECT_EQ(copies.count(), 1);
    auto exchange = world->exchange({}, {});
    world.reset();
    EXPECT_EQ(copies.count(), 1);
    exchange.reset();
    EXPECT_EQ(copies.count(), 0);
}

TEST(MpiCommunicators, ComeFromFortranHandles) {
    const int rank = mpi::world()->rank();
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    const auto transport = mpi::from_fortran(MPI_Comm_c2f(half));
    MPI_Comm_free(&half);
    EXPECT_EQ(transport->size(), (mpi::world()->size() + 1 - rank % 2) / 2);
    EXPECT_EQ(transport->gather(std::to_string(rank))[transport->rank()], std::to_string(rank));
    expect_every_message_at_its_rank(*transport, 1000);
}

TEST(MpiCommunicators, AreCheckedFirst) {
    EXPECT_THAT(error_of([] { mpi::from_fortran(MPI_Comm_c2f(MPI_COMM_NULL)); }),
                ::testing::HasSubstr("must be the Fortran handle of a communicator"));
    if (mpi::world()->size() == 1) return;
    const int rank = mpi::world()->rank();
    MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
    EXPECT_THAT(error_of([&] { mpi::from_fortran(MPI_Comm_c2f(between)); }),
                ::testing::HasSubstr("must not be an intercommunicator"));
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

TEST(MpiEnvironment, LeavesMpiToWhoStartedIt) {
    { const mpi::Environment second; }
    int is_finalized = 1;
    MPI_Finalized(&is_finalized);
    EXPECT_EQ(is_finalized, 0);
    EXPECT_TRUE(mpi::Environment().has_threads());
}

}  // namespace

/// Whether there is no way into MPI; prints what is wrong.
bool refuses_without(const std::string& state) {
    const auto error = error_of([] { mpi::world(); });
    if (error.find(state) != std::string::npos) return true;
    printf("expected an error that MPI %s, got: %s\n", state.c_str(), error.c_str());
    return false;
}

}  // namespace zonal::test

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    if (!zonal::test::refuses_without("has not been initialized")) return 1;
    std::shared_ptr<zonal::distributed::Transport> left_over;
    int status = 0;
    {
        const zonal::mpi::Environment environment;
        status = RUN_ALL_TESTS();
        left_over = zonal::mpi::world();  // may be destroyed too late, and does no harm
    }
    return zonal::test::refuses_without("has been finalized") ? status : 1;
}
