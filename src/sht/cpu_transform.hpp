#pragma once

#include <complex>
#include <memory>

#include "sht/cpu_stages.hpp"
#include "sht/transform_by_type.hpp"

namespace zonal::sht {

/// The transform on the CPU. Rings are taken in bands from the poles to the equator, so that the Fourier
/// coefficients never need more than a few tens of MiB: for each band first all orders, then all rings, or
/// the other way round. With theta resampling there is one band, as an order's rings are made together.
class CpuTransform final : public TransformByType<CpuTransform> {
  public:
    CpuTransform(const Grid& grid, const ShtOptions& options);

    std::unique_ptr<ShtWorkspace::Storage> make_workspace(std::int64_t n_maps) const override;
    void prepare(ShtWorkspace::Storage& workspace) const override { stages_.storage_of(workspace); }
    std::int64_t workspace_bytes(std::int64_t n_maps) const override;
    double legendre_flops() const override;

  private:
    friend class TransformByType<CpuTransform>;

    template <class T>
    void synthesize_maps(View<const std::complex<T>, 3> alm, View<T, 3> map, ShtWorkspace::Storage& storage,
                         const Progress& progress) const;
    template <class T>
    void adjoint_maps(View<const T, 3> map, View<std::complex<T>, 3> alm, Quadrature quadrature,
                      ShtWorkspace::Storage& storage, const Progress& progress) const;
    template <class T>
    void integrate_maps(View<const T, 3> map, View<std::complex<T>, 3> alm, ShtWorkspace::Storage& storage,
                        const Progress& progress) const;
    template <class T>
    void synthesize_integrated_maps(View<const std::complex<T>, 3> alm, View<T, 3> map,
                                    ShtWorkspace::Storage& storage, const Progress& progress) const;
    template <class T>
    void project_maps(View<const std::complex<T>, 3> alm, View<const T, 3> map,
                      View<std::complex<T>, 3> update, ShtWorkspace::Storage& storage,
                      const Progress& progress) const;
    /// Calls work(band, first map, maps) for every band of every pass. whole: one band of all blocks, which
    /// has all orders of each, as exact integrals take it.
    template <class Band>
    void for_each_band(std::int64_t n_maps, CpuStorage& workspace, const Progress& progress, const Band& work,
                       bool whole = false) const;
    OrderNumbers all_orders() const { return {0, options_.mmax + 1}; }

    const Grid grid_;
    const ShtOptions options_;
    const RingPairs pairs_;
    const std::optional<const ExactRings> exact_;
    const CpuStages stages_;
};

}  // namespace zonal::sht
