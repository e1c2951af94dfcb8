#pragma once

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/interruption.hpp"
#include "distributed/transport.hpp"

namespace zonal::distributed {

/// Moves messages that are under way: by the rank that waits for them, or while none does by a thread.
///
/// Flight: the messages of an exchange, with test(), which lets them carry on and is called by one thread at
/// a time, and is_over(), which any thread may call. Pace: how often to look, by for_waiting() and
/// for_thread(), look(function) and pause().
template <class Flight, class Pace>
class Driver {
  public:
    explicit Driver(bool with_thread) {
        if (with_thread) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    /// Ends the thread.
    void stop() { thread_ = {}; }

    void drive(const std::shared_ptr<Flight>& flight) {
        const std::lock_guard lock(mutex_);
        flights_.push_back(flight);
        changed_.notify_all();
    }

    /// Calls between_looks(), which may throw, again and again until the flight is over.
    template <class Function>
    void wait_for(const Flight& flight, const Function& between_looks) {
        const Waiting waiting(*this);
        Pace pace = Pace::for_waiting();
        while (true) {
            pace.look([&] { test_all(); });
            if (flight.is_over()) return;
            between_looks();
            pace.pause();
        }
    }

  private:
    /// While it lives, the thread rests, because whoever waits drives the messages with less delay.
    class Waiting {
      public:
        explicit Waiting(Driver& driver) : driver_(driver) { change(1); }
        ~Waiting() { change(-1); }
        Waiting(const Waiting&) = delete;
        Waiting& operator=(const Waiting&) = delete;

      private:
        void change(int by) {
            const std::lock_guard lock(driver_.mutex_);
            driver_.n_waiting_ += by;
            driver_.changed_.notify_all();
        }
        Driver& driver_;
    };

    void run(const std::stop_token& stop) {
        const auto is_needed = [&] { return !flights_.empty() && n_waiting_ == 0; };
        Pace pace = Pace::for_thread();
        while (true) {
            {
                std::unique_lock lock(mutex_);
                if (!is_needed()) pace = Pace::for_thread();
                if (!changed_.wait(lock, stop, is_needed)) return;
            }
            pace.look([&] { test_all(); });
            pace.pause();
        }
    }
    void test_all() {
        const std::lock_guard testing(testing_);
        std::vector<std::shared_ptr<Flight>> flights;
        {
            const std::lock_guard lock(mutex_);
            flights = flights_;
        }
        for (const auto& flight : flights) flight->test();
        const std::lock_guard lock(mutex_);
        std::erase_if(flights_, [](const auto& flight) { return flight->is_over(); });
    }

    std::mutex testing_;  ///< held while messages are tested, which may take long; before mutex_
    std::mutex mutex_;    ///< of what follows
    std::condition_variable_any changed_;
    std::vector<std::shared_ptr<Flight>> flights_;
    int n_waiting_ = 0;
    std::jthread thread_;
};

/// An exchange whose messages a driver moves, which link->driver() returns. Flight::rethrow() throws what
/// went wrong, once the flight is over.
template <class Link, class Flight>
class DrivenExchange : public Exchange {
  public:
    DrivenExchange(std::shared_ptr<Link> link, std::shared_ptr<Flight> flight)
        : link_(std::move(link)), flight_(std::move(flight)) {
        link_->driver().drive(flight_);
    }
    ~DrivenExchange() override {
        // After an error, too: MPI may still read and write the memory of the messages.
        link_->driver().wait_for(*flight_, [] {});
    }
    void wait() override {
        const core::InterruptionPoll poll;
        link_->driver().wait_for(*flight_, poll);
        flight_->rethrow();
    }

  protected:
    const std::shared_ptr<Link> link_;
    const std::shared_ptr<Flight> flight_;
};

}  // namespace zonal::distributed
