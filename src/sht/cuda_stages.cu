#include <algorithm>
#include <optional>

#include "sht/cuda_stage_memory.cuh"
#include "sht/rings/order_stage_cuda.cuh"
#include "sht/rings/wire_cuda.cuh"
#include "sht/stages.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {
namespace {

using namespace cuda;

/// The pairs of the rank's rings, pruned as the whole grid's are.
RingPairs part_of(const RingPairs& pairs, const RankRings& rings, const ShtOptions& options) {
    RingPairs part(rings.grid, options.lmax, options.mmax, options.spin);
    part.last_m.assign(pairs.last_m.begin() + rings.first, pairs.last_m.begin() + rings.end);
    return part;
}

constexpr Orders no_orders{0, 0};

/// T: of the maps that a function is for.
template <class T>
T* as(core::DeviceArray<char>& memory, std::int64_t count) {
    memory.reserve(count * static_cast<std::int64_t>(sizeof(T)));
    return reinterpret_cast<T*>(memory.data());
}

/// With bands in host memory every function waits for the end of its work, since what it leaves there is sent
/// or read next.
class CudaStages final : public StagesAs<CudaStages> {
  public:
    CudaStages(const AlmLayout& layout, const ShtOptions& options, const RingPairs& pairs,
               const RankRings& rings, const ExactRings* exact)
        : options_(options),
          device_(options.device.index()),
          bands_(rings.bands),
          orders_(layout, options, pairs),
          here_(part_of(pairs, rings, options), rings, options.mmax),
          n_pixels_(rings.grid.n_pixels()),
          maps_per_pass_(sht::maps_per_pass(pairs, orders_.components())) {
        if (exact == nullptr) return;
        exact_here_.emplace(here_.pairs.with_all_orders(options.mmax), rings, options.mmax);
        exact_layout_.emplace(exact->all_orders, layout);
        integral_.emplace(exact->integral.tables(), exact->all_orders, layout);
    }

    const LegendreTable& table() const override { return orders_.table(); }
    std::vector<std::int64_t> band_bounds(std::int64_t) const override {
        return {0, (orders_.layout().n_pairs() + block_size - 1) / block_size};
    }
    std::int64_t maps_per_pass() const override { return maps_per_pass_; }
    std::unique_ptr<StageMemory> make_memory() const override {
        const core::CurrentDevice current(device_);
        return std::make_unique<CudaStageMemory>(device_, options_.threads, bands_);
    }
    void prepare(StageMemory& memory) const override { scratch_of(memory); }
    CudaStageMemory& scratch_of(StageMemory& memory) const {
        auto& found = memory_on<CudaStageMemory>(device_, memory);
        const core::CurrentDevice current(device_);
        orders_.fit(found, 1, no_orders);
        found.rings.fit(here_.rings.scratch_sizes());
        if (integral_) {
            found.rings.fit(exact_here_->rings.scratch_sizes());
            integral_->fit(found.meridian);
        }
        return found;
    }
    std::int64_t scratch_bytes() const override {
        return orders_.scratch_bytes(entries_of_field(), orders_.all_orders()) +
               here_.rings.scratch_sizes().bytes() + (integral_ ? integral_->scratch_bytes() : 0);
    }

    template <class T>
    void synthesize_orders(View<const std::complex<T>, 3> alm, OrderNumbers numbers, const FourierBand& band,
                           CudaStageMemory& memory) const {
        if (numbers.first == numbers.end) return;
        const core::CurrentDevice current(device_);
        core::require_place("alm", alm, device_);
        const cudaStream_t stream = memory.turn();
        const Orders orders{numbers.first, numbers.end};
        const Batch a(alm, memory.alm, room_for_copy(alm, memory));
        for (std::int64_t b = 0; b < alm.extent(0); ++b)
            a.fetch(b, orders_.coefficients(orders), memory.transfer, stream);
        PairModes* const fourier = reserve_modes(band.n_fields, no_orders, memory);
        const ThetaResampling* const resampling = orders_.resampling();
        for_each_pass(alm.extent(0), [&](std::int64_t first, std::int64_t n_maps) {
            PairModes* const on_grid = fourier + first * orders_.map_size();
            PairModes* const modes = orders_.modes_of(0, on_grid, memory);
            if (resampling && first > 0) memory.to_work(stream);  // which has read what is written next
            modes_from_alm<T>(orders_.legendre(), orders, orders_.sources<T>(a, first, n_maps), memory.modes,
                              modes, stream);
            memory.to_wire(stream);
            if (resampling)
                resampling->interpolation().apply(orders, modes, fields_of(n_maps), on_grid,
                                                  memory.wire.get(), resampling->interpolation().all_tiles());
        });
        to_band(orders_.layout(), orders, fourier, memory.tables_of(band), band, memory.wire.get());
        wait(memory);
    }

    template <class T>
    void adjoint_orders(std::span<const FourierBand> parts, View<std::complex<T>, 3> alm,
                        OrderNumbers numbers, CudaStageMemory& memory) const {
        if (numbers.first == numbers.end) return;
        const core::CurrentDevice current(device_);
        core::require_place("alm", alm, device_);
        const cudaStream_t stream = memory.work.get();
        const Orders orders{numbers.first, numbers.end};
        const FourierBand& band = parts.front();
        const Batch a(alm, memory.alm, room_for_copy(alm, memory));
        PairModes* const fourier = reserve_modes(band.n_fields, orders, memory);
        const ThetaResampling* const resampling = orders_.resampling();
        memory.modes.begin_adjoint(orders_.legendre(), orders, stream);
        from_band(orders_.layout(), orders, memory.tables_of(band), band, fourier, memory.wire.get());
        for_each_pass(alm.extent(0), [&](std::int64_t first, std::int64_t n_maps) {
            PairModes* const on_grid = fourier + first * orders_.map_size();
            PairModes* const modes = orders_.modes_of(0, on_grid, memory);
            if (resampling && first > 0) memory.to_wire();  // it has read what is written next
            if (resampling)
                resampling->adjoint().apply(orders, on_grid, fields_of(n_maps), modes, memory.wire.get(),
                                            resampling->adjoint().all_tiles());
            memory.to_work();
            alm_from_modes<T>(orders_.legendre(), orders, modes, memory.modes,
                              orders_.targets<T>(a, first, n_maps), stream);
        });
        for (std::int64_t b = 0; b < alm.extent(0); ++b)
            a.deliver(b, orders_.coefficients(orders), memory.transfer, stream);
        wait(memory);
    }

    void integrate_orders(const FourierBand& band, OrderNumbers numbers, double scale,
                          StageMemory& any) const override {
        if (numbers.first == numbers.end) return;
        CudaStageMemory& memory = scratch_of(any);
        const core::CurrentDevice current(device_);
        const Orders orders{numbers.first, numbers.end};
        PairModes* const fourier = reserve_modes(band.n_fields, no_orders, memory);
        from_band(*exact_layout_, orders, memory.tables_of(band), band, fourier, memory.wire.get());
        memory.to_work();
        for (std::int64_t field = 0; field < band.n_fields; ++field) {
            const ModesView modes = view_of(*exact_layout_, fourier + field * exact_layout_->size());
            integral_->apply(orders, modes, modes, scale, memory.meridian, memory.work.get());
        }
        memory.to_wire();
        to_band(*exact_layout_, orders, fourier, memory.tables_of(band), band, memory.wire.get());
        for (const auto* const stream : {&memory.work, &memory.other_work})
            memory.to_work(stream->get());  // which may use the same memory next
        wait(memory);
    }

    void clear_unreached(const FourierBand& band, OrderNumbers, StageMemory& any) const override {
        CudaStageMemory& memory = scratch_of(any);
        const core::CurrentDevice current(device_);
        // All of it, as the copies from and to bands write what there is.
        core::check_cuda(cudaMemsetAsync(band.data, 0, static_cast<std::size_t>(band.size()) * sizeof(double),
                                         memory.wire.get()),
                         "clearing a band");
    }

    template <class T>
    void synthesize_rings(const FourierBand& band, View<T, 3> map, CudaStageMemory& memory) const {
        const core::CurrentDevice current(device_);
        core::require_place("map", map, device_);
        const bool is_here = map.space() == MemorySpace::cuda;
        const Here& here = here_for(band);
        const PairModes* const fourier = fetch_modes(here, band, memory);
        T* const copy = is_here ? nullptr : as<T>(memory.pixels, n_pixels_);
        for_each_field(map, [&](std::int64_t field, T* pixels) {
            here.rings.synthesize<T>(fourier + field * here.layout.size(), is_here ? pixels : copy,
                                     memory.rings, memory.work.get());
            if (!is_here) memory.transfer.to_host(copy, pixels, field_bytes<T>(), memory.work.get());
        });
        wait(memory);
    }

    template <class T>
    void residual_rings(View<const T, 3> map, const FourierBand& band, CudaStageMemory& memory) const {
        const core::CurrentDevice current(device_);
        core::require_place("map", map, device_);
        PairModes* const fourier = fetch_modes(here_, band, memory);
        T* const residual = as<T>(memory.pixels, n_pixels_);
        for_each_field(map, [&](std::int64_t field, const T* pixels) {
            PairModes* const modes = fourier + field * here_.layout.size();
            here_.rings.synthesize<T>(modes, residual, memory.rings, memory.work.get());
            here_.rings.adjoint_of_residual<T>(on_device(map.space(), pixels, memory), n_pixels_, residual,
                                               modes, memory.rings, memory.work.get());
        });
        send_modes(here_, fourier, band, memory);
    }

    template <class T>
    void adjoint_rings(View<const T, 3> map, bool weighted, const FourierBand& band,
                       CudaStageMemory& memory) const {
        const core::CurrentDevice current(device_);
        core::require_place("map", map, device_);
        const Here& here = here_for(band);
        PairModes* const fourier = room_for_modes(band, memory);
        for_each_field(map, [&](std::int64_t field, const T* pixels) {
            here.rings.adjoint<T>(on_device(map.space(), pixels, memory), weighted,
                                  fourier + field * here.layout.size(), memory.rings, memory.work.get());
        });
        send_modes(here, fourier, band, memory);
    }

  private:
    /// The ring stage of this rank's pairs, all orders.
    struct Here {
        Here(RingPairs of_rank, const RankRings& of, std::int64_t mmax)
            : pairs(std::move(of_rank)),
              layout(pairs, mmax, of.runs),
              rings(of.grid, pairs, layout.origin()) {}
        const RingPairs pairs;
        const FourierLayout layout;
        const RingStage rings;
    };
    /// With the orders that the band's blocks have: the most polar one has the fewest.
    const Here& here_for(const FourierBand& band) const {
        const bool is_exact =
            exact_here_ && band.first < band.end && band.last_m(band.first) == options_.mmax;
        return is_exact ? *exact_here_ : here_;
    }

    static void wait(CudaStageMemory& memory) {
        if (memory.place == BandMemory::device) return;
        for (const cudaStream_t stream : {memory.work.get(), memory.other_work.get(), memory.wire.get()})
            core::check_cuda(cudaStreamSynchronize(stream), "transform");
    }
    template <class T>
    std::int64_t field_bytes() const {
        return n_pixels_ * static_cast<std::int64_t>(sizeof(T));
    }
    int fields_of(std::int64_t n_maps) const { return static_cast<int>(n_maps) * orders_.components(); }
    /// F_m of a field, of either stage, that lie outside of bands.
    std::int64_t entries_of_field() const {
        std::int64_t most = orders_.layout().size();
        if (integral_) most = std::max(most, exact_layout_->size());
        if (bands_ == BandMemory::device) return most;
        return std::max(most, integral_ ? exact_here_->layout.size() : here_.layout.size());
    }
    /// The orders of the ring stage.
    Orders all_orders() const { return {0, options_.mmax + 1}; }

    /// Room for the fields' modes of either stage, and for what those that share recurrences need. adjoint:
    /// orders whose sums there is to be room for.
    PairModes* reserve_modes(std::int64_t n_fields, Orders adjoint, CudaStageMemory& memory) const {
        memory.fourier.reserve(n_fields * entries_of_field());
        orders_.fit(memory, orders_.maps_at_once(n_fields / orders_.components()), adjoint);
        return memory.fourier.data();
    }
    /// Where the ring stage works: in a band on the device itself, which has one zone and lies alike.
    PairModes* room_for_modes(const FourierBand& band, CudaStageMemory& memory) const {
        if (band.has_zones()) return reinterpret_cast<PairModes*>(band.data);
        return reserve_modes(band.n_fields, no_orders, memory);
    }
    /// What the ring stage begins with, from the band.
    PairModes* fetch_modes(const Here& here, const FourierBand& band, CudaStageMemory& memory) const {
        PairModes* const fourier = room_for_modes(band, memory);
        if (!band.has_zones())
            from_band(here.layout, all_orders(), memory.tables_of(band), band, fourier, memory.wire.get());
        memory.to_work();
        return fourier;
    }
    /// What it ends with, to the band.
    void send_modes(const Here& here, const PairModes* fourier, const FourierBand& band,
                    CudaStageMemory& memory) const {
        memory.to_wire();
        if (!band.has_zones())
            to_band(here.layout, all_orders(), fourier, memory.tables_of(band), band, memory.wire.get());
        wait(memory);
    }

    /// Calls visit(first map, maps) for the maps that share recurrences on this device.
    template <class Visit>
    void for_each_pass(std::int64_t n_maps, const Visit& visit) const {
        const std::int64_t at_once = orders_.maps_at_once(n_maps);
        for (std::int64_t first = 0; first < n_maps; first += at_once)
            visit(first, std::min(at_once, n_maps - first));
    }
    /// For a copy of an array in host memory; nothing for others.
    template <class Complex>
    static View<std::remove_const_t<Complex>, 3> room_for_copy(View<Complex, 3> alm,
                                                               CudaStageMemory& memory) {
        if (alm.space() == MemorySpace::cuda) return {};
        return {as<std::remove_const_t<Complex>>(memory.alm.memory[0], alm.size()), alm.extents(),
                MemorySpace::cuda};
    }
    /// A field's pixels, or their copy.
    template <class T>
    const T* on_device(MemorySpace space, const T* pixels, CudaStageMemory& memory) const {
        if (space == MemorySpace::cuda) return pixels;
        T* const copy = as<T>(memory.map, n_pixels_);
        memory.transfer.to_device(pixels, copy, field_bytes<T>(), memory.work.get());
        return copy;
    }
    template <class Pixel, class Visit>
    static void for_each_field(View<Pixel, 3> map, const Visit& visit) {
        for (std::int64_t b = 0; b < map.extent(0); ++b)
            for (std::int64_t c = 0; c < map.extent(1); ++c) visit(b * map.extent(1) + c, &map(b, c, 0));
    }

    const ShtOptions options_;
    const int device_;
    const BandMemory bands_;
    const OrderStage orders_;  ///< this rank's, all of the grid's pairs
    const Here here_;
    const std::int64_t n_pixels_, maps_per_pass_;
    // For exact integrals, which take all orders of every ring.
    std::optional<const Here> exact_here_;
    std::optional<const FourierLayout> exact_layout_;
    std::optional<const CudaMeridianIntegral> integral_;
};

}  // namespace

std::unique_ptr<const Stages> make_cuda_stages(const AlmLayout& layout, const ShtOptions& options,
                                               const RingPairs& pairs, const RankRings& rings,
                                               const ExactRings* exact) {
    const core::CurrentDevice current(options.device.index());
    return std::make_unique<const CudaStages>(layout, options, pairs, rings, exact);
}

}  // namespace zonal::sht
