#include "engine/smooth_pixels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

#include "engine/choice_report.hpp"
#include "engine/smooth_kernels.hpp"
#include "engine/smooth_spectra.hpp"
#include "options/beam_options.hpp"
#include "shell/error.hpp"
#include "shell/interrupt.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/planning/pixel_quadrature.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal::cli {
namespace {

bool is_split(const SmoothOptions& options) {
    return options.kernel.method == ConvolutionMethod::split;
}

/// Whether the map is Q and U alone, with a kernel and a cut of their own.
bool is_planned_spin(const SmoothOptions& options) {
    return options.planned && options.planned->polarization;
}

/// How well tables and series stand for the profile, of its peak: a share of the error where one is to be
/// kept, the plan's default (0) else. Counts are kept as well as the sums of kernels agree: by the default.
double accuracy_for(const SmoothOptions& options) {
    constexpr double share = 1e-3, double_default = 1e-12, single_default = 3e-8, least_accuracy = 1e-14;
    const auto& kernel = options.kernel;
    if (kernel.cut || kernel.chosen_normalization() == Normalization::pixel) return 0;
    if (options.planned && options.planned->is_exact) return options.planned->choice.accuracy;
    const double wanted = share * kernel.chosen_error();
    if (const double sums = error_of_sums(options.mask.rule(), wanted); sums < wanted)
        return std::max(sums, options.single_sums() ? single_default : least_accuracy);
    return std::max(wanted, options.single_sums() ? single_default : double_default);
}

/// Of the sums and of the kernel's values, of the result's rms; measured with zonal-bench radial.
double arithmetic_error(const SmoothOptions& options) {
    constexpr double over_accuracy = 10;
    const double rounding = options.single_sums() ? 5e-7 : 1e-11;
    return rounding + over_accuracy * accuracy_for(options);
}

/// Of the result, with what cutting the kernels costs. Plans add independent errors in squares.
double estimated_error(const SmoothOptions& options, const std::vector<SmoothingKernel>& kernels) {
    if (is_split(options) || is_planned_spin(options))
        return std::hypot(options.planned->choice.error, arithmetic_error(options));
    double truncation = 0;
    for (const auto& kernel : kernels) truncation = std::max(truncation, kernel.truncation_error);
    return options.planned && options.planned->is_exact ? std::hypot(truncation, arithmetic_error(options))
                                                        : truncation + arithmetic_error(options);
}

/// How much larger the error of a renormalised map is than that of its sums, where least of it is known.
double growth_of_error(const SmoothOptions& options) {
    return options.kernel.chosen_error() / error_of_sums(options.mask.rule(), options.kernel.chosen_error());
}

/// What the sum over pixels is from the continuous reference: not an error of the result, but nobody shall
/// take the one for the other.
void report_quadrature(const SmoothOptions& options, const SkyMap& map,
                       const std::vector<SmoothingKernel>& kernels,
                       const std::vector<std::vector<double>>& c_l, Session& session) {
    if (map.nside() == 0 || options.analysis.weights != "none") return;
    const auto threads = options.run.thread_count();
    std::vector<PixelQuadrature> quadratures;
    if (options.planned && options.planned->is_exact && options.planned->quadrature)
        quadratures.push_back(*options.planned->quadrature);
    else
        for (const auto& kernel : kernels) quadratures.emplace_back(kernel.kernel, map.nside(), threads);
    double largest = 0;
    if (is_planned_spin(options))
        largest = quadratures[0].error(c_l);
    else
        for (std::size_t i = 0; i < std::max(quadratures.size(), c_l.size()); ++i)
            largest = std::max(largest, quadratures[std::min(i, quadratures.size() - 1)].error(
                                            {c_l[std::min(i, c_l.size() - 1)]}));
    const auto worst = std::max_element(quadratures.begin(), quadratures.end(),
                                        [](auto& a, auto& b) { return a.defect() < b.defect(); });
    if (!worst->is_sum() && options.kernel.chosen_normalization() != Normalization::pixel)
        session.note(worst->explanation() + ": this is no smoothing; --method harmonic is");
    const auto& spectrum = options.kernel.input_spectrum;
    session.report["estimated_quadrature_error"] = largest;
    session.report["quadrature_error_is_of"] =
        spectrum.empty() || spectrum == "white" ? "white maps" : "--input-cl " + spectrum;
}

/// Whether Q and U have the cut of I. Ring FFTs leave rings of the caps to the sum over pixels for kernels
/// that end with a step; a whole Gaussian ends where the accuracy lets it, and its window needs no scale.
bool is_cut(const SmoothOptions& options, const SmoothingKernel& scalar) {
    const bool whole = options.kernel.method == ConvolutionMethod::ring_fft && options.fwhm;
    return scalar.cut && (options.kernel.cut || !whole);
}

/// What is applied to Q and U.
struct AppliedSpinKernel {
    PolarizationKernel kernel;
    double scale = 1;  ///< what the result is multiplied with
};

AppliedSpinKernel spin_kernel(const SmoothOptions& options, const SmoothingKernel& scalar, const Grid& grid,
                              Session& session) {
    if (is_planned_spin(options))
        return {options.planned->polarization->truncated(options.planned->choice.support)};
    const auto kernel = make_spin_kernel(options, scalar, session);
    if (!is_cut(options, scalar)) return {kernel};
    const double cut = scalar.kernel.support();
    if (!options.kernel.cut) {  // E and B may have wider windows than I
        const double error = options.kernel.chosen_error() - arithmetic_error(options);
        const double own = support_for_error(kernel, {}, {}, error / 2, grid);
        if (own > cut) return {kernel.truncated(own)};
    }
    // What the cut has taken from I's integral; of the integral as it was given the kernel knows.
    const bool is_scaled = options.kernel.chosen_normalization() == Normalization::window;
    return {kernel.truncated(cut), is_scaled ? scalar.scale * scalar.integral : 1};
}

/// How the sums are done: as planned, else as the options say.
ConvolutionChoice choice_of(const SmoothOptions& options) {
    ConvolutionChoice choice;
    if (options.planned) choice = options.planned->choice;
    choice.method = is_split(options) ? zonal::ConvolutionMethod::split
                    : options.kernel.method == ConvolutionMethod::pixel_sum
                        ? zonal::ConvolutionMethod::pixel_sum
                        : zonal::ConvolutionMethod::ring_fft;
    if (is_split(options)) return choice;
    choice.support = 0;  // the kernels are cut
    choice.precision = options.single_sums() ? zonal::Precision::single_ : zonal::Precision::double_;
    choice.accuracy = accuracy_for(options);
    choice.device = options.run.device;
    return choice;
}

/// Convolves the groups of a map, and says what came of each row.
class PixelSmoothing {
  public:
    PixelSmoothing(const SmoothOptions& options, const SkyMap& map, View<const double, 1> mask,
                   const PixelWeights& weights, SkyMap& out, Session& session)
        : map_(map), mask_(mask), out_(out), session_(session), choice_(choice_of(options)) {
        request_.grid = map.grid();
        request_.threads = options.run.thread_count();
        options_.mask = options.mask.rule();
        options_.keep_counts = options.kernel.chosen_normalization() == Normalization::pixel;
        options_.ring_weights = weights.ring;
        options_.pixel_weights = {weights.pixel.data(), {std::ssize(weights.pixel)}};
    }

    void smooth(const SmoothOptions& options, const std::vector<SmoothingKernel>& kernels) {
        fields_.resize(static_cast<std::size_t>(map_.rows().extent(0)));
        for (const auto& group : map_.groups()) {
            const auto first = group.first_row;
            const std::int64_t spins = group.fields == Fields::scalars ? 0 : 2;
            const auto scalars = group.n_rows - spins;
            request_.kernel = kernels[0].kernel;
            if (spins > 0) {
                auto spin = spin_kernel(options, kernels[0], map_.grid(), session_);
                request_.polarization = std::move(spin.kernel);
                options_.scale = spin.scale;
                convolve(first + scalars, 2);
                request_.polarization.reset();
            }
            if (kernels.size() == 1 && scalars > 0) convolve(first, scalars);
            for (auto row = first; kernels.size() > 1 && row < first + scalars; ++row) {
                request_.kernel = kernels[static_cast<std::size_t>(row)].kernel;
                convolve(row, 1);
            }
        }
        report_split(choice_, parts_, session_);
    }

    /// [row], for the report.
    const std::vector<Json>& fields() const { return fields_; }

  private:
    void convolve(std::int64_t first, std::int64_t count) {
        const auto n_rows = static_cast<double>(map_.rows().extent(0));
        const auto share = [&](double done) {
            return bar_((static_cast<double>(first) + done * static_cast<double>(count)) / n_rows);
        };
        request_.n_maps = request_.polarization ? count / 2 : count;
        const auto result = ConvolutionPlan(request_, choice_, options_)
                                .convolve<double>(map_.rows().slice(first, count), mask_,
                                                  out_.rows().slice(first, count), share);
        parts_ = result.parts;
        for (std::int64_t k = 0; k < count; ++k) {
            const auto index = static_cast<std::size_t>(k);
            fields_[static_cast<std::size_t>(first + k)] = {
                {"name", out_.row_name(first + k)},
                {"masked_pixels", result.masked_pixels[index]},
                {"unseen_pixels_out", result.unseen_pixels[index]}};
        }
    }

    const SkyMap& map_;
    View<const double, 1> mask_;
    SkyMap& out_;
    Session& session_;
    Progress bar_ = session_.progress("smooth");
    ConvolutionRequest request_;
    const ConvolutionChoice choice_;
    ConvolutionOptions options_;
    SplitConvolutionSeconds parts_;
    std::vector<Json> fields_;
};

/// White: what I's kernel would be wrong by is not asked for.
const std::vector<std::vector<double>> no_spectra{{}};

}  // namespace

void check_spin(const SmoothOptions& options, const SkyMap& map) {
    if (map.groups()[0].fields == Fields::scalars) return;
    const auto reject = [&](const std::string& why) {
        throw UsageError(fmt::format("{}: has Q and U, and {}; --field I or --no-pol smooths spin-0 fields",
                                     map.header().source, why));
    };
    if (!options.kernel.profile.empty() || !options.kernel.sky_spectrum.empty())
        reject("--profile and --cl are kernels for spin 0: --fwhm and --beam have both");
    if (options.kernel.chosen_normalization() == Normalization::pixel)
        reject("--normalize pixel is for counts");
}

bool fits_single(const SkyMap& map) {
    constexpr double least = 1e-25, most = 1e25;
    double largest = 0;
    const auto rows = map.rows();
    for (std::int64_t row = 0; row < rows.extent(0); ++row)
        for (std::int64_t pixel = 0; pixel < rows.extent(1); ++pixel)
            if (const double value = std::abs(rows(row, pixel)); !is_unseen_value(rows(row, pixel)))
                largest = std::max(largest, value);
    return largest == 0 || (largest >= least && largest <= most);
}

void check_pixel_options(const SmoothOptions& options) {
    const auto method = to_string(options.kernel.chosen_method());
    const auto reject = [&](bool given, const std::string& names, const std::string& why) {
        if (given) throw UsageError(fmt::format("{}: not with --method {}: {}", names, method, why));
    };
    reject(options.analysis.iterations || options.analysis.tolerance > 0, "--iter, --tolerance",
           "sums over pixels have no iterations");
    reject(options.fwhm_in || !options.beam_in.empty() || !options.pixel_window_in.empty() ||
               !options.pixel_window_out.empty(),
           "--fwhm-in, --beam-in, --pixwin-in, --pixwin-out", "they are windows");
    reject(options.nside_out.has_value(), "--nside-out", "the pixels of the result are the input's");
    const bool has_degrees = !options.beam.empty() || !options.kernel.sky_spectrum.empty() ||
                             options.kernel.input_spectrum == "map" || is_split(options);
    reject(options.analysis.lmax && !has_degrees, "--lmax",
           "only --beam, --cl and --input-cl map have degrees");
    const auto normalization = options.kernel.chosen_normalization();
    const bool renormalize = options.mask.mode == MaskMode::renormalize;
    if (renormalize && normalization != Normalization::window)
        throw UsageError(fmt::format("--mask-mode renormalize and --normalize {} exclude each other",
                                     to_string(normalization)));
    const bool weighted = options.analysis.weights != "none";
    if (weighted && (renormalize || normalization == Normalization::pixel))
        throw UsageError(
            "--weights: not with --normalize pixel or --mask-mode renormalize, which weigh pixels "
            "themselves");
    reject(is_split(options) && renormalize, "--mask-mode renormalize",
           "its error is of whole maps, not of quotients");
    if (!options.kernel.cut && arithmetic_error(options) >= options.kernel.chosen_error())
        throw UsageError(fmt::format("--error = {0}: must be at least {2} with --precision {1}",
                                     options.kernel.chosen_error(),
                                     options.single_sums() ? "float" : "double", arithmetic_error(options)));
}

SkyMap smooth_pixels(const SmoothOptions& options, const SkyMap& map, Session& session) {
    check_pixel_options(options);
    check_spin(options, map);
    if (options.single_sums() && !fits_single(map))
        throw UsageError(fmt::format(
            "{}: its largest value is not from 1e-25 to 1e25, as single precision needs: --precision double",
            map.header().source));
    SkyMap out(map, map.header().pixelization);
    if (options.mask.fill_masked) out.make_full_sky();
    const auto mask = read_mask(options.mask, map, session);
    const auto factors = find_weights(options.analysis, map, options.run, session);
    check_known(options.mask, map, mask.view());
    const auto c_l = options.planned ? options.planned->spectra
                     : options.kernel.input_spectrum == "map"
                         ? input_spectra(options, masked_copy(options.mask, map, mask.view()), session)
                         : input_spectra(options, map, session);
    const double error =
        error_of_sums(options.mask.rule(), options.kernel.chosen_error() - arithmetic_error(options));
    auto kernels = make_kernels(options, map, is_planned_spin(options) ? no_spectra : c_l,
                                is_split(options) ? 0 : error, session);
    if (is_planned_spin(options) && !is_split(options))
        kernels[0].truncation_error =
            truncation_error(*options.planned->polarization, c_l[0], c_l[1], options.planned->choice.support);
    stop_if_interrupted();
    report_kernels(options, kernels, session);
    session.report["precision"] = options.single_sums() ? "float" : "double";
    session.report["estimated_error"] = estimated_error(options, kernels) * growth_of_error(options);
    report_quadrature(options, map, kernels, c_l, session);
    if (!options.kernel.cut) session.report["error_bound"] = options.kernel.chosen_error();

    const auto start = std::chrono::steady_clock::now();
    PixelSmoothing smoothing(options, map, mask.view(), factors, out, session);
    smoothing.smooth(options, kernels);
    session.report["convolution_seconds"] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    session.report["fields"] = smoothing.fields();
    stop_if_interrupted();
    return out;
}

}  // namespace zonal::cli
