#include "zonal/sky/smoothing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "sht/analysis/analysis_operator.hpp"
#include "sht/analysis/field_arithmetic.hpp"
#include "sht/analysis/field_memory.hpp"
#include "sht/analysis/nearest_pixel.hpp"
#include "sht/array_checks.hpp"
#include "sht/progress_part.hpp"
#include "sky/sky_part.hpp"
#include "sky/smoothing_groups.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

const struct {
    sht::ScratchArray fields, smoothed, field_alm, mask, kept, product, divisor;
} smoothing_arrays{};

}  // namespace

class SmoothingPlan::Implementation {
  public:
    Implementation(const Grid& grid, Fields fields, const Beam& beam, const Grid& grid_out,
                   const SmoothingOptions& options)
        : grid(grid),
          fields(fields),
          beam(beam),
          grid_out(grid_out),
          sky_out(grid_out),
          options(options),
          part(part_or_whole(options.part, grid)),
          lmax(options.lmax == -1 ? part->layout().lmax() : options.lmax),
          threads(core::resolve_threads(options.threads)),
          nearest(this->grid, this->grid_out),
          keeps_other_pixels(grid_out.has_other_pixels()) {
        if (!(options.mask_threshold > 0))
            throw InvalidArgument("mask_threshold", options.mask_threshold, "must be positive");
        for (const int spin : {0, 2}) {
            if (fields == (spin == 0 ? Fields::qu : Fields::scalars)) continue;
            analysis_plan(spin);
            synthesis_plan(spin);
        }
    }

    /// spin: 0 or 2.
    const ShtPlan& analysis_plan(int spin) { return plan_of(analysis_plans_[spin / 2], *part, spin); }
    const ShtPlan& synthesis_plan(int spin) {
        return nearest.same() ? analysis_plan(spin) : plan_of(synthesis_plans_[spin / 2], sky_out, spin);
    }
    /// Without a progress.
    AnalysisOptions analysis_options() const {
        return {.iterations = options.iterations,
                .tolerance = options.tolerance,
                .max_iterations = options.max_iterations,
                .ring_weights = options.ring_weights,
                .pixel_weights = options.pixel_weights,
                .any_degree = true};
    }
    ShtWorkspace& workspace() {
        if (!workspace_) workspace_.emplace(take_workspace(*plan_of_workspace()));
        return *workspace_;
    }
    ~Implementation() {
        if (workspace_) leave_workspace(*plan_of_workspace(), std::move(*workspace_));
    }
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;

    const Grid grid;
    const Fields fields;
    const Beam beam;
    const Grid grid_out;
    const WholeSky sky_out;  ///< where its pixels are others
    const SmoothingOptions options;
    const std::shared_ptr<const SkyPart> part;
    const std::int64_t lmax;
    const int threads;
    const sht::NearestPixel nearest;
    const bool keeps_other_pixels;  ///< of grid_out: pixels in no ring

  private:
    const std::shared_ptr<const ShtPlan>& plan_of_workspace() {
        const int spin = fields == Fields::scalars ? 0 : 2;
        analysis_plan(spin);
        return analysis_plans_[spin / 2];
    }
    const ShtPlan& plan_of(std::shared_ptr<const ShtPlan>& plan, const SkyPart& of, int spin) const {
        if (!plan)
            plan = of.transform(
                {.lmax = lmax, .spin = spin, .threads = options.threads, .device = options.device});
        return *plan;
    }
    std::shared_ptr<const ShtPlan> analysis_plans_[2], synthesis_plans_[2];
    std::optional<ShtWorkspace> workspace_;
};

namespace {

using sky::Group, sky::as_batch, sky::field_name, sky::make_groups, sky::most_scalars_at_once;

/// One smoothing. Arrays named `there` are where the transforms work.
template <class T>
class Smoother {
  public:
    Smoother(SmoothingPlan::Implementation& plan, View<const T, 2> maps, View<const T, 1> mask,
             View<T, 2> smoothed)
        : plan_(plan),
          options_(plan.options),
          workspace_(plan.workspace()),
          storage_(workspace_.storage()),
          maps_(maps),
          mask_(mask),
          smoothed_(smoothed),
          groups_(make_groups(plan.fields, maps.extent(0))),
          pixels_(sht::make_map_arithmetic<T>(plan.grid, sht::PixelWeights{}, plan.threads, storage_)) {
        if (!plan.nearest.same())
            elsewhere_ =
                sht::make_map_arithmetic<T>(plan.grid_out, sht::PixelWeights{}, plan.threads, storage_);
        report_.lmax = plan.lmax;
        part().together("a smoothing", [&] {
            check_shapes();
            if (may_analyze_early()) analyze_early();
            inspect_pixels();
        });
        for (auto& bad : report_.bad_pixels) bad.unseen = part().sum(bad.unseen);
    }

    SmoothingReport run() {
        for (const Group& group : groups_)
            if (is_masked(group)) analyzed_ = {};  // of what is masked other fields are analysed
        const auto n_groups = static_cast<double>(groups_.size());
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            const auto index = static_cast<double>(i);
            smooth_group(groups_[i], sht::part_of(progress_, index / n_groups, (index + 1) / n_groups));
        }
        report_.seconds = watch_.seconds();
        return report_;
    }

  private:
    void check_shapes() const {
        const auto n = maps_.extent(0);
        const Fields fields = plan_.fields;
        if ((fields == Fields::iqu && n != 3) || (fields == Fields::qu && n != 2))
            throw InvalidArgument("maps", fmt::format("axis 0 (field) has length {}: must be {}", n,
                                                      fields == Fields::iqu ? "3 (I, Q, U)" : "2 (Q, U)"));
        sht::check_extent("maps", maps_, 1, "pixel", plan_.grid.n_pixels());
        sht::check_space("maps", maps_, space());
        sht::check_extent("smoothed", smoothed_, 0, "field", n);
        sht::check_extent("smoothed", smoothed_, 1, "pixel", plan_.grid_out.n_pixels());
        sht::check_space("smoothed", smoothed_, space());
        sht::check_contiguous("maps", maps_);
        sht::check_contiguous("smoothed", smoothed_);
        if (mask_.size() > 0) {
            sht::check_extent("mask", mask_, 0, "pixel", plan_.grid.n_pixels());
            sht::check_space("mask", mask_, space());
            if (mask_.space() != space()) sht::check_contiguous("mask", mask_);
        }
    }

    /// Whether the analysis can begin while the maps are on their way, before their pixels have been looked
    /// at: in vain where some turn out bad, which takes little more time than to look at them first.
    bool may_analyze_early() const {
        return maps_.space() != space() && part().has_all_pixels() && mask_.size() == 0 && has_few_fields() &&
               options_.iterations == 0 && options_.tolerance == 0 && !options_.is_enough &&
               options_.ring_weights.empty() && options_.pixel_weights.size() == 0;
    }
    void analyze_early() {
        copied_ = sht::scratch_array<T, 2>(storage_, smoothing_arrays.fields, maps_.extents());
        analyzed_ = alm_there(maps_.extent(0));
        const auto n_fields = static_cast<double>(maps_.extent(0));
        for (const Group& group : groups_) {
            const auto first = static_cast<double>(group.first), end = static_cast<double>(group.end());
            merge(sht::analyze_copied<T>(
                      plan_.analysis_plan(group.spin()), as_batch(maps_, group), as_batch(copied_, group),
                      as_batch(analyzed_, group), workspace_,
                      sht::part_of(options_.progress, first / n_fields / 2, end / n_fields / 2)),
                  report_);
        }
        progress_ = sht::part_of(options_.progress, 0.5, 1);
    }
    /// Room for the coefficients of n fields.
    View<std::complex<T>, 2> alm_there(std::int64_t n) {
        const std::int64_t size = AlmLayout(plan_.lmax, plan_.lmax).size();
        return sht::scratch_array<std::complex<T>, 2>(storage_, smoothing_arrays.field_alm, {n, size});
    }
    bool has_few_fields() const { return maps_.extent(0) <= most_scalars_at_once; }

    /// Counts bad and masked pixels of each field; throws where they are errors.
    void inspect_pixels() {
        for (const Group& group : groups_) {
            const auto there = maps_there(group);
            for (std::int64_t k = 0; k < group.end() - group.first; ++k) {
                const auto name = field_name(plan_.fields, group.first + k);
                auto bad = pixels_->count_bad(there[k / group.components][k % group.components]);
                for (auto* first : {&bad.first_nan, &bad.first_infinite, &bad.first_unseen})
                    if (*first >= 0) *first = part().whole_pixel(*first);
                require_finite(bad, name);
                if (bad.unseen > 0 && options_.mask_mode == MaskMode::error)
                    throw InvalidArgument(
                        name, fmt::format(
                                  "{} pixels are UNSEEN, the first is pixel {}: mask mode error allows none",
                                  bad.unseen, bad.first_unseen));
                report_.bad_pixels.push_back(bad);
            }
        }
        report_.masked_pixels.resize(maps_.extent(0));
        report_.unseen_pixels.resize(maps_.extent(0));
    }

    const SkyPart& part() const { return *plan_.part; }

    /// The fields of a group. Few fields are copied at once, many a group at a time.
    View<const T, 3> maps_there(const Group& group) {
        if (maps_.space() == space()) return as_batch(maps_, group);
        const bool few = has_few_fields();
        if (few && copied_.size() > 0) return as_batch(View<const T, 2>(copied_), group);
        const auto n_fields = few ? maps_.extent(0) : group.end() - group.first;
        const auto there =
            sht::scratch_array<T, 2>(storage_, smoothing_arrays.fields, {n_fields, maps_.extent(1)});
        const Group whole{0, n_fields, 1}, from{few ? 0 : group.first, n_fields, 1};
        sht::copy_fields<T>(storage_, as_batch(maps_, from), as_batch(there, whole));
        if (!few) return as_batch(View<const T, 2>(there), {0, group.batch, group.components});
        copied_ = there;
        return as_batch(View<const T, 2>(there), group);
    }

    View<const T, 1> mask_there() {
        if (mask_.size() == 0 || mask_.space() == space()) return mask_;
        const auto there = sht::scratch_array<T, 1>(storage_, smoothing_arrays.mask, {mask_.extent(0)});
        if (!mask_copied_)
            sht::copy_fields<T>(storage_,
                                View<const T, 3>(mask_.data(), {1, 1, mask_.extent(0)}, mask_.space()),
                                View<T, 3>(there.data(), {1, 1, mask_.extent(0)}, there.space()));
        mask_copied_ = true;
        return there;
    }

    bool is_masked(const Group& group) const {
        return mask_.size() > 0 ||
               std::any_of(report_.bad_pixels.begin() + group.first, report_.bad_pixels.begin() + group.end(),
                           [](const BadPixels& bad) { return bad.unseen > 0; });
    }

    void smooth_group(const Group& group, const Progress& progress) {
        const auto target = as_batch(smoothed_, group);
        const auto smoothed = sht::resident_target<T>(storage_, smoothing_arrays.smoothed, target);
        const bool masked = is_masked(group), is_copy = masked && smoothed.space() != target.space();
        if (is_copy && plan_.keeps_other_pixels) sht::copy_fields<T>(storage_, target, smoothed);
        if (masked)
            smooth_masked(group, maps_there(group), smoothed, progress);
        else if (analyzed_.size() > 0)
            synthesize(as_batch(analyzed_, group), smoothed, target, group.spin(), progress);
        else
            convolve(maps_there(group), smoothed, target, group, progress);
        for (std::int64_t k = 0; k < group.end() - group.first; ++k)
            report_.unseen_pixels[group.first + k] = part().sum(
                pixels_out().count_bad(smoothed[k / group.components][k % group.components]).unseen);
        if (is_copy) sht::copy_fields<T>(storage_, smoothed, target);
    }

    void smooth_masked(const Group& group, View<const T, 3> maps, View<T, 3> smoothed,
                       const Progress& progress) {
        const auto kept = sht::scratch_array<T, 3>(storage_, smoothing_arrays.kept,
                                                   {group.batch, 1, plan_.grid.n_pixels()});
        const auto product = sht::scratch_array<T, 3>(storage_, smoothing_arrays.product, maps.extents());
        for (std::int64_t b = 0; b < group.batch; ++b) {
            part().together("a mask", [&] { pixels_->keep_share(maps[b], mask_there(), kept[b][0]); });
            count_masked(group, b, kept[b][0]);
            pixels_->multiply_by_share(maps[b], kept[b][0], product[b]);
        }
        const bool renormalize = options_.mask_mode == MaskMode::renormalize;
        convolve(product, smoothed, smoothed, group, sht::part_of(progress, 0, renormalize ? 0.5 : 1));
        if (renormalize) divide_by_smoothed(kept, smoothed, sht::part_of(progress, 0.5, 1));
        if (options_.fill_masked) return;
        for (std::int64_t b = 0; b < group.batch; ++b)
            pixels_out().restore_unseen(plan_.nearest, kept[b][0], smoothed[b]);
    }

    void count_masked(const Group& group, std::int64_t b, View<const T, 1> kept) {
        const std::int64_t masked = part().sum(pixels_->count_zeros(kept));
        if (masked > 0 && options_.mask_mode == MaskMode::error)
            throw InvalidArgument("mask",
                                  fmt::format("{} pixels are masked: mask mode error allows none", masked));
        if (mask_.size() > 0) require_known(static_cast<double>(part().whole_grid().n_pixels() - masked));
        for (std::int64_t c = 0; c < group.components; ++c)
            report_.masked_pixels[group.first + b * group.components + c] = masked;
    }

    void divide_by_smoothed(View<const T, 3> kept, View<T, 3> smoothed, const Progress& progress) {
        const auto divisor = sht::scratch_array<T, 3>(storage_, smoothing_arrays.divisor,
                                                      {kept.extent(0), 1, plan_.grid_out.n_pixels()});
        convolve(kept, divisor, divisor, {0, kept.extent(0), 1}, progress);
        for (std::int64_t b = 0; b < kept.extent(0); ++b)
            pixels_out().divide_by_share(divisor[b][0], options_.mask_threshold, smoothed[b]);
    }

    /// Analysis, window, synthesis of [batch, component, pixel]. target: `smoothed` itself, or what becomes a
    /// copy of it elsewhere.
    void convolve(View<const T, 3> maps, View<T, 3> smoothed, View<T, 3> target, const Group& group,
                  const Progress& progress) {
        const int spin = group.spin();
        const ShtPlan& plan = plan_.analysis_plan(spin);
        const auto alm = sht::scratch_array<std::complex<T>, 3>(
            storage_, smoothing_arrays.field_alm,
            {maps.extent(0), plan.alm_components(), plan.layout().size()});
        const double transforms = 2 + 2 * options_.iterations;
        auto analysis = plan_.analysis_options();
        analysis.progress = sht::part_of(progress, 0, 1 - 1 / transforms);
        if (options_.is_enough) {
            analysis.power_by_degree = true;
            analysis.is_enough = [&](const AnalysisReport& report) {
                return options_.is_enough(report, group.first, power_of_result(plan, alm));
            };
        }
        merge(analyze<T>(plan, maps, alm, workspace_, analysis), report_);
        synthesize(alm, smoothed, target, spin, sht::part_of(progress, 1 - 1 / transforms, 1));
    }

    /// sum |b_l a_lm|^2 of each element of the batch.
    std::vector<double> power_of_result(const ShtPlan& plan, View<const std::complex<T>, 3> alm) {
        const auto powers =
            sht::make_alm_arithmetic<T>(plan.layout(), plan_.threads, storage_, &plan.transform())
                ->powers(alm);
        std::vector<double> sums(static_cast<std::size_t>(alm.extent(0)));
        for (std::size_t i = 0; i < powers.size(); ++i) {
            const auto n_components = static_cast<std::size_t>(alm.extent(1));
            const auto& window =
                sht::window_of(plan_.beam, alm.extent(1), static_cast<std::int64_t>(i % n_components));
            for (std::size_t l = 0; l < powers[i].size(); ++l)
                sums[i / n_components] += window[l] * window[l] * powers[i][l];
        }
        return sums;
    }

    /// Window, synthesis; alm is overwritten.
    void synthesize(View<std::complex<T>, 3> alm, View<T, 3> smoothed, View<T, 3> target, int spin,
                    const Progress& progress) {
        const ShtPlan &analysis = plan_.analysis_plan(spin), &plan = plan_.synthesis_plan(spin);
        sht::make_alm_arithmetic<T>(analysis.layout(), plan_.threads, storage_)->multiply(plan_.beam, alm);
        if (smoothed.space() == target.space())
            plan.synthesize<T>(alm, smoothed, workspace_, progress);
        else
            plan.transform().synthesize(View<const std::complex<T>, 3>(alm), smoothed, target, storage_,
                                        progress);
    }

    MemorySpace space() const { return storage_.space(); }
    sht::MapArithmetic<T>& pixels_out() { return elsewhere_ ? *elsewhere_ : *pixels_; }

    const core::Stopwatch watch_;
    SmoothingPlan::Implementation& plan_;
    const SmoothingOptions& options_;
    Progress progress_ = options_.progress;  ///< of what comes after an early analysis
    ShtWorkspace& workspace_;
    ShtWorkspace::Storage& storage_;
    View<const T, 2> maps_;
    View<const T, 1> mask_;
    View<T, 2> smoothed_;
    const std::vector<Group> groups_;
    const std::unique_ptr<sht::MapArithmetic<T>> pixels_;
    std::unique_ptr<sht::MapArithmetic<T>> elsewhere_;  ///< of grid_out, where it is another
    View<T, 2> copied_;                                 ///< all fields, if they were
    View<std::complex<T>, 2> analyzed_;                 ///< the same
    bool mask_copied_ = false;
    SmoothingReport report_;
};

}  // namespace

std::int64_t default_smoothing_lmax(const Grid& grid) {
    if (const auto nside = grid.healpix_nside_of_rings(); nside > 0) return 3 * nside - 1;
    if (const auto lmax = exact_lmax(grid); lmax >= 0) return lmax;
    std::int64_t longest = 0;
    for (const Ring& ring : grid.rings()) longest = std::max(longest, ring.n_pixels);
    return std::max<std::int64_t>(0, std::min(grid.n_rings() - 1, (longest - 1) / 2));
}

template <class T>
SmoothingReport smooth(const Grid& grid, ConstView<T, 2> maps, Fields fields, ConstView<T, 1> mask,
                       const Beam& beam, const Grid& grid_out, View<T, 2> smoothed,
                       const SmoothingOptions& options) {
    return SmoothingPlan(grid, fields, beam, grid_out, options).smooth<T>(maps, mask, smoothed);
}

SmoothingPlan::SmoothingPlan(const Grid& grid, Fields fields, const Beam& beam, const Grid& grid_out,
                             const SmoothingOptions& options)
    : implementation_(std::make_unique<Implementation>(grid, fields, beam, grid_out, options)) {}
SmoothingPlan::~SmoothingPlan() = default;
SmoothingPlan::SmoothingPlan(SmoothingPlan&&) noexcept = default;
SmoothingPlan& SmoothingPlan::operator=(SmoothingPlan&&) noexcept = default;

template <class T>
SmoothingReport SmoothingPlan::smooth(ConstView<T, 2> maps, ConstView<T, 1> mask, View<T, 2> smoothed) {
    return Smoother<T>(*implementation_, maps, mask, smoothed).run();
}

double SmoothingPlan::scratch_bytes(std::int64_t n_fields, bool masked) const {
    auto& plan = *implementation_;
    auto analysis = plan.analysis_options();
    if (plan.options.is_enough) analysis.is_enough = [](const AnalysisReport&) { return true; };
    double most = 0;
    for (const Group& group : make_groups(plan.fields, n_fields)) {
        const auto& transform = plan.analysis_plan(group.spin());
        if (transform.options().device.kind() == Device::Kind::cuda) continue;
        // Each product is the size of one of smoothing_arrays.
        const auto kept = group.batch * plan.grid.n_pixels(), product = group.components * kept,
                   alm = group.batch * transform.alm_components() * transform.layout().size();
        const bool renormalizes = plan.options.mask_mode == MaskMode::renormalize;
        const auto divisor = renormalizes ? group.batch * plan.grid_out.n_pixels() : 0;
        const auto bytes = 16 * alm + 8 * (masked ? kept + product + divisor : 0);
        most =
            std::max(most, static_cast<double>(bytes) + bytes_of_analysis(transform, group.batch, analysis));
    }
    return most;
}

#define ZONAL_INSTANTIATE(T)                                                                              \
    template SmoothingReport SmoothingPlan::smooth(View<const T, 2>, View<const T, 1>, View<T, 2>);       \
    template SmoothingReport smooth(const Grid&, View<const T, 2>, Fields, View<const T, 1>, const Beam&, \
                                    const Grid&, View<T, 2>, const SmoothingOptions&);
ZONAL_INSTANTIATE(float)
ZONAL_INSTANTIATE(double)
#undef ZONAL_INSTANTIATE

}  // namespace zonal
