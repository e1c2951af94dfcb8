#include "mpi/transport.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "call.hpp"
#include "core/interruption.hpp"
#include "zonal/error.hpp"

namespace zonal::python {
namespace {

namespace nb = nanobind;
using namespace std::chrono_literals;
using distributed::Exchange, distributed::Message, distributed::Transport;
using Clock = std::chrono::steady_clock;

std::string text_of(const nb::python_error& error) {
    return nb::str("{}: {}").format(error.type().attr("__name__"), error.value()).c_str();
}

/// Returns work() with the GIL. What Python raises becomes a CommunicationError, but for KeyboardInterrupt
/// and the like. C++ calls methods that are compiled themselves, so that no handler of a signal runs between
/// them.
template <class Work>
auto with_gil(const Work& work) {
    const GilAcquire gil;
    try {
        return work();
    } catch (const nb::python_error& error) {
        if (!error.matches(PyExc_Exception)) throw;
        throw CommunicationError(text_of(error));
    }
}

// Of Python's headers, which have them for extensions of CPython 3.11 and later only.
constexpr int buffer_read = 0x100, buffer_write = 0x200;

nb::object memory_of(std::span<const std::byte> bytes) {
    auto* const data = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
    return nb::steal(PyMemoryView_FromMemory(data, static_cast<Py_ssize_t>(bytes.size()), buffer_read));
}
nb::object memory_of(std::span<std::byte> bytes) {
    return nb::steal(PyMemoryView_FromMemory(reinterpret_cast<char*>(bytes.data()),
                                             static_cast<Py_ssize_t>(bytes.size()), buffer_write));
}

/// The messages of one exchange.
struct Flight {
    nb::list requests;  ///< touched with the GIL alone
    bool is_over = false;
    std::exception_ptr error;  ///< for wait() to throw: what has begun must come to its end first
};

/// The communicator and what drives its messages. Whoever needs the mutex and the GIL takes the mutex first,
/// for MPI may release the GIL while it tests.
class Link {
  public:
    Link(nb::object mpi, nb::object communicator, bool with_thread)
        : mpi_(std::move(mpi)), communicator_(std::move(communicator)) {
        byte_ = mpi_.attr("BYTE");
        integer_ = mpi_.attr("INT64_T");
        testall_ = mpi_.attr("Request").attr("Testall");
        if (with_thread) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    /// With the GIL, which the thread may be waiting for.
    ~Link() {
        const GilRelease release;
        thread_ = {};
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    const nb::object& communicator() const { return communicator_; }
    const nb::object& byte() const { return byte_; }
    const nb::object& integer() const { return integer_; }

    void drive(const std::shared_ptr<Flight>& flight) {
        const std::lock_guard lock(mutex_);
        flights_.push_back(flight);
        changed_.notify_all();
    }

    /// Calls between_looks(), which may throw, again and again until the flight is over.
    template <class Function>
    void wait_for(const Flight& flight, const Function& between_looks) {
        const Waiting waiting(*this);
        const auto start = Clock::now();
        while (true) {
            {
                const std::lock_guard lock(mutex_);
                test_all();
                if (flight.is_over) return;
            }
            between_looks();
            // A wait that lasts may be for a slower rank, and others can use the CPU.
            if (Clock::now() - start < 20ms)
                std::this_thread::yield();
            else
                std::this_thread::sleep_for(50us);
        }
    }

  private:
    /// While it lives, the thread rests, because whoever waits drives the messages with less delay.
    class Waiting {
      public:
        explicit Waiting(Link& link) : link_(link) { change(1); }
        ~Waiting() { change(-1); }
        Waiting(const Waiting&) = delete;
        Waiting& operator=(const Waiting&) = delete;

      private:
        void change(int by) {
            const std::lock_guard lock(link_.mutex_);
            link_.n_waiting_ += by;
            link_.changed_.notify_all();
        }
        Link& link_;
    };

    void run(const std::stop_token& stop) {
        while (true) {
            {
                std::unique_lock lock(mutex_);
                if (!changed_.wait(lock, stop, [&] { return !flights_.empty() && n_waiting_ == 0; })) return;
                test_all();
            }
            std::this_thread::sleep_for(100us);
        }
    }
    /// With the mutex.
    void test_all() {
        if (flights_.empty()) return;
        const GilAcquire gil;
        for (const auto& flight : flights_) {
            try {
                // MPI may copy a long message in pieces, one at each look: as long as looks take their time,
                // something moves.
                const auto first = Clock::now();
                auto start = first;
                with_gil([&] {
                    while (!(flight->is_over = nb::cast<bool>(testall_(flight->requests)))) {
                        const auto end = Clock::now();
                        if (end - start < 20us || end - first > 20ms) break;
                        start = end;
                    }
                });
            } catch (...) {
                if (!flight->error) flight->error = std::current_exception();
                flight->is_over = true;
            }
        }
        std::erase_if(flights_, [](const auto& flight) { return flight->is_over; });
    }

    nb::object mpi_, communicator_, byte_, integer_, testall_;
    std::mutex mutex_;  ///< of what follows, and of the state of the flights
    std::condition_variable_any changed_;
    std::vector<std::shared_ptr<Flight>> flights_;
    int n_waiting_ = 0;
    std::jthread thread_;
};

/// Something with Python's objects, which is destroyed with the GIL.
template <class T>
std::shared_ptr<T> shared_with_gil(T* made) {
    return std::shared_ptr<T>(made, [](T* one) {
        const GilAcquire gil;
        delete one;
    });
}

class PythonExchange final : public Exchange {
  public:
    PythonExchange(std::shared_ptr<Link> link, std::shared_ptr<Flight> flight)
        : link_(std::move(link)), flight_(std::move(flight)) {}
    ~PythonExchange() override {
        // After an error, too: MPI may still read and write the memory of the messages.
        link_->wait_for(*flight_, [] {});
    }
    void wait() override {
        const core::InterruptionPoll poll;
        link_->wait_for(*flight_, poll);
        if (flight_->error) std::rethrow_exception(flight_->error);
    }

  private:
    std::shared_ptr<Link> link_;
    std::shared_ptr<Flight> flight_;
};

class PythonTransport final : public Transport {
  public:
    PythonTransport(std::shared_ptr<Link> link, std::int64_t longest_message)
        : link_(std::move(link)),
          longest_message_(static_cast<std::size_t>(longest_message)),
          rank_(nb::cast<int>(link_->communicator().attr("rank"))),
          size_(nb::cast<int>(link_->communicator().attr("size"))) {}

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    std::unique_ptr<Exchange> exchange(std::vector<Message<const std::byte>> send,
                                       std::vector<Message<std::byte>> receive) override {
        const auto flight = with_gil([] { return shared_with_gil(new Flight); });
        try {
            with_gil([&] {
                for (const auto& message : receive) begin("Irecv", message, *flight);
                for (const auto& message : send) begin("Isend", message, *flight);
            });
        } catch (...) {
            flight->error = std::current_exception();
        }
        link_->drive(flight);
        return std::make_unique<PythonExchange>(link_, flight);
    }

    std::vector<std::string> gather(const std::string& bytes) override {
        const auto n_ranks = static_cast<std::size_t>(size_);
        const auto length = static_cast<std::int64_t>(bytes.size());
        std::vector<std::int64_t> lengths(n_ranks), starts(n_ranks);
        with_gil([&] {
            const auto mine = memory_of(std::as_bytes(std::span(&length, 1)));
            const auto all = memory_of(std::as_writable_bytes(std::span(lengths)));
            link_->communicator().attr("Allgather")(nb::make_tuple(mine, 1, link_->integer()),
                                                    nb::make_tuple(all, 1, link_->integer()));
        });
        std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), std::int64_t{0});
        const std::int64_t total = starts.back() + lengths.back();
        if (total > INT32_MAX)  // on all ranks alike
            throw CommunicationError("gather: " + std::to_string(total) +
                                     " bytes of all ranks together: must be below 2^31");
        std::string together(static_cast<std::size_t>(total), '\0');
        with_gil([&] {
            nb::list counts, displacements;
            for (std::size_t i = 0; i < n_ranks; ++i)
                counts.append(lengths[i]), displacements.append(starts[i]);
            const auto mine = memory_of(std::as_bytes(std::span(bytes)));
            const auto all = memory_of(std::as_writable_bytes(std::span(together)));
            link_->communicator().attr("Allgatherv")(
                nb::make_tuple(mine, length, link_->byte()),
                nb::make_tuple(all, nb::make_tuple(counts, displacements), link_->byte()));
        });
        std::vector<std::string> parts;
        for (std::size_t i = 0; i < n_ranks; ++i)
            parts.push_back(
                together.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
        return parts;
    }

  private:
    /// Begins to send or to receive a message, whose pieces arrive in their order.
    template <class Byte>
    void begin(const char* method, const Message<Byte>& message, Flight& flight) const {
        for (std::size_t first = 0; first < message.bytes.size(); first += longest_message_) {
            const auto piece =
                message.bytes.subspan(first, std::min(longest_message_, message.bytes.size() - first));
            flight.requests.append(link_->communicator().attr(method)(
                nb::make_tuple(memory_of(piece), piece.size(), link_->byte()), message.rank));
        }
    }

    const std::shared_ptr<Link> link_;
    const std::size_t longest_message_;
    const int rank_, size_;
};

}  // namespace

std::shared_ptr<Transport> connect_mpi4py(nb::object mpi, nb::object communicator,
                                          std::int64_t longest_message, bool with_thread) {
    const auto link = shared_with_gil(new Link(std::move(mpi), std::move(communicator), with_thread));
    return std::make_shared<PythonTransport>(link, longest_message);
}

}  // namespace zonal::python
