#include "sht/cuda_bands.cuh"

#include <algorithm>

#include "sht/analysis/field_arithmetic.hpp"
#include "sht/analysis/field_memory.hpp"
#include "sht/cuda_storage.cuh"
#include "sht/progress_part.hpp"
#include "sht/rings/ring_pairs.hpp"
#include "sht/transform_by_type.hpp"
#include "zonal/error.hpp"

namespace zonal::sht::cuda {
namespace {

constexpr std::int64_t most_bands = 64;

/// Rings from the poles to the equator in bands of about equal numbers of Fourier coefficients; pairs stay
/// together.
std::vector<Grid> bands_of(const Grid& grid, const ShtOptions& options, std::int64_t n_bands) {
    const RingPairs rings(grid, options.lmax, options.mmax, options.spin);
    const auto n_orders = [&](std::int64_t pair) {
        return static_cast<double>(rings.last_m[pair / block_size] + 1);
    };
    double total = 0, done = 0;
    for (std::int64_t p = 0; p < rings.n_pairs(); ++p) total += n_orders(p);
    std::vector<Grid> bands;
    std::vector<std::int64_t> band;
    for (std::int64_t p = 0; p < rings.n_pairs(); ++p) {
        for (const std::int64_t ring : {rings.pairs[p].north, rings.pairs[p].south})
            if (ring >= 0) band.push_back(ring);
        done += n_orders(p);
        const double share = static_cast<double>(bands.size() + 1) / static_cast<double>(n_bands);
        if (done < share * total && p + 1 < rings.n_pairs()) continue;
        bands.push_back(grid.subset(band));
        band.clear();
    }
    return bands;
}

class BandedTransform final : public CopyingTransformByType<BandedTransform> {
  public:
    BandedTransform(const Grid& grid, const ShtOptions& options, std::int64_t n_bands,
                    const MakeTransform& make)
        : grid_(grid),
          options_(options),
          layout_(options.lmax, options.mmax),
          keeps_other_pixels_(grid.has_other_pixels()) {
        for (const Grid& band : bands_of(grid, options, n_bands)) bands_.push_back(make(band));
    }

    std::unique_ptr<ShtWorkspace::Storage> make_workspace(std::int64_t) const override {
        auto storage = bands_.front()->make_workspace(1);
        prepare(*storage);
        return storage;
    }
    void prepare(ShtWorkspace::Storage& workspace) const override {
        for (const auto& band : bands_) band->prepare(workspace);
        workspace.reserve(ScratchArray::band_part, part_bytes());
    }
    /// The arrays of one band, and the part of a_lm that its rings give.
    std::int64_t workspace_bytes() const override {
        std::int64_t most = 0;
        for (const auto& band : bands_) most = std::max(most, band->workspace_bytes());
        return most + part_bytes();
    }
    double legendre_flops() const override {
        double sum = 0;
        for (const auto& band : bands_) sum += band->legendre_flops();
        return sum;
    }

  private:
    friend class CopyingTransformByType<BandedTransform>;

    /// Bytes of the a_lm that a band gives.
    std::int64_t part_bytes() const {
        const std::int64_t components = options_.spin > 0 && options_.parts == SpinParts::both ? 2 : 1;
        return components * layout_.size() * static_cast<std::int64_t>(sizeof(std::complex<double>));
    }
    /// Adds up what the stages of several calls took.
    class Clock {
      public:
        explicit Clock(ShtWorkspace::Storage& storage) : storage_(storage) {}
        ~Clock() { storage_.seconds = sum_; }
        void add() {
            storage_.read_clock();
            sum_.legendre += storage_.seconds.legendre;
            sum_.resampling += storage_.seconds.resampling;
            sum_.rings += storage_.seconds.rings;
        }

      private:
        ShtWorkspace::Storage& storage_;
        ShtStageSeconds sum_;
    };

    /// work(band, progress) for all bands of element b of n.
    template <class Work>
    void for_each_band(std::int64_t b, std::int64_t n, const Progress& progress, Clock& clock,
                       const Work& work) const {
        const double end = static_cast<double>(n * bands_.size());
        for (std::size_t k = 0; k < bands_.size(); ++k) {
            const auto done = static_cast<double>(b * bands_.size() + k);
            work(k, part_of(progress, done / end, (done + 1) / end));
            clock.add();
        }
    }

    /// alm = the sum over the bands.
    template <class T>
    void adjoint_bands(View<const T, 3> map, View<std::complex<T>, 3> alm, bool weighted, std::size_t k,
                       ShtWorkspace::Storage& storage, const Progress& progress) const {
        if (k == 0) return bands_[k]->adjoint(map, alm, weighted, storage, progress);
        const auto part = scratch_array<std::complex<T>, 3>(storage, ScratchArray::band_part, alm.extents());
        bands_[k]->adjoint(map, part, weighted, storage, progress);
        make_cuda_alm_arithmetic<T>(layout_, storage)->add_scaled({1.0}, part, alm);
    }

    template <class T>
    void synthesize_maps(View<const std::complex<T>, 3> alm, View<T, 3> there, View<T, 3> map,
                         ShtWorkspace::Storage& storage, const Progress& progress) const {
        Clock clock(storage);
        for (std::int64_t b = 0; b < alm.extent(0); ++b) {
            const auto a = resident<std::complex<T>>(storage, ScratchArray::band_alm, alm.slice(b, 1));
            const auto target = map.slice(b, 1);
            const auto pixels = there.size() > 0
                                    ? there.slice(b, 1)
                                    : resident_target<T>(storage, ScratchArray::band_map, target);
            const bool is_copy = pixels.space() != target.space();
            if (is_copy && keeps_other_pixels_) copy_fields<T>(storage, target, pixels);
            for_each_band(b, alm.extent(0), progress, clock, [&](std::size_t k, const Progress& part) {
                bands_[k]->synthesize(a, pixels, storage, part);
            });
            if (is_copy) copy_fields<T>(storage, pixels, target);
        }
    }

    template <class T>
    void adjoint_maps(View<const T, 3> map, View<T, 3> there, View<std::complex<T>, 3> alm, bool weighted,
                      ShtWorkspace::Storage& storage, const Progress& progress) const {
        Clock clock(storage);
        for (std::int64_t b = 0; b < alm.extent(0); ++b) {
            if (there.size() > 0) copy_fields<T>(storage, map.slice(b, 1), there.slice(b, 1));
            const auto pixels = there.size() > 0
                                    ? View<const T, 3>(there.slice(b, 1))
                                    : resident<T>(storage, ScratchArray::band_map, map.slice(b, 1));
            const auto target = alm.slice(b, 1);
            const auto a = resident_target<std::complex<T>>(storage, ScratchArray::band_alm, target);
            for_each_band(b, alm.extent(0), progress, clock, [&](std::size_t k, const Progress& part) {
                adjoint_bands<T>(pixels, a, weighted, k, storage, part);
            });
            if (a.space() != target.space()) copy_fields<std::complex<T>>(storage, a, target);
        }
        wait(storage);
    }

    template <class T>
    void project_maps(View<const std::complex<T>, 3> alm, View<const T, 3> map,
                      View<std::complex<T>, 3> update, ShtWorkspace::Storage& storage,
                      const Progress& progress) const {
        const PixelWeights none;
        const auto pixels = make_cuda_map_arithmetic<T>(grid_, none, storage);
        for (std::int64_t b = 0; b < alm.extent(0); ++b) {
            const double n = static_cast<double>(alm.extent(0)), done = static_cast<double>(b);
            const auto residual =
                scratch_array<T, 3>(storage, ScratchArray::band_map, {1, map.extent(1), map.extent(2)});
            synthesize_maps<T>(alm.slice(b, 1), {}, residual, storage,
                               part_of(progress, done / n, (done + 0.5) / n));
            // Subtracted where the transforms work; a map of the host's comes by way of the analysis' copy.
            const auto there = resident<T>(storage, ScratchArray::map, map.slice(b, 1));
            pixels->subtract_from(there, residual);
            adjoint_maps<T>(residual, {}, update.slice(b, 1), true, storage,
                            part_of(progress, (done + 0.5) / n, (done + 1) / n));
        }
    }

    /// Calls with the workspace's own stream return when all is done.
    static void wait(ShtWorkspace::Storage& storage) {
        const auto& cuda = dynamic_cast<CudaStorage&>(storage);
        if (!cuda.has_caller) core::check_cuda(cudaStreamSynchronize(cuda.stream()), "transform");
    }

    const Grid grid_;
    const ShtOptions options_;
    const AlmLayout layout_;
    const bool keeps_other_pixels_;
    std::vector<std::unique_ptr<const Transform>> bands_;
};

/// What a call's scratch memory may take.
std::int64_t memory_limit(const Grid& grid, const ShtOptions& options) {
    if (options.max_workspace_bytes > 0) return options.max_workspace_bytes;
    std::size_t free = 0, total = 0;
    core::check_cuda(cudaMemGetInfo(&free, &total), "asking for the free memory");
    const std::int64_t components = options.spin == 0 ? 1 : 2;
    const std::int64_t copies =
        2 * 8 * components * (grid.n_pixels() + 2 * AlmLayout(options.lmax, options.mmax).size());
    return static_cast<std::int64_t>(free) - copies;
}

}  // namespace

std::unique_ptr<const Transform> within_memory(const Grid& grid, const ShtOptions& options,
                                               const MakeTransform& make) {
    auto transform = make(grid);
    const std::int64_t limit = memory_limit(grid, options);
    for (std::int64_t n_bands = 2;
         transform->workspace_bytes() > limit && n_bands <= std::min(most_bands, grid.n_rings());
         n_bands *= 2) {
        transform.reset();
        transform = std::make_unique<const BandedTransform>(grid, options, n_bands, make);
    }
    if (options.max_workspace_bytes > 0 && transform->workspace_bytes() > limit)
        throw InvalidArgument(
            "max_workspace_bytes", limit,
            "must be at least " + std::to_string(transform->workspace_bytes()) + " for this transform");
    return transform;
}

}  // namespace zonal::sht::cuda
