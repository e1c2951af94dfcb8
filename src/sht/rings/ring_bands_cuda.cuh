#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "sht/cuda_batch.cuh"
#include "sht/rings/resampling_cuda.cuh"
#include "sht/rings/ring_stage_cuda.cuh"

/// A large map's rings in bands, so that the pixels of one are copied from or to the host while the device
/// works on others.
namespace zonal::sht::cuda {

/// Bands of ring pairs from the poles to the equator, northern and southern rings together; or all rings in
/// one. Adjoints go through them from the first to the last, so that the bytes that come last are those with
/// the least work left to do; syntheses go the other way, so that there is much to copy from the start. A
/// band of the Legendre stage is what can be computed once its rings have come, or what they need beside the
/// bands before: where rings are resampled, some pairs less, or more.
class RingBands {
  public:
    /// Whether copies of a map take so long that several bands pay.
    static bool pay(const Grid& grid) { return grid.n_pixels() >= fewest_pixels && !grid.has_other_pixels(); }
    /// Where those bands end.
    static std::vector<std::int64_t> ends(const Grid& grid, const RingPairs& pairs);

    /// Keeps references to the pairs and the layout. resampling: null where the Legendre stage works on the
    /// grid's own rings. ends: past the last pair of each band.
    RingBands(const Grid& grid, const RingPairs& pairs, const FourierLayout& layout,
              const ThetaResampling* resampling, const std::vector<std::int64_t>& ends);

    int count() const { return static_cast<int>(bands_.size()); }
    /// What LegendreStage::cut takes where there are several bands: those of syntheses, then those of
    /// adjoints.
    const std::vector<JobBand>& jobs() const { return jobs_; }
    /// The orders with the jobs of band k.
    Orders synthesis(Orders orders, int k) const { return count() == 1 ? orders : orders.of_band(k); }
    Orders adjoint(Orders orders, int k) const { return count() == 1 ? orders : orders.of_band(count() + k); }
    /// Tiles of the resampling; none without.
    TileRange interpolation_tiles(int k) const { return bands_[k].interpolation; }
    TileRange adjoint_tiles(int k) const { return bands_[k].adjoint; }
    /// Where the pixels lie.
    const std::vector<ElementRange>& pixels(int k) const { return bands_[k].pixels; }

    /// Makes the rings' stages, unless they are there. What follows is there then.
    void make_rings() const;
    const RingStage& rings(int k) const { return *stages_[k]; }
    /// The most that any band needs.
    RingScratchSizes scratch_sizes() const;

  private:
    static constexpr std::int64_t fewest_pixels = std::int64_t{1} << 23;

    struct Band {
        PairRange pairs;
        std::vector<ElementRange> pixels;
        TileRange interpolation{0, 0}, adjoint{0, 0};
    };
    void cut_resampling(const ThetaResampling& resampling);

    const Grid grid_;
    const RingPairs& pairs_;
    const FourierLayout& layout_;
    std::vector<Band> bands_;
    std::vector<JobBand> jobs_;
    mutable std::once_flag made_;
    mutable std::vector<std::unique_ptr<const RingStage>> stages_;
};

}  // namespace zonal::sht::cuda
