#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/cuda_host.hpp"
#include "core/parallel.hpp"
#include "distributed/agreement.hpp"
#include "distributed/launch.hpp"
#include "distributed/threads.hpp"
#include "distributed/transform.hpp"
#include "sht/array_checks.hpp"
#include "sht/plan_implementation.hpp"
#include "zonal/distributed/plan.hpp"
#include "zonal/error.hpp"
#include "zonal/memory.hpp"

namespace zonal {
namespace {

using distributed::DistributedTransform;

/// What the ranks must have in common, as text: numbers as bits, since they must be the same to the last.
std::string description(const Grid& grid, const ShtOptions& options, const std::vector<double>& speeds) {
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    const auto add = [&](auto value) {
        unsigned char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211ULL;
    };
    for (const Ring& ring : grid.rings()) {
        add(ring.cos_theta), add(ring.sin_theta), add(ring.phi_0), add(ring.weight);
        add(ring.n_pixels), add(ring.first_pixel);
    }
    for (const double speed : speeds) add(speed);
    return fmt::format(
        "a plan for {}, lmax = {}, mmax = {}, spin = {}, parts {}, speeds and rings of checksum {:x}",
        grid.name(), options.lmax, options.mmax, options.spin, static_cast<int>(options.parts), hash);
}

ShtOptions resolved(const ShtOptions& options) {
    if (options.max_workspace_bytes > 0)
        throw InvalidArgument("max_workspace_bytes", options.max_workspace_bytes,
                              "must be 0 for a distributed transform");
    return sht::resolve_options(options);
}

/// How fast the ranks usually are, by what each computes on, which they tell each other. Collective.
std::vector<double> speeds_of(distributed::Transport& transport, const ShtOptions& options) {
    const bool on_gpu = options.device.kind() == Device::Kind::cuda;
    std::vector<distributed::RankDevice> devices;
    for (const auto& text : transport.gather(fmt::format("{}{}", on_gpu ? 'G' : 'C', options.threads)))
        devices.push_back({text.at(0) == 'G', std::stoi(text.substr(1))});
    return distributed::usual_speeds(devices);
}

std::unique_ptr<const DistributedTransform> make_transform(const Communicator& communicator, const Grid& grid,
                                                           const DistributedOptions& options,
                                                           std::vector<double>& speeds,
                                                           ExchangeReport& exchange) {
    const auto& transport = communicator.transport();
    std::unique_ptr<const DistributedTransform> transform;
    std::exception_ptr error;
    std::string call;
    ShtOptions sht = options.sht;
    sht.device = communicator.resolve_device(sht.device);
    try {
        sht = resolved(sht);
    } catch (...) {
        error = std::current_exception();
    }
    distributed::agree(*transport, options.speeds.empty() ? "a plan" : "a plan of given speeds", error);
    speeds = options.speeds.empty() ? speeds_of(*transport, sht) : options.speeds;
    auto chosen = distributed::choose_exchange(*transport, sht.device, options.exchange);
    exchange = chosen.report;
    try {
        if (static_cast<int>(speeds.size()) != transport->size())
            throw InvalidArgument("speeds", fmt::format("has {} values: must have {}, one for each rank",
                                                        speeds.size(), transport->size()));
        call = description(grid, sht, speeds);
        transform = std::make_unique<const DistributedTransform>(transport, std::move(chosen.link), grid, sht,
                                                                 speeds);
    } catch (...) {
        error = std::current_exception();
    }
    distributed::agree(*transport, call, error);
    return transform;
}

}  // namespace

Communicator::Communicator(std::shared_ptr<distributed::Transport> transport)
    : transport_(std::move(transport)) {
    if (transport_ == nullptr) throw InvalidArgument("transport", "is null");
}
int Communicator::rank() const {
    return transport_->rank();
}
int Communicator::size() const {
    return transport_->size();
}
std::vector<double> Communicator::sum(const std::vector<double>& values) const {
    std::string mine(values.size() * sizeof(double), '\0');
    if (!values.empty()) std::memcpy(mine.data(), values.data(), mine.size());
    const auto all = gather(mine);
    for (std::size_t rank = 1; rank < all.size(); ++rank)
        if (all[rank].size() != all[0].size())
            throw InvalidArgument(
                "values",
                fmt::format("rank 0 has {}, and rank {} has {}: must be equally many",
                            all[0].size() / sizeof(double), rank, all[rank].size() / sizeof(double)));
    std::vector<double> sums(values.size());
    for (const auto& bytes : all)
        for (std::size_t i = 0; i < sums.size(); ++i) {
            double value = 0;
            std::memcpy(&value, bytes.data() + i * sizeof(double), sizeof(double));
            sums[i] += value;
        }
    return sums;
}
std::vector<std::string> Communicator::gather(const std::string& bytes) const {
    agree("gathering");  // so that a rank that has failed does not take this for an agreement
    return transport_->gather(bytes);
}
std::vector<std::string> Communicator::exchange(std::vector<std::string> outgoing) const {
    together("an exchange", [&] {
        if (std::ssize(outgoing) != size())
            throw InvalidArgument("outgoing", fmt::format("has {} messages: must have {}, one for each rank",
                                                          outgoing.size(), size()));
    });
    std::string sizes(outgoing.size() * sizeof(std::int64_t), '\0');
    for (std::size_t i = 0; i < outgoing.size(); ++i) {
        const auto size = static_cast<std::int64_t>(outgoing[i].size());
        std::memcpy(sizes.data() + i * sizeof size, &size, sizeof size);
    }
    const auto all = transport_->gather(sizes);
    std::vector<std::string> incoming(all.size());
    std::vector<distributed::Message<const std::byte>> send;
    std::vector<distributed::Message<std::byte>> receive;
    const auto here = static_cast<std::size_t>(rank());
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == here) continue;
        std::int64_t size = 0;
        std::memcpy(&size, all[i].data() + here * sizeof size, sizeof size);
        incoming[i].resize(static_cast<std::size_t>(size));
        const int other = static_cast<int>(i);
        if (!outgoing[i].empty()) send.push_back({other, std::as_bytes(std::span(outgoing[i]))});
        if (size > 0) receive.push_back({other, std::as_writable_bytes(std::span(incoming[i]))});
    }
    transport_->exchange(std::move(send), std::move(receive))->wait();
    incoming[here] = std::move(outgoing[here]);
    return incoming;
}
void Communicator::agree(const std::string& call, std::exception_ptr error) const {
    distributed::agree(*transport_, call, std::move(error));
}
double Communicator::share_of_cpus() const {
    const auto mine = core::usable_cpus();
    std::string text = core::machine_name();
    for (const int cpu : mine) text += fmt::format(" {}", cpu);
    text += ' ';
    const auto name_of = [](const std::string& one) { return one.substr(0, one.find(' ')); };
    const auto all = gather(text);
    double share = 0;
    for (const int cpu : mine)
        share += 1.0 / static_cast<double>(std::count_if(all.begin(), all.end(), [&](const auto& other) {
                     return name_of(other) == name_of(text) &&
                            other.find(fmt::format(" {} ", cpu)) != std::string::npos;
                 }));
    return share / static_cast<double>(mine.size());
}
void Communicator::require_memory(double bytes, const std::string& what) const {
    const std::string here = core::machine_name();
    const auto all = gather(fmt::format("{:.0f} {}", bytes, here));
    together("the memory of " + what, [&] {
        double of_machine = 0;
        int ranks_here = 0;
        for (const auto& text : all) {
            const auto space = text.find(' ');
            if (text.substr(space + 1) != here) continue;
            of_machine += std::stod(text.substr(0, space));
            ++ranks_here;
        }
        const auto available = available_memory();
        const double needed = available.is_shared ? of_machine : bytes;
        if (needed <= available.bytes) return;
        throw OutOfMemory(fmt::format(
            "{} needs {:.3g} GB of memory{}; {} has {:.3g} GB left: use more machines, or a smaller map",
            what, needed / 1e9,
            available.is_shared ? fmt::format(" on {}, for {} of {} ranks", here, ranks_here, all.size())
                                : " on this rank",
            available.limit, available.bytes / 1e9));
    });
}
Device Communicator::own_device(Device::Kind wanted) const {
    const auto names = gather(core::machine_name());
    const auto here = names.begin() + rank();
    const auto number = static_cast<int>(std::count(names.begin(), here, *here));
    Device device = Device::cpu();
    together("a device", [&] {
        if (wanted == Device::Kind::automatic) device = zonal::resolve_device(Device::automatic(), number);
        if (wanted == Device::Kind::cuda)
            device = zonal::resolve_device(Device::cuda(number % std::max(1, core::cuda_devices().count)));
    });
    return device;
}
Device Communicator::resolve_device(Device requested) const {
    const bool is_open = requested.kind() == Device::Kind::automatic;
    const Device own = own_device(is_open ? Device::Kind::automatic : Device::Kind::cpu);
    return is_open ? own : requested;
}
void Communicator::set_timeout(double seconds,
                               const std::function<void(const std::string&)>& at_silence) const {
    if (!(seconds > 0) || !std::isfinite(seconds))
        throw InvalidArgument("timeout", seconds, "must be positive, in seconds");
    transport_->set_timeout(seconds, at_silence);
}
void Communicator::announce_end() const {
    transport_->announce_end();
}
int Communicator::rank_that_ends() const {
    return transport_->rank_that_ends();
}
bool Communicator::failed_together() const {
    return transport_->failed_together;
}
std::optional<Communicator> Communicator::launched() {
    auto world = distributed::is_launched_alone() ? nullptr : distributed::launched_job();
    if (world == nullptr) return std::nullopt;
    return Communicator(std::move(world));
}
void Communicator::abort_launched(int status) {
    distributed::abort_launched_job(status);
}
std::vector<Communicator> Communicator::threads(int n_ranks) {
    std::vector<Communicator> all;
    for (auto& transport : distributed::connect_threads(n_ranks)) all.emplace_back(std::move(transport));
    return all;
}
Communicator Communicator::solo(int rank, int n_ranks) {
    return Communicator(distributed::make_solo(rank, n_ranks));
}

std::string ExchangeReport::text() const {
    if (way == ExchangeWay::nccl) return "NCCL";
    return fmt::format("host memory ({})", reason);
}

DistributedPlan::DistributedPlan(const Communicator& communicator, const Grid& grid,
                                 const DistributedOptions& options)
    : plan_(nullptr) {
    auto transform = make_transform(communicator, grid, options, speeds_, exchange_);
    orders_ = transform->partition().orders[static_cast<std::size_t>(transform->rank())];
    shares_ = transform->shares();
    for (const auto& run : transform->rings().runs) pixels_.push_back({run.first, run.first + run.n_pixels});
    const Grid rings = transform->rings().grid;
    const AlmLayout layout = transform->layout();
    ShtOptions local = transform->options();
    local.device = Device::cpu();  // where the arrays lie, whatever the rank computes on
    plan_ =
        ShtPlan(std::make_unique<const ShtPlan::Implementation>(rings, local, layout, std::move(transform)));
}

}  // namespace zonal
