#include "sht/cuda_zones.cuh"

#include <algorithm>

namespace zonal::sht::cuda {
namespace {

/// The rings of each zone; pairs stay together.
std::vector<Grid> rings_of_zones(const Grid& grid, const ShtOptions& options, std::int64_t n_zones) {
    if (n_zones == 1) return {grid};
    const RingPairs rings(grid, options.lmax, options.mmax, options.spin);
    const auto n_orders = [&](std::int64_t pair) {
        return static_cast<double>(rings.last_m[pair / block_size] + 1);
    };
    double total = 0, done = 0;
    for (std::int64_t p = 0; p < rings.n_pairs(); ++p) total += n_orders(p);
    std::vector<Grid> zones;
    std::vector<std::int64_t> zone;
    for (std::int64_t p = 0; p < rings.n_pairs(); ++p) {
        for (const std::int64_t ring : {rings.pairs[p].north, rings.pairs[p].south})
            if (ring >= 0) zone.push_back(ring);
        done += n_orders(p);
        const double share = static_cast<double>(zones.size() + 1) / static_cast<double>(n_zones);
        if (done < share * total && p + 1 < rings.n_pairs()) continue;
        zones.push_back(grid.subset(zone));
        zone.clear();
    }
    return zones;
}

}  // namespace

Zone::Zone(const Grid& grid, const ShtOptions& options)
    : pairs(grid, options.lmax, options.mmax, options.spin),
      orders(AlmLayout(options.lmax, options.mmax), options, pairs),
      whole_(grid, pairs, orders.layout(), orders.resampling(), {pairs.n_pairs()}) {
    whole_.make_rings();
    if (!RingBands::pay(grid)) return;
    bands_.emplace(grid, pairs, orders.layout(), orders.resampling(), RingBands::ends(grid, pairs));
    orders.cut(bands_->jobs());
}

Orders Zone::largest(const std::vector<Orders>& parts) const {
    if (!legendre().has_ishioka()) return parts.front();
    return *std::max_element(parts.begin(), parts.end(), [&](Orders a, Orders b) {
        return legendre().most_step_sums(1, a) < legendre().most_step_sums(1, b);
    });
}

void Zone::fit(CudaStorage& storage, std::int64_t n_maps, const std::vector<Orders>& parts) const {
    storage.fourier.reserve((orders.resampling() ? 1 : n_maps) * orders.map_size());
    orders.fit(storage, n_maps, largest(parts));
    storage.rings.fit(whole_.scratch_sizes());
}

const RingBands& Zone::rings(bool is_copied, CudaStorage& storage) const {
    if (!bands_ || !is_copied) return whole_;
    bands_->make_rings();
    storage.rings.fit(bands_->scratch_sizes());
    return *bands_;
}

void Zone::interpolate(std::size_t k, TileRange tiles, CudaStorage& storage, cudaStream_t stream) const {
    if (!orders.resampling()) return;
    orders.resampling()->interpolation().apply(orders.all_orders(), of_legendre(k, storage),
                                               orders.components(), of_grid(k, 0, storage), stream, tiles);
    storage.clock.mark(stream, &ShtStageSeconds::resampling);
}

void Zone::adjoint_interpolate(std::size_t k, TileRange tiles, CudaStorage& storage,
                               cudaStream_t stream) const {
    if (!orders.resampling()) return;
    orders.resampling()->adjoint().apply(orders.all_orders(), of_grid(k, 0, storage), orders.components(),
                                         of_legendre(k, storage), stream, tiles);
    storage.clock.mark(stream, &ShtStageSeconds::resampling);
}

std::vector<std::unique_ptr<const Zone>> make_zones(const Grid& grid, const ShtOptions& options,
                                                    std::int64_t n_zones) {
    std::vector<std::unique_ptr<const Zone>> zones;
    for (const Grid& rings : rings_of_zones(grid, options, n_zones))
        zones.push_back(std::make_unique<const Zone>(rings, options));
    return zones;
}

std::int64_t memory_limit(const Grid& grid, const ShtOptions& options) {
    if (options.max_workspace_bytes > 0) return options.max_workspace_bytes;
    std::size_t free = 0, total = 0;
    core::check_cuda(cudaMemGetInfo(&free, &total), "asking for the free memory");
    const std::int64_t components = options.spin == 0 ? 1 : 2;
    const std::int64_t copies =
        2 * 8 * components * (grid.n_pixels() + 2 * AlmLayout(options.lmax, options.mmax).size());
    return static_cast<std::int64_t>(free) - copies;
}

}  // namespace zonal::sht::cuda
