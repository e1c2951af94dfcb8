#include "distributed/halo.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/parallel.hpp"
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

/// Most of a rank's pixels are copied into an array that is new, whose pages the threads get at once.
template <class T>
void copy_in_parallel(const T* from, std::int64_t n, T* to, int threads) {
    core::for_pieces(n, threads, [&](std::int64_t first, std::int64_t end) {
        std::copy(from + first, from + end, to + first);
    });
}

}  // namespace

HaloCopies halo_copies(const Grid& grid, const std::vector<std::vector<PixelRange>>& pixels, std::size_t rank,
                       double support) {
    const auto mine = rings_in(grid, pixels[rank]);
    HaloCopies copies{radial::pack_rings(grid, radial::rings_within(grid, support, grid, mine)), {}, {}};
    const Grid here = grid.subset(mine);
    for (std::size_t other = 0; other < pixels.size(); ++other) {
        copies.received.push_back(copies_between(pixels[other], ranges_of(copies.rings)));
        if (other == rank) {
            copies.sent.push_back(copies.received.back());
            continue;
        }
        // Only this rank's rings are looked at, as nobody else sends them: there are many ranks.
        const auto reached = radial::rings_within(here, support, grid, rings_in(grid, pixels[other]));
        copies.sent.push_back(
            reached.empty() ? std::vector<PixelCopy>()
                            : copies_between(pixels[rank], ranges_of(radial::pack_rings(here, reached))));
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
                   const std::vector<std::vector<PixelRange>>& pixels, double support, int threads)
    : ranks_(ranks),
      copies_(halo_copies(grid, pixels, static_cast<std::size_t>(ranks.rank()), support)),
      threads_(threads) {
    for (const auto& range : pixels[static_cast<std::size_t>(ranks.rank())])
        n_pixels_ += range.end - range.first;
}

template <class T>
View<const T, 3> RankHalo::fill(View<const T, 3> maps, Array<T, 3>& memory) const {
    const auto me = static_cast<std::size_t>(ranks_.rank());
    std::vector<std::vector<T>> outgoing(copies_.sent.size()), incoming(copies_.received.size());
    std::vector<Message<const std::byte>> send;
    std::vector<Message<std::byte>> receive;
    ranks_.together(fmt::format("the halo of {} maps of {} components", maps.extent(0), maps.extent(1)), [&] {
        sht::check_extent("maps", maps, 2, "pixel", n_pixels_);
        memory = Array<T, 3>({maps.extent(0), maps.extent(1), grid().n_pixels()});
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
                    copy_in_parallel(&from(copy.from), copy.n_pixels, &to(copy.to), threads_);
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
