#include "planning/maps/map_sums.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/constants.hpp"
#include "core/stopwatch.hpp"
#include "planning/certificate/map_certificate.hpp"
#include "planning/error_model.hpp"
#include "sht/progress_part.hpp"
#include "zonal/error.hpp"

namespace zonal::planning {
namespace {

std::string error_below(double error, double least, Precision precision) {
    return fmt::format("error = {}: must be above {:.3g} with sums in {} precision", error, least,
                       precision == Precision::float32 ? "float" : "double");
}

void check_mask_options(const MapPart& what, ConvolutionMethod method) {
    const auto& options = what.options;
    const bool renormalize = options.mask_rule.mode == MaskMode::renormalize;
    if (renormalize && !what.normalizes())
        throw InvalidArgument(
            fmt::format("mask_rule.mode = renormalize and normalization = {} exclude each other",
                        to_string(what.normalization)));
    if (what.has_weights() && (renormalize || what.keeps_counts()))
        throw InvalidArgument(
            "ring_weights, pixel_weights: not with normalization = pixel or mask_rule.mode = renormalize, "
            "which weight pixels themselves");
    if (renormalize && method == ConvolutionMethod::split)
        throw InvalidArgument(
            "mask_rule.mode = renormalize: not with method = split, whose error is known for whole maps, not "
            "for quotients");
}

}  // namespace

void check_counts(const MapPart& what) {
    if (what.has_spin() && what.keeps_counts())
        throw InvalidArgument(
            fmt::format("{}: has Q and U, and normalization = pixel is only for counts, which have spin 0",
                        what.map.header().source));
}

void check_sums(const MapPart& what, ConvolutionMethod method) {
    const auto& options = what.options;
    const auto reject = [&](bool given, const std::string& names, const std::string& why) {
        if (given)
            throw InvalidArgument(fmt::format("{}: not with method = {}: {}", names, to_string(method), why));
    };
    reject(options.iterations || options.tolerance > 0, "iterations, tolerance",
           "sums over pixels have no iterations");
    reject(what.kernel.is_ratio(), "window", "only harmonic space un-smooths and applies pixel windows");
    reject(options.pixels_out.has_value(), "pixels_out", "the pixels of the result are the map's");
    const bool has_degrees = !what.kernel.has_window() || what.kernel.window.beam || is_planned(options) ||
                             (options.input_spectrum && options.input_spectrum->is_of_map);
    reject(options.lmax >= 0 && !has_degrees, "lmax", "only beams and the spectrum of a map have degrees");
    if (what.has_spin() && !what.kernel.has_window())
        throw InvalidArgument(fmt::format(
            "{}: has Q and U, and a kernel given by its profile has spin 0; a Gaussian or a beam serves "
            "both spins",
            what.map.header().source));
    check_counts(what);
    const auto precision = options.precision.value_or(Precision::float64);
    const double least = rounding_of_sums(precision, 0, false);
    if (!what.certifies() && !options.cut && !(what.error() > least))
        throw InvalidArgument(error_below(what.error(), least, precision));
    check_mask_options(what, method);
}

namespace {

/// Precision and accuracy of sums over pixels, whoever chose them.
struct Sums {
    Precision precision;
    double accuracy;    ///< PixelConvolutionOptions::accuracy; 0: its default
    double arithmetic;  ///< the error that both cause, rms over the rms of the result
};

/// Follows the plan if there is one. Otherwise the options give the precision, and the model of errors gives
/// the accuracy. Where counts are kept, or the kernel is cut by hand, the accuracy is the default of the
/// precision, whatever the error.
Sums sums_of(const MapPart& what, const Way& way, double radius) {
    const auto& options = what.options;
    const auto precision =
        way.choice ? way.choice->precision : options.precision.value_or(Precision::float64);
    const double pixels =
        radius / std::sqrt(4 * core::pi / static_cast<double>(what.map.whole_grid().n_pixels()));
    const bool is_cut = way.method == ConvolutionMethod::pixel_sum;
    double accuracy = 0;
    if (way.is_exact)
        accuracy = way.choice->accuracy;
    else if (!options.cut && !what.keeps_counts())
        accuracy = accuracy_of_sums(precision, error_of_sums(options.mask_rule, what.error()));
    return {precision, accuracy, rounding_of_sums(precision, pixels, is_cut) + error_of_accuracy(accuracy)};
}

/// Sums over pixels, and splits, of the fields of a part.
class PixelSmoothing {
  public:
    PixelSmoothing(const MapPart& what, const Way& way, SkyMap& out, SmoothedPart& part)
        : what_(what), way_(way), out_(out), part_(part) {
        request_.grid = what.map.whole_grid();
        request_.threads = what.options.threads;
        whole_.grid = what.map.whole_grid();
        whole_.threads = what.options.threads;
        whole_.lmax = way.lmax >= 0 ? way.lmax : default_smoothing_lmax(what.map.whole_grid());
        options_.mask = what.options.mask_rule;
        options_.keep_counts = what.keeps_counts();
        options_.ring_weights = what.options.ring_weights;
        options_.pixel_weights = what.options.pixel_weights;
        options_.part = what.map.shared_part();
        find_kernels();
        estimate_error();
        find_quadrature();
        choose();
    }

    void smooth() {
        const core::Stopwatch watch;
        for (const auto& group : what_.map.groups()) {
            const auto first = group.first_row;
            const std::int64_t spins = group.fields == Fields::scalars ? 0 : 2;
            const auto scalars = group.n_rows - spins;
            if (spins > 0) convolve_spin(first + scalars);
            if (kernels_.size() == 1 && scalars > 0) convolve_scalars(first, scalars, 0);
            for (auto row = first; kernels_.size() > 1 && row < first + scalars; ++row)
                convolve_scalars(row, 1, static_cast<std::size_t>(row));
        }
        part_.seconds = watch.seconds();
    }

  private:
    double error() const { return error_of_sums(what_.options.mask_rule, what_.error() - sums_.arithmetic); }

    /// Returns the spectra that a kernel's errors are weighted by.
    std::vector<std::vector<double>> spectra_of(std::size_t kernel, std::size_t n_kernels) const {
        if (way_.is_planned_spin()) return {{}};  // nobody asks for the error of I's kernel
        if (n_kernels > 1 && way_.spectra.size() > 1) return {way_.spectra[kernel]};
        return way_.spectra;
    }

    void find_kernels() {
        const auto& options = what_.options;
        given_ = given_kernels(what_.kernel, options.lmax);
        const auto& given = given_;
        const bool normalize = what_.normalizes();
        sums_ = sums_of(what_, way_, way_.choice ? way_.choice->support : 0);
        for (std::size_t i = 0; i < given.size(); ++i) {
            const auto spectra = spectra_of(i, given.size());
            if (way_.is_split())
                kernels_.push_back(whole_kernel(given[i], normalize));
            else if (options.cut)
                kernels_.push_back(cut_at(given[i], *options.cut, spectra, normalize));
            else if (way_.is_exact)
                kernels_.push_back(cut_at(given[i], way_.choice->support, spectra, normalize));
            else
                kernels_.push_back(cut_by_error(given[i], spectra));
        }
        if (way_.is_planned_spin() && !way_.is_split())
            kernels_[0].applied.truncation_error =
                truncation_error(*way_.polarization, way_.spectra[0], way_.spectra[1], way_.choice->support);
        for (const auto& kernel : kernels_) {
            part_.kernels.push_back(kernel.applied);
            sums_ = sums_of(what_, way_, std::max(kernel.applied.support, radius_));
            radius_ = std::max(kernel.applied.support, radius_);
        }
    }

    /// In single precision a wider kernel rounds more and so leaves less of the error to the cut. A smaller
    /// error of the cut makes the kernel wider still, so this is repeated.
    CutKernel cut_by_error(const CutKernel& given, const std::vector<std::vector<double>>& spectra) {
        constexpr int attempts = 3;
        CutKernel cut = given;
        for (int i = 0; i < attempts; ++i) {
            if (!(sums_.arithmetic < what_.error()))
                throw InvalidArgument(error_below(what_.error(), sums_.arithmetic, sums_.precision));
            cut = cut_for_error(given, error(), spectra, what_.map.whole_grid(), what_.normalizes());
            const auto sums = sums_of(what_, way_, cut.applied.support);
            if (sums.arithmetic + cut.applied.truncation_error <= what_.error()) break;
            sums_ = sums;
        }
        return cut;
    }

    /// Estimates the error of the result, including that of the cuts. Plans add independent errors in
    /// squares.
    void estimate_error() {
        double error = 0;
        if (way_.is_split() || way_.is_planned_spin()) {
            error = std::hypot(way_.choice->error, sums_.arithmetic);
        } else {
            double truncation = 0;
            for (const auto& kernel : kernels_)
                truncation = std::max(truncation, kernel.applied.truncation_error);
            error = way_.is_exact ? std::hypot(truncation, sums_.arithmetic) : truncation + sums_.arithmetic;
        }
        // The error of a renormalised map is larger in pixels of which less is known.
        const auto& options = what_.options;
        part_.estimated_error = error * what_.error() / error_of_sums(options.mask_rule, what_.error());
        part_.precision = sums_.precision;
    }

    /// The result stands for the sum over pixels, so its distance from the continuous reference is not an
    /// error; it is reported so that nobody takes one for the other.
    void find_quadrature() {
        if (what_.map.nside() == 0 || what_.has_weights()) return;
        std::vector<PixelQuadrature> quadratures;
        if (way_.is_exact && way_.quadrature)
            quadratures.push_back(*way_.quadrature);
        else
            for (const auto& kernel : kernels_)
                quadratures.emplace_back(kernel.kernel, what_.map.nside(), what_.options.threads);
        double largest = 0;
        const auto& c_l = way_.spectra;
        if (way_.is_planned_spin())
            largest = quadratures[0].error(c_l);
        else
            for (std::size_t i = 0; i < std::max(quadratures.size(), c_l.size()); ++i)
                largest = std::max(largest, quadratures[std::min(i, quadratures.size() - 1)].error(
                                                {c_l[std::min(i, c_l.size() - 1)]}));
        const auto narrowest = std::max_element(quadratures.begin(), quadratures.end(),
                                                [](auto& a, auto& b) { return a.defect() < b.defect(); });
        if (!narrowest->is_sum() && !what_.keeps_counts())
            part_.notes.push_back(narrowest->explanation() +
                                  ": this does not smooth the map; the method harmonic does");
        part_.quadrature_error = largest;
    }

    void choose() {
        if (way_.choice) choice_ = *way_.choice;
        choice_.method = way_.method;
        if (way_.is_split()) return;
        choice_.support = 0;  // the kernels are cut
        choice_.precision = sums_.precision;
        choice_.accuracy = sums_.accuracy;
        choice_.device = resolve_device(way_.device);
    }

    /// Selects one of the cut kernels and the whole kernel that it stands for. Returns the ratio of their
    /// scales.
    double use_kernel(std::size_t index) {
        const auto whole = whole_kernel(given_[index], what_.normalizes());
        request_.kernel = kernels_[index].kernel;
        whole_.kernel = whole.kernel;
        return kernels_[index].applied.scale / whole.applied.scale;
    }

    void convolve_scalars(std::int64_t first, std::int64_t count, std::size_t index) {
        const double scale = use_kernel(index);
        const auto& kernel = kernels_[index];
        convolve(first, count, kernel.is_cut ? kernel.applied.support : 0, scale);
    }

    /// Says whether Q and U have the cut of I. A kernel that ends with a step makes ring FFTs leave rings of
    /// the polar caps to the sum over pixels. A Gaussian that is left whole fades below the accuracy instead,
    /// and needs no scale.
    bool has_cut_of_scalars() const {
        const bool whole = way_.method == ConvolutionMethod::ring_fft && !what_.kernel.window.beam;
        return kernels_[0].is_cut && (what_.options.cut || !whole);
    }

    void convolve_spin(std::int64_t row) {
        use_kernel(0);  // for the mask, where it is renormalised
        if (way_.is_planned_spin()) {
            whole_.polarization = way_.polarization;
            request_.polarization = way_.polarization->truncated(way_.choice->support);
        } else {
            whole_.polarization =
                whole_spin_kernel(what_.kernel, what_.options.lmax, given_[0], what_.normalizes());
            request_.polarization = whole_.polarization;
            if (has_cut_of_scalars()) cut_spin(kernels_[0]);
        }
        convolve(row, 2, request_.polarization->support(), options_.scale);
        request_.polarization.reset();
        whole_.polarization.reset();
        options_.scale = 1;
    }

    void cut_spin(const CutKernel& scalar) {
        const auto& whole = *whole_.polarization;
        double cut = scalar.kernel.support();
        if (!what_.options.cut) {  // E and B may have wider windows than I
            const double left = what_.error() - sums_.arithmetic;
            const double own = support_for_error(whole, {}, {}, left / 2, what_.map.whole_grid());
            if (own > cut) {
                request_.polarization = whole.truncated(own);
                return;
            }
        }
        request_.polarization = whole.truncated(cut);
        // The scale gives back what the cut has taken from I's integral; the whole kernel is scaled already.
        if (what_.normalizes()) options_.scale = scalar.applied.scale * scalar.applied.integral;
    }

    /// support: of the kernel that is applied, rad. scale: of that kernel over the scale of the whole one.
    void convolve(std::int64_t first, std::int64_t count, double support, double scale) {
        const auto n_rows = static_cast<double>(what_.map.rows().extent(0));
        const auto share = sht::part_of(what_.options.progress, static_cast<double>(first) / n_rows,
                                        static_cast<double>(first + count) / n_rows);
        request_.n_maps = request_.polarization ? count / 2 : count;
        const auto result = ConvolutionPlan(request_, choice_, options_)
                                .convolve<double>(what_.map.rows().slice(first, count), what_.options.mask,
                                                  out_.rows().slice(first, count), share);
        certify(first, count, support, scale);
        part_.device = result.device;
        part_.parts = result.parts;
        std::copy(result.masked_pixels.begin(), result.masked_pixels.end(),
                  part_.masked_pixels.begin() + first);
        std::copy(result.unseen_pixels.begin(), result.unseen_pixels.end(),
                  part_.unseen_pixels.begin() + first);
    }

    void certify(std::int64_t first, std::int64_t count, double support, double scale) {
        whole_.n_maps = request_.n_maps;
        auto applied = choice_;
        if (!way_.is_split()) applied.support = support;
        auto options = options_;
        options.scale = scale;
        const auto bound = bound_of(whole_, applied, options);
        if (!std::isfinite(bound.total())) return;
        const auto certificates = certificates_of<double>(
            bound, what_.map.grid(), whole_.polarization ? 2 : 1, options,
            what_.map.rows().slice(first, count), what_.options.mask, what_.map.grid(),
            std::as_const(out_).rows().slice(first, count), whole_.threads, what_.map.part());
        part_.certificates.insert(part_.certificates.end(), certificates.begin(), certificates.end());
    }

    const MapPart& what_;
    const Way& way_;
    SkyMap& out_;
    SmoothedPart& part_;
    std::vector<CutKernel> given_, kernels_;
    ConvolutionRequest whole_;  ///< with the kernel that the result stands for
    double radius_ = 0;         ///< of the widest kernel, rad
    Sums sums_{};
    ConvolutionRequest request_;
    ConvolutionChoice choice_;
    ConvolutionOptions options_;
};

}  // namespace

void smooth_by_sums(const MapPart& what, const Way& way, SkyMap& out, SmoothedPart& part) {
    check_sums(what, way.method);
    if (!way.choice && what.options.precision == Precision::float32) require_single_fits(what.map);
    PixelSmoothing(what, way, out, part).smooth();
}

}  // namespace zonal::planning
