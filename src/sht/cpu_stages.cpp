#include "sht/cpu_stages.hpp"

#include "core/parallel.hpp"
#include "core/subnormals.hpp"

namespace zonal::sht {
namespace {

/// Fourier coefficients of a band, in bytes. Larger bands make the orders' coefficients less often, smaller
/// ones stay nearer to the cache and cost fewer page faults; measured in docs/decisions/sht-cpu.md.
constexpr std::int64_t band_bytes = std::int64_t{96} << 20;

template <class T>
void load_row(View<const std::complex<T>, 1> alm, std::int64_t first, std::int64_t length,
              std::complex<double>* row) {
    const std::complex<T>* in = alm.data() + first;
    for (std::int64_t k = 0; k < length; ++k) row[k] = std::complex<double>(in[k].real(), in[k].imag());
}

template <class T>
void store_row(const std::complex<double>* row, std::int64_t first, std::int64_t length, bool add,
               View<std::complex<T>, 1> alm) {
    std::complex<T>* out = alm.data() + first;
    for (std::int64_t k = 0; k < length; ++k) {
        const std::complex<T> value(static_cast<T>(row[k].real()), static_cast<T>(row[k].imag()));
        out[k] = add ? out[k] + value : value;
    }
}

void in_parallel(std::int64_t n_tasks, int threads, const std::function<void(std::int64_t, int)>& body) {
    core::parallel_for(n_tasks, threads, [&](std::int64_t task, int thread) {
        const core::SubnormalsAsZero flush;  // the window of a wide beam takes alm through that range
        body(task, thread);
    });
}

}  // namespace

void StageMemory::copy(const double* from, double* to, std::int64_t count) {
    constexpr std::int64_t piece = std::int64_t{1}
                                   << 17;  // 1 MiB takes a thread longer than it takes to start
    core::parallel_for((count + piece - 1) / piece, threads_, [&](std::int64_t i, int) {
        std::copy_n(from + i * piece, std::min(piece, count - i * piece), to + i * piece);
    });
}

CpuStages::CpuStages(const AlmLayout& layout, const ShtOptions& options, const RingPairs& pairs,
                     std::span<const Ring> rings, const MeridianIntegral* integral)
    : options_(options),
      table_(layout, options.spin),
      pairs_(pairs),
      rings_(rings),
      integral_(integral),
      maps_per_pass_(sht::maps_per_pass(pairs, table_.components)) {
    const TransformRings best = cheapest_rings(pairs.legendre_flops(options.lmax, 1), pairs.n_pairs(),
                                               options.lmax, options.mmax, options.accuracy);
    if (best.n_rings > 0) resampling_.emplace(pairs, options, best.n_rings);
    flops_per_order_ = best.work / static_cast<double>(options.mmax + 1);
    for (const Ring& ring : rings) n_pixels_ += ring.n_pixels;
    scratch_bytes_ = bytes_of_scratch();
}

std::vector<std::int64_t> CpuStages::band_bounds(std::int64_t n_fields) const {
    // Each order's equidistant rings make those of all bands.
    if (resampling_) return {0, pairs_.n_blocks()};
    std::vector<std::int64_t> bounds{0};
    std::int64_t bytes = 0;
    for (std::int64_t block = 0; block < pairs_.n_blocks(); ++block) {
        const std::int64_t more = (pairs_.last_m[block] + 1) * n_fields * fourier_block * 8;
        if (bytes > 0 && bytes + more > band_bytes * std::min<std::int64_t>(n_fields, 4)) {
            bounds.push_back(block);
            bytes = 0;
        }
        bytes += more;
    }
    bounds.push_back(pairs_.n_blocks());
    return bounds;
}

std::int64_t CpuStages::bytes_of_scratch() const {
    std::int64_t longest = 0;
    for (const Ring& ring : rings_) longest = std::max(longest, ring.n_pixels);
    const std::int64_t per_degree = 16 * 3 * table_.components + 8 * (2 + 4 * table_.components) + 32;
    return options_.threads *
           ((options_.lmax + 1) * per_degree + longest * (3 * block_size + 7) * std::int64_t{16} +
            (resampling_ ? resampling_->scratch_bytes(table_.components) : 0) +
            (integral_ != nullptr ? integral_->scratch_bytes() : 0));
}

void CpuStages::fit(CpuStorage& workspace) const {
    while (static_cast<int>(workspace.threads.size()) < options_.threads)
        workspace.threads.push_back(std::make_unique<CpuStorage::Thread>());
    workspace.bytes_of_threads = std::max(workspace.bytes_of_threads, scratch_bytes_);
}

CpuStorage& CpuStages::storage_of(ShtWorkspace::Storage& workspace) const {
    auto* const storage = dynamic_cast<CpuStorage*>(&workspace);
    if (storage == nullptr)
        throw InvalidArgument("workspace", "was made by a plan on another kind of device");
    fit(*storage);
    return *storage;
}

CpuStorage& CpuStages::scratch_of(StageMemory& memory) const {
    auto* const found = dynamic_cast<CpuStageMemory*>(&memory);
    if (found == nullptr) throw InvalidArgument("workspace", "was made by a plan on another kind of device");
    fit(found->scratch);
    return found->scratch;
}

int CpuStages::threads_for(double work) const {
    constexpr double per_microsecond = 1.7e4;  // about, on one core
    return core::paying_threads(options_.threads, work / per_microsecond);
}

int CpuStages::threads_for_orders(std::int64_t n_orders, std::int64_t n_fields) const {
    return threads_for(flops_per_order_ * static_cast<double>(n_orders * n_fields));
}

template <class Work>
void CpuStages::for_each_block(const FourierBand& band, CpuStorage& workspace, const Work& work) const {
    constexpr double work_of_pixel = 50;
    const double cost = work_of_pixel * static_cast<double>(n_pixels_ * band.n_fields);
    in_parallel(band.end - band.first, threads_for(cost), [&](std::int64_t task, int thread) {
        const std::int64_t number = band.end - 1 - task;  // the longest rings, at the equator, first
        const RingBlock block(rings_, pairs_, number, band.last_m(number), workspace.threads[thread]->rings);
        for (std::int64_t f = 0; f < band.n_fields; ++f)
            work(block, f, f / table_.components, f % table_.components);
    });
}

bool CpuStages::reaches(const FourierBand& band, std::int64_t m) const {
    return band.first < band.end && m <= pairs_.last_m[band.end - 1];
}

std::int64_t CpuStages::end_of_reaching(const FourierBand& band, OrderNumbers orders) const {
    auto end = orders.end;
    while (end > orders.first && !reaches(band, table_.layout.order(end - 1))) --end;
    return end;
}

std::int64_t CpuStages::order_after(std::int64_t number, int threads, std::int64_t end) const {
    return number + threads < end ? table_.layout.order(number + threads) : -1;
}

void CpuStages::account_resampling(CpuStorage& workspace, int threads) {
    double seconds = 0;
    for (const auto& thread : workspace.threads) seconds += std::exchange(thread->resampling.seconds, 0);
    seconds /= threads;
    workspace.seconds.resampling += seconds;
    workspace.seconds.legendre -= seconds;
}

template <class T>
void CpuStages::ask_for_rows(View<T, 3> alm, std::int64_t m, LegendreScratch& scratch) const {
    scratch.next_rows.clear();
    scratch.next_row_bytes = m < 0 ? 0 : (options_.lmax - m + 1) * static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t f = 0; m >= 0 && f < alm.extent(0) * table_.components; ++f) {
        const std::int64_t c = alm_component(options_.parts, f % table_.components);
        if (c < 0) continue;
        const T* const row = alm[f / table_.components][c].data() + table_.layout.index(m, m);
        scratch.next_rows.push_back(reinterpret_cast<const std::byte*>(row));
    }
}

template <class T>
void CpuStages::synthesize_orders(View<const std::complex<T>, 3> alm, OrderNumbers orders,
                                  const FourierBand& band, CpuStorage& workspace) const {
    const std::int64_t components = table_.components;
    const std::int64_t n_orders = end_of_reaching(band, orders) - orders.first;
    const int threads = threads_for_orders(n_orders, band.n_fields);
    in_parallel(n_orders, threads, [&](std::int64_t task, int thread) {
        const std::int64_t number = orders.first + task, m = table_.layout.order(number);
        auto& scratch = *workspace.threads[thread];
        const std::int64_t next = order_after(number, threads, orders.first + n_orders);
        scratch.legendre.next_order =
            resampling_ ? -1 : next;  // the modes of all orders lie in the same place
        ask_for_rows<const std::complex<T>>(alm, next, scratch.legendre);
        const std::int64_t length = options_.lmax - m + 1;
        scratch.row.resize(band.n_fields * length);
        const AlmRow row{scratch.row.data(), length, band.n_fields};
        for (std::int64_t f = 0; f < band.n_fields; ++f) {
            const std::int64_t c = alm_component(options_.parts, f % components);
            if (c < 0)
                std::fill(row.field(f), row.field(f) + length, 0.0);
            else
                load_row<T>(alm[f / components][c], table_.layout.index(m, m), length, row.field(f));
        }
        if (!resampling_) return legendre_synthesis({table_, pairs_, m, band, scratch.legendre}, row);
        const FourierBand modes = resampling_->band_of(m, band.n_fields, scratch.resampling);
        legendre_synthesis({table_, resampling_->pairs(), m, modes, scratch.legendre}, row);
        timed(scratch.resampling.seconds,
              [&] { resampling_->interpolate(m, modes, band, scratch.resampling); });
    });
    account_resampling(workspace, threads);
}

template <class T>
void CpuStages::synthesize_rings(const FourierBand& band, View<T, 3> map, CpuStorage& workspace) const {
    for_each_block(band, workspace,
                   [&](const RingBlock& block, std::int64_t f, std::int64_t i, std::int64_t c) {
                       fold_modes(block, band, f);
                       transform(block);
                       write_rings<T>(block, map[i][c]);
                   });
}

template <class T>
void CpuStages::residual_rings(View<const T, 3> map, const FourierBand& band, CpuStorage& workspace) const {
    for_each_block(band, workspace,
                   [&](const RingBlock& block, std::int64_t f, std::int64_t i, std::int64_t c) {
                       fold_modes(block, band, f);
                       transform(block);
                       subtract_from_rings<T>(block, map[i][c]);
                       transform(block);
                       unfold_modes(block, band, f);
                   });
}

template <class T>
void CpuStages::adjoint_rings(View<const T, 3> map, bool weighted, const FourierBand& band,
                              CpuStorage& workspace) const {
    for_each_block(band, workspace,
                   [&](const RingBlock& block, std::int64_t f, std::int64_t i, std::int64_t c) {
                       read_rings<T>(block, map[i][c], weighted);
                       transform(block);
                       unfold_modes(block, band, f);
                   });
}

template <class T>
void CpuStages::adjoint_orders(std::span<const FourierBand> bands, View<std::complex<T>, 3> alm,
                               OrderNumbers orders, CpuStorage& workspace, bool add) const {
    const std::int64_t components = table_.components;
    if (add) orders.end = end_of_reaching(bands.back(), orders);
    const std::int64_t n_orders = orders.end - orders.first;
    const int threads = threads_for_orders(n_orders, bands[0].n_fields);
    in_parallel(n_orders, threads, [&](std::int64_t task, int thread) {
        const std::int64_t number = orders.first + task, m = table_.layout.order(number);
        auto& scratch = *workspace.threads[thread];
        const std::int64_t length = options_.lmax - m + 1;
        ask_for_rows<std::complex<T>>(alm, m, scratch.legendre);
        scratch.legendre.next_order = resampling_ ? -1 : order_after(number, threads, orders.end);
        bool add_to_alm = add;
        for (const FourierBand& band : bands) {
            if (add_to_alm && !reaches(band, m)) continue;
            scratch.row.resize(band.n_fields * length);
            const AlmRow row{scratch.row.data(), length, band.n_fields};
            if (resampling_) {
                const FourierBand modes = resampling_->band_of(m, band.n_fields, scratch.resampling);
                timed(scratch.resampling.seconds,
                      [&] { resampling_->adjoint(m, band, modes, scratch.resampling); });
                legendre_adjoint({table_, resampling_->pairs(), m, modes, scratch.legendre}, row);
            } else {
                legendre_adjoint({table_, pairs_, m, band, scratch.legendre}, row);
            }
            for (std::int64_t f = 0; f < band.n_fields; ++f) {
                const std::int64_t c = alm_component(options_.parts, f % components);
                if (c >= 0)
                    store_row<T>(row.field(f), table_.layout.index(m, m), length, add_to_alm,
                                 alm[f / components][c]);
            }
            add_to_alm = true;
        }
    });
    account_resampling(workspace, threads);
}

void CpuStages::integrate_orders(const FourierBand& band, OrderNumbers orders, double scale,
                                 CpuStorage& workspace) const {
    const std::int64_t n_orders = orders.end - orders.first;
    const auto order = [&](std::int64_t number) {
        return number >= orders.first && number < orders.end ? table_.layout.order(number) : -1;
    };
    const double work = integral_->work() * static_cast<double>(n_orders * band.n_fields) / 2;
    in_parallel(n_orders, threads_for(work), [&](std::int64_t task, int thread) {
        // 2 k and 2 k + 1 share a transform, whoever has them, so that they are rounded alike.
        const std::int64_t number = orders.first + task, m = order(number);
        if (m % 2 == 1 && order(number - 1) == m - 1) return;
        const std::int64_t other = m % 2 == 0 && order(number + 1) == m + 1 ? m + 1 : -1;
        for (std::int64_t f = 0; f < band.n_fields; ++f)
            integral_->apply(m, other, band, f, scale, workspace.threads[thread]->meridian);
    });
}

void CpuStages::clear_unreached(const FourierBand& band, OrderNumbers orders) const {
    for (std::int64_t block = band.first; block < band.end; ++block)
        for (std::int64_t number = orders.first; number < orders.end; ++number) {
            const std::int64_t m = table_.layout.order(number);
            if (m > pairs_.last_m[block]) std::fill_n(band.at(block, m), band.n_fields * fourier_block, 0.0);
        }
}

template void CpuStages::synthesize_orders(View<const std::complex<float>, 3>, OrderNumbers,
                                           const FourierBand&, CpuStorage&) const;
template void CpuStages::synthesize_rings(const FourierBand&, View<float, 3>, CpuStorage&) const;
template void CpuStages::residual_rings(View<const float, 3>, const FourierBand&, CpuStorage&) const;
template void CpuStages::adjoint_rings(View<const float, 3>, bool, const FourierBand&, CpuStorage&) const;
template void CpuStages::adjoint_orders(std::span<const FourierBand>, View<std::complex<float>, 3>,
                                        OrderNumbers, CpuStorage&, bool) const;
template void CpuStages::synthesize_orders(View<const std::complex<double>, 3>, OrderNumbers,
                                           const FourierBand&, CpuStorage&) const;
template void CpuStages::synthesize_rings(const FourierBand&, View<double, 3>, CpuStorage&) const;
template void CpuStages::residual_rings(View<const double, 3>, const FourierBand&, CpuStorage&) const;
template void CpuStages::adjoint_rings(View<const double, 3>, bool, const FourierBand&, CpuStorage&) const;
template void CpuStages::adjoint_orders(std::span<const FourierBand>, View<std::complex<double>, 3>,
                                        OrderNumbers, CpuStorage&, bool) const;

}  // namespace zonal::sht
