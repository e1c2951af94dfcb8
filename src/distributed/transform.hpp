#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "distributed/device_link.hpp"
#include "distributed/partition.hpp"
#include "distributed/transport.hpp"
#include "radial/bands/latitude_bands.hpp"
#include "sht/rings/meridian_integral.hpp"
#include "sht/stages.hpp"
#include "sht/transform_by_type.hpp"
#include "zonal/distributed/plan.hpp"

namespace zonal::distributed {

/// A transform whose ranks have some orders of the alm and some rings of the maps each. Between the Legendre
/// stage and the ring stage the ranks exchange F_m, a chunk of their orders at a time, while they work on the
/// next chunk. Both stages are those of one process on the rank's device. On the CPU they add up in the same
/// order: results are the same, bit for bit, for any number of ranks. F_m on their way lie in host memory, or
/// on the ranks' devices where these have a link: what arrives there is what the ring stage works on. Arrays
/// lie in host memory or on the rank's device.
///
/// Each call first agrees on its arguments, and at its end on whether all went well; in between a rank that
/// fails goes on sending. So all ranks throw alike, and none waits for ever.
class DistributedTransform final : public sht::TransformByType<DistributedTransform> {
  public:
    /// Collective. options: resolved; the device may be another one on each rank. speeds: of each rank,
    /// relative to one another. link: of all ranks or of none. Throws InvalidArgument as Partition does, and
    /// if the ranks disagree.
    DistributedTransform(std::shared_ptr<Transport> transport, std::shared_ptr<DeviceLink> link,
                         const Grid& grid, const ShtOptions& options, const std::vector<double>& speeds);

    const Partition& partition() const { return partition_; }
    /// This rank's rings, in an array of their own.
    const radial::PackedRings& rings() const { return packed_; }
    const AlmLayout& layout() const { return stages_->table().layout; }
    const ShtOptions& options() const { return options_; }
    int rank() const { return static_cast<int>(rank_); }
    /// Every rank's share.
    std::vector<RankShare> shares() const;

    std::unique_ptr<ShtWorkspace::Storage> make_workspace(std::int64_t n_maps) const override;
    void prepare(ShtWorkspace::Storage& workspace) const override { storage_of(workspace); }
    std::int64_t workspace_bytes(std::int64_t n_maps) const override;
    /// This rank's.
    double legendre_flops() const override { return partition_.legendre_flops[rank_]; }

    void agree(const char* call, std::int64_t n_maps, std::size_t value_bytes,
               std::exception_ptr error) const override;
    std::vector<double> sum_rings(View<const double, 2> partial) const override;
    std::vector<double> sum_orders(View<const double, 2> partial) const override;
    const Grid* whole_grid() const override { return &grid_; }
    bool takes_device_arrays() const override { return options_.device.kind() == Device::Kind::cuda; }

  private:
    friend class sht::TransformByType<DistributedTransform>;
    struct Storage;
    class Call;
    /// F_m of one field as the ring stage has them, and as the Legendre stage has each chunk's.
    struct Bands {
        sht::FourierBand rings;
        std::vector<sht::FourierBand> chunks;
        std::int64_t size() const;
    };

    std::unique_ptr<const sht::Stages> make_stages() const;
    Storage& storage_of(ShtWorkspace::Storage& workspace) const;
    template <class T>
    void synthesize_maps(View<const std::complex<T>, 3> alm, View<T, 3> map, ShtWorkspace::Storage& workspace,
                         const Progress& progress) const;
    template <class T>
    void adjoint_maps(View<const T, 3> map, View<std::complex<T>, 3> alm, sht::Quadrature quadrature,
                      ShtWorkspace::Storage& workspace, const Progress& progress) const;
    template <class T>
    void synthesize_integrated_maps(View<const std::complex<T>, 3> alm, View<T, 3> map,
                                    ShtWorkspace::Storage& workspace, const Progress& progress) const;
    /// bands: exact_bands_ for exact integrals, else bands_.
    template <class T>
    void synthesize_by(const Bands& bands, View<const std::complex<T>, 3> alm, View<T, 3> map,
                       ShtWorkspace::Storage& workspace, const Progress& progress) const;
    template <class T>
    void project_maps(View<const std::complex<T>, 3> alm, View<const T, 3> map,
                      View<std::complex<T>, 3> update, ShtWorkspace::Storage& workspace,
                      const Progress& progress) const;

    sht::BandMemory band_memory() const { return link_ ? sht::BandMemory::device : sht::BandMemory::host; }
    std::int64_t n_chunks() const { return static_cast<std::int64_t>(partition_.chunks[rank_].size()); }
    /// The first has this rank's blocks and all orders, in a run for each chunk of each rank; the others have
    /// all blocks and a chunk of this rank's orders, for each chunk. pairs: which say what orders blocks
    /// have.
    Bands make_bands(const sht::RingPairs& pairs) const;
    /// Sums the rows that ranks have of a table, given the numbers of each rank's rows.
    std::vector<double> sum_gathered(View<const double, 2> rows,
                                     const std::vector<std::vector<std::int64_t>>& numbers) const;

    const std::shared_ptr<Transport> transport_;
    const std::shared_ptr<DeviceLink> link_;
    const std::size_t rank_;
    const Grid grid_;
    const ShtOptions options_;
    const sht::RingPairs pairs_;
    const Partition partition_;
    const radial::PackedRings packed_;
    const std::vector<Ring> here_;  ///< the grid's rings, those of this rank with their pixels in its array
    const std::optional<const sht::ExactRings> exact_;
    const std::unique_ptr<const sht::Stages> stages_;
    const Bands bands_;
    const std::optional<const Bands> exact_bands_;  ///< of exact integrals, with all orders of every block
};

}  // namespace zonal::distributed
