#include "sht/rings/order_stage_cuda.cuh"

namespace zonal::sht::cuda {
namespace {

template <class T>
__global__ void add_kernel(const T* from, std::int64_t count, T* to) {
    const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * ring_threads + threadIdx.x;
    if (k < count) to[k] += from[k];
}

}  // namespace

OrderStage::OrderStage(const AlmLayout& alm, const ShtOptions& options, const RingPairs& pairs)
    : parts_(options.parts),
      table_(alm, options.spin),
      n_coarse_rings_(resampled_rings(pairs.n_pairs(), options.lmax, options.accuracy)),
      coarse_pairs_(coarse_pairs(n_coarse_rings_, options)),
      legendre_(coarse_pairs_ ? *coarse_pairs_ : pairs, table_),
      layout_(pairs, alm),
      legendre_flops_(
          (coarse_pairs_ ? *coarse_pairs_ : pairs).legendre_flops(options.lmax, table_.components)) {
    if (coarse_pairs_)
        resampling_.emplace(*coarse_pairs_, legendre_.layout(), pairs, layout_, n_coarse_rings_, options.lmax,
                            options.spin, options.accuracy);
}

ElementRange OrderStage::coefficients(Orders orders) const {
    const AlmLayout& layout = table_.layout;
    const std::int64_t m = layout.order(orders.first);
    return {layout.index(m, m), end_of(layout, orders)};
}

template <class T>
void add_to(const T* from, std::int64_t count, T* to, cudaStream_t stream) {
    add_kernel<<<blocks_of(count), ring_threads, 0, stream>>>(from, count, to);
    core::check_launch("adding coefficients");
}

template void add_to(const float*, std::int64_t, float*, cudaStream_t);
template void add_to(const double*, std::int64_t, double*, cudaStream_t);

}  // namespace zonal::sht::cuda
