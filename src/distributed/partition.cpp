#include "distributed/partition.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fft/complex_fft.hpp"
#include "sht/legendre/legendre.hpp"
#include "sht/rings/meridian_integral.hpp"
#include "sht/rings/resampling_cpu.hpp"
#include "zonal/error.hpp"

namespace zonal::distributed {
namespace {

/// Something that items have, such as bytes, and of which share i may have limit * of_shares[i].
struct Measure {
    Measure(std::span<const double> of_items, std::span<const double> of_shares)
        : sums(of_items.size() + 1), of_shares(of_shares) {
        std::partial_sum(of_items.begin(), of_items.end(), sums.begin() + 1);
    }
    std::vector<double> sums;  ///< of the items before each
    std::span<const double> of_shares;
    double limit = 1;
};

/// Bounds of shares of at least one item that keep the limits of all measures; empty if there are none.
std::vector<std::int64_t> find_shares(const std::vector<Measure>& measures) {
    const auto n = std::ssize(measures[0].sums) - 1, n_shares = std::ssize(measures[0].of_shares);
    // [share][bound]: the last place where the share before may begin that ends at this bound; -1 if it
    // cannot.
    std::vector<std::vector<std::int64_t>> begins(n_shares + 1, std::vector<std::int64_t>(n + 1, -1));
    begins[0][0] = 0;
    for (std::int64_t share = 0; share < n_shares; ++share) {
        const auto fits = [&](std::int64_t first, std::int64_t end) {
            return std::all_of(measures.begin(), measures.end(), [&](const Measure& measure) {
                return measure.sums[end] - measure.sums[first] <= measure.limit * measure.of_shares[share];
            });
        };
        std::int64_t first = 0, latest = -1;
        for (std::int64_t end = 1; end <= n; ++end) {
            if (begins[share][end - 1] >= 0) latest = end - 1;
            while (first < end && !fits(first, end)) ++first;
            if (latest >= first) begins[share + 1][end] = latest;
        }
    }
    if (begins[n_shares][n] < 0) return {};
    std::vector<std::int64_t> bounds(n_shares + 1, n);
    for (std::int64_t share = n_shares; share > 0; --share) bounds[share - 1] = begins[share][bounds[share]];
    return bounds;
}

/// The smallest limit of the last measure for which there are shares, to a millionth.
double least_limit(std::vector<Measure> measures) {
    auto& last = measures.back();
    double low = last.sums.back() / std::accumulate(last.of_shares.begin(), last.of_shares.end(), 0.0);
    const auto is_enough = [&](double limit) {
        last.limit = limit;
        return !find_shares(measures).empty();
    };
    double high = low;
    while (!is_enough(high)) high *= 2;
    while (high - low > 1e-6 * high) {
        const double middle = (low + high) / 2;
        (is_enough(middle) ? high : low) = middle;
    }
    return high;
}

/// Chunks of a rank's orders. Between devices each is smaller than the one before: the way of the last one's
/// coefficients is not hidden behind another's work.
std::vector<std::vector<std::int64_t>> chunks_of(const std::vector<std::int64_t>& orders,
                                                 const std::vector<double>& costs, std::int64_t n_chunks,
                                                 std::int64_t run, bool by_devices) {
    const double last_over_first = by_devices ? 0.15 : 1;
    std::vector<double> ends;  // of the chunks' shares of the cost
    double sum = 0;
    for (std::int64_t chunk = 0; chunk < n_chunks; ++chunk) {
        const double step =
            static_cast<double>(chunk) / static_cast<double>(std::max<std::int64_t>(1, n_chunks - 1));
        ends.push_back(sum += 1 - step * (1 - last_over_first));
    }
    double total = 0, done = 0;
    for (const std::int64_t m : orders) total += costs[static_cast<std::size_t>(m)];
    std::vector<std::vector<std::int64_t>> chunks(static_cast<std::size_t>(n_chunks));
    std::size_t chunk = 0;
    for (const std::int64_t m : orders) {
        const double cost = costs[static_cast<std::size_t>(m)];
        while (m % run == 0 && chunk + 1 < chunks.size() && (done + cost / 2) / total * sum >= ends[chunk])
            ++chunk;
        chunks[chunk].push_back(m);
        done += cost;
    }
    return chunks;
}

/// At most four; one where the messages would be below 64 KiB, whose latency then counts. Between devices the
/// messages are fast and chunks slow, as each has an end at which the device is not full: on two H100s, two
/// were best for 120 and 240 MB in all.
std::int64_t chunk_count(const sht::RingPairs& pairs, int components, std::int64_t n_ranks, bool by_devices) {
    constexpr double least_message = 65536;
    constexpr double worth_two = 8e6, worth_four = 1e9;
    double bytes = 0;
    for (const std::int64_t m : pairs.last_m)
        bytes += static_cast<double>((m + 1) * components * sht::fourier_block) * sizeof(double);
    const double message = bytes / static_cast<double>(n_ranks * n_ranks);
    if (by_devices && n_ranks > 1) return message < worth_two ? 1 : message < worth_four ? 2 : 4;
    return n_ranks == 1 ? 1
                        : std::clamp<std::int64_t>(static_cast<std::int64_t>(message / least_message), 1, 4);
}

/// How long an operation of a ring's transform takes on a GPU, relative to one of rings of equal length,
/// which are one batch. A ring of a polar cap goes through Bluestein's algorithm, which on an H200 takes
/// about twice as long where it does not fit into shared memory.
double device_time_of_operation(const Grid& grid, std::int64_t ring) {
    struct Class {
        std::int64_t longest;
        double time;
    };
    constexpr Class classes[] = {{8192, 1}, {20000, 2.6}, {26000, 2.3}};
    constexpr double of_longer = 1.95;
    const auto length = [&](std::int64_t i) { return grid.rings()[i].n_pixels; };
    const bool has_equal = (ring > 0 && length(ring - 1) == length(ring)) ||
                           (ring + 1 < std::ssize(grid.rings()) && length(ring + 1) == length(ring));
    if (has_equal) return 1;
    for (const Class& one : classes)
        if (length(ring) <= one.longest) return one.time;
    return of_longer;
}

/// Numbers of the rings of blocks [first, end), ascending.
std::vector<std::int64_t> rings_of(const sht::RingPairs& pairs, std::int64_t first, std::int64_t end) {
    std::vector<std::int64_t> rings;
    for (std::int64_t i = first * sht::block_size; i < end * sht::block_size; ++i)
        for (const std::int64_t ring : {pairs.pairs[i].north, pairs.pairs[i].south})
            if (ring >= 0) rings.push_back(ring);
    std::sort(rings.begin(), rings.end());
    return rings;
}

}  // namespace

std::vector<std::int64_t> divide(std::span<const double> costs, std::span<const double> speeds,
                                 std::span<const double> bytes, std::span<const double> most_bytes) {
    if (costs.size() < speeds.size())
        throw InvalidArgument(
            "ranks", fmt::format("{} are too many: must be at most {}", speeds.size(), costs.size()));
    Measure memory(bytes, most_bytes), time(costs, speeds);
    if (find_shares({memory}).empty()) memory.limit = least_limit({memory});
    time.limit = least_limit({memory, time});
    return find_shares({memory, time});
}

std::vector<double> most_bytes(std::span<const double> bytes, std::span<const double> speeds,
                               bool on_devices) {
    // A rank's code, tables and MPI take about as much as this, and with a GPU its context and libraries: a
    // small map needs no limit. On GPUs the caps' rings take longest for what they hold, and with less excess
    // the ranks that have the others would wait for those.
    const double excess = on_devices ? 1.38 : 1.08;
    const double small = on_devices ? 512 << 20 : 64 << 20;
    const double total = std::accumulate(bytes.begin(), bytes.end(), 0.0),
                 all_speeds = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    std::vector<double> most;
    most.reserve(speeds.size());
    for (const double speed : speeds) most.push_back(excess * total * speed / all_speeds + small);
    return most;
}

std::vector<std::vector<std::int64_t>> deal_pairs(std::span<const double> costs,
                                                  std::span<const double> speeds, std::int64_t run) {
    const auto n_items = static_cast<std::int64_t>(costs.size()), n = (n_items + run - 1) / run;
    const auto end_of = [&](std::int64_t k) { return std::min((k + 1) * run, n_items); };
    struct Pair {
        std::int64_t first, last;
        double cost;
    };
    const auto cost_of = [&](std::int64_t k) {
        return std::accumulate(costs.begin() + k * run, costs.begin() + end_of(k), 0.0);
    };
    std::vector<Pair> pairs;
    for (std::int64_t i = 0; i <= n - 1 - i; ++i) {
        const std::int64_t last = n - 1 - i;
        pairs.push_back({i, last, cost_of(i) + (last > i ? cost_of(last) : 0)});
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return a.cost > b.cost; });
    std::vector<std::vector<std::int64_t>> shares(speeds.size());
    std::vector<double> work(speeds.size());
    for (const Pair& pair : pairs) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < speeds.size(); ++i)
            if ((work[i] + pair.cost) / speeds[i] < (work[best] + pair.cost) / speeds[best]) best = i;
        work[best] += pair.cost;
        for (std::int64_t k = pair.first;; k = pair.last) {
            for (std::int64_t item = k * run; item < end_of(k); ++item) shares[best].push_back(item);
            if (k == pair.last) break;
        }
    }
    for (auto& share : shares) std::sort(share.begin(), share.end());
    return shares;
}

std::vector<double> usual_speeds(std::span<const RankDevice> ranks) {
    // At nside 2048, lmax 4096 the stages of a synthesis take 50 ms on an H100, most of it for the way
    // through host memory, and 3.5 s on a thread of the same machine.
    constexpr double threads_of_gpu = 64;
    const auto on_gpu = [](const RankDevice& rank) { return rank.on_gpu; };
    const auto n_gpus = std::count_if(ranks.begin(), ranks.end(), on_gpu);
    std::vector<double> speeds(ranks.size(), 1.0);
    if (n_gpus == 0 || n_gpus == std::ssize(ranks)) return speeds;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        speeds[i] = on_gpu(ranks[i]) ? threads_of_gpu : ranks[i].threads;
    return speeds;
}

std::vector<double> block_costs(const Grid& grid, const sht::RingPairs& pairs, bool on_devices) {
    // The transforms of a pair of rings, which goes as one complex sequence; the rest takes little, and grows
    // with them.
    std::vector<double> costs(static_cast<std::size_t>(pairs.n_blocks()));
    for (std::size_t block = 0; block < costs.size(); ++block)
        for (std::size_t lane = 0; lane < sht::block_size; ++lane) {
            const sht::RingPair pair = pairs.pairs[block * sht::block_size + lane];
            const std::int64_t ring = std::max(pair.north, pair.south);
            if (ring < 0) continue;
            const double time = on_devices ? device_time_of_operation(grid, ring) : 1;
            costs[block] += time * fft::cost(grid.rings()[ring].n_pixels);
        }
    return costs;
}

std::vector<double> block_bytes(const Grid& grid, const sht::RingPairs& pairs) {
    // F_m is counted up to half the pixels of the longest ring, which is lmax = 2 nside on HEALPix, so that
    // shares do not depend on lmax. A ring has about the orders up to lmax sin(theta).
    std::int64_t longest = 0;
    for (const Ring& ring : grid.rings()) longest = std::max(longest, ring.n_pixels);
    std::vector<double> bytes;
    bytes.reserve(static_cast<std::size_t>(pairs.n_blocks()));
    for (std::int64_t block = 0; block < pairs.n_blocks(); ++block) {
        double numbers = 0;
        for (const std::int64_t i : rings_of(pairs, block, block + 1)) {
            const Ring& ring = grid.rings()[i];
            numbers += static_cast<double>(ring.n_pixels) + static_cast<double>(longest) * ring.sin_theta;
        }
        bytes.push_back(numbers * sizeof(double));
    }
    return bytes;
}

std::vector<double> order_costs(const sht::RingPairs& pairs, const ShtOptions& options) {
    // An order's start and its coefficients cost about as much as some rings.
    constexpr double own_rings = 8;
    // On CPUs the rings may be others, which every order then resamples. Ranks that ask for another accuracy
    // share in the same way.
    const double flops = pairs.legendre_flops(options.lmax, 1);
    const auto n_pairs = static_cast<double>(pairs.n_pairs());
    const sht::TransformRings best =
        sht::cheapest_rings(flops, pairs.n_pairs(), options.lmax, options.mmax, ShtOptions().accuracy);
    const double share = best.n_rings > 0 ? static_cast<double>(best.n_rings) / (2 * n_pairs) : 1;
    const int fields = options.spin == 0 ? 1 : 2;
    const double resampling = fields * (best.work - share * flops) / static_cast<double>(options.mmax + 1);
    std::vector<double> costs;
    for (std::int64_t m = 0; m <= options.mmax; ++m) {
        const auto reached = std::lower_bound(pairs.last_m.begin(), pairs.last_m.end(), m);
        const auto rings = share * static_cast<double>((pairs.last_m.end() - reached) * sht::block_size);
        costs.push_back((options.spin == 0 ? 6 : 10) * (rings + own_rings) *
                            static_cast<double>(options.lmax + 1 - m) +
                        resampling);
    }
    return costs;
}

Partition::Partition(const Grid& grid, const sht::RingPairs& pairs, const ShtOptions& options,
                     const std::vector<double>& speeds, bool by_devices) {
    for (std::size_t i = 0; i < speeds.size(); ++i)
        if (!(speeds[i] > 0) || !std::isfinite(speeds[i]))
            throw InvalidArgument(fmt::format("speeds[{}]", i), speeds[i], "must be positive");
    // Those of spin 0 decide for all spins: pruning differs by a few orders m.
    const sht::RingPairs scalar_pairs(grid, options.lmax, options.mmax, 0);
    ShtOptions scalar = options;
    scalar.spin = 0;
    const auto of_blocks = block_costs(grid, scalar_pairs, by_devices),
               bytes = block_bytes(grid, scalar_pairs), of_orders = order_costs(scalar_pairs, scalar);
    const auto of_spin = order_costs(pairs, options);
    if (static_cast<std::int64_t>(speeds.size()) > pairs.n_blocks())
        throw InvalidArgument(
            "ranks",
            fmt::format("{} are too many for {}: must be at most {}, one for {} pairs of rings; start fewer",
                        speeds.size(), grid.name(), pairs.n_blocks(), sht::block_size));
    bounds = divide(of_blocks, speeds, bytes, most_bytes(bytes, speeds, by_devices));
    // Exact integrals over theta transform orders 2 k and 2 k + 1 together.
    const std::int64_t run = sht::needs_meridian_integral(grid, options.lmax, options.mmax) ? 2 : 1;
    orders = deal_pairs(of_orders, speeds, run);
    const std::int64_t n_chunks = chunk_count(pairs, options.spin == 0 ? 1 : 2, n_ranks(), by_devices);
    for (int rank = 0; rank < n_ranks(); ++rank) {
        rings.push_back(rings_of(pairs, bounds[rank], bounds[rank + 1]));
        chunks.push_back(chunks_of(orders[rank], of_orders, n_chunks, run, by_devices));
        double flops = 0;
        for (const std::int64_t m : orders[rank]) flops += of_spin[static_cast<std::size_t>(m)];
        legendre_flops.push_back(flops);
        ring_flops.push_back(
            std::accumulate(of_blocks.begin() + bounds[rank], of_blocks.begin() + bounds[rank + 1], 0.0));
    }
}

SynthesisBytes synthesis_bytes(const sht::RingPairs& pairs, const Partition& partition, int components,
                               std::size_t rank) {
    const std::int64_t first = partition.bounds[rank], end = partition.bounds[rank + 1];
    const sht::FourierBand of_orders(pairs, 0, pairs.n_blocks(), components, {partition.orders[rank]}),
        of_rings(pairs, first, end, components);
    const std::int64_t kept = of_orders.size(0, first, end);
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(double));
    return {(of_orders.size() - kept) * bytes, (of_rings.size() - kept) * bytes};
}

}  // namespace zonal::distributed
