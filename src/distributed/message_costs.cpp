#include "distributed/message_costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/stopwatch.hpp"
#include "distributed/agreement.hpp"
#include "zonal/error.hpp"

namespace zonal::distributed {
namespace {

constexpr std::size_t probe_bytes = std::size_t{1} << 22;

/// Exchanges of a rank with those that are 1, 2, 4, ... ranks away: neighbours on its machine and ranks on
/// others, all at the same time, as in a transform.
class Probe {
  public:
    explicit Probe(Transport& transport) : transport_(transport) {
        agree(transport, "measuring messages", thrown_by([&] {
                  outgoing_.resize(probe_bytes);  // which touches the memory, too
                  incoming_.resize(probe_bytes);
              }));
        for (int distance = 1; distance < transport.size(); distance *= 2) ++n_messages_;
    }

    std::size_t n_messages() const { return n_messages_; }

    /// Times some exchanges in which each rank sends messages of this many bytes. Returns the shortest time
    /// that the slowest rank takes.
    double seconds(std::size_t bytes) {
        constexpr int repeats = 3;
        double least = std::numeric_limits<double>::infinity();
        for (int i = 0; i < repeats; ++i) least = std::min(least, slowest(once(bytes)));
        return least;
    }

  private:
    double once(std::size_t bytes) {
        const int rank = transport_.rank(), size = transport_.size();
        std::vector<Message<const std::byte>> send;
        std::vector<Message<std::byte>> receive;
        std::size_t place = 0;
        for (int distance = 1; distance < size; distance *= 2, place += bytes) {
            send.push_back({(rank + distance) % size, std::span(outgoing_).subspan(place, bytes)});
            receive.push_back({(rank - distance + size) % size, std::span(incoming_).subspan(place, bytes)});
        }
        const core::Stopwatch watch;
        transport_.exchange(std::move(send), std::move(receive))->wait();
        return watch.seconds();
    }

    /// After which all ranks go on at about the same time.
    double slowest(double mine) {
        double most = 0;
        for (const auto& text : transport_.gather(std::to_string(std::llround(mine * 1e9))))
            most = std::max(most, std::stod(text) * 1e-9);
        return most;
    }

    Transport& transport_;
    std::vector<std::byte> outgoing_, incoming_;
    std::size_t n_messages_ = 0;
};

MessageCosts measure(Transport& transport) {
    if (transport.size() == 1) return {};
    Probe probe(transport);
    const auto n = static_cast<double>(probe.n_messages());
    constexpr std::size_t shortest = 64;
    constexpr double long_enough = 2e-3;  // s: three of eight times as much take less than 50 ms
    const double empty = probe.seconds(shortest);
    MessageCosts costs{empty / n};
    for (std::size_t all = probe_bytes / 64; all <= probe_bytes; all *= 8) {
        const std::size_t bytes = all / probe.n_messages();
        const double seconds = probe.seconds(bytes);
        costs.byte = std::max(0.0, seconds - empty) / (n * static_cast<double>(bytes));
        if (seconds > long_enough) break;
    }
    return costs;
}

}  // namespace

MessageCosts message_costs(Transport& transport) {
    if (!transport.message_costs) transport.message_costs = measure(transport);
    return *transport.message_costs;
}

}  // namespace zonal::distributed
