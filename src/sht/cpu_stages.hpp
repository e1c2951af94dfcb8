#pragma once

#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/aligned.hpp"
#include "core/stopwatch.hpp"
#include "sht/legendre/legendre.hpp"
#include "sht/rings/meridian_integral.hpp"
#include "sht/rings/resampling_cpu.hpp"
#include "sht/rings/ring_stage.hpp"
#include "sht/stages.hpp"
#include "sht/transform.hpp"
#include "zonal/error.hpp"

/// The two halves of the transforms on the CPU, which one process runs band by band and a distributed
/// transform with an exchange in between: between alm and the F_m of ring pairs, and between those and
/// pixels.
namespace zonal::sht {

/// Fourier coefficients of rings, and what each thread needs for itself.
struct CpuStorage : ShtWorkspace::Storage {
    struct Thread {
        LegendreScratch legendre;
        RingScratch rings;
        ResamplingScratch resampling;
        MeridianIntegral::Scratch meridian;
        core::AlignedVector<std::complex<double>> row;
    };
    void use_stream(void*) override {
        throw InvalidArgument("workspace", "is the CPU's, which has no streams");
    }

    MemorySpace space() const override { return MemorySpace::host; }
    void* reserve(const ScratchArray& array, std::int64_t bytes) override {
        constexpr std::int64_t unit = sizeof(double);
        return arrays[&array].reserve((bytes + unit - 1) / unit);
    }
    void copy(MemoryRows<const void*> from, MemoryRows<void*> to, std::int64_t row_bytes,
              std::int64_t n_rows) override {
        for (std::int64_t row = 0; row < n_rows; ++row)
            std::memcpy(static_cast<char*>(to.data) + row * to.stride,
                        static_cast<const char*>(from.data) + row * from.stride,
                        static_cast<std::size_t>(row_bytes));
    }

    std::int64_t bytes() const override {
        std::int64_t sum = fourier.bytes() + bytes_of_threads;
        for (const auto& array : arrays) sum += array.second.bytes();
        return sum;
    }

    core::Scratch fourier;
    std::vector<std::unique_ptr<Thread>> threads;
    std::int64_t bytes_of_threads = 0;  ///< at most, in the largest of the calls
    std::map<const ScratchArray*, core::Scratch> arrays;
};

struct CpuStageMemory final : StageMemory {
    using StageMemory::StageMemory;
    double* reserve(std::size_t band, std::int64_t count) override { return bands[band].reserve(count); }
    CpuStorage scratch;
    core::Scratch bands[n_bands];
};

/// Reports the share of the work done; the caller's `false` stops the transform.
class Reporter {
  public:
    Reporter(const Progress& progress, double total) : progress_(progress), total_(total) { advance(0); }
    void advance(double work) {
        done_ += work;
        if (progress_ && !progress_(std::min(1.0, done_ / total_))) throw Cancelled("transform: cancelled");
    }

  private:
    const Progress& progress_;
    double total_, done_ = 0;
};

/// Runs a stage and adds the time that it took.
template <class Stage>
void timed(double& seconds, const Stage& stage) {
    const core::Stopwatch watch;
    stage();
    seconds += watch.seconds();
}

class CpuStages final : public StagesAs<CpuStages> {
  public:
    /// layout: of the alm that the stages get. pairs: of the whole grid's rings; rings: what they count, of
    /// which the stages touch those of the bands that they get, at their first_pixel. integral: null where
    /// there is none. Keeps references.
    CpuStages(const AlmLayout& layout, const ShtOptions& options, const RingPairs& pairs,
              std::span<const Ring> rings, const MeridianIntegral* integral);

    const LegendreTable& table() const override { return table_; }
    /// The flops of the Legendre stage, whose rings are those of the grid or equidistant ones.
    double legendre_flops() const {
        return legendre_pairs().legendre_flops(options_.lmax, table_.components);
    }
    /// The bands in which one process works: a distributed transform adds up the same ones, so that it rounds
    /// like one process.
    std::vector<std::int64_t> band_bounds(std::int64_t n_fields) const override;
    std::int64_t maps_per_pass() const override { return maps_per_pass_; }
    std::unique_ptr<StageMemory> make_memory() const override {
        return std::make_unique<CpuStageMemory>(options_.threads);
    }
    void prepare(StageMemory& memory) const override { scratch_of(memory); }
    CpuStorage& scratch_of(StageMemory& memory) const;

    /// The workspace as the CPU's, with room for these stages' threads, whichever plan made it.
    CpuStorage& storage_of(ShtWorkspace::Storage& workspace) const;
    void fit(CpuStorage& workspace) const;
    /// What the threads of a call take: rows, recurrence steps and sums of one order, and a block's
    /// sequences.
    std::int64_t scratch_bytes() const override { return scratch_bytes_; }

    /// F_m of the band from some orders of alm. Arrays are [map, component, ...], maps.extent(0) * components
    /// == band.n_fields.
    template <class T>
    void synthesize_orders(View<const std::complex<T>, 3> alm, OrderNumbers orders, const FourierBand& band,
                           CpuStorage& workspace) const;
    /// From the F_m of the band to pixels.
    template <class T>
    void synthesize_rings(const FourierBand& band, View<T, 3> map, CpuStorage& workspace) const;
    /// From the F_m of S alm to those of W (map - S alm), in place.
    template <class T>
    void residual_rings(View<const T, 3> map, const FourierBand& band, CpuStorage& workspace) const;
    /// F_m from the pixels; weighted: times their rings' weights.
    template <class T>
    void adjoint_rings(View<const T, 3> map, bool weighted, const FourierBand& band,
                       CpuStorage& workspace) const;
    /// The bands' parts of alm are added one after the other. add: to alm, too, of which orders that do not
    /// reach the bands then stay as they are.
    template <class T>
    void adjoint_orders(std::span<const FourierBand> bands, View<std::complex<T>, 3> alm, OrderNumbers orders,
                        CpuStorage& workspace, bool add = false) const;
    void integrate_orders(const FourierBand& band, OrderNumbers orders, double scale,
                          CpuStorage& workspace) const;
    void clear_unreached(const FourierBand& band, OrderNumbers orders) const;
    void integrate_orders(const FourierBand& band, OrderNumbers orders, double scale,
                          StageMemory& memory) const override {
        integrate_orders(band, orders, scale, scratch_of(memory));
    }
    void clear_unreached(const FourierBand& band, OrderNumbers orders, StageMemory&) const override {
        clear_unreached(band, orders);
    }

  private:
    std::int64_t bytes_of_scratch() const;
    /// work: of all tasks, in operations of the Legendre stage.
    int threads_for(double work) const;
    int threads_for_orders(std::int64_t n_orders, std::int64_t n_fields) const;
    template <class Work>
    void for_each_block(const FourierBand& band, CpuStorage& workspace, const Work& work) const;
    /// Whether the order has a part in the band.
    bool reaches(const FourierBand& band, std::int64_t m) const;
    /// End of the orders before orders.end that reach the band.
    std::int64_t end_of_reaching(const FourierBand& band, OrderNumbers orders) const;

    /// The order that a thread most likely takes next, as tasks are handed out in order; -1: none.
    std::int64_t order_after(std::int64_t number, int threads, std::int64_t end) const;
    /// Has the kernels ask memory for an order's rows of alm; m: -1 for none.
    template <class T>
    void ask_for_rows(View<T, 3> alm, std::int64_t m, LegendreScratch& scratch) const;

    const RingPairs& legendre_pairs() const { return resampling_ ? resampling_->pairs() : pairs_; }
    /// Moves what the threads of a stage have spent in resampling from `legendre` to its own account.
    static void account_resampling(CpuStorage& workspace, int threads);

    const ShtOptions options_;
    const LegendreTable table_;
    const RingPairs& pairs_;
    const std::span<const Ring> rings_;
    const MeridianIntegral* const integral_;
    const std::int64_t maps_per_pass_;
    std::int64_t n_pixels_ = 0;  ///< of all rings
    std::int64_t scratch_bytes_ = 0;
    double flops_per_order_ = 0;  ///< of one field, on average
    std::optional<const CpuResampling> resampling_;
};

}  // namespace zonal::sht
