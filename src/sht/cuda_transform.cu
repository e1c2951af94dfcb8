#include <atomic>
#include <optional>

#include "sht/cuda_bands.cuh"
#include "sht/cuda_storage.cuh"
#include "sht/rings/ring_bands_cuda.cuh"
#include "sht/transform_by_type.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {
namespace {

using namespace cuda;

class CudaTransform final : public CopyingTransformByType<CudaTransform> {
  public:
    CudaTransform(const Grid& grid, const ShtOptions& options)
        : options_(options),
          has_other_pixels_(grid.has_other_pixels()),
          device_(options.device.index()),
          table_(AlmLayout(options.lmax, options.mmax), options.spin),
          pairs_(grid, options.lmax, options.mmax, options.spin),
          n_coarse_rings_(resampled_rings(pairs_.n_pairs(), options.lmax, options.accuracy)),
          coarse_pairs_(coarse_pairs(n_coarse_rings_, options)),
          legendre_(coarse_pairs_ ? *coarse_pairs_ : pairs_, table_),
          layout_(pairs_, table_.layout),
          resampling_(make_resampling()),
          whole_(grid, pairs_, layout_, resampling(), {pairs_.n_pairs()}) {
        whole_.make_rings();
        if (!RingBands::pay(grid)) return;
        bands_.emplace(grid, pairs_, layout_, resampling(), RingBands::ends(grid, pairs_));
        legendre_.cut(bands_->jobs());
    }

    std::unique_ptr<ShtWorkspace::Storage> make_workspace(std::int64_t n_maps) const override {
        const core::CurrentDevice current(device_);
        auto storage = std::make_unique<CudaStorage>(device_, options_.threads);
        storage->n_maps = n_maps;
        fit(*storage);
        return storage;
    }

    void prepare(ShtWorkspace::Storage& workspace) const override { storage_of(workspace); }

    std::int64_t workspace_bytes() const override {
        const std::int64_t doubles =
            4 * table_.components * (layout_.size() + coarse_size()) + whole_.buffer_size();
        return 8 * doubles + ModesScratch::bytes(legendre_, 1) + whole_.library_bytes();
    }

    double legendre_flops() const override {
        return (coarse_pairs_ ? *coarse_pairs_ : pairs_).legendre_flops(options_.lmax, table_.components);
    }

  private:
    friend class CopyingTransformByType<CudaTransform>;

    std::optional<ThetaResampling> make_resampling() const {
        if (!coarse_pairs_) return std::nullopt;
        return std::optional<ThetaResampling>(std::in_place, *coarse_pairs_, legendre_.layout(), pairs_,
                                              layout_, n_coarse_rings_, options_.lmax, options_.spin,
                                              options_.accuracy);
    }
    const ThetaResampling* resampling() const { return resampling_ ? &*resampling_ : nullptr; }
    /// Entries of one field on the Legendre stage's own rings.
    std::int64_t coarse_size() const { return resampling_ ? legendre_.layout().size() : 0; }

    /// Makes room for this plan's arrays, the Legendre stage's for as many maps at once as the workspace is
    /// for.
    void fit(CudaStorage& storage) const {
        const std::int64_t n_maps = maps_at_once(legendre_, storage.n_maps),
                           fields = table_.components * n_maps;
        storage.fourier.reserve((resampling_ ? table_.components : fields) * layout_.size());
        storage.coarse.reserve(fields * coarse_size());
        storage.modes.fit(legendre_, n_maps, legendre_.all_orders());
        make_room_for(whole_, storage);
    }
    static void make_room_for(const RingBands& bands, CudaStorage& storage) {
        storage.buffer.reserve(bands.buffer_size());
        storage.library.reserve(bands.library_bytes());
    }

    /// The workspace as this device's, with room for this plan, whichever plan made it.
    CudaStorage& storage_of(ShtWorkspace::Storage& workspace) const {
        auto* const storage = dynamic_cast<CudaStorage*>(&workspace);
        if (storage == nullptr || storage->device != device_)
            throw InvalidArgument("workspace", "was made by a plan on another device");
        const core::CurrentDevice current(device_);
        fit(*storage);
        return *storage;
    }

    std::vector<Orders> parts(bool several) const {
        return several ? orders_in_parts(table_.layout) : std::vector{legendre_.all_orders()};
    }
    /// Where the orders' coefficients lie.
    ElementRange coefficients(Orders orders) const {
        const AlmLayout& layout = table_.layout;
        return {layout.index(orders.first, orders.first), end_of(layout, orders)};
    }

    /// fetch, work and deliver(b, stream) for every map of a batch, see BatchStreams; waits for the end
    /// unless all data stay on the device and the stream is the caller's. call: which one it is, with the
    /// arrays. at_once: maps that one call of work serves from b on, where all are on the device.
    template <class Fetch, class Work, class Deliver>
    void for_each_map(CallKey call, std::int64_t n_maps, bool on_device, CudaStorage& storage,
                      const Progress& progress, const Fetch& fetch, const Work& work, const Deliver& deliver,
                      std::int64_t at_once = 1) const {
        const cudaStream_t stream = storage.stream();
        const auto step = [&](std::int64_t b, cudaStream_t work_stream) {
            report(progress, b, n_maps);
            work(b, work_stream);
        };
        const bool measures = storage.measures_stages && !storage.has_caller;
        const auto all_steps = [&](cudaStream_t work_stream) {
            storage.clock.start(work_stream, measures);
            for (std::int64_t b = 0; b < n_maps; b += at_once) step(b, work_stream);
        };
        const auto step_between_copies = [&](std::int64_t b, cudaStream_t work_stream) {
            storage.clock.mark(work_stream, nullptr);
            step(b, work_stream);
        };
        if (on_device && !progress) {
            storage.add_addresses(call);
            if (measures) storage.replay.forget_unless_last(call);
            storage.replay.run(call, stream, storage.own.get(), all_steps);
        } else {
            if (measures) storage.replay.forget();  // the clock has this call's events now
            if (on_device) {
                all_steps(stream);
            } else {
                storage.clock.start(stream, measures);
                storage.batches.run_parts(n_maps, stream, fetch, step_between_copies, deliver);
            }
        }
        storage.clock_is_news = true;
        if (storage.has_caller && on_device) return;
        core::check_cuda(cudaStreamSynchronize(stream), "transform");
        report(progress, 1, 1);
    }

    template <class T>
    void synthesize_maps(View<const std::complex<T>, 3> alm, View<T, 3> there, View<T, 3> map,
                         ShtWorkspace::Storage& workspace, const Progress& progress) const {
        const core::CurrentDevice current(device_);
        require_place("alm", alm, device_);
        require_place("map", map, device_);
        CudaStorage& storage = storage_of(workspace);
        const Batch a(alm, storage.alm);
        const Batch pixels(map, storage.map, there);
        const RingBands& bands = bands_for(pixels.is_copied(), storage);
        const bool in_parts = a.is_copied() && alm.extent(0) == 1;
        const auto fetch = [&](std::int64_t b, cudaStream_t stream) {
            if (!in_parts) a.fetch(b, storage.transfer, stream);
            if (has_other_pixels_) pixels.fetch(b, storage.transfer, stream);
        };
        const bool on_device = !a.is_copied() && !pixels.is_copied();
        const std::int64_t at_once = on_device ? maps_at_once(legendre_, storage.n_maps) : 1;
        const auto work = [&](std::int64_t first, cudaStream_t stream) {
            std::vector<AlmPointers<T>> maps;
            for (std::int64_t b = first; b < std::min(alm.extent(0), first + at_once); ++b)
                maps.push_back(alm_pointers<AlmPointers<T>, const T>(options_, a[b], a.component_stride()));
            PairModes* const coarse = of_legendre(0, storage);
            for (int k = bands.count() - 1; k >= 0; --k) {
                const bool is_first = k == bands.count() - 1;
                for (const Orders orders : parts(in_parts && is_first)) {
                    if (in_parts && is_first)
                        storage.batches.bring(stream, [&](cudaStream_t fetching) {
                            a.fetch(first, coefficients(orders), storage.transfer, fetching);
                        });
                    if (is_first) begin_modes<T>(legendre_, orders, maps, storage.modes, stream);
                    finish_modes<T>(legendre_, bands.synthesis(orders, k), maps, storage.modes, coarse,
                                    stream);
                }
                storage.clock.mark(stream, &ShtStageSeconds::legendre);
                for (std::size_t i = 0; i < maps.size(); ++i) {
                    const std::int64_t b = first + static_cast<std::int64_t>(i);
                    const PairModes* const fourier =
                        interpolated(i, bands.interpolation_tiles(k), storage, stream);
                    for (int c = 0; c < table_.components; ++c)
                        bands.rings(k).synthesize<T>(fourier + c * layout_.size(),
                                                     pixels[b] + c * pixels.component_stride(),
                                                     storage.buffer.data(), storage.library.data(), stream);
                    storage.clock.mark(stream, &ShtStageSeconds::rings);
                }
                if (pixels.is_copied()) storage.batches.finish(first, k, stream);
            }
        };
        const auto deliver = [&](std::int64_t b, cudaStream_t) {
            for (int k = bands.count() - 1; k >= 0 && pixels.is_copied(); --k)
                storage.batches.take(b, k, [&](cudaStream_t delivering) {
                    for (const ElementRange range : bands.pixels(k))
                        pixels.deliver(b, range, storage.transfer, delivering);
                });
        };
        for_each_map(CallKey().add(id_).add(0).add(alm).add(map), alm.extent(0), on_device, storage, progress,
                     fetch, work, deliver, at_once);
    }

    template <class T>
    void adjoint_maps(View<const T, 3> map, View<T, 3> there, View<std::complex<T>, 3> alm, bool weighted,
                      ShtWorkspace::Storage& workspace, const Progress& progress) const {
        const core::CurrentDevice current(device_);
        require_place("map", map, device_);
        require_place("alm", alm, device_);
        CudaStorage& storage = storage_of(workspace);
        const Batch pixels(map, storage.map, there);
        const Batch a(alm, storage.alm);
        const RingBands& bands = bands_for(pixels.is_copied(), storage);
        const auto fetch = [](std::int64_t, cudaStream_t) {};
        const bool in_parts = a.is_copied() && alm.extent(0) == 1;
        const bool on_device = !a.is_copied() && !pixels.is_copied();
        const std::int64_t at_once = on_device ? maps_at_once(legendre_, storage.n_maps) : 1;
        const auto work = [&](std::int64_t first, cudaStream_t stream) {
            storage.modes.begin_adjoint(legendre_, legendre_.all_orders(), stream);
            std::vector<AlmTargets<T>> maps;
            for (std::int64_t b = first; b < std::min(alm.extent(0), first + at_once); ++b)
                maps.push_back(alm_pointers<AlmTargets<T>, T>(options_, a[b], a.component_stride()));
            const PairModes* const coarse = of_legendre(0, storage);
            const auto sum = [&](Orders orders, int k) {
                sum_modes(legendre_, bands.adjoint(orders, k), static_cast<int>(maps.size()), coarse,
                          storage.modes, stream);
            };
            for (int k = 0; k < bands.count(); ++k) {
                if (k > 0) sum(legendre_.all_orders(), k - 1);
                storage.clock.mark(stream, &ShtStageSeconds::legendre);
                for (std::size_t i = 0; i < maps.size(); ++i)
                    rings_to_modes(pixels, first + static_cast<std::int64_t>(i), weighted, bands, k, i,
                                   storage, stream);
            }
            const std::vector<Orders> all_parts = parts(in_parts);
            const auto take = [&](std::size_t k) {
                storage.batches.take(first, k, [&](cudaStream_t delivering) {
                    a.deliver(first, coefficients(all_parts[k]), storage.transfer, delivering);
                });
            };
            for (std::size_t k = 0; k < all_parts.size(); ++k) {
                sum(all_parts[k], bands.count() - 1);
                gather_alm<T>(legendre_, all_parts[k], storage.modes, maps, stream);
                if (!in_parts) continue;
                storage.batches.finish(first, k, stream);
                if (k > 0) take(k - 1);  // while the device works on this one
            }
            storage.clock.mark(stream, &ShtStageSeconds::legendre);
            if (in_parts) take(all_parts.size() - 1);
        };
        const auto deliver = [&](std::int64_t b, cudaStream_t stream) {
            storage.batches.after_work(b);
            if (!in_parts) a.deliver(b, storage.transfer, stream);
        };
        for_each_map(CallKey().add(id_).add(weighted ? 2 : 1).add(map).add(alm), alm.extent(0), on_device,
                     storage, progress, fetch, work, deliver, at_once);
    }

    /// Band k of map b, which is map i of those that work at once: its pixels, where they are to be copied,
    /// rings and resampling.
    template <class T>
    void rings_to_modes(const Batch<const T>& pixels, std::int64_t b, bool weighted, const RingBands& bands,
                        int k, std::size_t i, CudaStorage& storage, cudaStream_t stream) const {
        if (pixels.is_copied())
            storage.batches.bring(stream, [&](cudaStream_t fetching) {
                for (const ElementRange range : bands.pixels(k))
                    pixels.fetch(b, range, storage.transfer, fetching);
            });
        storage.clock.mark(stream, nullptr);
        for (int c = 0; c < table_.components; ++c)
            bands.rings(k).adjoint<T>(pixels[b] + c * pixels.component_stride(), weighted,
                                      of_grid(i, storage) + c * layout_.size(), storage.buffer.data(),
                                      storage.library.data(), stream);
        storage.clock.mark(stream, &ShtStageSeconds::rings);
        adjoint_interpolated(i, bands.adjoint_tiles(k), storage, stream);
    }

    template <class T>
    void project_maps(View<const std::complex<T>, 3> alm, View<const T, 3> map,
                      View<std::complex<T>, 3> update, ShtWorkspace::Storage& workspace,
                      const Progress& progress) const {
        const core::CurrentDevice current(device_);
        require_place("alm", alm, device_);
        require_place("map", map, device_);
        require_place("update", update, device_);
        CudaStorage& storage = storage_of(workspace);
        const Batch a(alm, storage.alm);
        const Batch pixels(map, storage.map);
        const Batch out(update, storage.update);
        const std::int64_t n_pixels = map.extent(2);
        storage.residual.reserve(n_pixels * static_cast<std::int64_t>(sizeof(T)));
        T* const residual = reinterpret_cast<T*>(storage.residual.data());
        const auto fetch = [&](std::int64_t b, cudaStream_t stream) {
            a.fetch(b, storage.transfer, stream);
            pixels.fetch(b, storage.transfer, stream);
        };
        const auto work = [&](std::int64_t b, cudaStream_t stream) {
            const std::vector from{
                alm_pointers<AlmPointers<T>, const T>(options_, a[b], a.component_stride())};
            modes_from_alm<T>(legendre_, legendre_.all_orders(), from, storage.modes, of_legendre(0, storage),
                              stream);
            storage.clock.mark(stream, &ShtStageSeconds::legendre);
            storage.modes.begin_adjoint(legendre_, legendre_.all_orders(), stream);
            PairModes* const fourier = interpolated(0, whole_.interpolation_tiles(0), storage, stream);
            for (int c = 0; c < table_.components; ++c) {
                PairModes* const modes = fourier + c * layout_.size();
                const RingStage& rings = whole_.rings(0);
                rings.synthesize<T>(modes, residual, storage.buffer.data(), storage.library.data(), stream);
                subtract_from(pixels[b] + c * pixels.component_stride(), n_pixels, residual, stream);
                rings.adjoint<T>(residual, true, modes, storage.buffer.data(), storage.library.data(),
                                 stream);
            }
            storage.clock.mark(stream, &ShtStageSeconds::rings);
            adjoint_interpolated(0, whole_.adjoint_tiles(0), storage, stream);
            const std::vector to{alm_pointers<AlmTargets<T>, T>(options_, out[b], out.component_stride())};
            alm_from_modes<T>(legendre_, legendre_.all_orders(), of_legendre(0, storage), storage.modes, to,
                              stream);
            storage.clock.mark(stream, &ShtStageSeconds::legendre);
        };
        const auto deliver = [&](std::int64_t b, cudaStream_t stream) {
            storage.batches.after_work(b);
            out.deliver(b, storage.transfer, stream);
        };
        for_each_map(CallKey().add(id_).add(3).add(alm).add(map).add(update), alm.extent(0),
                     !a.is_copied() && !pixels.is_copied() && !out.is_copied(), storage, progress, fetch,
                     work, deliver);
    }

    /// Bands that pay where the pixels are copied, or else all rings at once; makes room for their stages.
    const RingBands& bands_for(bool is_copied, CudaStorage& storage) const {
        if (!bands_ || !is_copied) return whole_;
        bands_->make_rings();
        make_room_for(*bands_, storage);
        return *bands_;
    }

    /// F_m on the grid's rings of map k of several; where they are resampled, the maps take turns.
    PairModes* of_grid(std::size_t k, const CudaStorage& storage) const {
        const std::int64_t map = resampling_ ? 0 : static_cast<std::int64_t>(k);
        return storage.fourier.data() + map * table_.components * layout_.size();
    }
    /// F_m on the Legendre stage's rings of map k.
    PairModes* of_legendre(std::size_t k, const CudaStorage& storage) const {
        if (!resampling_) return of_grid(k, storage);
        return storage.coarse.data() + static_cast<std::int64_t>(k) * table_.components * coarse_size();
    }

    /// From the Legendre stage's rings to the grid's.
    PairModes* interpolated(std::size_t k, TileRange tiles, CudaStorage& storage, cudaStream_t stream) const {
        PairModes* const fourier = of_grid(k, storage);
        if (!resampling_) return fourier;
        resampling_->interpolation().apply(legendre_.all_orders(), of_legendre(k, storage), table_.components,
                                           fourier, stream, tiles);
        storage.clock.mark(stream, &ShtStageSeconds::resampling);
        return fourier;
    }
    /// The transpose.
    void adjoint_interpolated(std::size_t k, TileRange tiles, CudaStorage& storage,
                              cudaStream_t stream) const {
        if (!resampling_) return;
        resampling_->adjoint().apply(legendre_.all_orders(), of_grid(k, storage), table_.components,
                                     of_legendre(k, storage), stream, tiles);
        storage.clock.mark(stream, &ShtStageSeconds::resampling);
    }

    static void report(const Progress& progress, std::int64_t done, std::int64_t total) {
        if (progress && !progress(static_cast<double>(done) / static_cast<double>(total)))
            throw Cancelled("transform: cancelled");
    }

    static std::uint64_t next_id() {
        static std::atomic<std::uint64_t> id{0};
        return ++id;
    }

    const std::uint64_t id_ = next_id();  ///< of this plan, for CallKey
    const ShtOptions options_;
    const bool has_other_pixels_;  ///< in no ring: a synthesis leaves them as they are
    const int device_;
    const LegendreTable table_;
    const RingPairs pairs_;  ///< of the grid
    const std::int64_t n_coarse_rings_;
    const std::optional<RingPairs> coarse_pairs_;  ///< of the Legendre stage, where they are others
    LegendreStage legendre_;
    const FourierLayout layout_;  ///< of pairs_
    const std::optional<ThetaResampling> resampling_;
    RingBands whole_;                 ///< all rings in one
    std::optional<RingBands> bands_;  ///< of large grids, for copies
};

}  // namespace

std::unique_ptr<const Transform> make_cuda_transform(const Grid& grid, const ShtOptions& options) {
    const core::CurrentDevice current(options.device.index());
    return within_memory(grid, options, [&options](const Grid& part) {
        return std::make_unique<const CudaTransform>(part, options);
    });
}

}  // namespace zonal::sht
