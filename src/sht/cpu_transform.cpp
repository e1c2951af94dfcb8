#include "sht/cpu_transform.hpp"

#include <algorithm>
#include <functional>

#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "core/subnormals.hpp"
#include "zonal/error.hpp"

namespace zonal::sht {
namespace {

/// Fourier coefficients of a band, in bytes. Larger bands make the orders' coefficients less often, smaller
/// ones stay nearer to the cache and cost fewer page faults; measured in docs/decisions/sht-cpu.md.
constexpr std::int64_t band_bytes = std::int64_t{96} << 20;

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

template <class T>
void write_rings(const RingBlock& block, View<T, 1> map) {
    for (std::int64_t j = 0; j < block_size; ++j) {
        const std::complex<double>* z = block.sequence[j];
        if (block.north[j] != nullptr) {
            T* out = map.data() + block.north[j]->first_pixel;
            for (std::int64_t k = 0; k < block.n_pixels[j]; ++k) out[k] = static_cast<T>(z[k].real());
        }
        if (block.south[j] != nullptr) {
            T* out = map.data() + block.south[j]->first_pixel;
            for (std::int64_t k = 0; k < block.n_pixels[j]; ++k) out[k] = static_cast<T>(z[k].imag());
        }
    }
}

template <class T>
void read_rings(const RingBlock& block, View<const T, 1> map, bool weighted) {
    for (std::int64_t j = 0; j < block_size; ++j) {
        auto* z = reinterpret_cast<double*>(block.sequence[j]);
        const Ring* rings[2] = {block.north[j], block.south[j]};
        for (int part = 0; part < 2; ++part) {
            if (rings[part] == nullptr) {
                for (std::int64_t k = 0; k < block.n_pixels[j]; ++k) z[2 * k + part] = 0;
                continue;
            }
            const double weight = weighted ? rings[part]->weight : 1;
            const T* in = map.data() + rings[part]->first_pixel;
            for (std::int64_t k = 0; k < block.n_pixels[j]; ++k) z[2 * k + part] = weight * in[k];
        }
    }
}

/// The sequences become W (map - what they were).
template <class T>
void subtract_from_rings(const RingBlock& block, View<const T, 1> map) {
    for (std::int64_t j = 0; j < block_size; ++j) {
        auto* z = reinterpret_cast<double*>(block.sequence[j]);
        const Ring* rings[2] = {block.north[j], block.south[j]};
        for (int part = 0; part < 2; ++part) {
            const double weight = rings[part] != nullptr ? rings[part]->weight : 0;
            const T* in = rings[part] != nullptr ? map.data() + rings[part]->first_pixel : nullptr;
            for (std::int64_t k = 0; k < block.n_pixels[j]; ++k)
                z[2 * k + part] = in != nullptr ? weight * (in[k] - z[2 * k + part]) : 0;
        }
    }
}

void for_each_sequence(const RingBlock& block, void (fft::ComplexFft::*transform)(std::complex<double>*)) {
    for (std::int64_t j = 0; j < block_size; ++j)
        if (block.n_pixels[j] > 0) (block.transform[j]->*transform)(block.sequence[j]);
}

}  // namespace

CpuTransform::CpuTransform(const Grid& grid, const ShtOptions& options)
    : grid_(grid),
      options_(options),
      table_(AlmLayout(options.lmax, options.mmax), options.spin),
      rings_(grid, options.lmax, options.mmax, options.spin) {}

std::vector<std::int64_t> CpuTransform::band_bounds(std::int64_t n_fields) const {
    std::vector<std::int64_t> bounds{0};
    std::int64_t bytes = 0;
    for (std::int64_t block = 0; block < rings_.n_blocks(); ++block) {
        const std::int64_t more = (rings_.last_m[block] + 1) * n_fields * fourier_block * 8;
        if (bytes > 0 && bytes + more > band_bytes * std::min<std::int64_t>(n_fields, 4)) {
            bounds.push_back(block);
            bytes = 0;
        }
        bytes += more;
    }
    bounds.push_back(rings_.n_blocks());
    return bounds;
}

std::int64_t CpuTransform::workspace_bytes() const {
    std::int64_t largest = 0;
    const auto bounds = band_bounds(table_.components);
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
        largest = std::max(largest, FourierBand(rings_, bounds[i], bounds[i + 1], table_.components).size());
    std::int64_t longest = 0;
    for (const Ring& ring : grid_.rings()) longest = std::max(longest, ring.n_pixels);
    // Per thread: rows, recurrence steps and sums of one order; a block's sequences and their transforms'
    // tables.
    const std::int64_t per_degree = 16 * 3 * table_.components + 8 * (2 + 4 * table_.components) + 32;
    const std::int64_t per_thread = (options_.lmax + 1) * per_degree + longest * (block_size + 6) * 16;
    return largest * 8 + options_.threads * per_thread;
}

double CpuTransform::legendre_flops() const {
    return rings_.legendre_flops(options_.lmax, table_.components);
}

std::unique_ptr<ShtWorkspace::Storage> CpuTransform::make_workspace(std::int64_t) const {
    auto storage = std::make_unique<CpuStorage>();
    fit(*storage);
    return storage;
}

void CpuTransform::fit(CpuStorage& workspace) const {
    while (static_cast<int>(workspace.threads.size()) < options_.threads)
        workspace.threads.push_back(std::make_unique<CpuStorage::Thread>());
}

CpuStorage& CpuTransform::storage_of(ShtWorkspace::Storage& workspace) const {
    auto* const storage = dynamic_cast<CpuStorage*>(&workspace);
    if (storage == nullptr) throw InvalidArgument("workspace: was made by a plan on another kind of device");
    fit(*storage);
    return *storage;
}

void CpuTransform::in_parallel(std::int64_t n_tasks,
                               const std::function<void(std::int64_t, int)>& body) const {
    core::parallel_for(n_tasks, options_.threads, [&](std::int64_t task, int thread) {
        const core::SubnormalsAsZero flush;  // the window of a wide beam takes alm through that range
        body(task, thread);
    });
}

template <class T>
void CpuTransform::synthesize_orders(View<const std::complex<T>, 3> alm, const FourierBand& band,
                                     CpuStorage& workspace) const {
    const std::int64_t components = table_.components;
    in_parallel(rings_.last_m[band.end - 1] + 1, [&](std::int64_t m, int thread) {
        auto& scratch = *workspace.threads[thread];
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
        legendre_synthesis({table_, rings_, m, band, scratch.legendre}, row);
    });
}

template <class T>
void CpuTransform::synthesize_rings(const FourierBand& band, View<T, 3> map, CpuStorage& workspace) const {
    in_parallel(band.end - band.first, [&](std::int64_t task, int thread) {
        const RingBlock block(grid_, rings_, band.first + task, workspace.threads[thread]->rings);
        for (std::int64_t f = 0; f < band.n_fields; ++f) {
            fold_modes(block, band.at(band.first + task, 0) + f * fourier_block,
                       band.n_fields * fourier_block);
            for_each_sequence(block, &fft::ComplexFft::backward);
            write_rings<T>(block, map[f / table_.components][f % table_.components]);
        }
    });
}

template <class T>
void CpuTransform::residual_rings(View<const T, 3> map, const FourierBand& band,
                                  CpuStorage& workspace) const {
    in_parallel(band.end - band.first, [&](std::int64_t task, int thread) {
        const RingBlock block(grid_, rings_, band.first + task, workspace.threads[thread]->rings);
        for (std::int64_t f = 0; f < band.n_fields; ++f) {
            double* const fourier = band.at(band.first + task, 0) + f * fourier_block;
            fold_modes(block, fourier, band.n_fields * fourier_block);
            for_each_sequence(block, &fft::ComplexFft::backward);
            subtract_from_rings<T>(block, map[f / table_.components][f % table_.components]);
            for_each_sequence(block, &fft::ComplexFft::forward);
            unfold_modes(block, fourier, band.n_fields * fourier_block);
        }
    });
}

template <class T>
void CpuTransform::adjoint_rings(View<const T, 3> map, bool weighted, const FourierBand& band,
                                 CpuStorage& workspace) const {
    in_parallel(band.end - band.first, [&](std::int64_t task, int thread) {
        const RingBlock block(grid_, rings_, band.first + task, workspace.threads[thread]->rings);
        for (std::int64_t f = 0; f < band.n_fields; ++f) {
            read_rings<T>(block, map[f / table_.components][f % table_.components], weighted);
            for_each_sequence(block, &fft::ComplexFft::forward);
            unfold_modes(block, band.at(band.first + task, 0) + f * fourier_block,
                         band.n_fields * fourier_block);
        }
    });
}

template <class T>
void CpuTransform::adjoint_orders(const FourierBand& band, View<std::complex<T>, 3> alm,
                                  CpuStorage& workspace) const {
    const std::int64_t components = table_.components;
    // The first band writes all orders, also those that no ring of it reaches; the others add.
    const bool add = band.first > 0;
    const std::int64_t n_orders = add ? rings_.last_m[band.end - 1] + 1 : options_.mmax + 1;
    in_parallel(n_orders, [&](std::int64_t m, int thread) {
        auto& scratch = *workspace.threads[thread];
        const std::int64_t length = options_.lmax - m + 1;
        scratch.row.resize(band.n_fields * length);
        const AlmRow row{scratch.row.data(), length, band.n_fields};
        // Likely this thread's next, as tasks are handed out in order.
        const std::int64_t next = m + options_.threads;
        scratch.legendre.next_order = next < n_orders ? next : -1;
        legendre_adjoint({table_, rings_, m, band, scratch.legendre}, row);
        for (std::int64_t f = 0; f < band.n_fields; ++f) {
            const std::int64_t c = alm_component(options_.parts, f % components);
            if (c >= 0)
                store_row<T>(row.field(f), table_.layout.index(m, m), length, add, alm[f / components][c]);
        }
    });
}

template <class Band>
void CpuTransform::for_each_band(std::int64_t n_maps, CpuStorage& workspace, const Progress& progress,
                                 const Band& work) const {
    workspace.seconds = {};
    Reporter reporter(progress, static_cast<double>(n_maps * rings_.n_blocks()));
    for (std::int64_t first = 0; first < n_maps; first += maps_per_pass()) {
        const std::int64_t maps = std::min(maps_per_pass(), n_maps - first);
        const auto bounds = band_bounds(maps * table_.components);
        for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
            FourierBand band(rings_, bounds[i], bounds[i + 1], maps * table_.components);
            band.data = workspace.fourier.reserve(band.size());
            work(band, first, maps);
            reporter.advance(static_cast<double>(maps * (band.end - band.first)));
        }
    }
}

template <class T>
void CpuTransform::synthesize_maps(View<const std::complex<T>, 3> alm, View<T, 3> map, CpuStorage& workspace,
                                   const Progress& progress) const {
    for_each_band(alm.extent(0), workspace, progress,
                  [&](const FourierBand& band, std::int64_t first, std::int64_t maps) {
                      timed(workspace.seconds.legendre,
                            [&] { synthesize_orders<T>(alm.slice(first, maps), band, workspace); });
                      timed(workspace.seconds.rings,
                            [&] { synthesize_rings<T>(band, map.slice(first, maps), workspace); });
                  });
}

template <class T>
void CpuTransform::adjoint_maps(View<const T, 3> map, View<std::complex<T>, 3> alm, bool weighted,
                                CpuStorage& workspace, const Progress& progress) const {
    for_each_band(alm.extent(0), workspace, progress,
                  [&](const FourierBand& band, std::int64_t first, std::int64_t maps) {
                      timed(workspace.seconds.rings,
                            [&] { adjoint_rings<T>(map.slice(first, maps), weighted, band, workspace); });
                      timed(workspace.seconds.legendre,
                            [&] { adjoint_orders<T>(band, alm.slice(first, maps), workspace); });
                  });
}

template <class T>
void CpuTransform::project_maps(View<const std::complex<T>, 3> alm, View<const T, 3> map,
                                View<std::complex<T>, 3> update, CpuStorage& workspace,
                                const Progress& progress) const {
    for_each_band(alm.extent(0), workspace, progress,
                  [&](const FourierBand& band, std::int64_t first, std::int64_t maps) {
                      timed(workspace.seconds.legendre,
                            [&] { synthesize_orders<T>(alm.slice(first, maps), band, workspace); });
                      timed(workspace.seconds.rings,
                            [&] { residual_rings<T>(map.slice(first, maps), band, workspace); });
                      timed(workspace.seconds.legendre,
                            [&] { adjoint_orders<T>(band, update.slice(first, maps), workspace); });
                  });
}

void CpuTransform::project_residual(View<const std::complex<float>, 3> alm, View<const float, 3> map,
                                    View<std::complex<float>, 3> update, ShtWorkspace::Storage& workspace,
                                    const Progress& progress) const {
    project_maps(alm, map, update, storage_of(workspace), progress);
}
void CpuTransform::project_residual(View<const std::complex<double>, 3> alm, View<const double, 3> map,
                                    View<std::complex<double>, 3> update, ShtWorkspace::Storage& workspace,
                                    const Progress& progress) const {
    project_maps(alm, map, update, storage_of(workspace), progress);
}

void CpuTransform::synthesize(View<const std::complex<float>, 3> alm, View<float, 3> map,
                              ShtWorkspace::Storage& workspace, const Progress& progress) const {
    synthesize_maps(alm, map, storage_of(workspace), progress);
}
void CpuTransform::synthesize(View<const std::complex<double>, 3> alm, View<double, 3> map,
                              ShtWorkspace::Storage& workspace, const Progress& progress) const {
    synthesize_maps(alm, map, storage_of(workspace), progress);
}
void CpuTransform::adjoint(View<const float, 3> map, View<std::complex<float>, 3> alm, bool weighted,
                           ShtWorkspace::Storage& workspace, const Progress& progress) const {
    adjoint_maps(map, alm, weighted, storage_of(workspace), progress);
}
void CpuTransform::adjoint(View<const double, 3> map, View<std::complex<double>, 3> alm, bool weighted,
                           ShtWorkspace::Storage& workspace, const Progress& progress) const {
    adjoint_maps(map, alm, weighted, storage_of(workspace), progress);
}

std::unique_ptr<const Transform> make_cpu_transform(const Grid& grid, const ShtOptions& options) {
    return std::make_unique<const CpuTransform>(grid, options);
}

}  // namespace zonal::sht
