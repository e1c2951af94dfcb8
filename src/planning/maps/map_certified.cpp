#include "planning/maps/map_certified.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <utility>

#include "planning/certificate/map_certificate.hpp"
#include "planning/maps/certified_convolution.hpp"
#include "planning/maps/certified_window.hpp"
#include "planning/maps/map_sums.hpp"
#include "zonal/error.hpp"

namespace zonal::planning {
namespace {

/// The second plan assumes a little less than the gain that was measured, which is measured again afterwards.
constexpr double margin = 0.98;

/// Returns an error that says what was reached, or could be planned for, and why no more. gain: 0 where the
/// map was not smoothed.
ErrorNotKept refusal(const MapPart& what, double reached, double gain, const std::string& why) {
    std::string text = fmt::format("error = {}: is not certified for this map", what.error());
    if (gain > 0 && gain < 1) text += fmt::format(", of which the kernel leaves {:.2g} of the rms", gain);
    if (!why.empty()) text += "; " + why;
    constexpr double rounded_up = 1.05;
    if (!std::isfinite(reached))
        text += "; no error can be certified";
    else if (gain > 0)
        text += fmt::format("; its error may be {:.2g}", rounded_up * reached);
    else
        text += fmt::format("; the least error that can be planned for is {:.2g}", reached);
    return ErrorNotKept(text + "; keep_missed returns the map all the same");
}

/// Raises the error tenfold until a way is certified for it, and plans that way. Returns this error; infinite
/// where there is none.
template <class Smoother>
double plan_what_can_be_kept(Smoother& smoother, double error, SmoothedPart& part) {
    constexpr double largest = 0.5, step = 10;
    for (error *= step; error < largest; error *= step) {
        try {
            smoother.plan(0, error, part);
            return error;
        } catch (const ErrorNotKept&) {  // a larger error may do
        }
    }
    return std::numeric_limits<double>::infinity();
}

/// Plans, smooths and checks, and repeats this with the measured gain where the first plan was not enough.
template <class Smoother>
SmoothedPart smooth_and_check(Smoother smoother, bool may_repeat, const MapPart& what,
                              const SmoothedPart& part) {
    const double infinite = std::numeric_limits<double>::infinity();
    SmoothedPart done = part;
    double reached = infinite, gain = 0;
    std::string why;
    for (int attempt = 1; attempt <= (may_repeat ? 2 : 1); ++attempt) {
        auto next = part;
        next.attempts = attempt;
        try {
            smoother.plan(attempt == 1 ? 0 : margin * gain, what.error(), next);
        } catch (const ErrorNotKept& error) {
            why = error.what();
            if (attempt == 2) break;
            const double least = plan_what_can_be_kept(smoother, what.error(), next);
            if (!what.options.keep_missed) throw refusal(what, least, 0, why);
            if (!std::isfinite(least)) smoother.plan_without_bound(next);
            may_repeat = false;
        }
        smoother.smooth(next);
        done = std::move(next);
        reached = done.certificates.empty() ? infinite : largest_error(done.certificates);
        if (reached <= what.error()) return done;
        gain = smallest_gain(done.certificates);
        if (!(gain > 0) || !std::isfinite(gain)) break;
    }
    if (!what.options.keep_missed) throw refusal(what, reached, gain, why);
    return done;
}

}  // namespace

ConvolutionReference reference_of(const MapPart& what, bool needs_window) {
    using enum ConvolutionMethod;
    const auto& options = what.options;
    if (options.reference) return *options.reference;
    if (options.plan) return options.plan->reference;
    if (options.method == harmonic || needs_window) return ConvolutionReference::continuous;
    const bool has_sums = options.method != automatic || what.keeps_counts() || !what.kernel.has_window();
    return has_sums ? ConvolutionReference::discrete : ConvolutionReference::continuous;
}

SmoothedPart smooth_certified(const MapPart& what, bool needs_window, SmoothedPart part, SkyMap& out) {
    part.is_certified = true;
    part.error_bound = what.error();
    part.normalization = what.normalization;
    part.method = ConvolutionMethod::harmonic;
    const auto n_rows = static_cast<std::size_t>(what.map.rows().extent(0));
    part.masked_pixels.resize(n_rows);
    part.unseen_pixels.resize(n_rows);
    if (what.options.mask_rule.fill_masked) out.make_full_sky();
    part.reference = reference_of(what, needs_window);
    if (needs_window) {
        CertifiedWindow smoother(what, out);
        const bool is_free = smoother.is_free();
        return smooth_and_check(std::move(smoother), is_free, what, part);
    }
    if (what.options.method != ConvolutionMethod::harmonic &&
        what.options.method != ConvolutionMethod::automatic)
        check_sums(what, what.options.method);
    else if (what.keeps_counts())
        check_counts(what);
    return smooth_and_check(CertifiedConvolution(what, out), true, what, part);
}

}  // namespace zonal::planning
