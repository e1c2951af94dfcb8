#include "distributed/sums/halo.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "core/cuda_host.hpp"
#include "distributed/sums/halo_exchange.hpp"
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

std::int64_t pixels_of(const std::vector<PixelCopy>& copies) {
    std::int64_t n_pixels = 0;
    for (const auto& copy : copies) n_pixels += copy.n_pixels;
    return n_pixels;
}

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
            all.bytes += pixels_of(messages[other]) * static_cast<std::int64_t>(sizeof(double));
        }
        return all;
    };
    const Traffic out = of(sent), in = of(received);
    return {std::max(out.messages, in.messages), std::max(out.bytes, in.bytes)};
}

RankHalo::RankHalo(const Communicator& ranks, const Grid& grid,
                   const std::vector<std::vector<PixelRange>>& pixels, const std::vector<Device>& devices,
                   double support, const Grid& own, std::shared_ptr<DeviceLink> link,
                   std::int64_t message_bytes)
    : ranks_(ranks),
      copies_(halo_copies(grid, pixels, devices, static_cast<std::size_t>(ranks.rank()), support)),
      device_(devices[static_cast<std::size_t>(ranks.rank())]),
      n_pixels_(own.n_pixels()),
      message_bytes_(message_bytes),
      link_(std::move(link)) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const auto mine = rings_in(grid, pixels[rank]);
    const auto in_own = [&](std::vector<std::int64_t> rings) {
        for (auto& ring : rings) ring = std::lower_bound(mine.begin(), mine.end(), ring) - mine.begin();
        return own.subset(rings);
    };
    if (!copies_.inner.empty()) inner_ = {own, in_own(copies_.inner)};
    if (!copies_.outer.empty()) outer_ = {copies_.rings.grid, in_own(copies_.outer)};
    const auto bytes = copies_.traffic(rank).bytes;
    for (const auto& text : ranks.gather(std::to_string(bytes / static_cast<std::int64_t>(sizeof(double)))))
        row_pixels_ = std::max<std::int64_t>(row_pixels_, std::stoll(text));
}

template <class T>
void RankHalo::check(View<const T, 3> maps) const {
    sht::check_extent("maps", maps, 2, "pixel", n_pixels_);
    sht::check_contiguous("maps", maps);
    const bool has_gpu = device_.kind() == Device::Kind::cuda;
    if (maps.space() == MemorySpace::cuda && !has_gpu)
        throw InvalidArgument("maps", "is in device memory: a rank on the CPU needs host memory");
    sht::check_space("maps", maps, maps.space());
    if (maps.space() == MemorySpace::cuda && maps.size() > 0)
        core::require_on_cuda("maps", maps.data(), device_.index());
}

bool RankHalo::goes_by_link(bool is_on_gpu) const {
    if (link_ == nullptr) return false;
    const auto all = ranks_.gather(is_on_gpu ? "1" : "0");
    return std::all_of(all.begin(), all.end(), [](const auto& one) { return one == "1"; });
}

template <class T>
std::unique_ptr<HaloExchange<T>> RankHalo::start(View<const T, 3> maps, HaloMemory& memory) const {
    ranks_.together(fmt::format("the halo of {} maps of {} components, {} bytes each number", maps.extent(0),
                                maps.extent(1), sizeof(T)),
                    [&] { check(maps); });
    const HaloCall call{ranks_, copies_, device_, outer_ ? outer_->in.n_pixels() : 0};
    if (goes_by_link(maps.space() == MemorySpace::cuda)) return exchange_by_link(call, link_, maps, memory);
    const auto row_bytes = row_pixels_ * static_cast<std::int64_t>(sizeof(T));
    return exchange_by_messages(call, maps, std::max<std::int64_t>(1, message_bytes_ / row_bytes), memory);
}

template std::unique_ptr<HaloExchange<float>> RankHalo::start(View<const float, 3>, HaloMemory&) const;
template std::unique_ptr<HaloExchange<double>> RankHalo::start(View<const double, 3>, HaloMemory&) const;

}  // namespace zonal::distributed
