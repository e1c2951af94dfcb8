#include <atomic>
#include <utility>

#include "sht/cuda_exact.cuh"
#include "sht/cuda_zones.cuh"
#include "sht/transform_by_type.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {
namespace {

using namespace cuda;

/// One process' transform: maps in batches, with copies of what the host has beside the work, or repeated
/// calls as graphs; the zones one after the other. Where memory is short, adjoints take the orders in parts,
/// which cost little, and only then the rings in several zones.
class CudaTransform final : public TransformByType<CudaTransform, true> {
  public:
    CudaTransform(const Grid& grid, const ShtOptions& options, std::int64_t n_zones)
        : options_(options),
          has_other_pixels_(grid.has_other_pixels()),
          device_(options.device.index()),
          layout_(options.lmax, options.mmax),
          zones_(make_zones(grid, options, n_zones)),
          exact_(make_exact(grid)),
          parts_(parts_within(memory_limit(grid, options))) {}

    std::unique_ptr<ShtWorkspace::Storage> make_workspace(std::int64_t n_maps) const override {
        const core::CurrentDevice current(device_);
        auto storage = std::make_unique<CudaStorage>(device_, options_.threads);
        storage->n_maps = n_maps;
        fit(*storage);
        return storage;
    }

    void prepare(ShtWorkspace::Storage& workspace) const override { storage_of(workspace); }

    std::int64_t workspace_bytes(std::int64_t) const override { return bytes_with(parts_); }

    double legendre_flops() const override {
        double sum = 0;
        for (const auto& zone : zones_) sum += zone->orders.legendre_flops();
        return sum;
    }

  private:
    friend class TransformByType<CudaTransform, true>;

    /// What one map takes if adjoints take the orders in these parts.
    std::int64_t bytes_with(const std::vector<Orders>& parts) const {
        std::int64_t most = 0;
        for (const auto& zone : zones_) most = std::max(most, zone->scratch_bytes(parts));
        return most + part_bytes() + (exact_ ? exact_->bytes() : 0);
    }
    /// As few as keep within the limit, if any do.
    std::vector<Orders> parts_within(std::int64_t limit) const {
        constexpr std::int64_t most = 16;
        std::vector<Orders> parts = orders_in_parts(layout_, 1);
        for (std::int64_t n = 2; bytes_with(parts) > limit && n <= most; n *= 2)
            parts = orders_in_parts(layout_, n);
        return parts;
    }

    std::unique_ptr<const ExactIntegrals> make_exact(const Grid& grid) const {
        if (!needs_meridian_integral(grid, options_.lmax, options_.mmax) || zones_.size() > 1) return nullptr;
        return std::make_unique<const ExactIntegrals>(grid, options_, *zones_.front());
    }
    const ExactIntegrals& exact() const {
        if (exact_ == nullptr)
            throw OutOfMemory(
                "exact analysis: this grid's rings do not fit into the device's memory all at once, as they "
                "must; use the CPU or a lower lmax");
        return *exact_;
    }

    /// Bytes of the alm that the rings of one zone give, which are added to those of the zones before it. A
    /// single zone needs none.
    std::int64_t part_bytes() const {
        if (zones_.size() == 1) return 0;
        const std::int64_t components = options_.spin > 0 && options_.parts == SpinParts::both ? 2 : 1;
        return components * layout_.size() * static_cast<std::int64_t>(sizeof(std::complex<double>));
    }

    /// Maps that one call of work serves.
    std::int64_t maps_at_once(bool on_device, const CudaStorage& storage) const {
        if (!on_device || zones_.size() > 1 || parts_.size() > 1) return 1;
        return zones_.front()->orders.maps_at_once(storage.n_maps);
    }
    /// Makes room for this plan's arrays, the Legendre stage's for as many maps at once as the workspace is
    /// for.
    void fit(CudaStorage& storage) const {
        for (const auto& zone : zones_) zone->fit(storage, maps_at_once(true, storage), parts_);
        storage.part.reserve(part_bytes());
        if (exact_) exact_->fit(storage);
    }

    /// The workspace as this device's, with room for this plan, whichever plan made it.
    CudaStorage& storage_of(ShtWorkspace::Storage& workspace) const {
        auto& storage = memory_on<CudaStorage>(device_, workspace);
        const core::CurrentDevice current(device_);
        fit(storage);
        return storage;
    }

    /// The orders in the parts in which one map's alm is copied while the device works, or all at once.
    std::vector<Orders> parts(bool several) const {
        return several ? orders_in_parts(layout_) : std::vector{zones_.front()->orders.all_orders()};
    }
    bool comes_in_parts(bool is_copied, std::int64_t n_maps) const {
        return is_copied && n_maps == 1 && zones_.size() == 1;
    }

    /// Calls visit(zone, number of the zone) for all of them, as the work on maps from b on.
    template <class Visit>
    void for_each_zone(std::int64_t b, std::int64_t n_maps, const Progress& progress,
                       const Visit& visit) const {
        const std::size_t n = zones_.size();
        for (std::size_t z = 0; z < n; ++z) {
            report(progress, static_cast<std::size_t>(b) * n + z, static_cast<std::size_t>(n_maps) * n);
            visit(*zones_[z], z);
        }
    }

    /// fetch, work and deliver(b, stream) for every map of a batch, see BatchStreams; waits for the end
    /// unless all data stay on the device and the stream is the caller's. call: which one it is, with the
    /// arrays. at_once: maps that one call of work serves from b on, where all are on the device.
    template <class Fetch, class Work, class Deliver>
    void for_each_map(CallKey call, std::int64_t n_maps, bool on_device, CudaStorage& storage,
                      const Progress& progress, const Fetch& fetch, const Work& work, const Deliver& deliver,
                      std::int64_t at_once = 1) const {
        const cudaStream_t stream = storage.stream();
        const bool measures = storage.measures_stages && !storage.has_caller;
        const auto all_steps = [&](cudaStream_t work_stream) {
            storage.clock.start(work_stream, measures);
            for (std::int64_t b = 0; b < n_maps; b += at_once) work(b, work_stream);
        };
        const auto step_between_copies = [&](std::int64_t b, cudaStream_t work_stream) {
            storage.clock.mark(work_stream, nullptr);
            work(b, work_stream);
        };
        if (on_device && !progress) {
            storage.add_addresses(call);
            call.add(storage.residual).add(storage.part).add(storage.measures_stages);
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
        core::require_place("alm", alm, device_);
        core::require_place("map", map, device_);
        CudaStorage& storage = storage_of(workspace);
        const Batch a(alm, storage.alm);
        const Batch pixels(map, storage.map, there);
        // Several zones have one band each, which is the whole map once the last of them is done.
        const RingBands& delivered = zones_.front()->rings(pixels.is_copied(), storage);
        const bool in_parts = comes_in_parts(a.is_copied(), alm.extent(0));
        const auto fetch = [&](std::int64_t b, cudaStream_t stream) {
            if (!in_parts) a.fetch(b, storage.transfer, stream);
            if (has_other_pixels_) pixels.fetch(b, storage.transfer, stream);
        };
        const bool on_device = !a.is_copied() && !pixels.is_copied();
        const std::int64_t at_once = maps_at_once(on_device, storage);
        const auto synthesize = [&](const Zone& zone, std::int64_t first, cudaStream_t stream) {
            const auto maps = zone.orders.sources<T>(a, first, std::min(at_once, alm.extent(0) - first));
            const RingBands& bands = zone.rings(pixels.is_copied(), storage);
            for (int k = bands.count() - 1; k >= 0; --k) {
                const bool is_first = k == bands.count() - 1;
                for (const Orders orders : parts(in_parts && is_first)) {
                    if (in_parts && is_first)
                        storage.batches.bring(stream, [&](cudaStream_t fetching) {
                            a.fetch(first, zone.orders.coefficients(orders), storage.transfer, fetching);
                        });
                    if (is_first) begin_modes<T>(zone.legendre(), orders, maps, storage.modes, stream);
                    finish_modes<T>(zone.legendre(), bands.synthesis(orders, k), maps, storage.modes,
                                    zone.of_legendre(0, storage), stream);
                }
                storage.clock.mark(stream, &ShtStageSeconds::legendre);
                for (std::size_t i = 0; i < maps.size(); ++i) {
                    const std::int64_t b = first + static_cast<std::int64_t>(i);
                    zone.interpolate(i, bands.interpolation_tiles(k), storage, stream);
                    for (int c = 0; c < zone.orders.components(); ++c)
                        bands.rings(k).synthesize<T>(zone.of_grid(i, c, storage),
                                                     pixels[b] + c * pixels.component_stride(), storage.rings,
                                                     stream);
                    storage.clock.mark(stream, &ShtStageSeconds::rings);
                }
                if (pixels.is_copied()) storage.batches.finish(first, k, stream);
            }
        };
        const auto work = [&](std::int64_t first, cudaStream_t stream) {
            for_each_zone(first, alm.extent(0), progress,
                          [&](const Zone& zone, std::size_t) { synthesize(zone, first, stream); });
        };
        const auto deliver = [&](std::int64_t b, cudaStream_t) {
            for (int k = delivered.count() - 1; k >= 0 && pixels.is_copied(); --k)
                storage.batches.take(b, k, [&](cudaStream_t delivering) {
                    for (const ElementRange range : delivered.pixels(k))
                        pixels.deliver(b, range, storage.transfer, delivering);
                });
        };
        for_each_map(CallKey().add(id_).add(0).add(alm).add(map), alm.extent(0), on_device, storage, progress,
                     fetch, work, deliver, at_once);
    }

    template <class T>
    void adjoint_maps(View<const T, 3> map, View<T, 3> there, View<std::complex<T>, 3> alm,
                      Quadrature quadrature, ShtWorkspace::Storage& workspace,
                      const Progress& progress) const {
        if (quadrature == Quadrature::meridian)
            return integrate_maps<T>(map, there, alm, workspace, progress);
        const bool weighted = quadrature == Quadrature::ring_weights;
        const core::CurrentDevice current(device_);
        core::require_place("map", map, device_);
        core::require_place("alm", alm, device_);
        CudaStorage& storage = storage_of(workspace);
        const Batch pixels(map, storage.map, there);
        const Batch a(alm, storage.alm);
        // Bands of rings would need the sums of all orders at once.
        const bool has_bands = pixels.is_copied() && parts_.size() == 1;
        zones_.front()->rings(has_bands, storage);  // made before anything is under way
        const auto fetch = [](std::int64_t, cudaStream_t) {};
        const bool in_parts = comes_in_parts(a.is_copied(), alm.extent(0));
        const bool on_device = !a.is_copied() && !pixels.is_copied();
        const std::int64_t at_once = maps_at_once(on_device, storage);
        const auto adjoint = [&](const Zone& zone, std::size_t z, std::int64_t first, cudaStream_t stream) {
            storage.modes.begin_adjoint(zone.legendre(), zone.orders.all_orders(), stream);
            const auto maps = zone.orders.targets<T>(a, first, std::min(at_once, alm.extent(0) - first));
            const RingBands& bands = zone.rings(has_bands, storage);
            const auto sum = [&](Orders orders, int k) {
                sum_modes(zone.legendre(), bands.adjoint(orders, k), static_cast<int>(maps.size()),
                          zone.of_legendre(0, storage), storage.modes, stream);
            };
            for (int k = 0; k < bands.count(); ++k) {
                if (k > 0) sum(zone.orders.all_orders(), k - 1);
                storage.clock.mark(stream, &ShtStageSeconds::legendre);
                for (std::size_t i = 0; i < maps.size(); ++i) {
                    const std::int64_t b = first + static_cast<std::int64_t>(i);
                    if (pixels.is_copied() && z == 0)
                        storage.batches.bring(stream, [&](cudaStream_t fetching) {
                            for (const ElementRange range : bands.pixels(k))
                                pixels.fetch(b, range, storage.transfer, fetching);
                        });
                    storage.clock.mark(stream, nullptr);
                    for (int c = 0; c < zone.orders.components(); ++c)
                        bands.rings(k).adjoint<T>(pixels[b] + c * pixels.component_stride(), weighted,
                                                  zone.of_grid(i, c, storage), storage.rings, stream);
                    storage.clock.mark(stream, &ShtStageSeconds::rings);
                    zone.adjoint_interpolate(i, bands.adjoint_tiles(k), storage, stream);
                }
            }
            const std::vector<Orders> all_parts = parts_.size() > 1 ? parts_ : parts(in_parts);
            const auto take = [&](std::size_t k) {
                storage.batches.take(first, k, [&](cudaStream_t delivering) {
                    a.deliver(first, zone.orders.coefficients(all_parts[k]), storage.transfer, delivering);
                });
            };
            for (std::size_t k = 0; k < all_parts.size(); ++k) {
                if (parts_.size() > 1) storage.modes.sum_only(all_parts[k]);
                sum(all_parts[k], bands.count() - 1);
                gather<T>(zone, z, all_parts[k], maps, storage, stream);
                if (!in_parts) continue;
                storage.batches.finish(first, k, stream);
                if (k > 0) take(k - 1);  // while the device works on this one
            }
            storage.clock.mark(stream, &ShtStageSeconds::legendre);
            if (in_parts) take(all_parts.size() - 1);
        };
        const auto work = [&](std::int64_t first, cudaStream_t stream) {
            for_each_zone(first, alm.extent(0), progress,
                          [&](const Zone& zone, std::size_t z) { adjoint(zone, z, first, stream); });
        };
        const auto deliver = [&](std::int64_t b, cudaStream_t stream) {
            storage.batches.after_work(b);
            if (!in_parts) a.deliver(b, storage.transfer, stream);
        };
        for_each_map(CallKey().add(id_).add(weighted ? 2 : 1).add(map).add(alm), alm.extent(0), on_device,
                     storage, progress, fetch, work, deliver, at_once);
    }

    /// The maps' alm from the sums of zone z; what the zones before have given is added to.
    template <class T>
    void gather(const Zone& zone, std::size_t z, Orders orders, const std::vector<AlmTargets<T>>& maps,
                CudaStorage& storage, cudaStream_t stream) const {
        if (z == 0) return gather_alm<T>(zone.legendre(), orders, storage.modes, maps, stream);
        AlmTargets<T> part{};
        auto* next = reinterpret_cast<T*>(storage.part.data());
        for (int c = 0; c < 2; ++c)
            if (maps[0].alm[c] != nullptr) part.alm[c] = std::exchange(next, next + 2 * layout_.size());
        gather_alm<T>(zone.legendre(), orders, storage.modes, {part}, stream);
        const ElementRange range = zone.orders.coefficients(orders);
        for (int c = 0; c < 2; ++c)
            if (part.alm[c] != nullptr)
                add_to(part.alm[c] + 2 * range.first, 2 * (range.end - range.first),
                       maps[0].alm[c] + 2 * range.first, stream);
    }
    /// The maps' alm from the F_m on the Legendre stage's rings.
    template <class T>
    void sum_and_gather(const Zone& zone, std::size_t z, const std::vector<AlmTargets<T>>& maps,
                        CudaStorage& storage, cudaStream_t stream) const {
        for (const Orders orders : parts_) {
            storage.modes.sum_only(orders);
            sum_modes(zone.legendre(), orders, static_cast<int>(maps.size()), zone.of_legendre(0, storage),
                      storage.modes, stream);
            gather<T>(zone, z, orders, maps, storage, stream);
        }
    }

    /// adjoint_maps with the exact rule, a map at a time.
    template <class T>
    void integrate_maps(View<const T, 3> map, View<T, 3> there, View<std::complex<T>, 3> alm,
                        ShtWorkspace::Storage& workspace, const Progress& progress) const {
        const core::CurrentDevice current(device_);
        core::require_place("map", map, device_);
        core::require_place("alm", alm, device_);
        const ExactIntegrals& exact = this->exact();
        CudaStorage& storage = storage_of(workspace);
        const Batch pixels(map, storage.map, there);
        const Batch a(alm, storage.alm);
        const Zone& zone = *zones_.front();
        const Orders orders = zone.orders.all_orders();
        const auto fetch = [&](std::int64_t b, cudaStream_t stream) {
            pixels.fetch(b, storage.transfer, stream);
        };
        const auto work = [&](std::int64_t b, cudaStream_t stream) {
            report(progress, static_cast<std::size_t>(b), static_cast<std::size_t>(alm.extent(0)));
            storage.modes.begin_adjoint(zone.legendre(), orders, stream);
            exact.modes_of_map<T>(pixels[b], pixels.component_stride(), storage, stream);
            zone.adjoint_interpolate(0, zone.rings().adjoint_tiles(0), storage, stream);
            sum_and_gather<T>(zone, 0, zone.orders.targets<T>(a, b, 1), storage, stream);
            storage.clock.mark(stream, &ShtStageSeconds::legendre);
        };
        const auto deliver = [&](std::int64_t b, cudaStream_t stream) {
            storage.batches.after_work(b);
            a.deliver(b, storage.transfer, stream);
        };
        for_each_map(CallKey().add(id_).add(4).add(map).add(alm), alm.extent(0),
                     !a.is_copied() && !pixels.is_copied(), storage, progress, fetch, work, deliver);
    }

    template <class T>
    void synthesize_integrated_maps(View<const std::complex<T>, 3> alm, View<T, 3> map,
                                    ShtWorkspace::Storage& workspace, const Progress& progress) const {
        const core::CurrentDevice current(device_);
        core::require_place("alm", alm, device_);
        core::require_place("map", map, device_);
        const ExactIntegrals& exact = this->exact();
        CudaStorage& storage = storage_of(workspace);
        const Batch a(alm, storage.alm);
        const Batch pixels(map, storage.map);
        const Zone& zone = *zones_.front();
        const Orders orders = zone.orders.all_orders();
        const auto fetch = [&](std::int64_t b, cudaStream_t stream) {
            a.fetch(b, storage.transfer, stream);
            if (has_other_pixels_) pixels.fetch(b, storage.transfer, stream);
        };
        const auto work = [&](std::int64_t b, cudaStream_t stream) {
            report(progress, static_cast<std::size_t>(b), static_cast<std::size_t>(alm.extent(0)));
            modes_from_alm<T>(zone.legendre(), orders, zone.orders.sources<T>(a, b, 1), storage.modes,
                              zone.of_legendre(0, storage), stream);
            storage.clock.mark(stream, &ShtStageSeconds::legendre);
            zone.interpolate(0, zone.rings().interpolation_tiles(0), storage, stream);
            exact.map_of_modes<T>(pixels[b], pixels.component_stride(), storage, stream);
        };
        const auto deliver = [&](std::int64_t b, cudaStream_t stream) {
            storage.batches.after_work(b);
            pixels.deliver(b, storage.transfer, stream);
        };
        for_each_map(CallKey().add(id_).add(5).add(alm).add(map), alm.extent(0),
                     !a.is_copied() && !pixels.is_copied(), storage, progress, fetch, work, deliver);
    }

    template <class T>
    void project_maps(View<const std::complex<T>, 3> alm, View<const T, 3> map,
                      View<std::complex<T>, 3> update, ShtWorkspace::Storage& workspace,
                      const Progress& progress) const {
        const core::CurrentDevice current(device_);
        core::require_place("alm", alm, device_);
        core::require_place("map", map, device_);
        core::require_place("update", update, device_);
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
        const auto project = [&](const Zone& zone, std::size_t z, std::int64_t b, cudaStream_t stream) {
            const Orders orders = zone.orders.all_orders();
            PairModes* const modes = zone.of_legendre(0, storage);
            modes_from_alm<T>(zone.legendre(), orders, zone.orders.sources<T>(a, b, 1), storage.modes, modes,
                              stream);
            storage.clock.mark(stream, &ShtStageSeconds::legendre);
            storage.modes.begin_adjoint(zone.legendre(), orders, stream);
            zone.interpolate(0, zone.rings().interpolation_tiles(0), storage, stream);
            const RingStage& rings = zone.rings().rings(0);
            for (int c = 0; c < zone.orders.components(); ++c) {
                PairModes* const of_field = zone.of_grid(0, c, storage);
                rings.synthesize<T>(of_field, residual, storage.rings, stream);
                rings.adjoint_of_residual<T>(pixels[b] + c * pixels.component_stride(), n_pixels, residual,
                                             of_field, storage.rings, stream);
            }
            storage.clock.mark(stream, &ShtStageSeconds::rings);
            zone.adjoint_interpolate(0, zone.rings().adjoint_tiles(0), storage, stream);
            sum_and_gather<T>(zone, z, zone.orders.targets<T>(out, b, 1), storage, stream);
            storage.clock.mark(stream, &ShtStageSeconds::legendre);
        };
        const auto work = [&](std::int64_t b, cudaStream_t stream) {
            for_each_zone(b, alm.extent(0), progress,
                          [&](const Zone& zone, std::size_t z) { project(zone, z, b, stream); });
        };
        const auto deliver = [&](std::int64_t b, cudaStream_t stream) {
            storage.batches.after_work(b);
            out.deliver(b, storage.transfer, stream);
        };
        for_each_map(CallKey().add(id_).add(3).add(alm).add(map).add(update), alm.extent(0),
                     !a.is_copied() && !pixels.is_copied() && !out.is_copied(), storage, progress, fetch,
                     work, deliver);
    }

    static void report(const Progress& progress, std::size_t done, std::size_t total) {
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
    const AlmLayout layout_;
    const std::vector<std::unique_ptr<const Zone>> zones_;
    const std::unique_ptr<const ExactIntegrals>
        exact_;                        ///< null where nothing needs it, or there are several zones
    const std::vector<Orders> parts_;  ///< in which adjoints take the orders
};

}  // namespace

std::unique_ptr<const Transform> make_cuda_transform(const Grid& grid, const ShtOptions& options) {
    constexpr std::int64_t most_zones = 64;
    const core::CurrentDevice current(options.device.index());
    auto transform = std::make_unique<const CudaTransform>(grid, options, 1);
    const std::int64_t limit = memory_limit(grid, options);
    for (std::int64_t n_zones = 2;
         transform->workspace_bytes(1) > limit && n_zones <= std::min(most_zones, grid.n_rings());
         n_zones *= 2) {
        transform.reset();
        transform = std::make_unique<const CudaTransform>(grid, options, n_zones);
    }
    if (options.max_workspace_bytes > 0 && transform->workspace_bytes(1) > limit)
        throw InvalidArgument(
            "max_workspace_bytes", limit,
            "must be at least " + std::to_string(transform->workspace_bytes(1)) + " for this transform");
    return transform;
}

}  // namespace zonal::sht
