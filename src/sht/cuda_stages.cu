#include <algorithm>
#include <array>
#include <optional>

#include "core/cuda_transfer.cuh"
#include "sht/cuda_storage.cuh"
#include "sht/rings/resampling_cuda.cuh"
#include "sht/rings/ring_stage_cuda.cuh"
#include "sht/rings/wire_cuda.cuh"
#include "sht/stages.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {
namespace {

using namespace cuda;

/// Device memory of the stages, and the bands, in page-locked memory or on the device.
struct CudaStageMemory final : StageMemory {
    CudaStageMemory(int device, int threads, BandMemory place)
        : StageMemory(threads), device(device), place(place), transfer(device, threads) {}

    double* reserve(std::size_t band, std::int64_t count) override {
        const core::CurrentDevice current(device);
        if (place == BandMemory::device) {
            on_device[band].reserve(std::max<std::int64_t>(1, count));
            return on_device[band].data();
        }
        if (bands[band] == nullptr || count > sizes[band]) {
            bands[band].reset();
            bands[band] = std::make_unique<core::PageLockedArray>(std::max<std::int64_t>(1, count) *
                                                                  static_cast<std::int64_t>(sizeof(double)));
            sizes[band] = count;
        }
        return reinterpret_cast<double*>(bands[band]->data());
    }
    void copy(const double* from, double* to, std::int64_t count) override {
        if (place == BandMemory::host) return StageMemory::copy(from, to, count);
        const core::CurrentDevice current(device);
        core::check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(double),
                                         cudaMemcpyDeviceToDevice, wire.get()),
                         "copying a rank's own coefficients");
    }
    void* stream() const override { return place == BandMemory::device ? wire.get() : nullptr; }
    void join() override { to_wire(); }

    /// Each stream goes on when the other has done what it has been given so far.
    void to_wire() {
        const core::CurrentDevice current(device);
        worked.record(work.get());
        worked.hold(wire.get());
    }
    void to_work() {
        wired.record(wire.get());
        wired.hold(work.get());
    }

    /// Of the band, copied to the device at the first call.
    const BandTables& tables_of(const FourierBand& band) {
        for (const auto& known : tables)
            if (&known->band.places() == &band.places()) return known->on_device;
        if (tables.size() > 64) tables.clear();  // of plans that are no longer used
        auto& added = *tables.emplace_back(std::make_unique<KnownBand>(KnownBand{band, {}}));
        added.on_device.fill(band, wire.get());
        return added.on_device;
    }

    /// It holds on to what the band shares with its copies, so that no other band has the same address.
    struct KnownBand {
        FourierBand band;
        BandTables on_device;
    };
    const int device;
    const BandMemory place;
    core::HostTransfer transfer;
    core::OwnStream work;
    /// Copies from and to bands, and resampling of what they hold, beside the Legendre stage of other orders:
    /// these take bandwidth, it takes arithmetic, and its last blocks leave room for them.
    core::OwnStream wire{core::OwnStream::Urgency::first};
    core::Event worked, wired;
    core::DeviceArray<PairModes> fourier;  ///< [fields], of either stage, on the grid's rings
    core::DeviceArray<PairModes> coarse;   ///< the same of the Legendre stage's, where they differ
    ModesScratch modes;
    core::DeviceArray<double> buffer;     ///< of the Fourier stage
    core::DeviceArray<char> library;      ///< of the FFT library
    core::DeviceArray<char> alm;          ///< [map, component, coefficient]
    core::DeviceArray<char> map, pixels;  ///< a map's component each
    std::vector<std::unique_ptr<KnownBand>> tables;
    std::array<core::DeviceArray<double>, n_bands> on_device;
    std::array<std::unique_ptr<core::PageLockedArray>, n_bands> bands;
    std::array<std::int64_t, n_bands> sizes{};
};

/// The blocks [first, end) of pairs, whose rings are those of the grid: pruned as the whole ones are.
RingPairs part_of(const RingPairs& pairs, const Grid& rings, const ShtOptions& options, std::int64_t first,
                  std::int64_t end) {
    RingPairs part(rings, options.lmax, options.mmax, options.spin);
    part.last_m.assign(pairs.last_m.begin() + first, pairs.last_m.begin() + end);
    return part;
}

constexpr Orders no_orders{0, 0};

/// T: of the maps that a function is for.
template <class T>
T* as(core::DeviceArray<char>& memory, std::int64_t count) {
    memory.reserve(count * static_cast<std::int64_t>(sizeof(T)));
    return reinterpret_cast<T*>(memory.data());
}

/// An array on the device: the caller's, or a copy of it.
template <class T>
struct Rows {
    T* data;
    std::int64_t map_stride, component_stride;
};

/// With bands in host memory every function waits for the end of its work, since what it leaves there is sent
/// or read next.
class CudaStages final : public StagesAs<CudaStages> {
  public:
    CudaStages(const AlmLayout& layout, const ShtOptions& options, const RingPairs& pairs, const Grid& rings,
               std::int64_t first, std::int64_t end)
        : options_(options),
          device_(options.device.index()),
          table_(layout, options.spin),
          n_coarse_rings_(resampled_rings(pairs.n_pairs(), options.lmax, options.accuracy)),
          coarse_pairs_(coarse_pairs(n_coarse_rings_, options)),
          legendre_(coarse_pairs_ ? *coarse_pairs_ : pairs, table_),
          order_layout_(pairs, layout),
          ring_pairs_(part_of(pairs, rings, options, first, end)),
          ring_layout_(ring_pairs_, AlmLayout(options.lmax, options.mmax)),
          rings_(rings, ring_pairs_, ring_layout_.origin()),
          n_pixels_(rings.n_pixels()),
          maps_per_pass_(sht::maps_per_pass(pairs, table_.components)) {
        if (coarse_pairs_)
            resampling_.emplace(*coarse_pairs_, legendre_.layout(), pairs, order_layout_, n_coarse_rings_,
                                options.lmax, options.spin, options.accuracy);
    }

    const LegendreTable& table() const override { return table_; }
    std::vector<std::int64_t> band_bounds(std::int64_t) const override {
        return {0, (order_layout_.n_pairs() + block_size - 1) / block_size};
    }
    std::int64_t maps_per_pass() const override { return maps_per_pass_; }
    std::unique_ptr<StageMemory> make_memory(BandMemory bands) const override {
        const core::CurrentDevice current(device_);
        return std::make_unique<CudaStageMemory>(device_, options_.threads, bands);
    }
    void prepare(StageMemory& memory) const override { scratch_of(memory); }
    CudaStageMemory& scratch_of(StageMemory& memory) const {
        auto* const found = dynamic_cast<CudaStageMemory*>(&memory);
        if (found == nullptr || found->device != device_)
            throw InvalidArgument("workspace", "was made by a plan on another device");
        const core::CurrentDevice current(device_);
        found->modes.fit(legendre_, 1, no_orders);
        found->buffer.reserve(rings_.buffer_size());
        found->library.reserve(rings_.library_bytes());
        return *found;
    }
    std::int64_t scratch_bytes() const override {
        const std::int64_t modes = std::max(order_layout_.size(), ring_layout_.size()) +
                                   (resampling_ ? legendre_.layout().size() : 0);
        return 8 * (4 * table_.components * modes + rings_.buffer_size()) + rings_.library_bytes() +
               ModesScratch::bytes(legendre_, 1);
    }

    template <class T>
    void synthesize_orders(View<const std::complex<T>, 3> alm, OrderNumbers numbers, const FourierBand& band,
                           CudaStageMemory& memory) const {
        if (numbers.first == numbers.end) return;
        const core::CurrentDevice current(device_);
        require_place("alm", alm, device_);
        const cudaStream_t stream = memory.work.get();
        const Orders orders{numbers.first, numbers.end};
        const auto rows = rows_of<const std::complex<T>>(alm, memory);
        for_each_host_row(alm, orders, [&](std::int64_t b, std::int64_t c, ElementRange range) {
            auto* const copy = rows.data + b * rows.map_stride + c * rows.component_stride + range.first;
            memory.transfer.to_device(&alm(b, c, range.first), const_cast<std::complex<T>*>(copy),
                                      bytes_of<std::complex<T>>(range), stream);
        });
        PairModes* const fourier = reserve_modes(band.n_fields, no_orders, memory);
        for_each_pass(alm.extent(0), [&](std::int64_t first, std::int64_t n_maps) {
            std::vector<AlmPointers<T>> maps;
            for (std::int64_t b = first; b < first + n_maps; ++b)
                maps.push_back(alm_pointers<AlmPointers<T>, const T>(
                    options_, rows.data + b * rows.map_stride, rows.component_stride));
            PairModes* const on_grid = fourier + first * table_.components * order_layout_.size();
            PairModes* const modes = resampling_ ? memory.coarse.data() : on_grid;
            if (resampling_ && first > 0) memory.to_work();  // which has read what is written next
            modes_from_alm<T>(legendre_, orders, maps, memory.modes, modes, stream);
            memory.to_wire();
            if (resampling_)
                resampling_->interpolation().apply(
                    orders, modes, static_cast<int>(n_maps) * table_.components, on_grid, memory.wire.get());
        });
        to_band(order_layout_, orders, fourier, memory.tables_of(band), band, memory.wire.get());
        wait(memory);
    }

    template <class T>
    void adjoint_orders(std::span<const FourierBand> parts, View<std::complex<T>, 3> alm,
                        OrderNumbers numbers, CudaStageMemory& memory) const {
        if (numbers.first == numbers.end) return;
        const core::CurrentDevice current(device_);
        require_place("alm", alm, device_);
        const cudaStream_t stream = memory.work.get();
        const Orders orders{numbers.first, numbers.end};
        const FourierBand& band = parts.front();
        const auto rows = rows_of<std::complex<T>>(alm, memory);
        PairModes* const fourier = reserve_modes(band.n_fields, orders, memory);
        memory.modes.begin_adjoint(legendre_, orders, stream);
        from_band(order_layout_, orders, memory.tables_of(band), band, fourier, memory.wire.get());
        for_each_pass(alm.extent(0), [&](std::int64_t first, std::int64_t n_maps) {
            std::vector<AlmTargets<T>> maps;
            for (std::int64_t b = first; b < first + n_maps; ++b)
                maps.push_back(alm_pointers<AlmTargets<T>, T>(options_, rows.data + b * rows.map_stride,
                                                              rows.component_stride));
            const PairModes* const on_grid = fourier + first * table_.components * order_layout_.size();
            if (resampling_ && first > 0) memory.to_wire();  // it has read what is written next
            if (resampling_)
                resampling_->adjoint().apply(orders, on_grid, static_cast<int>(n_maps) * table_.components,
                                             memory.coarse.data(), memory.wire.get());
            memory.to_work();
            alm_from_modes<T>(legendre_, orders, resampling_ ? memory.coarse.data() : on_grid, memory.modes,
                              maps, stream);
        });
        for_each_host_row(alm, orders, [&](std::int64_t b, std::int64_t c, ElementRange range) {
            memory.transfer.to_host(rows.data + b * rows.map_stride + c * rows.component_stride + range.first,
                                    &alm(b, c, range.first), bytes_of<std::complex<T>>(range), stream);
        });
        wait(memory);
    }

    template <class T>
    void synthesize_rings(const FourierBand& band, View<T, 3> map, CudaStageMemory& memory) const {
        const core::CurrentDevice current(device_);
        require_place("map", map, device_);
        const bool is_here = map.space() == MemorySpace::cuda;
        const PairModes* const fourier = fetch_modes(band, memory);
        T* const copy = is_here ? nullptr : as<T>(memory.pixels, n_pixels_);
        for_each_field(map, [&](std::int64_t field, T* pixels) {
            synthesize_field(fourier + field * ring_layout_.size(), is_here ? pixels : copy, memory);
            if (!is_here)
                memory.transfer.to_host(copy, pixels, bytes_of<T>({0, n_pixels_}), memory.work.get());
        });
        wait(memory);
    }

    template <class T>
    void residual_rings(View<const T, 3> map, const FourierBand& band, CudaStageMemory& memory) const {
        const core::CurrentDevice current(device_);
        require_place("map", map, device_);
        PairModes* const fourier = fetch_modes(band, memory);
        T* const residual = as<T>(memory.pixels, n_pixels_);
        for_each_field(map, [&](std::int64_t field, const T* pixels) {
            PairModes* const modes = fourier + field * ring_layout_.size();
            synthesize_field(modes, residual, memory);
            subtract_from<T>(on_device(map.space(), pixels, memory), n_pixels_, residual, memory.work.get());
            adjoint_field<T>(residual, true, modes, memory);
        });
        memory.to_wire();
        to_band(ring_layout_, all_orders(), fourier, memory.tables_of(band), band, memory.wire.get());
        wait(memory);
    }

    template <class T>
    void adjoint_rings(View<const T, 3> map, bool weighted, const FourierBand& band,
                       CudaStageMemory& memory) const {
        const core::CurrentDevice current(device_);
        require_place("map", map, device_);
        PairModes* const fourier = reserve_modes(band.n_fields, no_orders, memory);
        for_each_field(map, [&](std::int64_t field, const T* pixels) {
            adjoint_field<T>(on_device(map.space(), pixels, memory), weighted,
                             fourier + field * ring_layout_.size(), memory);
        });
        memory.to_wire();
        to_band(ring_layout_, all_orders(), fourier, memory.tables_of(band), band, memory.wire.get());
        wait(memory);
    }

  private:
    static void wait(CudaStageMemory& memory) {
        if (memory.place == BandMemory::device) return;
        for (const cudaStream_t stream : {memory.work.get(), memory.wire.get()})
            core::check_cuda(cudaStreamSynchronize(stream), "transform");
    }
    template <class T>
    static std::int64_t bytes_of(ElementRange range) {
        return (range.end - range.first) * static_cast<std::int64_t>(sizeof(T));
    }
    /// Of the ring stage.
    Orders all_orders() const { return {0, options_.mmax + 1}; }

    /// Room for the fields' modes of either stage, and for what those that share recurrences need. adjoint:
    /// orders whose sums there is to be room for.
    PairModes* reserve_modes(std::int64_t n_fields, Orders adjoint, CudaStageMemory& memory) const {
        memory.fourier.reserve(n_fields * std::max(order_layout_.size(), ring_layout_.size()));
        const std::int64_t at_once = maps_at_once(legendre_, n_fields / table_.components);
        memory.modes.fit(legendre_, at_once, adjoint);
        if (resampling_) memory.coarse.reserve(at_once * table_.components * legendre_.layout().size());
        return memory.fourier.data();
    }
    /// The ring stage's, from the band.
    PairModes* fetch_modes(const FourierBand& band, CudaStageMemory& memory) const {
        PairModes* const fourier = reserve_modes(band.n_fields, no_orders, memory);
        from_band(ring_layout_, all_orders(), memory.tables_of(band), band, fourier, memory.wire.get());
        memory.to_work();
        return fourier;
    }

    /// Calls visit(first map, maps) for the maps that share recurrences on this device.
    template <class Visit>
    void for_each_pass(std::int64_t n_maps, const Visit& visit) const {
        const std::int64_t at_once = maps_at_once(legendre_, n_maps);
        for (std::int64_t first = 0; first < n_maps; first += at_once)
            visit(first, std::min(at_once, n_maps - first));
    }
    /// The array, or room for its copy.
    template <class Complex>
    Rows<Complex> rows_of(View<Complex, 3> alm, CudaStageMemory& memory) const {
        if (alm.space() == MemorySpace::cuda) return {alm.data(), alm.stride(0), alm.stride(1)};
        const std::int64_t size = table_.layout.size();
        return {as<std::remove_const_t<Complex>>(memory.alm, alm.extent(0) * alm.extent(1) * size),
                alm.extent(1) * size, size};
    }
    /// Calls visit(map, component, coefficients) for the orders' coefficients of an array in host memory.
    template <class Complex, class Visit>
    void for_each_host_row(View<Complex, 3> alm, Orders orders, const Visit& visit) const {
        if (alm.space() == MemorySpace::cuda) return;
        const std::int64_t m = table_.layout.order(orders.first);
        const ElementRange range{table_.layout.index(m, m), end_of(table_.layout, orders)};
        for (std::int64_t b = 0; b < alm.extent(0); ++b)
            for (std::int64_t c = 0; c < alm.extent(1); ++c) visit(b, c, range);
    }
    /// A field's pixels, or their copy.
    template <class T>
    const T* on_device(MemorySpace space, const T* pixels, CudaStageMemory& memory) const {
        if (space == MemorySpace::cuda) return pixels;
        T* const copy = as<T>(memory.map, n_pixels_);
        memory.transfer.to_device(pixels, copy, bytes_of<T>({0, n_pixels_}), memory.work.get());
        return copy;
    }
    template <class Pixel, class Visit>
    static void for_each_field(View<Pixel, 3> map, const Visit& visit) {
        for (std::int64_t b = 0; b < map.extent(0); ++b)
            for (std::int64_t c = 0; c < map.extent(1); ++c) visit(b * map.extent(1) + c, &map(b, c, 0));
    }

    template <class T>
    void synthesize_field(const PairModes* modes, T* pixels, CudaStageMemory& memory) const {
        rings_.synthesize<T>(modes, pixels, memory.buffer.data(), memory.library.data(), memory.work.get());
    }
    template <class T>
    void adjoint_field(const T* pixels, bool weighted, PairModes* modes, CudaStageMemory& memory) const {
        rings_.adjoint<T>(pixels, weighted, modes, memory.buffer.data(), memory.library.data(),
                          memory.work.get());
    }

    const ShtOptions options_;
    const int device_;
    const LegendreTable table_;
    const std::int64_t n_coarse_rings_;
    const std::optional<RingPairs> coarse_pairs_;  ///< of the Legendre stage, where they are not the grid's
    const LegendreStage legendre_;
    const FourierLayout order_layout_;  ///< this rank's orders, all of the grid's pairs
    const RingPairs ring_pairs_;
    const FourierLayout ring_layout_;  ///< all orders, this rank's pairs
    const RingStage rings_;
    const std::int64_t n_pixels_, maps_per_pass_;
    std::optional<ThetaResampling> resampling_;
};

}  // namespace

std::unique_ptr<const Stages> make_cuda_stages(const AlmLayout& layout, const ShtOptions& options,
                                               const RingPairs& pairs, const Grid& rings, std::int64_t first,
                                               std::int64_t end) {
    const core::CurrentDevice current(options.device.index());
    return std::make_unique<const CudaStages>(layout, options, pairs, rings, first, end);
}

}  // namespace zonal::sht
