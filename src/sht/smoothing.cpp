#include "zonal/smoothing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/aligned.hpp"
#include "sht/array_checks.hpp"
#include "sht/progress_part.hpp"
#include "sht/smoothing_mask.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"

namespace zonal {
namespace {

/// Fields that are transformed together: a batch of scalars, or one pair Q, U.
struct Group {
    std::int64_t first;
    std::int64_t batch;
    std::int64_t components;  ///< of each element of the batch
    std::int64_t end() const { return first + batch * components; }
    int spin() const { return components == 2 ? 2 : 0; }
};

// As many maps at once as share one recurrence with gain, few enough that scratch memory stays a few maps.
constexpr std::int64_t most_scalars_at_once = 4;

std::vector<Group> make_groups(Fields fields, std::int64_t n) {
    if (fields == Fields::iqu) return {{0, 1, 1}, {1, 1, 2}};
    if (fields == Fields::qu) return {{0, 1, 2}};
    std::vector<Group> groups;
    for (std::int64_t first = 0; first < n; first += most_scalars_at_once)
        groups.push_back({first, std::min(most_scalars_at_once, n - first), 1});
    return groups;
}

std::string field_name(Fields fields, std::int64_t field) {
    if (fields == Fields::scalars) return fmt::format("map field {}", field);
    return fmt::format("map {}", (fields == Fields::iqu ? "IQU" : "QU")[field]);
}

/// Fields [first, first + count) as a batch [batch, components, pixel].
template <class T>
View<T, 3> as_batch(View<T, 2> fields, const Group& group) {
    return {&fields(group.first, 0),
            {group.batch, group.components, fields.extent(1)},
            {group.components * fields.stride(0), fields.stride(0), fields.stride(1)}};
}

template <class T>
class Smoother {
  public:
    Smoother(const Grid& grid, View<const T, 2> maps, Fields fields, View<const T, 1> mask, const Beam& beam,
             const Grid& grid_out, View<T, 2> smoothed, const SmoothingOptions& options)
        : grid_(grid),
          maps_(maps),
          fields_(fields),
          mask_(mask),
          beam_(beam),
          grid_out_(grid_out),
          smoothed_(smoothed),
          options_(options),
          nearest_(grid, grid_out) {
        report_.lmax = options.lmax == -1 ? default_smoothing_lmax(grid) : options.lmax;
        check_shapes();
        inspect_pixels();
    }

    SmoothingReport run() {
        const auto start = std::chrono::steady_clock::now();
        const auto groups = make_groups(fields_, maps_.extent(0));
        const auto n_groups = static_cast<double>(groups.size());
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const auto index = static_cast<double>(i);
            smooth_group(groups[i],
                         sht::part_of(options_.progress, index / n_groups, (index + 1) / n_groups));
        }
        for (std::int64_t field = 0; field < maps_.extent(0); ++field)
            report_.unseen_pixels.push_back(
                count_bad_pixels<T>(grid_out_, smoothed_[field], options_.threads).unseen);
        report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return report_;
    }

  private:
    void check_shapes() const {
        const auto n = maps_.extent(0);
        if ((fields_ == Fields::iqu && n != 3) || (fields_ == Fields::qu && n != 2))
            throw InvalidArgument(fmt::format("maps: axis 0 (field) has length {}: must be {}", n,
                                              fields_ == Fields::iqu ? "3 (I, Q, U)" : "2 (Q, U)"));
        sht::check_extent("maps", maps_, 1, "pixel", grid_.n_pixels());
        sht::check_host("maps", maps_);
        sht::check_extent("smoothed", smoothed_, 0, "field", n);
        sht::check_extent("smoothed", smoothed_, 1, "pixel", grid_out_.n_pixels());
        sht::check_host("smoothed", smoothed_);
        if (mask_.size() > 0) {
            sht::check_extent("mask", mask_, 0, "pixel", grid_.n_pixels());
            sht::check_host("mask", mask_);
        }
        if (!(options_.mask_threshold > 0))
            throw InvalidArgument(
                fmt::format("mask_threshold = {}: must be positive", options_.mask_threshold));
    }

    /// Counts bad and masked pixels of each field; throws where they are errors.
    void inspect_pixels() {
        for (std::int64_t field = 0; field < maps_.extent(0); ++field) {
            const auto bad = count_bad_pixels<T>(grid_, maps_[field], options_.threads);
            require_finite(bad, field_name(fields_, field));
            if (bad.unseen > 0 && options_.mask_mode == MaskMode::error)
                throw InvalidArgument(fmt::format(
                    "{}: {} pixels are UNSEEN, the first is pixel {}: mask mode error allows none",
                    field_name(fields_, field), bad.unseen, bad.first_unseen));
            report_.bad_pixels.push_back(bad);
        }
        report_.masked_pixels.resize(maps_.extent(0));
    }

    bool is_masked(const Group& group) const {
        return mask_.size() > 0 ||
               std::any_of(report_.bad_pixels.begin() + group.first, report_.bad_pixels.begin() + group.end(),
                           [](const BadPixels& bad) { return bad.unseen > 0; });
    }

    void smooth_group(const Group& group, const Progress& progress) {
        const auto maps = as_batch(maps_, group);
        const auto smoothed = as_batch(smoothed_, group);
        if (!is_masked(group)) return convolve(maps, smoothed, group.spin(), progress);

        Array<T, 3> kept({group.batch, 1, grid_.n_pixels()});
        Array<T, 3> product(maps.extents());
        for (std::int64_t b = 0; b < group.batch; ++b) {
            const auto share = sht::kept_share<T>(grid_, maps[b], mask_);
            std::copy(share.begin(), share.end(), &kept(b, 0, 0));
            count_masked(group, b, share.view());
            sht::multiply_by_share<T>(grid_, maps[b], share.view(), product.view()[b]);
        }
        const bool renormalize = options_.mask_mode == MaskMode::renormalize;
        convolve(std::as_const(product).view(), smoothed, group.spin(),
                 sht::part_of(progress, 0, renormalize ? 0.5 : 1));
        if (renormalize) divide_by_smoothed(kept, smoothed, sht::part_of(progress, 0.5, 1));
        if (options_.fill_masked) return;
        for (std::int64_t b = 0; b < group.batch; ++b)
            sht::restore_unseen<T>(grid_out_, nearest_, std::as_const(kept).view()[b][0], smoothed[b]);
    }

    void count_masked(const Group& group, std::int64_t b, View<const T, 1> kept) {
        std::int64_t masked = 0;
        for (const Ring& ring : grid_.rings())
            for (auto pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel)
                masked += kept[pixel] == 0 ? 1 : 0;
        if (masked > 0 && options_.mask_mode == MaskMode::error)
            throw InvalidArgument(
                fmt::format("mask: {} pixels are masked: mask mode error allows none", masked));
        for (std::int64_t c = 0; c < group.components; ++c)
            report_.masked_pixels[group.first + b * group.components + c] = masked;
    }

    void divide_by_smoothed(const Array<T, 3>& kept, View<T, 3> smoothed, const Progress& progress) {
        Array<T, 3> divisor({kept.extent(0), 1, grid_out_.n_pixels()});
        convolve(kept.view(), divisor.view(), 0, progress);
        for (std::int64_t b = 0; b < kept.extent(0); ++b)
            sht::divide_by_share<T>(grid_out_, std::as_const(divisor).view()[b][0], options_.mask_threshold,
                                    smoothed[b]);
    }

    /// Analysis, window, synthesis of [batch, component, pixel].
    void convolve(View<const T, 3> maps, View<T, 3> smoothed, int spin, const Progress& progress) {
        const ShtOptions sht{
            .lmax = report_.lmax, .spin = spin, .threads = options_.threads, .device = options_.device};
        const ShtPlan plan(grid_, sht);
        core::Scratch memory;
        const auto alm = core::scratch_view<std::complex<T>, 3>(
            memory, {maps.extent(0), plan.alm_components(), plan.layout().size()});
        const double transforms = 2 + 2 * options_.iterations;
        AnalysisOptions analysis{.iterations = options_.iterations,
                                 .tolerance = options_.tolerance,
                                 .max_iterations = options_.max_iterations,
                                 .ring_weights = options_.ring_weights,
                                 .pixel_weights = options_.pixel_weights,
                                 .progress = sht::part_of(progress, 0, 1 - 1 / transforms)};
        ShtWorkspace workspace = plan.make_workspace();
        merge(analyze<T>(plan, maps, alm, workspace, analysis));
        for (std::int64_t b = 0; b < maps.extent(0); ++b) apply_beam<T>(plan.layout(), beam_, alm[b]);
        const auto last = sht::part_of(progress, 1 - 1 / transforms, 1);
        if (&grid_ == &grid_out_) return plan.synthesize<T>(alm, smoothed, workspace, last);
        ShtPlan(grid_out_, sht).synthesize<T>(alm, smoothed, last);
    }

    void merge(const AnalysisReport& analysis) {
        report_.iterations = std::max(report_.iterations, analysis.iterations);
        report_.residual = std::max(report_.residual, analysis.residual);
        report_.converged = report_.converged && analysis.converged;
        report_.invertible = report_.invertible && analysis.invertible;
        if (report_.note.empty()) report_.note = analysis.note;
    }

    const Grid& grid_;
    View<const T, 2> maps_;
    Fields fields_;
    View<const T, 1> mask_;
    const Beam& beam_;
    const Grid& grid_out_;
    View<T, 2> smoothed_;
    const SmoothingOptions& options_;
    sht::NearestPixel nearest_;
    SmoothingReport report_;
};

}  // namespace

std::int64_t default_smoothing_lmax(const Grid& grid) {
    if (grid.name().starts_with("healpix")) return 3 * healpix::nside_of(grid.n_pixels()) - 1;
    std::int64_t longest = 0;
    for (const Ring& ring : grid.rings()) longest = std::max(longest, ring.n_pixels);
    return std::max<std::int64_t>(0, std::min(grid.n_rings() - 1, (longest - 1) / 2));
}

template <class T>
SmoothingReport smooth(const Grid& grid, View<const T, 2> maps, Fields fields, View<const T, 1> mask,
                       const Beam& beam, const Grid& grid_out, View<T, 2> smoothed,
                       const SmoothingOptions& options) {
    return Smoother<T>(grid, maps, fields, mask, beam, grid_out, smoothed, options).run();
}

#define ZONAL_INSTANTIATE(T)                                                                              \
    template SmoothingReport smooth(const Grid&, View<const T, 2>, Fields, View<const T, 1>, const Beam&, \
                                    const Grid&, View<T, 2>, const SmoothingOptions&);
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal
