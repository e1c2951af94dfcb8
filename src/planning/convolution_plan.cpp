#include "zonal/planning/convolution_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "planning/certificate/analysis_bounds.hpp"
#include "planning/certificate/map_certificate.hpp"
#include "planning/certificate/request_bounds.hpp"
#include "planning/pixel_sums.hpp"
#include "planning/request.hpp"
#include "sht/analysis/field_arithmetic.hpp"
#include "sht/array_checks.hpp"
#include "sht/progress_part.hpp"
#include "sky/sky_patch.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"
#include "zonal/planning/certificate.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal {
namespace {

using planning::as_pairs;
using planning::grid_out_of;
using planning::is_sum;
using sht::part_of;

SplitConvolutionOptions split_options(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                                      const std::shared_ptr<const SkyPart>& part) {
    SplitConvolutionOptions options;
    options.precision = choice.precision;
    options.accuracy = choice.accuracy;
    options.threads = request.threads;
    options.pixel_device = choice.device;
    options.harmonic_device = choice.harmonic_device;
    options.part = part;
    return options;
}

Beam beam_of(const ConvolutionRequest& request, std::int64_t lmax) {
    if (!request.polarization) return uniform_beam(request.kernel.window(lmax));
    const auto [gradient, curl] = request.polarization->windows(lmax);
    return {request.kernel.window(lmax), gradient, curl};
}

template <class T>
std::int64_t count_unseen(View<T, 1> row) {
    std::int64_t count = 0;
    for (std::int64_t pixel = 0; pixel < row.size(); ++pixel)
        count += is_unseen_value(static_cast<double>(row[pixel])) ? 1 : 0;
    return count;
}

/// Throws InvalidArgument for a pixel that is UNSEEN, NaN or infinite, which sums would spread over all that
/// the kernel reaches. Maps of ordinary numbers are read once, which costs a few hundredths of the shortest
/// sums.
template <class T>
void require_whole(const Grid& grid, View<const T, 2> maps, int threads) {
    constexpr auto ordinary = static_cast<T>(1e29);  // UNSEEN is -1.6e30
    constexpr std::int64_t block = 1 << 16;
    for (std::int64_t row = 0; row < maps.extent(0); ++row) {
        const T* values = maps[row].data();
        std::atomic<bool> is_ordinary = true;
        core::parallel_for((maps.extent(1) + block - 1) / block, threads, [&](std::int64_t task, int) {
            bool good = true;
            const auto end = std::min((task + 1) * block, maps.extent(1));
            for (auto pixel = task * block; pixel < end; ++pixel) good &= std::abs(values[pixel]) < ordinary;
            if (!good) is_ordinary = false;
        });
        if (is_ordinary) continue;
        const auto bad = count_bad_pixels(grid, maps[row], threads);
        const auto name = fmt::format("maps[{}]", row);
        require_finite(bad, name);
        if (bad.unseen > 0)
            throw InvalidArgument(
                name,
                fmt::format("{} {} UNSEEN, the first is pixel {}: give a mask, with which they count as 0",
                            bad.unseen, bad.unseen == 1 ? "pixel is" : "pixels are", bad.first_unseen));
    }
}

template <class T>
void require_dense(const char* name, View<T, 2> rows) {
    sht::check_contiguous(name, rows);
    if (rows.extent(0) > 1 && rows.stride(0) != rows.extent(1))
        throw InvalidArgument(name, fmt::format("rows are {} elements apart: must be {}, without gaps",
                                                rows.stride(0), rows.extent(1)));
}

}  // namespace

class ConvolutionPlan::Implementation {
  public:
    Implementation(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                   const ConvolutionOptions& options)
        : request_(completed(request, options)),
          choice_(choice),
          options_(options),
          expanded_(must_expand(options, choice) ? options.part : nullptr),
          part_(part_or_whole(expanded_ ? nullptr : options.part, request.grid)),
          part_out_(request.grid_out ? std::make_shared<const WholeSky>(*request.grid_out) : part_),
          bounds_(request_, options_),
          integral_(renormalizes() ? request_.kernel.window(0)[0] : 1) {
        check();
        if (choice.method == ConvolutionMethod::harmonic)
            plan_harmonic();
        else if (choice.method == ConvolutionMethod::split)
            plan_split();
        else
            sums_.emplace(request_, choice_, options_, *part_);
    }

    template <class T>
    ConvolutionResult convolve(View<const T, 2> maps, View<const T, 1> mask, bool may_be_masked,
                               View<T, 2> convolved, const Progress& progress) {
        if (!expanded_) return convolve_part(maps, mask, may_be_masked, convolved, progress);
        sht::check_extent("maps", maps, 1, "pixel", expanded_->grid().n_pixels());
        sht::check_extent("convolved", convolved, 1, "pixel", expanded_->grid().n_pixels());
        if (mask.size() > 0) sht::check_extent("mask", mask, 0, "pixel", expanded_->grid().n_pixels());
        const auto own = expanded_->pixels(), all = part_->pixels();
        auto in = on_pixels(maps, own, all, unseen_value);
        const auto whole_mask =
            on_pixels<T>({mask.data(), {mask.size() > 0 ? 1 : 0, mask.size()}}, own, all, 0);
        Array<T, 2> out(harmonic_ ? typename Array<T, 2>::Extents{} : in.extents());  // else in place
        const auto result = harmonic_ ? in.view() : out.view();
        auto done = convolve_part<T>(std::as_const(in).view(), {whole_mask.data(), {whole_mask.size()}}, true,
                                     result, progress);
        copy_pixels<T>(copies_between(all, own), result, convolved);
        return done;
    }

    double scratch_bytes(bool masked) const {
        const auto n_rows = request_.n_maps * n_components();
        const auto rows = [n_rows](const Grid& grid) {
            return static_cast<double>(n_rows * grid.n_pixels()) * sizeof(double);
        };
        double bytes = 0;
        if (expanded_)  // maps, mask and results of the whole sky
            bytes +=
                rows(grid()) * (harmonic_ ? 1 : 2) + static_cast<double>(grid().n_pixels()) * sizeof(double);
        if (harmonic_)
            return bytes + harmonic_->scratch_bytes(has_spin() ? 2 : request_.n_maps, masked || expanded_);
        bytes += 2 * rows(grid());  // what is known of the maps, and their product with that
        if (split_) return bytes + split_->scratch_bytes(request_.n_maps);
        if (spin_split_) return bytes + spin_split_->scratch_bytes(request_.n_maps);
        return bytes + sums_->scratch_bytes(n_rows);
    }

  private:
    /// Whether only the whole sky of a patch can be convolved in this way: by transforms.
    static bool must_expand(const ConvolutionOptions& options, const ConvolutionChoice& choice) {
        return options.part && options.part->patch() && !is_sum(choice.method);
    }

    template <class T>
    ConvolutionResult convolve_part(View<const T, 2> maps, View<const T, 1> mask, bool may_be_masked,
                                    View<T, 2> convolved, const Progress& progress) {
        const core::Stopwatch watch;
        part_->together(fmt::format("a convolution of {} rows", maps.extent(0)), [&] {
            check_shapes(maps, convolved);
            if (mask.size() > 0) {
                sht::check_host("mask", mask);
                sht::check_contiguous("mask", mask);
                sht::check_extent("mask", mask, 0, "pixel", grid().n_pixels());
            }
            if (!may_be_masked) require_whole(grid(), maps, core::resolve_threads(request_.threads));
        });
        ConvolutionResult result{choice_.method,    choice_.device,  choice_.harmonic_device,
                                 choice_.precision, choice_.support, choice_.l_cut,
                                 choice_.error};
        result.masked_pixels.resize(static_cast<std::size_t>(maps.extent(0)));
        result.unseen_pixels.resize(static_cast<std::size_t>(maps.extent(0)));
        const core::Stopwatch measuring;
        // Quotients by a smoothed mask are those of a kernel whose integral is 1.
        scale_ = renormalizes() && (harmonic_ || is_partly_known(may_be_masked)) ? integral_ : 1;
        rms_in_ = planning::rms_of_input<T>(*part_, static_cast<int>(n_components()), options_, maps, mask,
                                            request_.threads);
        for (double& rms : rms_in_) rms *= std::abs(scale_);
        result.certificate_seconds = measuring.seconds();
        if (sizeof(T) == sizeof(double) || (sums_ && choice_.precision == Precision::float32))
            carry_out<T>(maps, mask, may_be_masked, convolved, progress, result);
        else
            carry_out_in_double<T>(maps, mask, may_be_masked, convolved, progress, result);
        const core::Stopwatch certifying;
        certify<T>(convolved, result);
        result.certificate_seconds += certifying.seconds();
        result.seconds = watch.seconds();
        return result;
    }

    /// The grids that the arrays have.
    const Grid& grid() const { return part_->grid(); }
    const Grid& grid_out() const { return part_out_->grid(); }
    std::int64_t n_components() const { return planning::n_components(request_); }
    bool has_spin() const { return request_.polarization.has_value(); }
    bool renormalizes() const { return options_.mask.mode == MaskMode::renormalize; }

    void check() const {
        sht::check_weights(grid(), options_.ring_weights, options_.pixel_weights);
        for (std::int64_t pixel = 0; pixel < options_.pixel_weights.size(); ++pixel)
            sht::check_weight("pixel_weights", pixel, options_.pixel_weights[pixel]);
        if (!choice_.excluded.empty())
            throw InvalidArgument("choice", "it was excluded: " + choice_.excluded);
        if (request_.grid_out && choice_.method != ConvolutionMethod::harmonic)
            throw InvalidArgument("grid_out",
                                  fmt::format("only with method = harmonic, not {}: sums over pixels have "
                                              "the pixels of the map",
                                              to_string(choice_.method)));
        if (choice_.method == ConvolutionMethod::split && !choice_.split)
            throw InvalidArgument("choice.split", "is empty: plan_convolution makes it");
        if (options_.keep_counts && (!is_sum(choice_.method) || has_spin()))
            throw InvalidArgument(
                "keep_counts",
                fmt::format(
                    "method = {}{}: only sums over pixels of spin 0 keep counts: pixel_sum or ring_fft",
                    to_string(choice_.method), has_spin() ? " of Q and U" : ""));
        if (renormalizes() && choice_.method == ConvolutionMethod::split)
            throw InvalidArgument("mask.mode", "renormalize",
                                  "a split's error is of whole maps: use another method");
        if (!(options_.mask.threshold > 0 && options_.mask.threshold <= 1))
            throw InvalidArgument("mask.threshold", options_.mask.threshold, "must be above 0 and at most 1");
    }

    template <class T>
    void check_shapes(View<const T, 2> maps, View<T, 2> convolved) const {
        const auto n_rows = request_.n_maps * n_components();
        sht::check_host("maps", maps);
        sht::check_host("convolved", convolved);
        require_dense("maps", maps);
        require_dense("convolved", convolved);
        sht::check_extent("maps", maps, 0, "row", n_rows);
        sht::check_extent("maps", maps, 1, "pixel", grid().n_pixels());
        sht::check_extent("convolved", convolved, 0, "row", n_rows);
        sht::check_extent("convolved", convolved, 1, "pixel", grid_out().n_pixels());
    }

    bool is_partly_known(bool may_be_masked) const {
        return may_be_masked || !options_.ring_weights.empty() || options_.pixel_weights.size() > 0;
    }

    template <class T>
    void carry_out(View<const T, 2> maps, View<const T, 1> mask, bool may_be_masked, View<T, 2> convolved,
                   const Progress& progress, ConvolutionResult& result) {
        if (harmonic_)
            convolve_harmonic(maps, mask, convolved, progress, result);
        else if (is_partly_known(may_be_masked))
            convolve_known(maps, mask, convolved, progress, result);
        else
            result.parts = convolve_whole(maps, convolved, progress);
        if (scale_ == 1) return;
        core::for_pieces(convolved.size(), request_.threads, [&](std::int64_t first, std::int64_t last) {
            for (T* value = convolved.data() + first; value != convolved.data() + last; ++value)
                if (!is_unseen_value(static_cast<double>(*value))) *value *= static_cast<T>(scale_);
        });
    }

    /// Rounds to T once, at the end: rounded alm, or sums of some rings, may be larger than the result.
    template <class T>
    void carry_out_in_double(View<const T, 2> maps, View<const T, 1> mask, bool may_be_masked,
                             View<T, 2> convolved, const Progress& progress, ConvolutionResult& result) {
        Array<double, 2> in, out;
        Array<double, 1> known;
        part_->together("maps in double precision", [&] {
            in = Array<double, 2>(maps.extents());
            out = Array<double, 2>(convolved.extents());
            known = Array<double, 1>(mask.extents());
        });
        std::copy_n(maps.data(), maps.size(), in.data());
        std::copy_n(mask.data(), mask.size(), known.data());
        std::copy_n(convolved.data(), convolved.size(), out.data());  // pixels in no ring stay as they are
        carry_out<double>(std::as_const(in).view(), std::as_const(known).view(), may_be_masked, out.view(),
                          progress, result);
        std::transform(out.data(), out.data() + out.size(), convolved.data(),
                       [](double value) { return static_cast<T>(value); });
    }

    void plan_split() {
        const auto options = split_options(request_, choice_, part_);
        if (has_spin())
            spin_split_.emplace(grid(), *choice_.split, options);
        else
            split_.emplace(grid(), *choice_.split, options);
    }

    void plan_harmonic() {
        SmoothingOptions options;
        options.lmax = bounds_.lmax_of(choice_);
        options.iterations = choice_.tolerance > 0 ? 0 : choice_.iterations;
        options.tolerance = choice_.tolerance;
        if (choice_.until_certified && !renormalizes()) {  // a quotient's rms is known at the end
            options.iterations = 0;
            options.tolerance = 0;
            options.is_enough = [this](const AnalysisReport& report, std::int64_t first_field,
                                       const std::vector<double>& power) {
                return is_certified(report, first_field, power);
            };
        }
        options.ring_weights = options_.ring_weights;
        options.pixel_weights = options_.pixel_weights;
        weight_ = planning::largest_weight(options_.ring_weights, options_.pixel_weights, *part_);
        options.mask_mode = options_.mask.mode;
        const auto windows = beam_of(request_, options.lmax);
        options.mask_threshold = options_.mask.threshold;
        if (renormalizes()) {
            options.mask_threshold *= std::abs(windows.temperature[0]);  // K(1)
            if (options.mask_threshold == 0)
                throw InvalidArgument("mask.mode", "renormalize",
                                      "the kernel's integral is 0: nothing to divide by");
        }
        options.fill_masked = options_.mask.fill_masked;
        options.threads = request_.threads;
        options.device = choice_.device;
        options.progress = [this](double done) { return !progress_ || progress_(done); };
        options.part = part_;
        harmonic_.emplace(grid(), has_spin() ? Fields::qu : Fields::scalars, windows, grid_out(), options);
    }

    template <class T>
    void convolve_harmonic(View<const T, 2> maps, View<const T, 1> mask, View<T, 2> convolved,
                           const Progress& progress, ConvolutionResult& result) {
        const std::int64_t at_once = has_spin() ? 2 : request_.n_maps;
        const auto n_rows = static_cast<double>(maps.extent(0));
        for (std::int64_t row = 0; row < maps.extent(0); row += at_once) {
            first_row_ = row;
            progress_ = part_of(progress, static_cast<double>(row) / n_rows,
                                static_cast<double>(row + at_once) / n_rows);
            const auto report =
                harmonic_->smooth<T>(maps.slice(row, at_once), mask, convolved.slice(row, at_once));
            std::copy(report.masked_pixels.begin(), report.masked_pixels.end(),
                      result.masked_pixels.begin() + row);
            std::copy(report.unseen_pixels.begin(), report.unseen_pixels.end(),
                      result.unseen_pixels.begin() + row);
            merge(report, result.analysis);
        }
        progress_ = {};
    }

    /// Says whether sums of squares of all maps are numbers, by which analyses tell how far they have come.
    bool have_squares() const {
        constexpr double least = 1e-130, most = 1e130;
        return std::all_of(rms_in_.begin(), rms_in_.end(),
                           [](double rms) { return rms == 0 || (rms > least && rms < most); });
    }

    /// Says whether an analysis that has come so far certifies the maps from this field on. power: sum |b_l
    /// a_lm|^2 of each. The result's rms is that of S B a, whose square is at least the smallest eigenvalue
    /// times that of B a.
    bool is_certified(const AnalysisReport& report, std::int64_t first_field,
                      const std::vector<double>& power) const {
        const auto lmax = bounds_.lmax_of(choice_);
        const double least = smallest_eigenvalue(grid_out_of(request_), lmax);
        const auto common = bounds_.of(choice_, report, weight_);
        const auto first = static_cast<std::size_t>((first_row_ + first_field) / n_components());
        if (!have_squares()) return false;
        for (std::size_t map = 0; map < power.size(); ++map) {
            const double rms_in = rms_in_[first + map],
                         rms_out = std::sqrt(least * power[map] / (4 * core::pi));
            const auto bound = bound_of_map(common, report, map, rms_in);
            if (!(certified_error(bound, rms_in, rms_out) <= request_.error)) return false;
        }
        return true;
    }

    /// Returns the bound of one of the report's maps, of which `bound` is what all have in common. The power
    /// of its residual and the window bound it more closely, which has not been measured with other weights.
    /// The rounding of the output counts, too.
    ErrorBound bound_of_map(ErrorBound bound, const AnalysisReport& report, std::size_t map,
                            double rms_in) const {
        const auto n = static_cast<std::size_t>(n_components());
        const bool is_known = report.power.size() >= (map + 1) * n && have_squares() && rms_in > 0 &&
                              !renormalizes() && options_.ring_weights.empty() &&
                              options_.pixel_weights.size() == 0;
        if (is_known) {
            const auto begin = report.power.begin() + static_cast<std::ptrdiff_t>(map * n);
            const std::vector<std::vector<double>> power(begin, begin + static_cast<std::ptrdiff_t>(n));
            bound.quadrature =
                std::min(bound.quadrature, planning::windowed_residual(request_.grid, grid_out_of(request_),
                                                                       bounds_.windows(), power, 1) /
                                               rms_in);
        }
        bound.of_output += options_.output_rounding;
        return bound;
    }

    /// By sums over pixels or a split, of maps without UNSEEN pixels.
    template <class T>
    SplitConvolutionSeconds convolve_whole(View<const T, 2> maps, View<T, 2> convolved,
                                           const Progress& progress) {
        if (split_) return split_->convolve<T>(maps, convolved, progress);
        if (spin_split_) return spin_split_->convolve<T>(as_pairs(maps), as_pairs(convolved), progress);
        sums_->convolve<T>(maps, convolved, progress);
        return {};
    }

    /// As convolve_whole, of the part of the maps that is known, by the rule for masks.
    template <class T>
    void convolve_known(View<const T, 2> maps, View<const T, 1> mask, View<T, 2> convolved,
                        const Progress& progress, ConvolutionResult& result) {
        const auto n_outside = part_->patch() ? part_->patch()->n_outside() : 0;
        Array<T, 2> known(maps.extents());
        part_->together("a mask",
                        [&] { find_known<T>(maps, mask, has_spin(), known.view(), request_.threads); });
        for (std::int64_t row = 0; row < maps.extent(0); ++row) {
            const auto values = known.view()[row];
            const auto masked =
                n_outside + part_->sum(std::count(values.data(), values.data() + values.size(), T(0)));
            if (masked > 0 && options_.mask.mode == MaskMode::error)
                throw InvalidArgument(
                    "maps", fmt::format("row {}: {} pixels are UNSEEN or masked: mask mode error allows none",
                                        row, masked));
            result.masked_pixels[static_cast<std::size_t>(row)] = masked;
            if (mask.size() > 0) require_known(static_cast<double>(request_.grid.n_pixels() - masked));
        }
        const auto shares = std::as_const(known).view();
        Array<T, 2> product(maps.extents());
        std::copy_n(maps.data(), maps.size(), product.data());
        multiply_by_known<T>(shares, product.view(), request_.threads);
        multiply_by_weights(product.view());
        result.parts = convolve_whole<T>(std::as_const(product).view(), convolved,
                                         part_of(progress, 0, renormalizes() ? 0.5 : 1));
        if (renormalizes()) sums_->divide_by_shares<T>(shares, convolved, part_of(progress, 0.5, 1));
        for (std::int64_t row = 0; row < maps.extent(0); ++row) {
            if (!options_.mask.fill_masked) hide(shares[row], convolved[row]);
            result.unseen_pixels[static_cast<std::size_t>(row)] =
                n_outside + part_->sum(count_unseen(convolved[row]));
        }
    }

    /// Bounds are found with the first maps: those of sums are of all maps.
    template <class T>
    void certify(View<T, 2> convolved, ConvolutionResult& result) {
        if (!harmonic_ && !bound_) bound_ = bounds_.of(choice_);
        auto common = harmonic_ ? bounds_.of(choice_, result.analysis, weight_) : *bound_;
        const bool is_continuous = request_.reference == ConvolutionReference::continuous;
        if (harmonic_ && is_continuous && !have_squares())
            common.quadrature = std::numeric_limits<double>::infinity();
        for (std::size_t map = 0; map < rms_in_.size(); ++map) {
            const auto rows =
                convolved.slice(static_cast<std::int64_t>(map) * n_components(), n_components());
            const auto one =
                planning::certificates_of<T>(bound_of_map(common, result.analysis, map, rms_in_[map]),
                                             {rms_in_[map]}, *part_out_, rows, request_.threads);
            result.certificates.insert(result.certificates.end(), one.begin(), one.end());
        }
    }

    template <class T>
    static void hide(View<const T, 1> known, View<T, 1> row) {
        for (std::int64_t pixel = 0; pixel < row.size(); ++pixel)
            if (known[pixel] == 0) row[pixel] = static_cast<T>(unseen_value);
    }

    template <class T>
    void multiply_by_weights(View<T, 2> maps) const {
        for (std::int64_t row = 0; row < maps.extent(0); ++row) {
            for (std::int64_t pixel = 0; pixel < options_.pixel_weights.size(); ++pixel)
                maps(row, pixel) *= static_cast<T>(options_.pixel_weights[pixel]);
            for (std::size_t r = 0; r < options_.ring_weights.size(); ++r) {
                const auto& ring = grid().rings()[r];
                for (auto pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel)
                    maps(row, pixel) *= static_cast<T>(options_.ring_weights[r]);
            }
        }
    }

    const ConvolutionRequest request_;
    const ConvolutionChoice choice_;
    const ConvolutionOptions options_;
    const std::shared_ptr<const SkyPart> expanded_;         ///< a patch whose whole sky is convolved
    const std::shared_ptr<const SkyPart> part_, part_out_;  ///< what the maps are, and the results
    const planning::RequestBounds bounds_;
    const double integral_;            ///< of the kernel that renormalizes
    double scale_ = 1;                 ///< by which results and rms of the present call are multiplied
    double weight_ = 1;                ///< the largest of an analysis
    std::vector<double> rms_in_;       ///< [map], of the present call
    std::int64_t first_row_ = 0;       ///< of the maps that are being analysed
    std::optional<ErrorBound> bound_;  ///< of sums and splits
    std::optional<planning::PixelSums> sums_;
    std::optional<SplitConvolutionPlan> split_;
    std::optional<PolarizationSplitConvolutionPlan> spin_split_;
    std::optional<SmoothingPlan> harmonic_;
    Progress progress_;  ///< of the transforms of this call
};

ConvolutionPlan::ConvolutionPlan(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                                 const ConvolutionOptions& options)
    : implementation_(std::make_unique<Implementation>(request, choice, options)) {}
ConvolutionPlan::~ConvolutionPlan() = default;
ConvolutionPlan::ConvolutionPlan(ConvolutionPlan&&) noexcept = default;
ConvolutionPlan& ConvolutionPlan::operator=(ConvolutionPlan&&) noexcept = default;

double ConvolutionPlan::scratch_bytes(bool masked) const {
    return implementation_->scratch_bytes(masked);
}

template <class T>
ConvolutionResult ConvolutionPlan::convolve(ConstView<T, 2> maps, ConstView<T, 1> mask, View<T, 2> convolved,
                                            const Progress& progress) {
    return implementation_->convolve<T>(maps, mask, true, convolved, progress);
}

template <class T>
ConvolutionResult ConvolutionPlan::convolve(ConstView<T, 2> maps, View<T, 2> convolved,
                                            const Progress& progress) {
    return implementation_->convolve<T>(maps, {}, false, convolved, progress);
}

template ConvolutionResult ConvolutionPlan::convolve(View<const float, 2>, View<const float, 1>,
                                                     View<float, 2>, const Progress&);
template ConvolutionResult ConvolutionPlan::convolve(View<const double, 2>, View<const double, 1>,
                                                     View<double, 2>, const Progress&);
template ConvolutionResult ConvolutionPlan::convolve(View<const float, 2>, View<float, 2>, const Progress&);
template ConvolutionResult ConvolutionPlan::convolve(View<const double, 2>, View<double, 2>, const Progress&);
}  // namespace zonal
