#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "planning/maps/fields_smoothing.hpp"
#include "planning/request.hpp"
#include "sky/sky_part.hpp"
#include "zonal/angle.hpp"
#include "zonal/error.hpp"
#include "zonal/mask.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal::planning {
namespace {

using enum ConvolutionMethod;

/// Says whether the planner chooses how sums over pixels are done.
bool is_planned(const MapSmoothingOptions& options) {
    return options.method == automatic || options.method == split;
}

/// Returns why only harmonic space is possible, whatever the kernel's width; empty if other ways are, too.
std::string why_harmonic_only(const SkyMap& map, const MapKernel& kernel,
                              const MapSmoothingOptions& options) {
    if (map.polarized() && !kernel.has_window()) return "the kernel is of spin 0, and the map has Q and U";
    if (options.pixels_out) return "the result has other pixels";
    if (options.iterations || options.tolerance > 0)
        return "sums over pixels have no iterations and no tolerance";
    if (kernel.is_ratio()) return "windows of the input or of pixels are given";
    return "";
}

void check_lmax(const SkyMap& map, const MapSmoothingOptions& options) {
    const auto most = default_smoothing_lmax(map.whole_grid());
    if (options.lmax > most)
        throw InvalidArgument("lmax", options.lmax,
                              fmt::format("must be at most {} for {}", most, map.header().source));
    if (options.lmax >= 0 && options.lmax < 2 && map.polarized())
        throw InvalidArgument("lmax", options.lmax,
                              fmt::format("must be at least 2 for the Q and U of {}", map.header().source));
}

void check_cut(const MapSmoothingOptions& options) {
    if (!options.cut) return;
    checked_width("cut", *options.cut);
    if (!is_sum(options.method))
        throw InvalidArgument(
            "cut", fmt::format("not with method {}: only pixel-sum and ring-fft have a profile that may end "
                               "anywhere",
                               to_string(options.method)));
}

void check_analysis(const MapSmoothingOptions& options) {
    if (options.iterations && options.tolerance > 0)
        throw InvalidArgument("tolerance", options.tolerance, "must be 0 where iterations are given");
    const bool is_discrete = options.reference == ConvolutionReference::discrete;
    if (is_discrete && (options.iterations.value_or(0) > 0 || options.tolerance > 0))
        throw InvalidArgument("reference", "discrete",
                              "is the sum over the pixels, which has no iterations and no tolerance: must be "
                              "continuous");
    if (is_discrete && options.pixels_out)
        throw InvalidArgument(
            "reference", "discrete",
            "is the sum over the map's pixels, and the result has others: must be continuous");
}

void check_counts(const SkyMap& map, const MapSmoothingOptions& options, bool has_weights) {
    if (options.normalization != Normalization::pixel) return;
    if (map.polarized())
        throw InvalidArgument(
            "normalization", "pixel",
            fmt::format("is only for counts, which have spin 0, and {} has Q and U", map.header().source));
    if (options.method == harmonic || options.method == split)
        throw InvalidArgument("method", to_string(options.method),
                              "must be auto, pixel-sum or ring-fft: only sums over pixels keep counts");
    if (options.mask_rule.mode == MaskMode::renormalize)
        throw InvalidArgument("normalization", "pixel",
                              "not with mask_mode renormalize: must be window or none");
    if (has_weights)
        throw InvalidArgument("weights", "not with normalization pixel, whose sums weight pixels themselves");
}

void check_masks(const MapSmoothingOptions& options, bool has_weights) {
    if (options.mask_rule.mode != MaskMode::renormalize) return;
    if (has_weights && options.method != harmonic)
        throw InvalidArgument("weights",
                              "not with mask_mode renormalize, whose sums weight pixels themselves");
    if (options.method == split)
        throw InvalidArgument(
            "mask_mode", "renormalize",
            "not with method split, whose error is known for whole maps, not for quotients");
}

/// What a patch has no pixels for; other pixels of the result are refused before.
void check_patch(const SkyMap& map, const MapSmoothingOptions& options, bool has_weights) {
    if (map.is_patch() && (options.mask_rule.fill_masked || has_weights))
        throw InvalidArgument(
            has_weights ? "weights" : "fill_masked",
            fmt::format("not for a patch: {} must have memory for the whole sky (SkyMap::expand)",
                        map.header().source));
}

void check(const SkyMap& map, const MapKernel& kernel, const MapSmoothingOptions& options) {
    const auto n_kernels = std::ssize(kernel.kernels), n_rows = map.rows().extent(0);
    const bool has_weights = !options.ring_weights.empty() || options.pixel_weights.size() > 0;
    check_patch(map, options, has_weights);
    if (n_kernels > 1 && map.polarized())
        throw InvalidArgument(
            "kernels", n_kernels,
            fmt::format("must be one for {}, whose Q and U are convolved together", map.header().source));
    if (n_kernels > 1 && n_kernels != n_rows)
        throw InvalidArgument("kernels", n_kernels,
                              fmt::format("must be one, or one for each of the map's {} rows", n_rows));
    if (kernel.has_window() && !kernel.window.fwhm && !kernel.window.beam && !kernel.is_ratio())
        throw InvalidArgument("window", "nothing is given: needs a fwhm, a beam or a pixel window");
    const bool has_pixel_window = kernel.window.pixel_window_in || kernel.window.pixel_window_out;
    if (has_pixel_window && map.nside() == 0)
        throw InvalidArgument(
            "window", fmt::format("pixel windows are for HEALPix, and {} is not", map.header().source));
    if (options.error && !(*options.error > 0 && *options.error < 1))
        throw InvalidArgument("error", *options.error, "must be above 0 and below 1");
    const double error = options.error.value_or(usual_error);
    if (!is_plain(options) && !(error > options.output_rounding))
        throw InvalidArgument(
            "error", error,
            fmt::format("must be above {:.2g}, by which results in single precision are rounded: must "
                        "be larger, or the result in double precision",
                        options.output_rounding));
    if (options.theta_cut != 0) checked_width("theta_cut", options.theta_cut);
    if (options.theta_cut != 0 && options.method != split)
        throw InvalidArgument("theta_cut", "only with method split");
    check_cut(options);
    check_lmax(map, options);
    check_analysis(options);
    check_counts(map, options, has_weights);
    check_masks(options, has_weights);
    const auto why = why_harmonic_only(map, kernel, options);
    if (!why.empty() && options.method != automatic && options.method != harmonic)
        throw InvalidArgument("method", to_string(options.method), "must be auto or harmonic: " + why);
    if (options.method != harmonic && options.method != automatic &&
        options.reference == ConvolutionReference::continuous)
        throw InvalidArgument(
            "reference", "continuous",
            fmt::format("method {} is the sum over the pixels: must be discrete", to_string(options.method)));
}

/// Returns the degree up to which windows are followed; -1: as far as they go.
std::int64_t degree_of_windows(const SkyMap& map, const Grid& grid_out, const MapKernel& kernel,
                               const MapSmoothingOptions& options, bool is_harmonic_only) {
    // Sums over pixels have all degrees of a Gaussian, as in `zonal plan`, whatever the lmax of harmonic
    // space.
    const bool is_gaussian = kernel.has_window() && !kernel.is_ratio() && !kernel.window.beam;
    if (is_gaussian && !is_harmonic_only) return -1;
    if (options.lmax >= 0) return options.lmax;
    const auto most = std::min(default_smoothing_lmax(map.whole_grid()), default_smoothing_lmax(grid_out));
    if (is_plain(options)) return most;
    const bool is_closed = kernel.has_window() && !kernel.is_ratio();
    if (is_closed || !is_harmonic_only) return -1;
    const auto certifiable = certifiable_lmax(map.whole_grid()), end = kernel.end_of_window();
    const auto last = certifiable < 0 ? most : std::min(most, certifiable);
    return kernel.has_window() && end >= 0 ? std::min(last, end) : last;
}

/// Says whether single precision can hold the sums: the largest absolute value, UNSEEN apart, is 0 or from
/// 1e-25 to 1e25, which leaves room for products with kernels (1/sr) and weights.
bool fits_single(const SkyMap& map) {
    constexpr double least = 1e-25, most = 1e25;
    double largest = 0;
    const auto rows = map.rows();
    for (std::int64_t row = 0; row < rows.extent(0); ++row)
        for (std::int64_t pixel = 0; pixel < rows.extent(1); ++pixel)
            if (const double value = std::abs(rows(row, pixel)); !is_unseen_value(rows(row, pixel)))
                largest = std::max(largest, value);
    largest = map.part()->largest(largest);
    return largest == 0 || (largest >= least && largest <= most);
}

/// Counts are kept to rounding, so that their sums are in double precision unless single is asked for.
bool allows_single(const SkyMap& map, const MapSmoothingOptions& options) {
    if (options.method == harmonic || options.precision == Precision::float64) return false;
    const bool is_asked_for = options.precision == Precision::float32;
    if (is_planned(options) && !(options.normalization == Normalization::pixel && !is_asked_for))
        return fits_single(map);
    if (!is_asked_for) return false;
    if (fits_single(map)) return true;
    throw InvalidArgument("precision", "float32",
                          fmt::format("the largest value of {} is not from 1e-25 to 1e25: must be float64",
                                      map.header().source));
}

struct RowRange {
    std::int64_t first, n;
};

/// Returns the rows of one spin, those that follow each other together.
std::vector<RowRange> ranges_of(const SkyMap& map, bool is_spin) {
    std::vector<RowRange> ranges;
    for (const auto& group : map.groups()) {
        const std::int64_t n_spin = group.fields == Fields::scalars ? 0 : 2,
                           n_scalars = group.n_rows - n_spin;
        if (is_spin && n_spin > 0) ranges.push_back({group.first_row + n_scalars, n_spin});
        if (!is_spin && n_scalars > 0) ranges.push_back({group.first_row, n_scalars});
    }
    return ranges;
}

/// Returns the largest share of a row's pixels that hold a value other than 0, and not UNSEEN. Collective.
double filled_share(const SkyMap& map, std::int64_t first_row, std::int64_t n_rows) {
    std::int64_t most = 0;
    for (auto row = first_row; row < first_row + n_rows; ++row) {
        const auto pixels = map.rows()[row];
        most = std::max(
            most, map.part()->sum(std::count_if(pixels.data(), pixels.data() + pixels.size(),
                                                [](double x) { return x != 0 && !is_unseen_value(x); })));
    }
    return static_cast<double>(most) / static_cast<double>(map.whole_grid().n_pixels());
}

/// What all rows of one spin have in common.
ConvolutionRequest request_of(const FieldsRequest& fields, std::int64_t lmax) {
    const auto& options = fields.options;
    ConvolutionRequest request;
    request.grid = fields.map.whole_grid();
    if (options.pixels_out && *options.pixels_out != fields.map.header().pixelization)
        request.grid_out = make_grid(*options.pixels_out);
    request.lmax = lmax;
    request.error = options.error.value_or(usual_error);
    request.reference = options.reference;
    request.method = fields.is_harmonic_only ? harmonic : options.method;
    request.support = options.cut.value_or(0);
    request.theta_cut = options.theta_cut;
    request.threads = options.threads;
    request.check_memory = options.check_memory;
    return request;
}

FieldsRequest fields_of(const SkyMap& map, const MapKernel& kernel, const MapSmoothingOptions& options,
                        bool is_spin, std::optional<bool>& may_be_single) {
    FieldsRequest fields{map, options, is_spin ? Fields::qu : Fields::scalars};
    fields.how = {options.mask_rule,       options.normalization == Normalization::pixel,
                  options.ring_weights,    options.pixel_weights,
                  options.output_rounding, map.part()};
    fields.is_harmonic_only = options.method == harmonic || !why_harmonic_only(map, kernel, options).empty();
    const bool renormalizes = options.mask_rule.mode == MaskMode::renormalize;
    const bool has_weights = !options.ring_weights.empty() || options.pixel_weights.size() > 0;
    const auto common = request_of(fields, options.lmax);
    const auto degree = degree_of_windows(map, grid_out_of(common), kernel, options, fields.is_harmonic_only);
    const auto kernels = kernels_of(kernel, is_spin, degree, options.normalization == Normalization::window);
    fields.has_one_kernel = kernels.size() == 1;
    for (const auto& range : ranges_of(map, is_spin)) {
        const std::int64_t n_each = fields.has_one_kernel ? range.n : 1;
        for (auto row = range.first; row < range.first + range.n; row += n_each) {
            const auto& applied = kernels[fields.has_one_kernel ? 0 : static_cast<std::size_t>(row)];
            RowsRequest rows{common, applied.applied, row, n_each};
            auto& request = rows.request;
            request.kernel = applied.kernel;
            request.polarization = applied.polarization;
            request.n_maps = is_spin ? n_each / 2 : n_each;
            request.consider_split =
                fields.has_one_kernel && !fields.how.keep_counts && !renormalizes && !has_weights;
            if (is_plain(options)) {
                request.lmax = degree;
                request.gain = 1;  // nothing is planned by it
            }
            request = completed(request, fields.how);
            const bool has_sums =
                !fields.is_harmonic_only && request.reference == ConvolutionReference::discrete;
            if (has_sums && !may_be_single) may_be_single = allows_single(map, options);
            request.allow_single = has_sums && *may_be_single;
            // Masks are convolved beside the map where the result is divided by theirs, and are nearly full.
            if (has_sums && !renormalizes) request.filled = filled_share(map, row, n_each);
            fields.rows.push_back(std::move(rows));
        }
    }
    return fields;
}

}  // namespace

std::vector<FieldsRequest> requests_of(const SkyMap& map, const MapKernel& kernel,
                                       const MapSmoothingOptions& options) {
    check(map, kernel, options);
    std::optional<bool> may_be_single;  // which takes a look at all pixels
    std::vector<FieldsRequest> all;
    for (const bool is_spin : {false, true})
        if (is_spin ? map.polarized() : !map.polarized() || map.has_both_spins())
            all.push_back(fields_of(map, kernel, options, is_spin, may_be_single));
    return all;
}

}  // namespace zonal::planning
