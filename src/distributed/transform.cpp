#include "distributed/transform.hpp"

#include <fmt/core.h>

#include <cstring>

#include "distributed/agreement.hpp"
#include "distributed/transform_call.hpp"
#include "sht/cpu_stages.hpp"
#include "zonal/error.hpp"

namespace zonal::distributed {

using sht::FourierBand;

namespace {

std::vector<Ring> rings_here(const Grid& grid, const std::vector<std::int64_t>& numbers, const Grid& packed) {
    std::vector<Ring> rings = grid.rings();
    for (std::size_t i = 0; i < numbers.size(); ++i) rings[numbers[i]] = packed.rings()[i];
    return rings;
}

template <class... Views>
bool are_on_device(const Views&... views) {
    return (... && (views.space() == MemorySpace::cuda));
}

}  // namespace

DistributedTransform::DistributedTransform(std::shared_ptr<Transport> transport,
                                           std::shared_ptr<DeviceLink> link, const Grid& grid,
                                           const ShtOptions& options, const std::vector<double>& speeds)
    : transport_(std::move(transport)),
      link_(std::move(link)),
      rank_(static_cast<std::size_t>(transport_->rank())),
      grid_(grid),
      options_(options),
      pairs_(grid, options.lmax, options.mmax, options.spin),
      partition_(grid, pairs_, options, speeds, link_ != nullptr),
      packed_(radial::pack_rings(grid, partition_.rings[rank_])),
      here_(rings_here(grid, partition_.rings[rank_], packed_.grid)),
      exact_(sht::make_exact_rings(grid_, pairs_, options.lmax, options.mmax, options.spin)),
      stages_(make_stages()),
      bands_(make_bands(pairs_)),
      exact_bands_(exact_ ? std::optional(make_bands(exact_->all_orders)) : std::nullopt) {}

std::unique_ptr<const sht::Stages> DistributedTransform::make_stages() const {
    const AlmLayout layout(options_.lmax, options_.mmax, partition_.orders[rank_]);
    if (options_.device.kind() == Device::Kind::cuda)
        return sht::make_cuda_stages(layout, options_, pairs_,
                                     {packed_.grid, partition_.bounds[rank_], partition_.bounds[rank_ + 1],
                                      partition_.runs(), band_memory()},
                                     exact_ ? &*exact_ : nullptr);
    return std::make_unique<const sht::CpuStages>(layout, options_, pairs_, here_,
                                                  exact_ ? &exact_->integral : nullptr);
}

DistributedTransform::Bands DistributedTransform::make_bands(const sht::RingPairs& pairs) const {
    const auto band = [&](const std::vector<std::int64_t>& zones,
                          const std::vector<std::vector<std::int64_t>>& runs) {
        return band_memory() == sht::BandMemory::device
                   ? FourierBand::of_zones(pairs, zones, 1, runs)
                   : FourierBand(pairs, zones.front(), zones.back(), 1, runs);
    };
    Bands bands{band({partition_.bounds[rank_], partition_.bounds[rank_ + 1]}, partition_.runs()), {}};
    for (const auto& orders : partition_.chunks[rank_])
        bands.chunks.push_back(band(partition_.bounds, {orders}));
    return bands;
}

std::int64_t DistributedTransform::Bands::size() const {
    std::int64_t sent[2] = {}, chunk = 0;
    for (const auto& band : chunks) {
        auto& largest = sent[chunk++ % 2];
        largest = std::max(largest, band.size());
    }
    return rings.size() + sent[0] + sent[1];
}

std::vector<RankShare> DistributedTransform::shares() const {
    std::vector<RankShare> all;
    for (int i = 0; i < partition_.n_ranks(); ++i) {
        const auto rank = static_cast<std::size_t>(i);
        std::int64_t n_pixels = 0;
        for (const std::int64_t ring : partition_.rings[rank]) n_pixels += grid_.rings()[ring].n_pixels;
        all.push_back({n_pixels, AlmLayout(options_.lmax, options_.mmax, partition_.orders[rank]).size(),
                       partition_.legendre_flops[rank], partition_.ring_flops[rank],
                       synthesis_bytes(pairs_, partition_, stages_->table().components, rank).sent});
    }
    return all;
}

std::int64_t DistributedTransform::workspace_bytes(std::int64_t) const {
    return (exact_bands_ ? *exact_bands_ : bands_).size() * stages_->table().components *
               static_cast<std::int64_t>(sizeof(double)) +
           stages_->scratch_bytes();
}

std::unique_ptr<ShtWorkspace::Storage> DistributedTransform::make_workspace(std::int64_t) const {
    auto storage = std::make_unique<Storage>();
    storage->memory = stages_->make_memory();
    stages_->prepare(*storage->memory);
    return storage;
}

DistributedTransform::Storage& DistributedTransform::storage_of(ShtWorkspace::Storage& workspace) const {
    auto* const storage = dynamic_cast<Storage*>(&workspace);
    if (storage == nullptr) throw InvalidArgument("workspace", "was not made by a distributed plan");
    if ((storage->memory->stream() != nullptr) != (link_ != nullptr))
        throw InvalidArgument("workspace", "was made by a plan whose ranks exchange data in another way");
    stages_->prepare(*storage->memory);
    return *storage;
}

void DistributedTransform::agree(const char* call, std::int64_t n_maps, std::size_t value_bytes,
                                 std::exception_ptr error) const {
    distributed::agree(*transport_,
                       fmt::format("{} of {} maps of {} bytes a value", call, n_maps, value_bytes), error);
}

std::vector<double> DistributedTransform::sum_gathered(
    View<const double, 2> rows, const std::vector<std::vector<std::int64_t>>& numbers) const {
    const std::int64_t n = rows.extent(1);
    std::string mine(static_cast<std::size_t>(rows.size()) * sizeof(double), '\0');
    for (std::int64_t i = 0; i < rows.extent(0); ++i)
        for (std::int64_t j = 0; j < n; ++j)
            std::memcpy(mine.data() + (i * n + j) * static_cast<std::int64_t>(sizeof(double)), &rows(i, j),
                        sizeof(double));
    const auto all = transport_->gather(mine);
    std::int64_t end = 0;
    for (const auto& of_rank : numbers)
        if (!of_rank.empty()) end = std::max(end, of_rank.back() + 1);
    Array<double, 2> whole({end, n});
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        for (std::size_t i = 0; i < numbers[rank].size() && n > 0; ++i)
            std::memcpy(&whole(numbers[rank][i], 0),
                        all[rank].data() + i * static_cast<std::size_t>(n) * sizeof(double),
                        static_cast<std::size_t>(n) * sizeof(double));
    return sht::sum_rows(whole.view());
}

std::vector<double> DistributedTransform::sum_rings(View<const double, 2> partial) const {
    return sum_gathered(partial, partition_.rings);
}

std::vector<double> DistributedTransform::sum_orders(View<const double, 2> partial) const {
    return sum_gathered(partial, partition_.orders);
}

template <class T>
void DistributedTransform::synthesize_maps(View<const std::complex<T>, 3> alm, View<T, 3> map,
                                           ShtWorkspace::Storage& workspace, const Progress& progress) const {
    synthesize_by<T>(bands_, alm, map, workspace, progress);
}

template <class T>
void DistributedTransform::synthesize_integrated_maps(View<const std::complex<T>, 3> alm, View<T, 3> map,
                                                      ShtWorkspace::Storage& workspace,
                                                      const Progress& progress) const {
    synthesize_by<T>(*exact_bands_, alm, map, workspace, progress);
}

template <class T>
void DistributedTransform::synthesize_by(const Bands& bands, View<const std::complex<T>, 3> alm,
                                         View<T, 3> map, ShtWorkspace::Storage& workspace,
                                         const Progress& progress) const {
    Call call(*this, bands, workspace, alm.extent(0), are_on_device(alm, map), progress,
              static_cast<int>(n_chunks()) + 1);
    call.for_each_pass(alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        call.orders_to_rings<T>(alm.slice(first, maps));
        call.on_rings(maps, [&](const FourierBand& band, sht::StageMemory& memory) {
            stages_->of<T>().synthesize_rings(band, map.slice(first, maps), memory);
        });
    });
}

template <class T>
void DistributedTransform::adjoint_maps(View<const T, 3> map, View<std::complex<T>, 3> alm,
                                        sht::Quadrature quadrature, ShtWorkspace::Storage& workspace,
                                        const Progress& progress) const {
    const Bands& bands = quadrature == sht::Quadrature::meridian ? *exact_bands_ : bands_;
    Call call(*this, bands, workspace, alm.extent(0), are_on_device(alm, map), progress,
              static_cast<int>(n_chunks()) + 1);
    call.for_each_pass(alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        call.on_rings(maps, [&](const FourierBand& band, sht::StageMemory& memory) {
            stages_->of<T>().adjoint_rings(map.slice(first, maps),
                                           quadrature == sht::Quadrature::ring_weights, band, memory);
        });
        call.rings_to_orders<T>(alm.slice(first, maps));
    });
}

template <class T>
void DistributedTransform::project_maps(View<const std::complex<T>, 3> alm, View<const T, 3> map,
                                        View<std::complex<T>, 3> update, ShtWorkspace::Storage& workspace,
                                        const Progress& progress) const {
    Call call(*this, bands_, workspace, alm.extent(0), are_on_device(alm, map, update), progress,
              2 * static_cast<int>(n_chunks()) + 1);
    call.for_each_pass(alm.extent(0), [&](std::int64_t first, std::int64_t maps) {
        call.orders_to_rings<T>(alm.slice(first, maps));
        call.on_rings(maps, [&](const FourierBand& band, sht::StageMemory& memory) {
            stages_->of<T>().residual_rings(map.slice(first, maps), band, memory);
        });
        call.rings_to_orders<T>(update.slice(first, maps));
    });
}

}  // namespace zonal::distributed
