#include "zonal/distributed/sky.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "distributed/halo.hpp"
#include "distributed/message_costs.hpp"
#include "distributed/partition.hpp"
#include "sht/transform.hpp"
#include "zonal/spectrum.hpp"

namespace zonal {
namespace {

/// [rank], the ranges of each.
std::vector<std::vector<PixelRange>> gather_ranges(const Communicator& ranks,
                                                   std::span<const PixelRange> mine) {
    std::string bytes(mine.size_bytes(), '\0');
    if (!bytes.empty()) std::memcpy(bytes.data(), mine.data(), bytes.size());
    std::vector<std::vector<PixelRange>> all;
    for (const auto& one : ranks.gather(bytes)) {
        auto& ranges = all.emplace_back(one.size() / sizeof(PixelRange));
        if (!ranges.empty()) std::memcpy(ranges.data(), one.data(), one.size());
    }
    return all;
}

/// [rank]
std::vector<Device> gather_devices(const Communicator& ranks, Device mine) {
    std::vector<Device> devices;
    const bool on_gpu = mine.kind() == Device::Kind::cuda;
    for (const auto& index : ranks.gather(on_gpu ? std::to_string(mine.index()) : ""))
        devices.push_back(index.empty() ? Device::cpu() : Device::cuda(std::stoi(index)));
    return devices;
}

}  // namespace

DistributedSky::DistributedSky(const Communicator& ranks, const Grid& grid, std::int64_t lmax,
                               std::int64_t mmax, int threads, std::vector<double> speeds, Device device)
    : ranks_(ranks),
      grid_(grid),
      lmax_(lmax),
      mmax_(mmax),
      threads_(threads),
      speeds_(std::move(speeds)),
      device_(device),
      devices_(gather_devices(ranks, device)),
      plan_(std::make_shared<const DistributedPlan>(ranks_, grid_, options_of(0))),
      all_pixels_(gather_ranges(ranks, plan_->pixels())) {}

void DistributedSky::require_memory(int components) const {
    const auto& local = plan_->local();
    const auto numbers = static_cast<double>(local.grid().n_pixels() + 2 * local.layout().size());
    // That of Q and U has two components; a GPU's is in its own memory.
    const int times = device_.kind() == Device::Kind::cuda ? 0 : components > 1 && lmax_ >= 2 ? 2 : 1;
    const double workspace = times * static_cast<double>(local.workspace_bytes());
    ranks_.require_memory(components * numbers * sizeof(double) + workspace,
                          fmt::format("{} to lmax = {}, in {} components", grid_.name(), lmax_, components));
}

DistributedOptions DistributedSky::options_of(int spin) const {
    DistributedOptions options{{}, speeds_};
    options.sht.lmax = lmax_;
    options.sht.mmax = mmax_;
    options.sht.spin = spin;
    options.sht.threads = threads_;
    options.sht.device = device_;
    return options;
}

std::shared_ptr<const DistributedPlan> DistributedSky::distributed(int spin) const {
    if (spin == 0) return plan_;
    if (spin_plan_ == nullptr)
        spin_plan_ = std::make_shared<const DistributedPlan>(ranks_, grid_, options_of(spin));
    return spin_plan_;
}

std::shared_ptr<const ShtPlan> DistributedSky::plan(int spin) const {
    const auto found = distributed(spin);
    return {found, &found->local()};
}

std::vector<RankShare> DistributedSky::shares(int spin) const {
    return distributed(spin)->shares();
}

std::shared_ptr<const SkyPart> DistributedSky::up_to(std::int64_t lmax) const {
    auto sky = std::make_shared<const DistributedSky>(ranks_, grid_, lmax, lmax, threads_, speeds_, device_);
    if (!std::equal(pixels().begin(), pixels().end(), sky->pixels().begin(), sky->pixels().end()))
        throw Error(fmt::format("lmax = {}: a rank's rings are other ones than with lmax = {}", lmax, lmax_));
    return sky;
}

std::shared_ptr<const SkyHalo> DistributedSky::halo(double support) const {
    if (const auto why = why_no_halo(); !why.empty()) throw InvalidArgument(why);
    return std::make_shared<const distributed::RankHalo>(ranks_, grid_, all_pixels_, support);
}

std::string DistributedSky::why_no_halo() const {
    for (std::size_t rank = 0; rank < devices_.size(); ++rank)
        if (devices_[rank].kind() == Device::Kind::cuda)
            return fmt::format(
                "device = {} of rank {}: sums over pixels, ring FFTs and splits of several ranks run on "
                "CPUs: "
                "must be cpu on all ranks, or the method harmonic",
                to_string(devices_[rank]), rank);
    return "";
}

HaloShare DistributedSky::halo_share(double support) const {
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    auto copies = distributed::halo_copies(grid_, all_pixels_, rank, support);
    const auto traffic = copies.traffic(rank);
    return {std::move(copies.rings.grid), traffic};
}

TransformShare DistributedSky::transform_share(std::int64_t lmax, int spin) const {
    ShtOptions options;
    options.lmax = lmax;
    options.mmax = lmax == lmax_ ? layout().mmax() : lmax;  // as of up_to
    options.spin = spin;
    const sht::RingPairs pairs(grid_, options.lmax, options.mmax, spin);
    const distributed::Partition partition(grid_, pairs, options, plan_->speeds(),
                                           exchange().way == ExchangeWay::nccl);
    const auto rank = static_cast<std::size_t>(ranks_.rank());
    const auto [sent, received] = distributed::synthesis_bytes(pairs, partition, spin == 0 ? 1 : 2, rank);
    const auto n_chunks = std::ssize(partition.chunks[rank]);
    const auto& flops = partition.legendre_flops;
    return {flops[rank] / std::accumulate(flops.begin(), flops.end(), 0.0),
            n_chunks,
            {n_chunks * (ranks_.size() - 1), std::max(sent, received)}};
}

MessageCosts DistributedSky::message_costs() const {
    if (exchange().way == ExchangeWay::nccl) return {};
    return distributed::message_costs(*ranks_.transport());
}

void DistributedSky::agree(const std::string& call, std::exception_ptr error) const {
    ranks_.agree(call, std::move(error));
}

std::vector<double> DistributedSky::sum_rings(View<const double, 2> partial) const {
    return plan_->local().transform().sum_rings(partial);
}

std::vector<double> DistributedSky::gather(double number) const {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    std::vector<double> numbers;
    for (const auto& one : ranks_.gather(bytes)) {
        std::memcpy(&number, one.data(), sizeof number);
        numbers.push_back(number);
    }
    return numbers;
}

template <class T>
Array<double, 2> cross_spectra(const Communicator& ranks, const AlmLayout& layout,
                               View<const std::complex<T>, 2> alm) {
    const std::int64_t n_maps = alm.extent(0), n_degrees = layout.lmax() + 1;
    std::vector<double> all;
    ranks.together(fmt::format("the cross spectra of {} maps up to lmax = {}", n_maps, layout.lmax()), [&] {
        all.reserve(static_cast<std::size_t>(n_maps * (n_maps + 1) / 2 * n_degrees));
        for (std::int64_t i = 0; i < n_maps; ++i)
            for (std::int64_t j = i; j < n_maps; ++j) {
                const auto spectrum = cross_spectrum<T>(layout, alm[i], alm[j]);
                all.insert(all.end(), spectrum.begin(), spectrum.end());
            }
    });
    all = ranks.sum(all);
    Array<double, 2> spectra({n_maps * (n_maps + 1) / 2, n_degrees});
    std::copy(all.begin(), all.end(), spectra.data());
    return spectra;
}

template Array<double, 2> cross_spectra(const Communicator&, const AlmLayout&,
                                        View<const std::complex<float>, 2>);
template Array<double, 2> cross_spectra(const Communicator&, const AlmLayout&,
                                        View<const std::complex<double>, 2>);

AlmLayout share_of_orders(const Communicator& ranks, std::int64_t lmax, std::int64_t mmax) {
    const AlmLayout whole(lmax, mmax);
    std::vector<double> costs, speeds(static_cast<std::size_t>(ranks.size()), 1.0);
    for (std::int64_t m = 0; m <= mmax; ++m) costs.push_back(static_cast<double>(lmax + 1 - m));
    return {lmax, mmax, distributed::deal_pairs(costs, speeds)[static_cast<std::size_t>(ranks.rank())]};
}

std::int64_t PixelPlaces::size() const {
    return std::accumulate(
        ranges.begin(), ranges.end(), std::int64_t{0},
        [](std::int64_t sum, const PixelRange& range) { return sum + range.end - range.first; });
}

std::int64_t PixelPlaces::operator[](std::int64_t pixel) const {
    for (const auto& range : ranges) {
        if (pixel < range.end - range.first) return range.first + pixel;
        pixel -= range.end - range.first;
    }
    return pixel;
}

PixelPlaces even_places(const Communicator& ranks, std::int64_t n_pixels, std::int64_t unit,
                        healpix::Order order) {
    const std::int64_t n_units = n_pixels / unit;
    const auto begin = [&](std::int64_t rank) { return n_units * rank / ranks.size() * unit; };
    return {order, {{begin(ranks.rank()), begin(ranks.rank() + 1)}}};
}

namespace {

/// A range of one rank's pixels, and the place in its array of the first of them.
struct Owned {
    PixelRange range;
    int rank;
    std::int64_t place;
};

/// Every rank's ranges, ascending.
std::vector<Owned> gather_owners(const Communicator& ranks, const PixelPlaces& mine) {
    std::vector<Owned> owners;
    const auto all = gather_ranges(ranks, mine.ranges);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        std::int64_t place = 0;
        for (const auto& range : all[rank]) {
            owners.push_back({range, static_cast<int>(rank), place});
            place += range.end - range.first;
        }
    }
    std::erase_if(owners, [](const Owned& owned) { return owned.range.first == owned.range.end; });
    std::sort(owners.begin(), owners.end(),
              [](const Owned& a, const Owned& b) { return a.range.first < b.range.first; });
    return owners;
}

std::int64_t in_order(std::int64_t nside, std::int64_t pixel, healpix::Order from, healpix::Order to) {
    if (from == to) return pixel;
    return from == healpix::Order::nest ? healpix::nest2ring(nside, pixel) : healpix::ring2nest(nside, pixel);
}

template <class Value>
void append(std::string& bytes, Value value) {
    char copy[sizeof value];
    std::memcpy(copy, &value, sizeof value);
    bytes.append(copy, sizeof value);
}

template <class Value>
Value take(const char*& from) {
    Value value;
    std::memcpy(&value, from, sizeof value);
    from += sizeof value;
    return value;
}

// Pixels that travel at once: messages of them are long, and they take little memory beside a map.
constexpr std::int64_t pixels_at_once = std::int64_t{1} << 20;

}  // namespace

void move_pixels(const Communicator& ranks, std::int64_t nside, const PixelPlaces& from,
                 const PixelPlaces& to, const std::vector<std::vector<double>*>& columns) {
    std::vector<std::vector<double>> moved(columns.size());
    ranks.together("moving pixels", [&] {
        for (auto& column : moved) column.resize(static_cast<std::size_t>(to.size()));
    });
    const auto owners = gather_owners(ranks, to);
    std::int64_t rounds = 0;
    for (const auto& text : ranks.gather(std::to_string((from.size() + pixels_at_once - 1) / pixels_at_once)))
        rounds = std::max<std::int64_t>(rounds, std::stoll(text));
    for (std::int64_t round = 0; round < rounds; ++round) {
        std::vector<std::string> outgoing(static_cast<std::size_t>(ranks.size()));
        const auto end = std::min(from.size(), (round + 1) * pixels_at_once);
        for (auto pixel = round * pixels_at_once; pixel < end; ++pixel) {
            const auto number = in_order(nside, from[pixel], from.order, to.order);
            const auto after = std::upper_bound(
                owners.begin(), owners.end(), number,
                [](std::int64_t value, const Owned& owned) { return value < owned.range.first; });
            const Owned& owner = *(after - 1);
            auto& bytes = outgoing[static_cast<std::size_t>(owner.rank)];
            append(bytes, owner.place + number - owner.range.first);
            for (const auto* column : columns) append(bytes, (*column)[static_cast<std::size_t>(pixel)]);
        }
        for (const auto& bytes : ranks.exchange(std::move(outgoing)))
            for (const char* next = bytes.data(); next != bytes.data() + bytes.size();) {
                const auto place = static_cast<std::size_t>(take<std::int64_t>(next));
                for (auto& column : moved) column[place] = take<double>(next);
            }
    }
    for (std::size_t i = 0; i < columns.size(); ++i) *columns[i] = std::move(moved[i]);
}

}  // namespace zonal
