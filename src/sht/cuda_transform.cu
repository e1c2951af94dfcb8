#include <atomic>
#include <optional>

#include "sht/cuda_bands.cuh"
#include "sht/rings/order_stage_cuda.cuh"
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
          pairs_(grid, options.lmax, options.mmax, options.spin),
          orders_(AlmLayout(options.lmax, options.mmax), options, pairs_),
          whole_(grid, pairs_, orders_.layout(), orders_.resampling(), {pairs_.n_pairs()}) {
        whole_.make_rings();
        if (!RingBands::pay(grid)) return;
        bands_.emplace(grid, pairs_, orders_.layout(), orders_.resampling(), RingBands::ends(grid, pairs_));
        orders_.cut(bands_->jobs());
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
        return orders_.scratch_bytes(orders_.layout().size()) + whole_.scratch_sizes().bytes();
    }

    double legendre_flops() const override { return orders_.legendre_flops(); }

  private:
    friend class CopyingTransformByType<CudaTransform>;

    /// Makes room for this plan's arrays, the Legendre stage's for as many maps at once as the workspace is
    /// for.
    void fit(CudaStorage& storage) const {
        const std::int64_t n_maps = orders_.maps_at_once(storage.n_maps);
        storage.fourier.reserve((orders_.resampling() ? 1 : n_maps) * orders_.map_size());
        orders_.fit(storage, n_maps, orders_.all_orders());
        storage.rings.fit(whole_.scratch_sizes());
    }

    /// The workspace as this device's, with room for this plan, whichever plan made it.
    CudaStorage& storage_of(ShtWorkspace::Storage& workspace) const {
        auto& storage = memory_on<CudaStorage>(device_, workspace);
        const core::CurrentDevice current(device_);
        fit(storage);
        return storage;
    }

    std::vector<Orders> parts(bool several) const {
        return several ? orders_in_parts(orders_.table().layout) : std::vector{orders_.all_orders()};
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
            call.add(storage.residual).add(storage.measures_stages);
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
        const std::int64_t at_once = on_device ? orders_.maps_at_once(storage.n_maps) : 1;
        const auto work = [&](std::int64_t first, cudaStream_t stream) {
            const auto maps = orders_.sources<T>(a, first, std::min(at_once, alm.extent(0) - first));
            PairModes* const modes = of_legendre(0, storage);
            for (int k = bands.count() - 1; k >= 0; --k) {
                const bool is_first = k == bands.count() - 1;
                for (const Orders orders : parts(in_parts && is_first)) {
                    if (in_parts && is_first)
                        storage.batches.bring(stream, [&](cudaStream_t fetching) {
                            a.fetch(first, orders_.coefficients(orders), storage.transfer, fetching);
                        });
                    if (is_first) begin_modes<T>(legendre(), orders, maps, storage.modes, stream);
                    finish_modes<T>(legendre(), bands.synthesis(orders, k), maps, storage.modes, modes,
                                    stream);
                }
                storage.clock.mark(stream, &ShtStageSeconds::legendre);
                for (std::size_t i = 0; i < maps.size(); ++i) {
                    const std::int64_t b = first + static_cast<std::int64_t>(i);
                    const PairModes* const fourier =
                        interpolated(i, bands.interpolation_tiles(k), storage, stream);
                    for (int c = 0; c < orders_.components(); ++c)
                        bands.rings(k).synthesize<T>(fourier + c * orders_.layout().size(),
                                                     pixels[b] + c * pixels.component_stride(), storage.rings,
                                                     stream);
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
        const std::int64_t at_once = on_device ? orders_.maps_at_once(storage.n_maps) : 1;
        const auto work = [&](std::int64_t first, cudaStream_t stream) {
            storage.modes.begin_adjoint(legendre(), orders_.all_orders(), stream);
            const auto maps = orders_.targets<T>(a, first, std::min(at_once, alm.extent(0) - first));
            const PairModes* const modes = of_legendre(0, storage);
            const auto sum = [&](Orders orders, int k) {
                sum_modes(legendre(), bands.adjoint(orders, k), static_cast<int>(maps.size()), modes,
                          storage.modes, stream);
            };
            for (int k = 0; k < bands.count(); ++k) {
                if (k > 0) sum(orders_.all_orders(), k - 1);
                storage.clock.mark(stream, &ShtStageSeconds::legendre);
                for (std::size_t i = 0; i < maps.size(); ++i)
                    rings_to_modes(pixels, first + static_cast<std::int64_t>(i), weighted, bands, k, i,
                                   storage, stream);
            }
            const std::vector<Orders> all_parts = parts(in_parts);
            const auto take = [&](std::size_t k) {
                storage.batches.take(first, k, [&](cudaStream_t delivering) {
                    a.deliver(first, orders_.coefficients(all_parts[k]), storage.transfer, delivering);
                });
            };
            for (std::size_t k = 0; k < all_parts.size(); ++k) {
                sum(all_parts[k], bands.count() - 1);
                gather_alm<T>(legendre(), all_parts[k], storage.modes, maps, stream);
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
        for (int c = 0; c < orders_.components(); ++c)
            bands.rings(k).adjoint<T>(pixels[b] + c * pixels.component_stride(), weighted,
                                      of_grid(i, storage) + c * orders_.layout().size(), storage.rings,
                                      stream);
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
            PairModes* const modes = of_legendre(0, storage);
            modes_from_alm<T>(legendre(), orders_.all_orders(), orders_.sources<T>(a, b, 1), storage.modes,
                              modes, stream);
            storage.clock.mark(stream, &ShtStageSeconds::legendre);
            storage.modes.begin_adjoint(legendre(), orders_.all_orders(), stream);
            PairModes* const fourier = interpolated(0, whole_.interpolation_tiles(0), storage, stream);
            for (int c = 0; c < orders_.components(); ++c) {
                PairModes* const of_field = fourier + c * orders_.layout().size();
                whole_.rings(0).synthesize<T>(of_field, residual, storage.rings, stream);
                whole_.rings(0).adjoint_of_residual<T>(pixels[b] + c * pixels.component_stride(), n_pixels,
                                                       residual, of_field, storage.rings, stream);
            }
            storage.clock.mark(stream, &ShtStageSeconds::rings);
            adjoint_interpolated(0, whole_.adjoint_tiles(0), storage, stream);
            alm_from_modes<T>(legendre(), orders_.all_orders(), modes, storage.modes,
                              orders_.targets<T>(out, b, 1), stream);
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
        storage.rings.fit(bands_->scratch_sizes());
        return *bands_;
    }

    const LegendreStage& legendre() const { return orders_.legendre(); }
    /// F_m on the grid's rings of map k of several; where they are resampled, the maps take turns.
    PairModes* of_grid(std::size_t k, const CudaStorage& storage) const {
        const std::int64_t map = orders_.resampling() ? 0 : static_cast<std::int64_t>(k);
        return storage.fourier.data() + map * orders_.map_size();
    }
    /// F_m on the Legendre stage's rings of map k.
    PairModes* of_legendre(std::size_t k, const CudaStorage& storage) const {
        return orders_.modes_of(static_cast<std::int64_t>(k), storage.fourier.data(), storage);
    }

    /// From the Legendre stage's rings to the grid's.
    PairModes* interpolated(std::size_t k, TileRange tiles, CudaStorage& storage, cudaStream_t stream) const {
        PairModes* const fourier = of_grid(k, storage);
        if (!orders_.resampling()) return fourier;
        orders_.resampling()->interpolation().apply(orders_.all_orders(), of_legendre(k, storage),
                                                    orders_.components(), fourier, stream, tiles);
        storage.clock.mark(stream, &ShtStageSeconds::resampling);
        return fourier;
    }
    /// The transpose.
    void adjoint_interpolated(std::size_t k, TileRange tiles, CudaStorage& storage,
                              cudaStream_t stream) const {
        if (!orders_.resampling()) return;
        orders_.resampling()->adjoint().apply(orders_.all_orders(), of_grid(k, storage), orders_.components(),
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
    const RingPairs pairs_;  ///< of the grid
    OrderStage orders_;
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
