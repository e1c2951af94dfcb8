// Fields of maps at other pixels and at points.
#include "sky/resampling/fields.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/interruption.hpp"
#include "core/parallel.hpp"
#include "points/sample_choice.hpp"
#include "sht/array_checks.hpp"
#include "sht/progress_part.hpp"
#include "sht/transform.hpp"
#include "sky/resampling/interpolation.hpp"
#include "sky/resampling/pixel_finder.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"
#include "zonal/sht.hpp"

namespace zonal {
namespace sky {
namespace {

using Complex = std::complex<double>;

/// rms(f - s) / rms(f) over the sphere, the largest of the maps; 0 where f is 0. [map, pixel].
double unresolved_share(const Grid& grid, View<const double, 2> f, View<const double, 2> s, int threads) {
    double largest = 0;
    Array<double, 2> sums({grid.n_rings(), 2});
    for (std::int64_t row = 0; row < f.extent(0); ++row) {
        const View<const double, 1> whole = f[row], made = s[row];
        core::parallel_for(grid.n_rings(), threads, [&](std::int64_t r, int) {
            const Ring& ring = grid.rings()[static_cast<std::size_t>(r)];
            double left = 0, all = 0;
            for (auto i = ring.first_pixel; i < ring.first_pixel + ring.n_pixels; ++i) {
                left += (whole[i] - made[i]) * (whole[i] - made[i]);
                all += whole[i] * whole[i];
            }
            sums(r, 0) = ring.weight * left;
            sums(r, 1) = ring.weight * all;
        });
        double left = 0, all = 0;
        for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
            left += sums(r, 0);
            all += sums(r, 1);
        }
        if (all > 0) largest = std::max(largest, std::sqrt(left / all));
    }
    return largest;
}

class Resampler {
  public:
    Resampler(const Grid& grid, View<const double, 2> maps, Fields fields, const Places& places,
              View<double, 2> resampled, const Slopes& slopes, const ResamplingOptions& options)
        : grid_(grid),
          maps_(maps),
          fields_(fields),
          places_(places),
          out_(resampled),
          slopes_(slopes),
          options_(options),
          threads_(core::resolve_threads(options.analysis.threads)),
          groups_(make_groups(fields, maps.extent(0))) {
        check();
        report_.lmax = lmax();
        layout_ = AlmLayout(report_.lmax);
        if (options.rotation) rotation_ = rotation_matrix(*options.rotation);
    }

    ResamplingReport run() {
        Array<Complex, 2> alm({maps_.extent(0), layout_.size()});
        report_.analysis = {};
        for (std::size_t i = 0; i < groups_.size(); ++i) analyze_group(i, alm);
        const bool to_points = places_.grid() == nullptr;
        const bool by_points = to_points || (options_.rotation && options_.way == RotationWay::points);
        if (options_.rotation && !by_points)
            rotate_alm<double>(layout_, *options_.rotation, alm.view(), {threads_, progress(0.6, 0.8)});
        if (by_points)
            interpolate(alm.view());
        else
            synthesize(alm.view());
        if (!options_.fill_masked) carry_unseen();
        return std::move(report_);
    }

  private:
    void check() const {
        if (options_.analysis.mask_mode == MaskMode::renormalize)
            throw InvalidArgument("mask_mode", "renormalize", "must be zero or error");
        points::check_named_error(options_.error);
        const std::int64_t rows = fields_ == Fields::iqu ? 3 : fields_ == Fields::qu ? 2 : maps_.extent(0);
        sht::check_extent("maps", maps_, 0, "field", rows);
        sht::check_extent("maps", maps_, 1, "pixel", grid_.n_pixels());
        sht::check_extent("resampled", out_, 0, "field", rows);
        sht::check_extent("resampled", out_, 1, places_.grid() != nullptr ? "pixel" : "point",
                          places_.n_values());
        sht::check_host("maps", maps_);
        sht::check_host("resampled", out_);
        sht::check_contiguous("maps", maps_);
        sht::check_contiguous("resampled", out_);
        for (std::int64_t row = 0; row < rows; ++row)
            require_finite(count_bad_pixels<double>(grid_, maps_[row], threads_), field_name(fields_, row));
    }

    std::int64_t lmax() const {
        const auto most = default_smoothing_lmax(grid_);
        auto chosen = options_.analysis.lmax;
        if (chosen < 0)
            chosen =
                places_.grid() == nullptr ? most : std::min(most, default_smoothing_lmax(*places_.grid()));
        if (chosen > most)
            throw InvalidArgument(
                "lmax", chosen,
                fmt::format("must be at most {}{} for the analysis of {}",
                            grid_.healpix_nside() > 0 ? "3*nside-1 = " : "", most, grid_.name()));
        if (fields_ != Fields::scalars && chosen < 2)
            throw InvalidArgument("lmax", chosen, "must be at least 2 for Q and U");
        return chosen;
    }

    Progress progress(double begin, double end) const {
        return sht::part_of(options_.analysis.progress, begin, end);
    }

    std::shared_ptr<const ShtPlan> plan_of(const Grid& grid, int spin) const {
        return kept_plan(
            grid,
            {.lmax = layout_.lmax(), .spin = spin, .threads = threads_, .device = options_.analysis.device});
    }

    /// [batch, components, element] of a group's rows.

    void analyze_group(std::size_t number, Array<Complex, 2>& alm) {
        const Group& group = groups_[number];
        const auto rows = maps_.slice(group.first, n_rows(group));
        Array<double, 2> map(rows.extents());
        for (std::int64_t row = 0; row < rows.extent(0); ++row)
            std::copy_n(rows[row].data(), rows.extent(1), map.view()[row].data());
        {
            Array<double, 2> known(rows.extents());
            find_known<double>(rows, {}, group.spin() > 0, known.view(), threads_);
            if (options_.analysis.mask_mode == MaskMode::error) require_known_in_full(group, known);
            multiply_by_known<double>(std::as_const(known).view(), map.view(), threads_);
        }
        const auto& how = options_.analysis;
        const double n = static_cast<double>(groups_.size()), at = static_cast<double>(number);
        const auto of_group = progress(0.6 * at / n, 0.6 * (at + 1) / n);
        const AnalysisOptions analysis{.iterations = how.tolerance > 0 ? 0 : how.iterations,
                                       .tolerance = how.tolerance,
                                       .max_iterations = how.max_iterations,
                                       .ring_weights = how.ring_weights,
                                       .pixel_weights = how.pixel_weights,
                                       .progress = of_group};
        const auto plan = plan_of(grid_, group.spin());
        const auto of_rows = alm.view().slice(group.first, n_rows(group));
        const View<const double, 2> analysed = std::as_const(map).view();
        // Not a kept one, which would still be there when points are sorted and sampled.
        ShtWorkspace workspace = plan->make_workspace(group.batch);
        auto report = zonal::analyze<double>(*plan, batch_of(analysed, group), batch_of(of_rows, group),
                                             workspace, analysis);
        if (std::isnan(report.unresolved)) {
            Array<double, 2> made(rows.extents());
            plan->synthesize<double>(batch_of(View<const Complex, 2>(of_rows), group),
                                     batch_of(made.view(), group), workspace);
            report.unresolved = unresolved_share(grid_, analysed, std::as_const(made).view(), threads_);
        }
        if (number == 0)
            report_.analysis = std::move(report);
        else
            merge(report, report_.analysis);
    }

    void require_known_in_full(const Group& group, const Array<double, 2>& known) const {
        for (std::int64_t row = 0; row < known.extent(0); ++row) {
            const auto first = known.data() + row * known.extent(1), last = first + known.extent(1);
            const auto bad = known.extent(1) - std::count(first, last, 1.0);
            if (bad > 0)
                throw InvalidArgument(
                    fmt::format("{}: {} pixels are UNSEEN, the first is pixel {} in ring order",
                                field_name(fields_, group.first + row), bad,
                                std::find_if(first, last, [](double x) { return x != 1; }) - first));
        }
    }

    void synthesize(View<const Complex, 2> alm) {
        for (std::size_t i = 0; i < groups_.size(); ++i) {
            const Group& group = groups_[i];
            const double n = static_cast<double>(groups_.size()), at = static_cast<double>(i);
            const auto rows = out_.slice(group.first, n_rows(group));
            plan_of(*places_.grid(), group.spin())
                ->synthesize<double>(batch_of(alm.slice(group.first, n_rows(group)), group),
                                     batch_of(rows, group),
                                     progress(0.8 + 0.2 * at / n, 0.8 + 0.2 * (at + 1) / n));
        }
    }

    void interpolate(View<const Complex, 2> alm) {
        const auto part = progress(0.6, 1);
        const EvaluationOptions how{.error = options_.error,
                                    .threads = threads_,
                                    .device = options_.analysis.device,
                                    .progress = part};
        const auto found = sky::interpolate(layout_, alm, fields_, places_, rotation_, how, out_, slopes_);
        report_.interpolated = true;
        report_.bound = found.bound;
        report_.mean_error = found.mean_error;
    }

    void carry_unseen() {
        const PixelFinder find(grid_);
        for (const Group& group : groups_)
            for (std::int64_t row = group.first; row < group.end(); row += group.components)
                carry_unseen(find, row, group.components);
    }

    /// Of rows that mask each other.
    void carry_unseen(const PixelFinder& find, std::int64_t row, std::int64_t count) {
        std::int64_t n_unseen = 0;
        for (auto r = row; r < row + count; ++r)
            n_unseen += count_bad_pixels<double>(grid_, maps_[r], threads_).unseen;
        if (n_unseen == 0) return;
        core::for_pieces(places_.n_places(), threads_, [&](std::int64_t begin, std::int64_t end) {
            const core::InterruptionPoll poll;
            places_.visit(begin, end,
                          [&](std::int64_t k, std::int64_t value, double c, double s, double t, double p) {
                              if (k % 4096 == 0) poll();
                              const auto from = come_from(rotation_, c, s, t, p);
                              const auto pixel = find(from.theta, from.phi);
                              bool any = false;
                              for (auto r = row; r < row + count; ++r)
                                  any |= is_unseen_value(maps_(r, pixel));
                              if (!any) return;
                              for (auto r = row; r < row + count; ++r) out_(r, value) = unseen_value;
                          });
        });
    }

    const Grid& grid_;
    const View<const double, 2> maps_;
    const Fields fields_;
    const Places& places_;
    const View<double, 2> out_;
    const Slopes slopes_;
    const ResamplingOptions& options_;
    const int threads_;
    const std::vector<Group> groups_;
    AlmLayout layout_{0};
    std::optional<RotationMatrix> rotation_;
    ResamplingReport report_;
};

}  // namespace

double bytes_of_field_analysis(const Grid& grid, std::int64_t n_fields, Fields fields, std::int64_t lmax,
                               const MapAnalysisOptions& how) {
    const AnalysisOptions analysis{.iterations = how.iterations,
                                   .tolerance = how.tolerance,
                                   .ring_weights = how.ring_weights,
                                   .pixel_weights = how.pixel_weights};
    double most = 0;
    for (const Group& group : make_groups(fields, n_fields)) {
        const double rows = 8 * static_cast<double>(n_rows(group)) * static_cast<double>(grid.n_pixels());
        const auto plan = kept_plan(
            grid, {.lmax = lmax, .spin = group.spin(), .threads = how.threads, .device = how.device});
        const double workspace = static_cast<double>(sht::host_workspace_bytes(*plan, group.batch));
        // Its copy, and beside that what is known of it, what the analysis takes, or its synthesis.
        most = std::max(
            most, rows + std::max(rows + workspace, zonal::bytes_of_analysis(*plan, group.batch, analysis)));
    }
    return most;
}

double bytes_of_resampling(const Grid& grid, std::int64_t n_fields, Fields fields, const Grid& to,
                           std::int64_t lmax, const ResamplingOptions& options) {
    const AlmLayout layout(lmax);
    const auto& how = options.analysis;
    double making = 0;
    if (options.rotation && options.way == RotationWay::points)
        making = bytes_of_evaluation(layout, fields, n_fields, to.n_pixels(),
                                     {.error = options.error, .threads = how.threads, .device = how.device},
                                     false);
    else
        for (const Group& group : make_groups(fields, n_fields))
            making = std::max(
                making, static_cast<double>(sht::host_workspace_bytes(*kept_plan(to, {.lmax = lmax,
                                                                                      .spin = group.spin(),
                                                                                      .threads = how.threads,
                                                                                      .device = how.device}),
                                                                      group.batch)));
    // The result is filled when the analysis and its copies are over.
    const double result = 8 * static_cast<double>(n_fields) * static_cast<double>(to.n_pixels());
    return 16 * static_cast<double>(n_fields * layout.size()) +
           std::max(bytes_of_field_analysis(grid, n_fields, fields, lmax, how), result + making);
}

}  // namespace sky

ResamplingReport resample(const Grid& grid, View<const double, 2> maps, Fields fields, const Grid& to,
                          View<double, 2> resampled, const ResamplingOptions& options) {
    const sky::Places places(to);
    return sky::Resampler(grid, maps, fields, places, resampled, {}, options).run();
}

ResamplingReport resample(const Grid& grid, View<const double, 2> maps, Fields fields,
                          View<const double, 1> theta, View<const double, 1> phi, View<double, 2> resampled,
                          const ResamplingOptions& options, View<double, 2> by_theta,
                          View<double, 2> by_phi) {
    const sky::Places places(theta, phi);
    const sky::Slopes slopes{by_theta, by_phi};
    sky::check_slopes(slopes, resampled);
    if (slopes.wanted() && options.rotation)
        throw InvalidArgument("rotation", "has no derivatives by theta and phi: leave one of them out");
    return sky::Resampler(grid, maps, fields, places, resampled, slopes, options).run();
}

}  // namespace zonal
