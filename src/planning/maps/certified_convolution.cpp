#include "planning/maps/certified_convolution.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/stopwatch.hpp"
#include "planning/certificate/window_norms.hpp"
#include "planning/maps/map_certified.hpp"
#include "planning/request.hpp"
#include "sht/progress_part.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal::planning {
namespace {

/// One kernel, the rows of the map that it is for, and the request and choice of these.
struct KernelWay {
    ConvolutionRequest request;
    ConvolutionChoice choice;
    std::int64_t first_row = 0, n_rows = 1;
};

}  // namespace

class CertifiedConvolution::Implementation {
  public:
    Implementation(const MapPart& what, SkyMap& out) : what_(what), out_(out) {
        options_.mask = what.options.mask_rule;
        options_.keep_counts = what.keeps_counts();
        options_.ring_weights = what.options.ring_weights;
        options_.pixel_weights = what.options.pixel_weights;
        options_.part = what.map.shared_part();
        given_ = given_kernels(what.kernel, what.options.lmax);
        make_requests();
    }

    void plan(double gain, double error, SmoothedPart& part) {
        const core::Stopwatch watch;
        for (std::size_t i = 0; i < ways_.size(); ++i) plan_one(i, gain, error, part);
        tell_plan(part);
        part.planning_seconds = watch.seconds();
    }

    void plan_without_bound(SmoothedPart& part) {
        constexpr double share = 0.1, least = 1e-13;
        using enum ConvolutionMethod;
        for (auto& way : ways_) {
            const bool may_be_harmonic =
                what_.options.method == automatic || what_.options.method == harmonic;
            if (!may_be_harmonic || !way.request.consider_harmonic)
                throw ErrorNotKept(
                    fmt::format("method = {}: no error can be certified, and only harmonic space works "
                                "without a certificate",
                                to_string(what_.options.method)));
            way.request.gain = 1;
            way.choice = {harmonic, resolve_device(what_.options.device)};
            if (way.request.reference == ConvolutionReference::continuous)
                way.choice.tolerance = std::max(least, share * what_.error());
        }
        tell_plan(part);
    }

    void smooth(SmoothedPart& part) {
        const core::Stopwatch watch;
        const auto n_rows = static_cast<double>(what_.map.rows().extent(0));
        part.certificates.clear();
        part.certificate_seconds = 0;
        for (const auto& way : ways_) {
            ConvolutionPlan convolution(way.request, way.choice, options_);
            const auto progress =
                sht::part_of(what_.options.progress, static_cast<double>(way.first_row) / n_rows,
                             static_cast<double>(way.first_row + way.n_rows) / n_rows);
            take(convolution.convolve<double>(what_.map.rows().slice(way.first_row, way.n_rows),
                                              what_.options.mask,
                                              out_.rows().slice(way.first_row, way.n_rows), progress),
                 way, part);
        }
        for (std::size_t i = 0; i < ways_.size(); ++i) tell_cut(ways_[i], part.kernels[i], part.certificates);
        part.seconds = watch.seconds();
        tell_end_of_window(part);
        tell_quadrature(part);
    }

  private:
    void make_requests() {
        const auto n_rows = what_.map.rows().extent(0);
        const auto reference = reference_of(what_, false);
        const bool renormalizes = what_.options.mask_rule.mode == MaskMode::renormalize;
        const bool may_be_single = allows_single();
        for (const auto& given : given_) {
            KernelWay way;
            auto& request = way.request;
            request.grid = what_.map.whole_grid();
            request.kernel = whole_kernel(given, what_.normalizes()).kernel;
            request.threads = what_.options.threads;
            if (what_.has_spin())
                request.polarization =
                    whole_spin_kernel(what_.kernel, what_.options.lmax, given, what_.normalizes());
            request.error = what_.error();
            request.reference = reference;
            request.lmax = lmax_of(request);
            request.method = what_.options.method;
            request.consider_split =
                given_.size() == 1 && !what_.keeps_counts() && !renormalizes && !what_.has_weights();
            // Harmonic space does not keep counts, and has no bound for quotients of sums over pixels.
            request.consider_harmonic =
                !what_.keeps_counts() && !(renormalizes && reference == ConvolutionReference::discrete);
            request.theta_cut = what_.options.theta_cut;
            way.n_rows = given_.size() == 1 ? n_rows : 1;
            way.first_row = std::ssize(ways_);
            request.n_maps = what_.has_spin() ? 1 : way.n_rows;
            request.allow_single = may_be_single;
            ways_.push_back(std::move(way));
        }
    }

    bool allows_single() const {
        const auto precision = what_.options.precision;
        if (is_planned(what_.options)) return precision != Precision::float64 && fits_single(what_.map);
        if (precision != Precision::float32) return false;
        require_single_fits(what_.map);
        return true;
    }

    std::int64_t lmax_of(const ConvolutionRequest& request) const {
        const auto& options = what_.options;
        if (options.lmax >= 0) return options.lmax;
        if (options.plan) return options.plan->lmax;
        const auto most = default_smoothing_lmax(what_.map.whole_grid());
        if (request.reference == ConvolutionReference::discrete) return most;
        return certified_lmax(request);
    }

    void plan_one(std::size_t index, double gain, double error, SmoothedPart& part) {
        auto& way = ways_[index];
        auto& request = way.request;
        const auto& options = what_.options;
        request.error = error;
        if (options.plan && gain == 0 && error == what_.error()) {
            follow(way, part);
            return;
        }
        if (index > 0) request.method = ways_[0].choice.method;
        request.gain = effective_gain(request, options_, gain > 0 ? gain : gain_of_noise(request, options_));
        if (!(*request.gain > 0))
            throw ErrorNotKept(
                "the kernel's sums over the pixels, which counts and renormalised maps are divided by, have "
                "no bound above 0");
        auto choices = choices_of(what_, request, costs());
        auto best = best_of(choices);
        if (best == choices.end() && gain == 0) {  // the kernel may leave more of the map than of noise
            request.gain = effective_gain(request, options_, 1);
            choices = choices_of(what_, request, costs());
            best = best_of(choices);
        }
        if (best == choices.end()) throw ErrorNotKept(reason(choices));
        way.choice = *best;
        share_choice(what_, way.choice);
        if (what_.keeps_counts()) way.choice.accuracy = default_accuracy(way.choice.precision);
        if (index > 0) return;
        part.choices = std::move(choices);
        if (way.choice.seconds > 0 && is_planned(what_.options)) part.predicted_seconds = way.choice.seconds;
    }

    CostModel costs() const {
        return what_.options.costs ? *what_.options.costs : default_cost_model(what_.options.threads);
    }

    bool may_be_taken(const ConvolutionChoice& choice) const {
        using enum ConvolutionMethod;
        const auto wanted = what_.options.method;
        if (!choice.excluded.empty()) return false;
        if (wanted != automatic && choice.method != wanted) return false;
        if (wanted != automatic && wanted != harmonic && what_.options.precision &&
            choice.precision != *what_.options.precision)
            return false;
        return true;
    }
    std::vector<ConvolutionChoice>::const_iterator best_of(
        const std::vector<ConvolutionChoice>& choices) const {
        return std::find_if(choices.begin(), choices.end(),
                            [&](const auto& choice) { return may_be_taken(choice); });
    }

    /// Says why the way that comes closest is not certified.
    std::string reason(const std::vector<ConvolutionChoice>& choices) const {
        const auto wanted = what_.options.method;
        const ConvolutionChoice* closest = nullptr;
        for (const auto& choice : choices) {
            const bool is_asked_for = wanted == ConvolutionMethod::automatic || choice.method == wanted;
            if (!is_asked_for || choice.excluded.empty()) continue;
            if (closest == nullptr || choice.error < closest->error) closest = &choice;
        }
        const bool is_single = !is_planned(what_.options) && what_.options.precision == Precision::float32;
        const std::string precision = is_single ? ", in single precision" : "";
        const auto method = to_string(closest == nullptr ? wanted : closest->method);
        const auto why =
            closest == nullptr || closest->excluded.empty() ? "none is certified" : closest->excluded;
        return fmt::format("method = {}{}: {}", method, precision, why);
    }

    void follow(KernelWay& way, SmoothedPart& part) const {
        const auto& plan = *what_.options.plan;
        if (given_.size() > 1) reject(plan, "has one kernel, and this map needs more");
        if (!plan.gain) reject(plan, "was made for maps of a spectrum; input_spectrum must name it");
        way.request.gain = plan.gain;
        way.choice = planning::follow(plan, what_.options, way.request, may_be_taken(plan.choice), part);
    }

    void tell_plan(SmoothedPart& part) const {
        using enum ConvolutionMethod;
        const auto& choice = ways_[0].choice;
        part.method = choice.method;
        part.device = choice.device;
        part.precision = choice.precision;
        part.lmax = -1;
        if (is_planned(what_.options)) {
            part.choice = choice;
            if (ways_.size() == 1 && !what_.options.plan)
                part.plan = make_plan(ways_[0].request, choice, costs());
        }
        part.kernels.clear();
        for (std::size_t i = 0; i < ways_.size(); ++i) {
            const auto& way = ways_[i];
            if (way.choice.precision == Precision::float64) part.precision = Precision::float64;
            auto applied = whole_kernel(given_[i], what_.normalizes()).applied;
            const double whole =
                way.request.polarization ? way.request.polarization->support() : way.request.kernel.support();
            const bool is_cut = way.choice.method == pixel_sum || way.choice.method == ring_fft;
            applied.support = is_cut && way.choice.support > 0 ? std::min(whole, way.choice.support) : whole;
            part.kernels.push_back(applied);
        }
    }

    /// Adds a note where the continuous answer depends on lmax by more than the error: because the window has
    /// not faded away there, or because pixels mix into lower degrees what the map has above. For white maps
    /// that is 7e-3 / nside of their rms (measured from nside 32 to 256, Gaussians of 5 to 40 degrees).
    void tell_end_of_window(SmoothedPart& part) const {
        if (part.reference != ConvolutionReference::continuous) return;
        const auto nside = what_.map.nside();
        for (const auto& way : ways_) {
            const auto lmax = way.request.lmax;
            const auto windows = windows_of(way.request, lmax);
            const double largest = largest_of(windows), last = largest_of(windows, lmax);
            const double mixed = nside == 0 ? 0 : 7e-3 / static_cast<double>(nside) / least_gain(way, part);
            if (last > what_.error() * largest)
                part.notes.push_back(
                    fmt::format("the window is still {:.2g} of its largest value at lmax = {}: the answer "
                                "depends on lmax",
                                last / largest, lmax));
            else if (what_.options.lmax < 0 && lmax < default_smoothing_lmax(what_.map.whole_grid()) &&
                     mixed > what_.error())
                part.notes.push_back(fmt::format(
                    "lmax = {} is where the window ends; pixels mix what a map has above into the "
                    "answer, about {:.1g} of it for noise: a larger lmax removes that",
                    lmax, mixed));
        }
    }

    /// rms of the result over that of the map, of the row that loses most of it.
    static double least_gain(const KernelWay& way, const SmoothedPart& part) {
        const auto last = std::min<std::int64_t>(way.first_row + way.n_rows, std::ssize(part.certificates));
        double least = 1;
        for (auto map = way.first_row; map < last; ++map) {
            const auto& one = part.certificates[static_cast<std::size_t>(map)];
            if (one.rms_in > 0) least = std::min(least, one.rms_out / one.rms_in);
        }
        return least;
    }

    /// Tells by how much the two references differ for white maps, so that nobody takes one for the other.
    void tell_quadrature(SmoothedPart& part) const {
        const auto nside = what_.map.nside();
        if (nside == 0 || what_.has_weights()) return;
        double largest = 0;
        for (const auto& way : ways_) {
            const PixelQuadrature quadrature(way.request, nside);
            largest = std::max(largest, quadrature.error(spectra_of(way.request)));
            const bool is_sum = way.request.reference == ConvolutionReference::discrete;
            if (is_sum && !quadrature.is_sum() && !what_.keeps_counts())
                part.notes.push_back(quadrature.explanation() +
                                     ": this does not smooth the map; the continuous reference does");
        }
        part.quadrature_error = largest;
    }

    static void tell_cut(const KernelWay& way, AppliedKernel& kernel,
                         const std::vector<Certificate>& certificates) {
        const auto last = std::min<std::int64_t>(way.first_row + way.n_rows, std::ssize(certificates));
        for (auto map = way.first_row; map < last; ++map) {
            const auto& one = certificates[static_cast<std::size_t>(map)];
            if (one.rms_out > 0)
                kernel.truncation_error =
                    std::max(kernel.truncation_error, one.bound.cut * one.rms_in / one.rms_out);
        }
    }

    void take(const ConvolutionResult& result, const KernelWay& way, SmoothedPart& part) const {
        part.device = result.device;
        part.parts = result.parts;
        part.certificate_seconds += result.certificate_seconds;
        std::copy(result.masked_pixels.begin(), result.masked_pixels.end(),
                  part.masked_pixels.begin() + way.first_row);
        std::copy(result.unseen_pixels.begin(), result.unseen_pixels.end(),
                  part.unseen_pixels.begin() + way.first_row);
        part.certificates.insert(part.certificates.end(), result.certificates.begin(),
                                 result.certificates.end());
        if (result.method != ConvolutionMethod::harmonic) return;
        part.lmax = way.choice.lmax >= 0 ? way.choice.lmax : way.request.lmax;
        part.tolerance = way.choice.tolerance;
        auto analysis = result.analysis;
        // A sum over pixels does not invert the synthesis, so it does not matter how far an inverse has come.
        if (way.request.reference == ConvolutionReference::discrete) analysis.note.clear();
        merge(analysis, part.analysis);
    }

    const MapPart& what_;
    SkyMap& out_;
    std::vector<CutKernel> given_;
    std::vector<KernelWay> ways_;
    ConvolutionOptions options_;
};

CertifiedConvolution::CertifiedConvolution(const MapPart& what, SkyMap& out)
    : implementation_(std::make_unique<Implementation>(what, out)) {}
CertifiedConvolution::~CertifiedConvolution() = default;

void CertifiedConvolution::plan(double gain, double error, SmoothedPart& part) {
    implementation_->plan(gain, error, part);
}

void CertifiedConvolution::plan_without_bound(SmoothedPart& part) {
    implementation_->plan_without_bound(part);
}

void CertifiedConvolution::smooth(SmoothedPart& part) {
    implementation_->smooth(part);
}

}  // namespace zonal::planning
