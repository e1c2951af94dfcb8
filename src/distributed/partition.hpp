#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sht/rings/ring_pairs.hpp"
#include "zonal/sht.hpp"

/// Which rank has which rings and which orders: pure functions of what every rank knows, so that all come to
/// the same answer without a word.
namespace zonal::distributed {

/// Bounds of n consecutive shares of some items, [n + 1]: share i is [bounds[i], bounds[i + 1]), of at least
/// one item. Share i has at most most_bytes[i], or, where that is impossible, at most the smallest multiple
/// of it that is possible for all shares alike. The largest cost / speed is as small as can be then. costs,
/// bytes: of each item. Throws InvalidArgument for fewer items than shares.
std::vector<std::int64_t> divide(std::span<const double> costs, std::span<const double> speeds,
                                 std::span<const double> bytes, std::span<const double> most_bytes);

/// What each rank may hold of rings that take these bytes, [rank]: a little more than its part by speed.
/// Rings near the poles take longer for their pixels than others, so that ranks that end together hold up
/// to 1.4 times as much as others. on_devices: ranks are processes with a GPU, which hold more besides.
std::vector<double> most_bytes(std::span<const double> bytes, std::span<const double> speeds,
                               bool on_devices = false);

/// The numbers of the items of each share, ascending: pairs of the first and the last, the second and the
/// last but one, ..., go one by one, the most expensive first, to the share that would end first. A share may
/// be empty. run: items k run .. k run + run - 1 stay together and count as one.
std::vector<std::vector<std::int64_t>> deal_pairs(std::span<const double> costs,
                                                  std::span<const double> speeds, std::int64_t run = 1);

/// What a rank computes on.
struct RankDevice {
    bool on_gpu;
    int threads;  ///< of the CPU
};

/// How fast ranks are in relation to one another where nobody says it: all alike if all are of one kind; else
/// by their threads, with a constant for GPUs.
std::vector<double> usual_speeds(std::span<const RankDevice> ranks);

/// Cost of the ring stage for each block of ring pairs, and of the Legendre stage for each order m = 0..mmax,
/// in floating point operations of one map. on_devices: as GPUs see it, on which a ring that has its length
/// to itself takes longer for an operation than rings that go together.
std::vector<double> block_costs(const Grid& grid, const sht::RingPairs& pairs, bool on_devices = false);
std::vector<double> order_costs(const sht::RingPairs& pairs, const ShtOptions& options);
/// Bytes of the pixels of one map, and of their F_m, for each block of ring pairs.
std::vector<double> block_bytes(const Grid& grid, const sht::RingPairs& pairs);

/// A transform's shares: those of any spin are alike, so that T, E and B, and I, Q and U lie side by side.
struct Partition {
    /// speeds: of each rank, relative to one another. options: resolved. by_devices: whether the ranks send
    /// between the memories of devices. Throws InvalidArgument for speeds that are not positive, and for more
    /// ranks than blocks of ring pairs.
    Partition(const Grid& grid, const sht::RingPairs& pairs, const ShtOptions& options,
              const std::vector<double>& speeds, bool by_devices = false);

    int n_ranks() const { return static_cast<int>(orders.size()); }
    /// The chunks, rank by rank.
    std::vector<std::vector<std::int64_t>> runs() const {
        std::vector<std::vector<std::int64_t>> all;
        for (const auto& of_rank : chunks) all.insert(all.end(), of_rank.begin(), of_rank.end());
        return all;
    }

    std::vector<std::int64_t> bounds;               ///< rank r has the blocks [bounds[r], bounds[r + 1])
    std::vector<std::vector<std::int64_t>> rings;   ///< [rank], numbers of the grid's rings, ascending
    std::vector<std::vector<std::int64_t>> orders;  ///< [rank], ascending
    /// orders[rank] in chunks, each rank's in as many, some perhaps empty: a chunk is sent while the next one
    /// is worked on.
    std::vector<std::vector<std::vector<std::int64_t>>> chunks;
    std::vector<double> legendre_flops, ring_flops;  ///< [rank], of one map
};

/// Bytes that a rank sends to others and receives from them in the synthesis of one map; in an adjoint it is
/// the other way round.
struct SynthesisBytes {
    std::int64_t sent, received;
};
SynthesisBytes synthesis_bytes(const sht::RingPairs& pairs, const Partition& partition, int components,
                               std::size_t rank);

}  // namespace zonal::distributed
