#pragma once

#include <optional>
#include <vector>

#include "sht/cuda_storage.cuh"
#include "sht/legendre/legendre_cuda.cuh"
#include "sht/rings/resampling_cuda.cuh"

/// Between alm and the F_m of a grid's ring pairs on CUDA, as one process' transform and a rank's stages of a
/// distributed one have it: the Legendre stage and, where it works on other rings than the grid's, the
/// resampling between the two.
namespace zonal::sht::cuda {

class OrderStage {
  public:
    /// alm: whose orders there are. options: resolved. pairs: of the whole grid.
    OrderStage(const AlmLayout& alm, const ShtOptions& options, const RingPairs& pairs);

    const LegendreTable& table() const { return table_; }
    int components() const { return table_.components; }
    const LegendreStage& legendre() const { return legendre_; }
    /// Makes launches of these bands possible.
    void cut(const std::vector<JobBand>& bands) { legendre_.cut(bands); }
    Orders all_orders() const { return legendre_.all_orders(); }
    double legendre_flops() const { return legendre_flops_; }
    /// Null where the Legendre stage works on the grid's own rings.
    const ThetaResampling* resampling() const { return resampling_ ? &*resampling_ : nullptr; }

    /// F_m on the grid's rings.
    const FourierLayout& layout() const { return layout_; }
    /// Entries of a map's F_m there, and on the Legendre stage's rings where they are others, else 0.
    std::int64_t map_size() const { return components() * layout_.size(); }
    std::int64_t coarse_map_size() const {
        return resampling_ ? components() * legendre_.layout().size() : 0;
    }
    /// Where the Legendre stage has the F_m of map k of those that it works on: on rings of its own, or with
    /// those of the grid from `of_grid` on.
    PairModes* modes_of(std::int64_t k, PairModes* of_grid, const StageScratch& scratch) const {
        return resampling_ ? scratch.coarse.data() + k * coarse_map_size() : of_grid + k * map_size();
    }

    /// How many of n_maps maps share the recurrences.
    std::int64_t maps_at_once(std::int64_t n_maps) const { return cuda::maps_at_once(legendre_, n_maps); }
    /// Makes room for n_maps maps, except for F_m on the grid's rings. adjoint: the orders whose sums need
    /// room.
    void fit(StageScratch& scratch, std::int64_t n_maps, Orders adjoint) const {
        scratch.coarse.reserve(n_maps * coarse_map_size());
        scratch.modes.fit(legendre_, n_maps, adjoint);
    }
    /// What one map takes, with `entries` of F_m of a component on the grid's rings. adjoint: as of fit().
    std::int64_t scratch_bytes(std::int64_t entries, Orders adjoint) const {
        return (components() * entries + coarse_map_size()) * static_cast<std::int64_t>(sizeof(PairModes)) +
               ModesScratch::bytes(legendre_, 1, adjoint);
    }

    /// Where the orders' coefficients lie.
    ElementRange coefficients(Orders orders) const;
    /// The coefficients of n maps from `first` on.
    template <class T>
    std::vector<AlmPointers<T>> sources(const Batch<const std::complex<T>>& alm, std::int64_t first,
                                        std::int64_t n) const {
        return pointers<AlmPointers<T>, const T>(alm, first, n);
    }
    template <class T>
    std::vector<AlmTargets<T>> targets(const Batch<std::complex<T>>& alm, std::int64_t first,
                                       std::int64_t n) const {
        return pointers<AlmTargets<T>, T>(alm, first, n);
    }

  private:
    /// Pointers to E and B, or to the one scalar; null where the plan leaves one out.
    template <class Pointers, class Real, class Complex>
    std::vector<Pointers> pointers(const Batch<Complex>& alm, std::int64_t first, std::int64_t n) const {
        std::vector<Pointers> maps(static_cast<std::size_t>(n));
        for (int c = 0; c < components(); ++c) {
            const std::int64_t k = alm_component(parts_, c);
            for (std::int64_t i = 0; i < n && k >= 0; ++i)
                maps[i].alm[c] = reinterpret_cast<Real*>(alm[first + i] + k * alm.component_stride());
        }
        return maps;
    }

    const SpinParts parts_;
    const LegendreTable table_;
    const std::int64_t n_coarse_rings_;
    const std::optional<RingPairs> coarse_pairs_;  ///< of the Legendre stage, where they are not the grid's
    LegendreStage legendre_;
    const FourierLayout layout_;
    double legendre_flops_;
    std::optional<ThetaResampling> resampling_;
};

/// to += from, of `count` numbers.
template <class T>
void add_to(const T* from, std::int64_t count, T* to, cudaStream_t stream);

}  // namespace zonal::sht::cuda
