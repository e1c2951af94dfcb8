#include "mpi/transport.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "call.hpp"
#include "distributed/driver.hpp"
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

/// The messages of one exchange. Errors are for wait() to throw: what has begun must come to its end first.
class Flight {
  public:
    /// testall: of mpi4py's requests. This and what follows with the GIL, test() apart.
    explicit Flight(nb::object testall) : testall_(std::move(testall)) {}

    void add(const nb::object& request) { requests_.append(request); }
    void note(std::exception_ptr error) {
        if (!error_) error_ = std::move(error);
    }

    /// Takes the GIL.
    void test() {
        try {
            // MPI may copy a long message in pieces, one at each look: as long as looks take their time,
            // something moves.
            const auto first = Clock::now();
            auto start = first;
            with_gil([&] {
                while (!nb::cast<bool>(testall_(requests_))) {
                    const auto end = Clock::now();
                    if (end - start < 20us || end - first > 20ms) return;
                    start = end;
                }
                is_over_ = true;
            });
        } catch (...) {
            note(std::current_exception());
            is_over_ = true;
        }
    }
    bool is_over() const { return is_over_; }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    nb::object testall_;
    nb::list requests_;
    std::exception_ptr error_;
    std::atomic<bool> is_over_ = false;
};

/// A wait that lasts may be for a slower rank, and others can use the CPU: it pauses after 20 ms. A look at
/// messages takes the GIL, so that its own time does not tell whether data move.
class Pace {
  public:
    static Pace for_waiting() { return {20ms, 50us}; }
    static Pace for_thread() { return {0ms, 100us}; }

    template <class Look>
    void look(const Look& look) {
        look();
    }
    void pause() const {
        if (Clock::now() < first_pause_)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(pause_);
    }

  private:
    Pace(Clock::duration eager, Clock::duration pause) : first_pause_(Clock::now() + eager), pause_(pause) {}
    Clock::time_point first_pause_;
    Clock::duration pause_;
};

/// The communicator and what drives its messages. The driver's mutexes are taken before the GIL, for MPI may
/// release the GIL while it tests.
class Link {
  public:
    Link(nb::object mpi, nb::object communicator, bool with_thread)
        : mpi_(std::move(mpi)), communicator_(std::move(communicator)), driver_(with_thread) {
        byte_ = mpi_.attr("BYTE");
        integer_ = mpi_.attr("INT64_T");
        testall_ = mpi_.attr("Request").attr("Testall");
    }
    /// With the GIL, which the thread may be waiting for.
    ~Link() {
        const GilRelease release;
        driver_.stop();
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    const nb::object& communicator() const { return communicator_; }
    const nb::object& byte() const { return byte_; }
    const nb::object& integer() const { return integer_; }
    const nb::object& testall() const { return testall_; }
    distributed::Driver<Flight, Pace>& driver() { return driver_; }

  private:
    nb::object mpi_, communicator_, byte_, integer_, testall_;
    distributed::Driver<Flight, Pace> driver_;
};

/// Something with Python's objects, which is destroyed with the GIL.
template <class T>
std::shared_ptr<T> shared_with_gil(T* made) {
    return std::shared_ptr<T>(made, [](T* one) {
        const GilAcquire gil;
        delete one;
    });
}

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
        const auto flight = with_gil([&] { return shared_with_gil(new Flight(link_->testall())); });
        try {
            with_gil([&] {
                for (const auto& message : receive) begin("Irecv", message, *flight);
                for (const auto& message : send) begin("Isend", message, *flight);
            });
        } catch (...) {
            flight->note(std::current_exception());
        }
        return std::make_unique<distributed::DrivenExchange<Link, Flight>>(link_, flight);
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
            flight.add(link_->communicator().attr(method)(
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
