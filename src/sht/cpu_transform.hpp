#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "core/aligned.hpp"
#include "sht/legendre.hpp"
#include "sht/ring_stage.hpp"
#include "zonal/sht.hpp"

namespace zonal {

/// Fourier coefficients of one band of rings, and what each thread needs for itself.
struct ShtWorkspace::Storage {
    struct Thread {
        sht::LegendreScratch legendre;
        sht::RingScratch rings;
        core::AlignedVector<std::complex<double>> row;
    };
    core::Scratch fourier;
    std::vector<std::unique_ptr<Thread>> threads;
    ShtStageSeconds seconds;
};

}  // namespace zonal

namespace zonal::sht {

/// The transform on the CPU. Rings are taken in bands from the poles to the equator, so that the Fourier
/// coefficients never need more than a few tens of MiB: for each band first all orders, then all rings, or
/// the other way round.
class CpuTransform {
  public:
    CpuTransform(const Grid& grid, const ShtOptions& options);

    template <class T>
    void synthesize(View<const std::complex<T>, 3> alm, View<T, 3> map, ShtWorkspace::Storage& workspace,
                    const Progress& progress) const;

    /// weighted: multiply the pixels by their rings' weights.
    template <class T>
    void adjoint(View<const T, 3> map, View<std::complex<T>, 3> alm, bool weighted,
                 ShtWorkspace::Storage& workspace, const Progress& progress) const;

    std::int64_t workspace_bytes() const;
    double legendre_flops() const;
    void fit(ShtWorkspace::Storage& workspace) const;

  private:
    template <class T>
    void synthesize_orders(View<const std::complex<T>, 3> alm, const FourierBand& band,
                           ShtWorkspace::Storage& workspace) const;
    template <class T>
    void synthesize_rings(const FourierBand& band, View<T, 3> map, ShtWorkspace::Storage& workspace) const;
    template <class T>
    void adjoint_rings(View<const T, 3> map, bool weighted, const FourierBand& band,
                       ShtWorkspace::Storage& workspace) const;
    template <class T>
    void adjoint_orders(const FourierBand& band, View<std::complex<T>, 3> alm,
                        ShtWorkspace::Storage& workspace) const;
    /// Calls work(band, first map, maps) for every band of every pass.
    template <class Band>
    void for_each_band(std::int64_t n_maps, ShtWorkspace::Storage& workspace, const Progress& progress,
                       const Band& work) const;
    /// Blocks [bounds[i], bounds[i+1]) are band i of a pass over n_fields fields.
    std::vector<std::int64_t> band_bounds(std::int64_t n_fields) const;
    /// Maps that one pass of the recurrence serves.
    std::int64_t maps_per_pass() const { return table_.components == 1 ? 8 : 4; }
    /// Component of the alm array that holds component c of the field, or -1 where the plan leaves it out.
    std::int64_t alm_component(std::int64_t c) const;

    const Grid grid_;
    const ShtOptions options_;
    const LegendreTable table_;
    const RingPairs rings_;
};

}  // namespace zonal::sht
