#include "sht/cpu_transform.hpp"

#include <algorithm>

namespace zonal::sht {

CpuTransform::CpuTransform(const Grid& grid, const ShtOptions& options)
    : grid_(grid),
      options_(options),
      pairs_(grid, options.lmax, options.mmax, options.spin),
      exact_(make_exact_rings(grid_, pairs_, options.lmax, options.mmax, options.spin)),
      stages_(AlmLayout(options.lmax, options.mmax), options, pairs_, grid_.rings(),
              exact_ ? &exact_->integral : nullptr) {}

std::int64_t CpuTransform::workspace_bytes(std::int64_t n_maps) const {
    const std::int64_t components = std::min(n_maps, stages_.maps_per_pass()) * stages_.table().components;
    std::int64_t largest = 0;
    const auto bounds = stages_.band_bounds(components);
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
        largest = std::max(largest, FourierBand(pairs_, bounds[i], bounds[i + 1], components).size());
    if (exact_) largest = FourierBand(exact_->all_orders, 0, pairs_.n_blocks(), components).size();
    return largest * 8 + stages_.scratch_bytes();
}

double CpuTransform::legendre_flops() const {
    return stages_.legendre_flops();
}

std::unique_ptr<ShtWorkspace::Storage> CpuTransform::make_workspace(std::int64_t) const {
    auto storage = std::make_unique<CpuStorage>();
    stages_.fit(*storage);
    return storage;
}

template <class Band>
void CpuTransform::for_each_band(std::int64_t n_maps, CpuStorage& workspace, const Progress& progress,
                                 const Band& work, bool whole) const {
    const RingPairs& pairs = whole ? exact_->all_orders : pairs_;
    workspace.seconds = {};
    Reporter reporter(progress, static_cast<double>(n_maps * pairs_.n_blocks()));
    for (std::int64_t first = 0; first < n_maps; first += stages_.maps_per_pass()) {
        const std::int64_t maps = std::min(stages_.maps_per_pass(), n_maps - first);
        const auto bounds = whole ? std::vector<std::int64_t>{0, pairs.n_blocks()}
                                  : stages_.band_bounds(maps * stages_.table().components);
        for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
            FourierBand band(pairs, bounds[i], bounds[i + 1], maps * stages_.table().components);
            band.data = workspace.fourier.reserve(band.size());
            work(band, first, maps);
            reporter.advance(static_cast<double>(maps * (band.end - band.first)));
        }
    }
}

template <class T>
void CpuTransform::synthesize_maps(View<const std::complex<T>, 3> alm, View<T, 3> map,
                                   ShtWorkspace::Storage& storage, const Progress& progress) const {
    CpuStorage& workspace = stages_.storage_of(storage);
    for_each_band(alm.extent(0), workspace, progress,
                  [&](const FourierBand& band, std::int64_t first, std::int64_t maps) {
                      timed(workspace.seconds.legendre, [&] {
                          stages_.synthesize_orders<T>(alm.slice(first, maps), all_orders(), band, workspace);
                      });
                      timed(workspace.seconds.rings,
                            [&] { stages_.synthesize_rings<T>(band, map.slice(first, maps), workspace); });
                  });
}

template <class T>
void CpuTransform::adjoint_maps(View<const T, 3> map, View<std::complex<T>, 3> alm, Quadrature quadrature,
                                ShtWorkspace::Storage& storage, const Progress& progress) const {
    if (quadrature == Quadrature::meridian) return integrate_maps<T>(map, alm, storage, progress);
    const bool weighted = quadrature == Quadrature::ring_weights;
    CpuStorage& workspace = stages_.storage_of(storage);
    // The first band writes all orders, also those that no ring of it reaches; the others add.
    for_each_band(alm.extent(0), workspace, progress,
                  [&](const FourierBand& band, std::int64_t first, std::int64_t maps) {
                      timed(workspace.seconds.rings, [&] {
                          stages_.adjoint_rings<T>(map.slice(first, maps), weighted, band, workspace);
                      });
                      timed(workspace.seconds.legendre, [&] {
                          stages_.adjoint_orders<T>({&band, 1}, alm.slice(first, maps), all_orders(),
                                                    workspace, band.first > 0);
                      });
                  });
}

template <class T>
void CpuTransform::integrate_maps(View<const T, 3> map, View<std::complex<T>, 3> alm,
                                  ShtWorkspace::Storage& storage, const Progress& progress) const {
    CpuStorage& workspace = stages_.storage_of(storage);
    for_each_band(
        map.extent(0), workspace, progress,
        [&](const FourierBand& band, std::int64_t first, std::int64_t maps) {
            timed(workspace.seconds.rings,
                  [&] { stages_.adjoint_rings<T>(map.slice(first, maps), false, band, workspace); });
            timed(workspace.seconds.resampling,
                  [&] { stages_.integrate_orders(band, all_orders(), exact_->scale(grid_), workspace); });
            timed(workspace.seconds.legendre, [&] {
                stages_.adjoint_orders<T>({&band, 1}, alm.slice(first, maps), all_orders(), workspace);
            });
        },
        true);
}

template <class T>
void CpuTransform::synthesize_integrated_maps(View<const std::complex<T>, 3> alm, View<T, 3> map,
                                              ShtWorkspace::Storage& storage,
                                              const Progress& progress) const {
    CpuStorage& workspace = stages_.storage_of(storage);
    for_each_band(
        alm.extent(0), workspace, progress,
        [&](const FourierBand& band, std::int64_t first, std::int64_t maps) {
            timed(workspace.seconds.legendre, [&] {
                stages_.clear_unreached(band, all_orders());
                stages_.synthesize_orders<T>(alm.slice(first, maps), all_orders(), band, workspace);
            });
            timed(workspace.seconds.resampling,
                  [&] { stages_.integrate_orders(band, all_orders(), exact_->scale(grid_), workspace); });
            timed(workspace.seconds.rings,
                  [&] { stages_.synthesize_rings<T>(band, map.slice(first, maps), workspace); });
        },
        true);
}

template <class T>
void CpuTransform::project_maps(View<const std::complex<T>, 3> alm, View<const T, 3> map,
                                View<std::complex<T>, 3> update, ShtWorkspace::Storage& storage,
                                const Progress& progress) const {
    CpuStorage& workspace = stages_.storage_of(storage);
    for_each_band(alm.extent(0), workspace, progress,
                  [&](const FourierBand& band, std::int64_t first, std::int64_t maps) {
                      timed(workspace.seconds.legendre, [&] {
                          stages_.synthesize_orders<T>(alm.slice(first, maps), all_orders(), band, workspace);
                      });
                      timed(workspace.seconds.rings,
                            [&] { stages_.residual_rings<T>(map.slice(first, maps), band, workspace); });
                      timed(workspace.seconds.legendre, [&] {
                          stages_.adjoint_orders<T>({&band, 1}, update.slice(first, maps), all_orders(),
                                                    workspace, band.first > 0);
                      });
                  });
}

std::unique_ptr<const Transform> make_cpu_transform(const Grid& grid, const ShtOptions& options) {
    return std::make_unique<const CpuTransform>(grid, options);
}

}  // namespace zonal::sht
