#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "distributed/transport.hpp"

namespace zonal::test {

/// `length` bytes that differ for every sender, receiver and round.
inline std::vector<std::byte> bytes_for(int from, int to, int round, std::size_t length) {
    std::vector<std::byte> bytes(length);
    for (std::size_t i = 0; i < length; ++i)
        bytes[i] = static_cast<std::byte>(static_cast<int>(i % 251) * 31 + from * 5 + to * 11 + round);
    return bytes;
}

/// What rank `from` sends to rank `to` in round `round`; lengths differ, and some messages are empty.
inline std::vector<std::byte> message(int from, int to, int round, std::size_t unit) {
    return bytes_for(from, to, round, static_cast<std::size_t>((from * 7 + to * 3 + round) % 5) * unit);
}

/// Sends messages of 0 to 4 units to all others, in rounds of which two are under way at a time.
inline void expect_every_message_at_its_rank(distributed::Transport& transport, std::size_t unit) {
    const int rank = transport.rank(), n = transport.size();
    constexpr int n_rounds = 20;
    std::vector<std::vector<std::vector<std::byte>>> sent(n_rounds), received(n_rounds);
    std::vector<std::unique_ptr<distributed::Exchange>> exchanges;
    for (int round = 0; round < n_rounds; ++round) {
        std::vector<distributed::Message<const std::byte>> send;
        std::vector<distributed::Message<std::byte>> receive;
        sent[round].resize(n);
        received[round].resize(n);
        for (int other = 0; other < n; ++other) {
            if (other == rank) continue;
            sent[round][other] = message(rank, other, round, unit);
            received[round][other].resize(message(other, rank, round, unit).size());
            send.push_back({other, sent[round][other]});
            receive.push_back({other, received[round][other]});
        }
        exchanges.push_back(transport.exchange(send, receive));
        if (round > 0) exchanges[round - 1]->wait();
    }
    exchanges.back()->wait();
    for (int round = 0; round < n_rounds; ++round)
        for (int other = 0; other < n; ++other)
            if (other != rank) {
                EXPECT_EQ(received[round][other], message(other, rank, round, unit));
            }
}

/// Gathers bytes whose lengths differ between ranks.
inline void expect_every_ranks_bytes(distributed::Transport& transport, int n_rounds) {
    for (int round = 0; round < n_rounds; ++round) {
        const auto all = transport.gather(std::string(transport.rank(), 'x') + std::to_string(round));
        ASSERT_EQ(all.size(), static_cast<std::size_t>(transport.size()));
        for (int rank = 0; rank < transport.size(); ++rank)
            EXPECT_EQ(all[rank], std::string(rank, 'x') + std::to_string(round));
    }
}

}  // namespace zonal::test
