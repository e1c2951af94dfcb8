#include "distributed/mpi/transport.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <set>

#include "distributed/driver.hpp"
#include "distributed/mpi/byte_type.hpp"
#include "distributed/mpi/pace.hpp"
#include "zonal/error.hpp"

namespace zonal::distributed {
namespace {

using Clock = std::chrono::steady_clock;

/// The messages of one exchange. Errors are for wait() to throw: what has begun must come to its end first.
class Flight {
  public:
    /// has_silent_rank: of the link, once an exchange has seen its timeout.
    Flight(MPI_Comm communicator, int tag, std::int64_t largest_count,
           std::vector<Message<std::byte>> awaited, std::atomic<bool>& has_silent_rank)
        : communicator_(communicator),
          tag_(tag),
          largest_count_(largest_count),
          awaited_(std::move(awaited)),
          has_silent_rank_(has_silent_rank) {}

    void send(const Message<const std::byte>& message) {
        begin("MPI_Isend", message.rank, message.bytes.size(),
              [&](const ByteType& bytes, MPI_Request* request) {
                  return MPI_Isend(message.bytes.data(), bytes.count(), bytes.type(), message.rank, tag_,
                                   communicator_, request);
              });
    }

    /// From now on gives up when nothing has come or gone for this long.
    void set_timeout(double seconds) {
        moved_at_ = Clock::now();
        timeout_ = seconds;
    }

    /// Lets MPI carry on, receives what has arrived, and finds out what has come to its end.
    void test() {
        const auto n_under_way = awaited_.size() + requests_.size();
        while (!awaited_.empty() && receive_one()) {
        }
        indices_.resize(requests_.size());
        statuses_.resize(requests_.size());
        int n_done = 0;
        const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &n_done,
                                      indices_.data(), statuses_.data());
        if (code == MPI_ERR_IN_STATUS) {
            for (int i = 0; i < n_done; ++i)
                note("MPI_Testsome", statuses_[static_cast<std::size_t>(i)].MPI_ERROR);
        } else if (code != MPI_SUCCESS) {
            note("MPI_Testsome", code);
            give_up();
        }
        forget_what_is_done();
        if (awaited_.size() + requests_.size() != n_under_way) moved_at_ = Clock::now();
        if (timeout_ > 0 &&
            std::chrono::duration<double>(Clock::now() - moved_at_.load()).count() > timeout_) {
            note(silence());
            has_silent_rank_ = true;
        }
        // All exchanges end with the one that saw it, as their destructors wait for them.
        if (has_silent_rank_ && !(awaited_.empty() && requests_.empty())) {
            note("an exchange between the ranks has ended with a timeout");
            give_up();
        }
        if (awaited_.empty() && requests_.empty()) is_over_ = true;
    }

    bool is_over() const { return is_over_; }
    void rethrow() const {
        if (!error_.empty()) throw CommunicationError(error_);
    }

  private:
    /// Begins to receive a message if one is there; returns whether there was. Its length is known before it
    /// goes anywhere: for longer messages than the memory that they are received into, Open MPI 4.1 has an
    /// error, but also writes beyond the end of that memory.
    bool receive_one() {
        int is_there = 0;
        MPI_Message message{};
        MPI_Status status{};
        if (const int code = MPI_Improbe(MPI_ANY_SOURCE, tag_, communicator_, &is_there, &message, &status);
            code != MPI_SUCCESS) {
            note("MPI_Improbe", code);
            give_up();
        }
        if (is_there == 0) return false;
        MPI_Count length = 0;
        MPI_Get_elements_x(&status, MPI_BYTE, &length);
        const auto memory = memory_for(status.MPI_SOURCE, static_cast<std::size_t>(length));
        begin("MPI_Imrecv", status.MPI_SOURCE, memory.size(),
              [&](const ByteType& bytes, MPI_Request* request) {
                  return MPI_Imrecv(memory.data(), bytes.count(), bytes.type(), &message, request);
              });
        return true;
    }
    /// Where a message goes: one that was not expected so, into memory that nobody reads, to relieve its
    /// sender.
    std::span<std::byte> memory_for(int rank, std::size_t length) {
        const auto found = std::find_if(awaited_.begin(), awaited_.end(),
                                        [&](const auto& message) { return message.rank == rank; });
        const std::size_t expected = found == awaited_.end() ? 0 : found->bytes.size();
        if (found != awaited_.end()) {
            const auto memory = found->bytes;
            awaited_.erase(found);
            if (expected == length) return memory;
        }
        note(fmt::format("rank {}: sent {} bytes where {} were expected", rank, length, expected));
        return refused_.emplace_back(length);
    }

    /// start(type, request): begins to send n_bytes to a rank, or to receive them from it.
    template <class Start>
    void begin(const char* call, int rank, std::size_t n_bytes, const Start& start) {
        MPI_Request request = MPI_REQUEST_NULL;
        try {
            check(start(ByteType(n_bytes, largest_count_), &request), call);
        } catch (const CommunicationError& error) {
            note(error.what());
        }
        requests_.push_back(request);
        ranks_.push_back(rank);
    }
    void forget_what_is_done() {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < requests_.size(); ++i) {
            if (requests_[i] == MPI_REQUEST_NULL) continue;
            requests_[kept] = requests_[i];
            ranks_[kept++] = ranks_[i];
        }
        requests_.resize(kept);
        ranks_.resize(kept);
    }
    /// Which ranks send nothing, or else take nothing.
    std::string silence() const {
        std::set<int> silent;
        for (const auto& message : awaited_) silent.insert(message.rank);
        if (silent.empty()) silent.insert(ranks_.begin(), ranks_.end());
        return fmt::format("{} {} {} not answered for {:g} s, which is the timeout",
                           silent.size() == 1 ? "rank" : "ranks", fmt::join(silent, ", "),
                           silent.size() == 1 ? "has" : "have", timeout_.load());
    }

    void note(const std::string& error) {
        if (error_.empty()) error_ = error;
    }
    void note(const char* call, int code) {
        if (code != MPI_SUCCESS) note(fmt::format("{}: {}", call, text_of(code)));
    }
    void give_up() {
        awaited_.clear();
        requests_.clear();
        ranks_.clear();
    }

    MPI_Comm communicator_;
    const int tag_;
    const std::int64_t largest_count_;
    std::vector<Message<std::byte>> awaited_;
    std::atomic<bool>& has_silent_rank_;
    std::vector<std::vector<std::byte>> refused_;
    std::vector<MPI_Request> requests_;
    std::vector<int> ranks_;  ///< of the requests
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
    std::string error_;
    std::atomic<bool> is_over_ = false;
    std::atomic<Clock::time_point> moved_at_{};
    std::atomic<double> timeout_ = 0;
};

/// A communicator, and what drives its messages.
class Link {
  public:
    Link(MPI_Comm communicator, bool with_thread)
        : communicator_(communicator), has_threads_(with_thread), driver_(with_thread) {}
    ~Link() {
        driver_.stop();
        int is_finalized = 0;
        MPI_Finalized(&is_finalized);
        if (is_finalized == 0) MPI_Comm_free(&communicator_);
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    MPI_Comm communicator() const { return communicator_; }
    /// Whether several threads may call MPI.
    bool has_threads() const { return has_threads_; }
    Driver<Flight, Pace>& driver() { return driver_; }
    /// Set once one has not answered in time: then no exchange can be relied on.
    std::atomic<bool>& has_silent_rank() { return has_silent_rank_; }
    /// What is called then, before CommunicationError is thrown.
    std::function<void(const std::string&)> at_silence;

  private:
    MPI_Comm communicator_;
    const bool has_threads_;
    std::atomic<bool> has_silent_rank_ = false;
    Driver<Flight, Pace> driver_;
};

class MpiExchange final : public DrivenExchange<Link, Flight> {
  public:
    MpiExchange(const std::shared_ptr<Link>& link, const std::shared_ptr<Flight>& flight, double timeout)
        : DrivenExchange(link, flight), timeout_(timeout) {}
    ~MpiExchange() override { begin_timeout(); }
    void wait() override {
        begin_timeout();
        try {
            DrivenExchange::wait();
        } catch (const CommunicationError& error) {
            if (link_->has_silent_rank() && link_->at_silence) link_->at_silence(error.what());
            throw;
        }
    }

  private:
    void begin_timeout() {
        if (!is_awaited_) flight_->set_timeout(timeout_);
        is_awaited_ = true;
    }

    double timeout_;
    bool is_awaited_ = false;
};

class MpiTransport final : public Transport {
  public:
    MpiTransport(std::shared_ptr<Link> link, const MpiOptions& options)
        : link_(std::move(link)), options_(options) {
        check(MPI_Comm_rank(link_->communicator(), &rank_), "MPI_Comm_rank");
        check(MPI_Comm_size(link_->communicator(), &size_), "MPI_Comm_size");
    }
    int rank() const override { return rank_; }
    int size() const override { return size_; }

    std::unique_ptr<Exchange> exchange(std::vector<Message<const std::byte>> send,
                                       std::vector<Message<std::byte>> receive) override {
        for (const auto& message : send) check_rank(message.rank);
        for (const auto& message : receive) check_rank(message.rank);
        // A message that nobody expects must not be taken for one of the next exchange. 32767 is the largest
        // tag that every MPI has, and that of the announcement.
        const int tag = n_exchanges_++ % tag_of_end;
        const auto flight = std::make_shared<Flight>(link_->communicator(), tag, options_.largest_count,
                                                     std::move(receive), link_->has_silent_rank());
        for (const auto& message : send) flight->send(message);
        return std::make_unique<MpiExchange>(link_, flight, timeout_);
    }

    std::vector<std::string> gather(const std::string& bytes) override {
        constexpr std::size_t n_digits = 20;
        const std::vector<std::size_t> digits(static_cast<std::size_t>(size_), n_digits);
        std::vector<std::size_t> lengths;
        for (const auto& text : gather_known(fmt::format("{:{}}", bytes.size(), n_digits), digits))
            lengths.push_back(std::stoull(text));
        const auto total = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
        if (total > static_cast<std::size_t>(options_.largest_count))  // on all ranks alike
            throw CommunicationError(fmt::format("gather: {} bytes of all ranks together: must be at most {}",
                                                 total, options_.largest_count));
        return gather_known(bytes, lengths);
    }

    void set_timeout(double seconds, const std::function<void(const std::string&)>& at_silence) override {
        timeout_ = seconds;
        link_->at_silence = at_silence;
    }

    void announce_end() override {
        if (!link_->has_threads()) return;
        std::vector<MPI_Request> requests(static_cast<std::size_t>(size_), MPI_REQUEST_NULL);
        for (int other = 0; other < size_; ++other)
            if (other != rank_)
                MPI_Isend(nullptr, 0, MPI_BYTE, other, tag_of_end, link_->communicator(),
                          &requests[static_cast<std::size_t>(other)]);
        int all_are_sent = 0;
        MPI_Testall(size_, requests.data(), &all_are_sent, MPI_STATUSES_IGNORE);
    }
    int rank_that_ends() override {
        if (!link_->has_threads()) return -1;
        for (int other = 0; other < size_; ++other) {
            int is_there = 0;
            // Open MPI looks first, and lets messages arrive after that.
            for (int attempt = 0; attempt < 3 && other != rank_ && is_there == 0; ++attempt)
                MPI_Iprobe(other, tag_of_end, link_->communicator(), &is_there, MPI_STATUS_IGNORE);
            if (is_there != 0) return other;
        }
        return -1;
    }

  private:
    static constexpr int tag_of_end = 32767;

    /// Every rank's bytes, whose lengths all know.
    std::vector<std::string> gather_known(const std::string& own, const std::vector<std::size_t>& lengths) {
        std::vector<std::string> parts;
        parts.reserve(lengths.size());
        for (const auto length : lengths) parts.emplace_back(length, '\0');
        if (timeout_ > 0) {  // MPI_Allgatherv has no end if a rank falls silent, and does not say which one
            std::vector<Message<const std::byte>> send;
            std::vector<Message<std::byte>> receive;
            for (int other = 0; other < size_; ++other) {
                if (other == rank_) continue;
                send.push_back({other, std::as_bytes(std::span(own))});
                receive.push_back(
                    {other, std::as_writable_bytes(std::span(parts[static_cast<std::size_t>(other)]))});
            }
            exchange(std::move(send), std::move(receive))->wait();
            parts[static_cast<std::size_t>(rank_)] = own;
            return parts;
        }
        const std::vector<int> counts(lengths.begin(), lengths.end());
        std::vector<int> starts(counts.size());
        std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
        std::string all(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}), '\0');
        check(MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_BYTE, all.data(), counts.data(),
                             starts.data(), MPI_BYTE, link_->communicator()),
              "MPI_Allgatherv");
        for (std::size_t i = 0; i < parts.size(); ++i)
            all.copy(parts[i].data(), lengths[i], static_cast<std::size_t>(starts[i]));
        return parts;
    }
    void check_rank(int other) const {
        if (other < 0 || other >= size_ || other == rank_)
            throw InvalidArgument(
                "rank", other,
                fmt::format("must be from 0 to {} and not {}, the sender's own", size_ - 1, rank_));
    }

    const std::shared_ptr<Link> link_;
    const MpiOptions options_;
    int rank_ = 0, size_ = 0;
    int n_exchanges_ = 0;
    double timeout_ = 0;  ///< s; 0: none
};

}  // namespace

void check_mpi_runs() {
    int is_initialized = 0, is_finalized = 0;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    if (is_initialized == 0 || is_finalized != 0)
        throw CommunicationError(
            fmt::format("MPI {}: make a zonal::mpi::Environment that lives longer than all that communicates",
                        is_finalized != 0 ? "has been finalized" : "has not been initialized"));
}

std::shared_ptr<Transport> connect_mpi(int communicator, const MpiOptions& options) {
    check_mpi_runs();
    MPI_Comm original = MPI_Comm_f2c(communicator);
    // MPI returns one or the other for what is none.
    if (original == MPI_COMM_NULL || original == MPI_Comm{})
        throw InvalidArgument("communicator", communicator, "must be the Fortran handle of a communicator");
    int is_inter = 0;
    check(MPI_Comm_test_inter(original, &is_inter), "MPI_Comm_test_inter");
    if (is_inter != 0)
        throw InvalidArgument("communicator", communicator, "must not be an intercommunicator");
    int level = MPI_THREAD_SINGLE;
    check(MPI_Query_thread(&level), "MPI_Query_thread");
    MPI_Comm own = MPI_COMM_NULL;
    check(MPI_Comm_dup(original, &own), "MPI_Comm_dup");
    const auto link = std::make_shared<Link>(own, options.with_thread && level == MPI_THREAD_MULTIPLE);
    check(MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return std::make_shared<MpiTransport>(link, options);
}

}  // namespace zonal::distributed
