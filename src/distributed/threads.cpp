#include "distributed/threads.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <tuple>

#include "zonal/error.hpp"

namespace zonal::distributed {
namespace {

/// What the ranks share: messages that their senders offer, and what they gather. A receiver copies a message
/// from the sender's memory when it waits for it.
class Room {
  public:
    explicit Room(int n_ranks) : n_ranks(n_ranks), here_(n_ranks, true), bytes_(n_ranks) {}

    const int n_ranks;

    /// A message from one rank to another, by its number between these two.
    struct Key {
        int from, to;
        std::int64_t number;
        bool operator<(const Key& other) const {
            return std::tie(from, to, number) < std::tie(other.from, other.to, other.number);
        }
    };

    void offer(const Key& key, std::span<const std::byte> bytes) {
        const std::lock_guard lock(mutex_);
        offered_[key] = {bytes};
        changed_.notify_all();
    }
    void receive(const Key& key, std::span<std::byte> bytes) {
        std::unique_lock lock(mutex_);
        wait_for(lock, key.from, [&] { return offered_.contains(key); });
        Offer& offer = offered_.at(key);
        const auto from = offer.bytes;
        offer.is_copied = true;  // and so stays where it is
        lock.unlock();
        if (from.size() == bytes.size()) std::copy(from.begin(), from.end(), bytes.begin());
        lock.lock();
        offered_.erase(key);
        changed_.notify_all();
        if (from.size() != bytes.size())
            throw CommunicationError(fmt::format("rank {}: sent {} bytes to rank {}, which expected {}",
                                                 key.from, from.size(), key.to, bytes.size()));
    }
    void wait_until_taken(const Key& key) {
        std::unique_lock lock(mutex_);
        wait_for(lock, key.to, [&] { return !offered_.contains(key); });
    }
    void withdraw(const Key& key) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] {
            const auto found = offered_.find(key);
            return found == offered_.end() || !found->second.is_copied;
        });
        offered_.erase(key);
    }

    std::vector<std::string> gather(int rank, const std::string& mine) {
        std::unique_lock lock(mutex_);
        // The bytes of the last gathering stay until all have read them.
        wait_for_all(lock, [&] { return n_read_ == 0; });
        bytes_[static_cast<std::size_t>(rank)] = mine;
        ++n_written_;
        changed_.notify_all();
        wait_for_all(lock, [&] { return n_written_ == n_ranks; });
        auto all = bytes_;
        if (++n_read_ == n_ranks) n_written_ = n_read_ = 0;
        changed_.notify_all();
        return all;
    }

    void check_ranks() {
        const std::lock_guard lock(mutex_);
        if (first_gone_ >= 0) throw CommunicationError(fmt::format("rank {}: has left the job", first_gone_));
    }
    void leave(int rank) {
        const std::lock_guard lock(mutex_);
        here_[static_cast<std::size_t>(rank)] = false;
        if (first_gone_ < 0) first_gone_ = rank;  // others leave because of it
        changed_.notify_all();
    }

  private:
    struct Offer {
        std::span<const std::byte> bytes;
        bool is_copied = false;
    };

    template <class Condition>
    void wait_for(std::unique_lock<std::mutex>& lock, int other, const Condition& condition) {
        changed_.wait(lock, [&] { return condition() || !here_[static_cast<std::size_t>(other)]; });
        if (!condition()) throw CommunicationError(fmt::format("rank {}: has left the job", other));
    }
    template <class Condition>
    void wait_for_all(std::unique_lock<std::mutex>& lock, const Condition& condition) {
        changed_.wait(lock, [&] { return condition() || first_gone_ >= 0; });
        if (!condition()) throw CommunicationError(fmt::format("rank {}: has left the job", first_gone_));
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<bool> here_;
    std::map<Key, Offer> offered_;
    std::vector<std::string> bytes_;
    int n_written_ = 0, n_read_ = 0, first_gone_ = -1;
};

class ThreadExchange final : public Exchange {
  public:
    struct Received {
        Room::Key key;
        std::span<std::byte> bytes;
    };
    ThreadExchange(std::shared_ptr<Room> room, std::vector<Room::Key> sent, std::vector<Received> received)
        : room_(std::move(room)), sent_(std::move(sent)), received_(std::move(received)) {}
    ~ThreadExchange() override {
        // After an error: nobody may read the memory of this rank once it is gone.
        for (const auto& key : sent_) room_->withdraw(key);
    }
    void wait() override {
        for (const auto& message : received_) room_->receive(message.key, message.bytes);
        received_.clear();
        for (const auto& key : sent_) room_->wait_until_taken(key);
        sent_.clear();
    }

  private:
    std::shared_ptr<Room> room_;
    std::vector<Room::Key> sent_;
    std::vector<Received> received_;
};

class ThreadTransport final : public Transport {
  public:
    ThreadTransport(std::shared_ptr<Room> room, int rank)
        : room_(std::move(room)), rank_(rank), n_sent_(room_->n_ranks), n_received_(room_->n_ranks) {}
    ~ThreadTransport() override { room_->leave(rank_); }

    int rank() const override { return rank_; }
    int size() const override { return room_->n_ranks; }

    std::unique_ptr<Exchange> exchange(std::vector<Message<const std::byte>> send,
                                       std::vector<Message<std::byte>> receive) override {
        std::vector<Room::Key> sent;
        std::vector<ThreadExchange::Received> received;
        sent.reserve(send.size());
        received.reserve(receive.size());
        for (const auto& message : send) {
            sent.push_back({rank_, message.rank, n_sent_[static_cast<std::size_t>(message.rank)]++});
            room_->offer(sent.back(), message.bytes);
        }
        for (const auto& message : receive)
            received.push_back({{message.rank, rank_, n_received_[static_cast<std::size_t>(message.rank)]++},
                                message.bytes});
        return std::make_unique<ThreadExchange>(room_, std::move(sent), std::move(received));
    }

    std::vector<std::string> gather(const std::string& bytes) override { return room_->gather(rank_, bytes); }
    void check_ranks() override { room_->check_ranks(); }

  private:
    const std::shared_ptr<Room> room_;
    const int rank_;
    std::vector<std::int64_t> n_sent_, n_received_;  ///< messages so far to and from each rank
};

class SoloExchange final : public Exchange {
  public:
    void wait() override {}
};

class SoloTransport final : public Transport {
  public:
    SoloTransport(int rank, int n_ranks) : rank_(rank), n_ranks_(n_ranks) {}
    int rank() const override { return rank_; }
    int size() const override { return n_ranks_; }
    bool is_alone() const override { return true; }
    std::unique_ptr<Exchange> exchange(std::vector<Message<const std::byte>>,
                                       std::vector<Message<std::byte>>) override {
        return std::make_unique<SoloExchange>();
    }
    std::vector<std::string> gather(const std::string& bytes) override {
        return std::vector<std::string>(static_cast<std::size_t>(n_ranks_), bytes);
    }

  private:
    const int rank_, n_ranks_;
};

}  // namespace

void Transport::set_timeout(double seconds, const std::function<void(const std::string&)>& /*at_silence*/) {
    throw InvalidArgument("timeout", seconds, "must be none, as MPI does not connect these ranks");
}

std::vector<std::unique_ptr<Transport>> connect_threads(int n_ranks) {
    if (n_ranks < 1) throw InvalidArgument("n_ranks", n_ranks, "must be at least 1");
    // As ranks of one process leave, NCCL unmaps by cuMem from several threads at once. One job in a hundred
    // died of that, in the driver: NCCL 2.28.3, driver 580.159.
    setenv("NCCL_CUMEM_ENABLE", "0", 0);
    const auto room = std::make_shared<Room>(n_ranks);
    std::vector<std::unique_ptr<Transport>> ranks;
    ranks.reserve(static_cast<std::size_t>(n_ranks));
    for (int rank = 0; rank < n_ranks; ++rank) ranks.push_back(std::make_unique<ThreadTransport>(room, rank));
    return ranks;
}

std::unique_ptr<Transport> make_solo(int rank, int n_ranks) {
    if (n_ranks < 1 || rank < 0 || rank >= n_ranks)
        throw InvalidArgument("rank", rank, fmt::format("must be from 0 to {}", n_ranks - 1));
    return std::make_unique<SoloTransport>(rank, n_ranks);
}

}  // namespace zonal::distributed
