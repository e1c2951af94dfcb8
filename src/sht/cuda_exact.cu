#include "sht/cuda_exact.cuh"

namespace zonal::sht::cuda {

ExactIntegrals::ExactIntegrals(const Grid& grid, const ShtOptions& options, const Zone& zone)
    : zone_(zone),
      host_(grid, zone.pairs, options.mmax, options.spin),
      layout_(host_.all_orders, AlmLayout(options.lmax, options.mmax)),
      rings_(grid, host_.all_orders, layout_.origin()),
      integral_(host_.integral.tables(), host_.all_orders, AlmLayout(options.lmax, options.mmax)),
      scale_(host_.scale(grid)) {}

std::int64_t ExactIntegrals::bytes() const {
    return integral_.scratch_bytes() + layout_.size() * static_cast<std::int64_t>(sizeof(PairModes));
}

void ExactIntegrals::fit(CudaStorage& storage) const {
    storage.meridian.modes.reserve(layout_.size());
    integral_.fit(storage.meridian);
    storage.rings.fit(rings_.scratch_sizes());
}

template <class T>
void ExactIntegrals::modes_of_map(const T* map, std::int64_t component_stride, CudaStorage& storage,
                                  cudaStream_t stream) const {
    PairModes* const all = storage.meridian.modes.data();
    for (int c = 0; c < zone_.orders.components(); ++c) {
        rings_.adjoint<T>(map + c * component_stride, false, all, storage.rings, stream);
        storage.clock.mark(stream, &ShtStageSeconds::rings);
        integral_.apply(zone_.orders.all_orders(), view_of(layout_, all),
                        view_of(zone_.orders.layout(), zone_.of_grid(0, c, storage)), scale_,
                        storage.meridian, stream);
        storage.clock.mark(stream, &ShtStageSeconds::resampling);
    }
}

template <class T>
void ExactIntegrals::map_of_modes(T* map, std::int64_t component_stride, CudaStorage& storage,
                                  cudaStream_t stream) const {
    PairModes* const all = storage.meridian.modes.data();
    for (int c = 0; c < zone_.orders.components(); ++c) {
        integral_.apply(zone_.orders.all_orders(),
                        view_of(zone_.orders.layout(), zone_.of_grid(0, c, storage)), view_of(layout_, all),
                        scale_, storage.meridian, stream);
        storage.clock.mark(stream, &ShtStageSeconds::resampling);
        rings_.synthesize<T>(all, map + c * component_stride, storage.rings, stream);
        storage.clock.mark(stream, &ShtStageSeconds::rings);
    }
}

template void ExactIntegrals::modes_of_map(const float*, std::int64_t, CudaStorage&, cudaStream_t) const;
template void ExactIntegrals::modes_of_map(const double*, std::int64_t, CudaStorage&, cudaStream_t) const;
template void ExactIntegrals::map_of_modes(float*, std::int64_t, CudaStorage&, cudaStream_t) const;
template void ExactIntegrals::map_of_modes(double*, std::int64_t, CudaStorage&, cudaStream_t) const;

}  // namespace zonal::sht::cuda
