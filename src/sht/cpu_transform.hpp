#pragma once

#include <complex>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "core/aligned.hpp"
#include "sht/legendre/legendre.hpp"
#include "sht/rings/ring_stage.hpp"
#include "sht/transform.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {

/// Fourier coefficients of one band of rings, and what each thread needs for itself.
struct CpuStorage : ShtWorkspace::Storage {
    struct Thread {
        LegendreScratch legendre;
        RingScratch rings;
        core::AlignedVector<std::complex<double>> row;
    };
    void use_stream(void*) override {
        throw InvalidArgument("workspace: is the CPU's, which has no streams");
    }

    MemorySpace space() const override { return MemorySpace::host; }
    void* reserve(ScratchArray array, std::int64_t bytes) override {
        constexpr std::int64_t unit = sizeof(double);
        return arrays[static_cast<std::size_t>(array)].reserve((bytes + unit - 1) / unit);
    }
    void copy(MemoryRows<const void*> from, MemoryRows<void*> to, std::int64_t row_bytes,
              std::int64_t n_rows) override {
        for (std::int64_t row = 0; row < n_rows; ++row)
            std::memcpy(static_cast<char*>(to.data) + row * to.stride,
                        static_cast<const char*>(from.data) + row * from.stride,
                        static_cast<std::size_t>(row_bytes));
    }

    core::Scratch fourier;
    std::vector<std::unique_ptr<Thread>> threads;
    core::Scratch arrays[static_cast<std::size_t>(ScratchArray::count)];
};

/// The transform on the CPU. Rings are taken in bands from the poles to the equator, so that the Fourier
/// coefficients never need more than a few tens of MiB: for each band first all orders, then all rings, or
/// the other way round.
class CpuTransform final : public Transform {
  public:
    CpuTransform(const Grid& grid, const ShtOptions& options);

    void synthesize(View<const std::complex<float>, 3> alm, View<float, 3> map,
                    ShtWorkspace::Storage& workspace, const Progress& progress) const override;
    void synthesize(View<const std::complex<double>, 3> alm, View<double, 3> map,
                    ShtWorkspace::Storage& workspace, const Progress& progress) const override;
    void adjoint(View<const float, 3> map, View<std::complex<float>, 3> alm, bool weighted,
                 ShtWorkspace::Storage& workspace, const Progress& progress) const override;
    void adjoint(View<const double, 3> map, View<std::complex<double>, 3> alm, bool weighted,
                 ShtWorkspace::Storage& workspace, const Progress& progress) const override;

    void project_residual(View<const std::complex<float>, 3> alm, View<const float, 3> map,
                          View<std::complex<float>, 3> update, ShtWorkspace::Storage& workspace,
                          const Progress& progress) const override;
    void project_residual(View<const std::complex<double>, 3> alm, View<const double, 3> map,
                          View<std::complex<double>, 3> update, ShtWorkspace::Storage& workspace,
                          const Progress& progress) const override;

    std::unique_ptr<ShtWorkspace::Storage> make_workspace(std::int64_t n_maps) const override;
    void prepare(ShtWorkspace::Storage& workspace) const override { storage_of(workspace); }
    std::int64_t workspace_bytes() const override;
    double legendre_flops() const override;

  private:
    /// The workspace as this backend's, with room for this plan's threads, whichever plan made it.
    CpuStorage& storage_of(ShtWorkspace::Storage& workspace) const;
    void fit(CpuStorage& workspace) const;
    template <class T>
    void synthesize_maps(View<const std::complex<T>, 3> alm, View<T, 3> map, CpuStorage& workspace,
                         const Progress& progress) const;
    template <class T>
    void adjoint_maps(View<const T, 3> map, View<std::complex<T>, 3> alm, bool weighted,
                      CpuStorage& workspace, const Progress& progress) const;
    template <class T>
    void project_maps(View<const std::complex<T>, 3> alm, View<const T, 3> map,
                      View<std::complex<T>, 3> update, CpuStorage& workspace, const Progress& progress) const;
    void in_parallel(std::int64_t n_tasks, const std::function<void(std::int64_t, int)>& body) const;
    template <class T>
    void synthesize_orders(View<const std::complex<T>, 3> alm, const FourierBand& band,
                           CpuStorage& workspace) const;
    template <class T>
    void synthesize_rings(const FourierBand& band, View<T, 3> map, CpuStorage& workspace) const;
    /// From the F_m of S alm to those of W (map - S alm), in place.
    template <class T>
    void residual_rings(View<const T, 3> map, const FourierBand& band, CpuStorage& workspace) const;
    template <class T>
    void adjoint_rings(View<const T, 3> map, bool weighted, const FourierBand& band,
                       CpuStorage& workspace) const;
    template <class T>
    void adjoint_orders(const FourierBand& band, View<std::complex<T>, 3> alm, CpuStorage& workspace) const;
    /// Calls work(band, first map, maps) for every band of every pass.
    template <class Band>
    void for_each_band(std::int64_t n_maps, CpuStorage& workspace, const Progress& progress,
                       const Band& work) const;
    /// Blocks [bounds[i], bounds[i+1]) are band i of a pass over n_fields fields.
    std::vector<std::int64_t> band_bounds(std::int64_t n_fields) const;
    /// Maps that one pass of the recurrence serves.
    std::int64_t maps_per_pass() const { return table_.components == 1 ? 8 : 4; }

    const Grid grid_;
    const ShtOptions options_;
    const LegendreTable table_;
    const RingPairs rings_;
};

}  // namespace zonal::sht
