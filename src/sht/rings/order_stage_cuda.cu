#include "sht/rings/order_stage_cuda.cuh"

namespace zonal::sht::cuda {

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

}  // namespace zonal::sht::cuda
