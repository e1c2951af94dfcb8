#include "zonal/distributed/sky.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "distributed/partition.hpp"
#include "distributed/pixel_ranges.hpp"
#include "distributed/rank_sky.hpp"
#include "zonal/spectrum.hpp"

namespace zonal {

DistributedSky::DistributedSky(std::shared_ptr<const distributed::RankSky> sky) : sky_(std::move(sky)) {}

DistributedSky::DistributedSky(const Communicator& ranks, const Grid& grid, std::int64_t lmax,
                               std::int64_t mmax, int threads, std::vector<double> speeds, Device device)
    : sky_(std::make_shared<const distributed::RankSky>(ranks, grid, lmax, mmax, threads, std::move(speeds),
                                                        device)) {}

std::optional<DistributedSky> DistributedSky::of(const SkyMap& map) {
    auto sky = std::dynamic_pointer_cast<const distributed::RankSky>(map.part());
    if (sky == nullptr) return std::nullopt;
    return DistributedSky(std::move(sky));
}

std::shared_ptr<const SkyPart> DistributedSky::part() const {
    return sky_;
}
const Communicator& DistributedSky::ranks() const {
    return sky_->ranks();
}
const Grid& DistributedSky::whole_grid() const {
    return sky_->whole_grid();
}
const Grid& DistributedSky::grid() const {
    return sky_->grid();
}
std::span<const PixelRange> DistributedSky::pixels() const {
    return sky_->pixels();
}
AlmLayout DistributedSky::layout() const {
    return sky_->layout();
}
std::vector<RankShare> DistributedSky::shares(int spin) const {
    return sky_->plan(spin)->shares();
}
int DistributedSky::threads() const {
    return sky_->threads();
}
const std::vector<Device>& DistributedSky::devices() const {
    return sky_->devices();
}
const ExchangeReport& DistributedSky::exchange() const {
    return sky_->exchange();
}

void DistributedSky::require_memory(int components) const {
    const auto& local = sky_->plan(0)->local();
    const auto lmax = local.layout().lmax();
    const auto numbers = static_cast<double>(local.grid().n_pixels() + 2 * local.layout().size());
    // That of Q and U has two components; a GPU's is in its own memory.
    const int times = sky_->device(Device::automatic()).kind() == Device::Kind::cuda ? 0
                      : components > 1 && lmax >= 2                                  ? 2
                                                                                     : 1;
    const double workspace = times * static_cast<double>(local.workspace_bytes());
    ranks().require_memory(
        components * numbers * sizeof(double) + workspace,
        fmt::format("{} to lmax = {}, in {} components", whole_grid().name(), lmax, components));
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
    const auto all = distributed::gather_ranges(ranks, mine.ranges);
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
