#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sht/rings/order_stage_cuda.cuh"
#include "sht/rings/ring_bands_cuda.cuh"

/// The rings of a transform that are worked on together: all of them or, where that takes more scratch memory
/// than there is, a band from one latitude to another and its mirror image.
namespace zonal::sht::cuda {

/// Both stages of these rings, as one process' transforms run them: the steps between alm and pixels, on a
/// stream, in the storage's memory.
class Zone {
  public:
    /// grid: of these rings.
    Zone(const Grid& grid, const ShtOptions& options);

    /// Makes room for n_maps maps at once. parts: of the orders, in which adjoints sum over the rings.
    void fit(CudaStorage& storage, std::int64_t n_maps, const std::vector<Orders>& parts) const;
    std::int64_t scratch_bytes(const std::vector<Orders>& parts) const {
        return orders.scratch_bytes(orders.layout().size(), largest(parts)) + whole_.scratch_sizes().bytes();
    }
    const LegendreStage& legendre() const { return orders.legendre(); }
    const RingBands& rings() const { return whole_; }
    /// Bands that pay where the pixels are copied, or else all rings at once; makes room for their stages.
    const RingBands& rings(bool is_copied, CudaStorage& storage) const;

    /// F_m on the grid's rings of component c of map k of several; where they are resampled, the maps take
    /// turns.
    PairModes* of_grid(std::size_t k, int c, const CudaStorage& storage) const {
        const std::int64_t map = orders.resampling() ? 0 : static_cast<std::int64_t>(k);
        return storage.fourier.data() + map * orders.map_size() + c * orders.layout().size();
    }
    /// F_m on the Legendre stage's rings of map k.
    PairModes* of_legendre(std::size_t k, const CudaStorage& storage) const {
        return orders.modes_of(static_cast<std::int64_t>(k), storage.fourier.data(), storage);
    }
    /// From the Legendre stage's rings of map k to the grid's, and the transpose.
    void interpolate(std::size_t k, TileRange tiles, CudaStorage& storage, cudaStream_t stream) const;
    void adjoint_interpolate(std::size_t k, TileRange tiles, CudaStorage& storage, cudaStream_t stream) const;

    const RingPairs pairs;
    OrderStage orders;

  private:
    /// The part whose sums take most.
    Orders largest(const std::vector<Orders>& parts) const;

    RingBands whole_;                 ///< all rings in one
    std::optional<RingBands> bands_;  ///< of large grids, for copies
};

/// Divides the grid's rings into at most n_zones zones from the poles to the equator. All have about the same
/// number of Fourier coefficients.
std::vector<std::unique_ptr<const Zone>> make_zones(const Grid& grid, const ShtOptions& options,
                                                    std::int64_t n_zones);

/// Bytes that the scratch memory of a call may take: options.max_workspace_bytes or what is free, beside
/// copies of arrays of the host.
std::int64_t memory_limit(const Grid& grid, const ShtOptions& options);

}  // namespace zonal::sht::cuda
