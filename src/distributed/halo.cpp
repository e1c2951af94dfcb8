#include "distributed/halo.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "distributed/transport.hpp"
#include "sht/array_checks.hpp"

namespace zonal::distributed {
namespace {

std::vector<std::int64_t> rings_in(const Grid& grid, const std::vector<PixelRange>& ranges) {
    std::vector<std::int64_t> rings;
    for (std::int64_t ring = 0; ring < grid.n_rings(); ++ring) {
        const std::int64_t first = grid.rings()[static_cast<std::size_t>(ring)].first_pixel;
        for (const auto& range : ranges)
            if (range.first <= first && first < range.end) rings.push_back(ring);
    }
    return rings;
}

std::int64_t size_of(const std::vector<PixelCopy>& copies) {
    std::int64_t size = 0;
    for (const auto& copy : copies) size += copy.n_pixels;
    return size;
}

/// A rank's rings, both kinds ascending.
struct RingKinds {
    std::vector<std::int64_t> inner, outer;
};

// A ring of sums over pixels that has lost its neighbours is summed in another way
// (PixelSumSchedule::is_alone): the neighbours of outer rings are outer, too, and no inner ring is by itself.
// Sums in the caps can differ all the same within their accuracy, so that on CPUs, where results are those of
// one process to rounding and a copy costs little, all rings are of one kind.
RingKinds kinds_of(const Grid& grid, double support, const std::vector<std::int64_t>& counts,
                   const std::vector<std::int64_t>& rings, const Device& device) {
    const auto apart = radial::rings_apart(grid, support, counts, rings);
    if (apart.size() == rings.size()) return {rings, {}};
    if (device.kind() != Device::Kind::cuda) return {{}, rings};
    const auto has = [](const std::vector<std::int64_t>& some, std::int64_t ring) {
        return std::binary_search(some.begin(), some.end(), ring);
    };
    const auto leave = [&](const std::vector<std::int64_t>& some, const auto& stays) {
        std::vector<std::int64_t> left;
        std::copy_if(some.begin(), some.end(), std::back_inserter(left), stays);
        return left;
    };
    const auto reaches = [&](std::int64_t ring) { return has(rings, ring) && !has(apart, ring); };
    const auto quiet =
        leave(apart, [&](std::int64_t ring) { return !reaches(ring - 1) && !reaches(ring + 1); });
    RingKinds kinds;
    kinds.inner = leave(quiet, [&](std::int64_t ring) {
        return has(quiet, ring - 1) || has(quiet, ring + 1) ||
               !(has(rings, ring - 1) || has(rings, ring + 1));
    });
    kinds.outer = leave(rings, [&](std::int64_t ring) { return !has(kinds.inner, ring); });
    return kinds;
}

radial::PackedRings reached_from(const Grid& grid, double support, const Grid& grid_out,
                                 const std::vector<std::int64_t>& outputs) {
    const auto reached = radial::rings_within(grid, support, grid_out, outputs);
    return reached.empty() ? radial::PackedRings{grid, {}} : radial::pack_rings(grid, reached);
}

}  // namespace

HaloCopies halo_copies(const Grid& grid, const std::vector<std::vector<PixelRange>>& pixels,
                       const std::vector<Device>& devices, std::size_t rank, double support) {
    const auto mine = rings_in(grid, pixels[rank]), counts = radial::count_rings_within(grid, support);
    auto kinds = kinds_of(grid, support, counts, mine, devices[rank]);
    auto rings = reached_from(grid, support, grid, kinds.outer);
    HaloCopies copies{std::move(kinds.inner), std::move(kinds.outer), std::move(rings), {}, {}};
    const Grid here = grid.subset(mine);
    for (std::size_t other = 0; other < pixels.size(); ++other) {
        copies.received.push_back(copies_between(pixels[other], ranges_of(copies.rings)));
        if (other == rank) {
            copies.sent.push_back(copies.received.back());
            continue;
        }
        // Only this rank's rings are looked for in what the other reaches: other ranks send the rest.
        const auto theirs = rings_in(grid, pixels[other]);
        const auto reached =
            reached_from(here, support, grid, kinds_of(grid, support, counts, theirs, devices[other]).outer);
        copies.sent.push_back(copies_between(pixels[rank], ranges_of(reached)));
    }
    return copies;
}

Traffic HaloCopies::traffic(std::size_t rank) const {
    const auto of = [&](const std::vector<std::vector<PixelCopy>>& messages) {
        Traffic all;
        for (std::size_t other = 0; other < messages.size(); ++other) {
            if (other == rank || messages[other].empty()) continue;
            ++all.messages;
            all.bytes += size_of(messages[other]) * static_cast<std::int64_t>(sizeof(double));
        }
        return all;
    };
    const Traffic out = of(sent), in = of(received);
    return {std::max(out.messages, in.messages), std::max(out.bytes, in.bytes)};
}

RankHalo::RankHalo(const Communicator& ranks, const Grid& grid,
                   const std::vector<std::vector<PixelRange>>& pixels, const std::vector<Device>& devices,
                   double support, const Grid& own)
    : ranks_(ranks),
      copies_(halo_copies(grid, pixels, devices, static_cast<std::size_t>(ranks.rank()), support)),
      n_pixels_(own.n_pixels()) {
    const auto mine = rings_in(grid, pixels[static_cast<std::size_t>(ranks.rank())]);
    const auto in_own = [&](std::vector<std::int64_t> rings) {
        for (auto& ring : rings) ring = std::lower_bound(mine.begin(), mine.end(), ring) - mine.begin();
        return own.subset(rings);
    };
    if (!copies_.inner.empty()) inner_ = {own, in_own(copies_.inner)};
    if (!copies_.outer.empty()) outer_ = {copies_.rings.grid, in_own(copies_.outer)};
}

template <class T>
View<const T, 3> RankHalo::fill(View<const T, 3> maps, Array<T, 3>& memory) const {
    const auto me = static_cast<std::size_t>(ranks_.rank());
    std::vector<std::vector<T>> outgoing(copies_.sent.size()), incoming(copies_.received.size());
    std::vector<Message<const std::byte>> send;
    std::vector<Message<std::byte>> receive;
    ranks_.together(fmt::format("the halo of {} maps of {} components", maps.extent(0), maps.extent(1)), [&] {
        sht::check_extent("maps", maps, 2, "pixel", n_pixels_);
        memory = Array<T, 3>({maps.extent(0), maps.extent(1), outer_ ? outer_->in.n_pixels() : 0});
        for (std::size_t rank = 0; rank < copies_.sent.size(); ++rank) {
            if (rank == me) continue;
            outgoing[rank].resize(static_cast<std::size_t>(size_of(copies_.sent[rank])));
            incoming[rank].resize(static_cast<std::size_t>(size_of(copies_.received[rank])));
            if (!outgoing[rank].empty())
                send.push_back({static_cast<int>(rank), std::as_bytes(std::span(outgoing[rank]))});
            if (!incoming[rank].empty())
                receive.push_back(
                    {static_cast<int>(rank), std::as_writable_bytes(std::span(incoming[rank]))});
        }
    });
    const auto haloed = memory.view();
    for (std::int64_t row = 0; row < maps.extent(0) * maps.extent(1); ++row) {
        const auto from = maps[row / maps.extent(1)][row % maps.extent(1)];
        const auto to = haloed[row / maps.extent(1)][row % maps.extent(1)];
        for (std::size_t rank = 0; rank < copies_.sent.size(); ++rank) {
            T* next = rank == me ? nullptr : outgoing[rank].data();
            for (const auto& copy : copies_.sent[rank]) {
                if (rank == me)
                    std::copy_n(&from(copy.from), copy.n_pixels, &to(copy.to));
                else
                    next = std::copy_n(&from(copy.from), copy.n_pixels, next);
            }
        }
        const auto exchange = ranks_.transport()->exchange(send, receive);
        ranks_.together("a halo", [&] { exchange->wait(); });
        for (std::size_t rank = 0; rank < copies_.received.size(); ++rank) {
            if (rank == me) continue;
            const T* next = incoming[rank].data();
            for (const auto& copy : copies_.received[rank]) {
                std::copy_n(next, copy.n_pixels, &to(copy.to));
                next += copy.n_pixels;
            }
        }
    }
    return haloed;
}

template View<const float, 3> RankHalo::fill(View<const float, 3>, Array<float, 3>&) const;
template View<const double, 3> RankHalo::fill(View<const double, 3>, Array<double, 3>&) const;

}  // namespace zonal::distributed
