#include "planning/maps/fields_smoothing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/constants.hpp"
#include "core/parallel.hpp"
#include "core/stopwatch.hpp"
#include "planning/certificate/map_certificate.hpp"
#include "planning/certificate/window_norms.hpp"
#include "planning/maps/fields_memory.hpp"
#include "planning/request.hpp"
#include "sht/progress_part.hpp"
#include "sky/sky_part.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/certificate.hpp"

namespace zonal::planning {
namespace {

using enum ConvolutionMethod;

using core::infinite;

/// One way for each of a request's rows, and the list that the first one was chosen from.
struct Plan {
    std::vector<ConvolutionRequest> requests;  ///< with the error and the gain that were planned for
    std::vector<ConvolutionChoice> ways;
    std::vector<ConvolutionChoice> considered;
};

/// A plan, or why there is none.
struct Planned {
    std::optional<Plan> plan;
    std::string why_not;
};

double wanted_error(const FieldsRequest& fields) {
    return fields.rows.front().request.error;
}

CostModel costs_of(const FieldsRequest& fields) {
    return fields.options.costs ? *fields.options.costs : default_cost_model(fields.options.threads);
}

/// Collective. Gives all ranks the first one's numbers of a way that all have chosen:
/// processors that round differently find others in the last digit.
void share_choice(const FieldsRequest& fields, ConvolutionChoice& choice) {
    const SkyPart& ranks = *fields.how.part;
    ranks.agree(
        fmt::format("a way by {} in {} precision, l_cut {}, lmax {}, {} iterations", to_string(choice.method),
                    choice.precision == Precision::float32 ? "float" : "double", choice.l_cut, choice.lmax,
                    choice.iterations),
        nullptr);
    for (double* number : {&choice.support, &choice.accuracy, &choice.tolerance})
        *number = ranks.gather(*number)[0];
}

/// Says whether a way is one that the options ask for.
bool is_asked_for(const FieldsRequest& fields, const ConvolutionRequest& request,
                  const ConvolutionChoice& choice) {
    const auto& precision = fields.options.precision;
    if (request.method != automatic && choice.method != request.method) return false;
    return !is_sum(request.method) || !precision || choice.precision == *precision;
}

/// Says why the way that comes closest is not certified.
std::string reason(const FieldsRequest& fields, const ConvolutionRequest& request,
                   const std::vector<ConvolutionChoice>& choices) {
    const ConvolutionChoice* closest = nullptr;
    for (const auto& choice : choices) {
        const bool may_be = request.method == automatic || choice.method == request.method;
        if (may_be && !choice.excluded.empty() && (closest == nullptr || choice.error < closest->error))
            closest = &choice;
    }
    const bool is_single = is_sum(request.method) && fields.options.precision == Precision::float32;
    return fmt::format("method = {}{}: {}", to_string(closest == nullptr ? request.method : closest->method),
                       is_single ? ", in single precision" : "",
                       closest == nullptr ? "none is certified" : closest->excluded);
}

/// The analysis that the options give, in harmonic space.
ConvolutionChoice given_way(const FieldsRequest& fields, const ConvolutionRequest& request) {
    constexpr int usual_iterations = 3;
    const auto& options = fields.options;
    ConvolutionChoice choice;
    choice.device = resolve_device(fields.how.part->device(options.device));
    choice.lmax = request.lmax;
    choice.tolerance = options.tolerance;
    if (request.reference == ConvolutionReference::continuous && options.tolerance == 0)
        choice.iterations = options.iterations.value_or(usual_iterations);
    return choice;
}

Planned plan_of_given(const FieldsRequest& fields) {
    Plan plan;
    for (const auto& rows : fields.rows) {
        plan.requests.push_back(rows.request);
        plan.ways.push_back(given_way(fields, rows.request));
    }
    return {std::move(plan), ""};
}

/// gain: rms of the result over that of the map; empty where it is not known.
Planned plan_for(const FieldsRequest& fields, double error, std::optional<double> gain) {
    Plan plan;
    const auto costs = costs_of(fields);
    for (const auto& rows : fields.rows) {
        auto request = rows.request;
        request.error = error - fields.how.output_rounding;
        if (gain) request.gain = effective_gain(request, fields.how, *gain);
        if (!plan.ways.empty()) request.method = plan.ways.front().method;
        if (!(*request.gain > 0))
            return {
                std::nullopt,
                "the kernel's sums over the pixels, which counts and renormalised maps are divided by, have "
                "no bound above 0"};
        const auto may_be_taken = [&](const ConvolutionChoice& choice) {
            return (choice.excluded.empty() || !fields.must_keep()) && is_asked_for(fields, request, choice);
        };
        auto choices = plan_convolution(request, costs, fields.options.device, *fields.how.part);
        auto best = std::find_if(choices.begin(), choices.end(), may_be_taken);
        if (best == choices.end() && !gain) {  // the kernel may leave more of the map than of noise
            request.gain = effective_gain(request, fields.how, 1);
            choices = plan_convolution(request, costs, fields.options.device, *fields.how.part);
            best = std::find_if(choices.begin(), choices.end(), may_be_taken);
        }
        if (best == choices.end()) return {std::nullopt, reason(fields, request, choices)};
        auto way = *best;
        way.excluded.clear();
        share_choice(fields, way);
        if (fields.how.keep_counts) way.accuracy = default_accuracy(way.precision);
        if (plan.considered.empty()) plan.considered = std::move(choices);
        plan.requests.push_back(std::move(request));
        plan.ways.push_back(std::move(way));
    }
    return {std::move(plan), ""};
}

/// Raises the error tenfold until a way is certified for it. Returns the error, infinite where there is none,
/// and the plan.
std::pair<double, std::optional<Plan>> plan_what_can_be_kept(const FieldsRequest& fields) {
    constexpr double largest = 0.5, step = 10;
    for (double error = step * wanted_error(fields); error < largest; error *= step)
        if (auto planned = plan_for(fields, error, {}); planned.plan) return {error, std::move(planned.plan)};
    return {infinite, std::nullopt};
}

/// Plans harmonic space without a certificate, to a tolerance of a tenth of the error.
std::optional<Plan> plan_without_bound(const FieldsRequest& fields) {
    constexpr double share = 0.1, least = 1e-13;
    Plan plan;
    for (const auto& rows : fields.rows) {
        const auto& request = rows.request;
        const bool may_be_harmonic = request.method == automatic || request.method == harmonic;
        if (!may_be_harmonic || !request.consider_harmonic) return std::nullopt;
        auto way = given_way(fields, request);
        way.iterations = 0;
        if (request.reference == ConvolutionReference::continuous)
            way.tolerance = std::max(least, share * request.error);
        plan.requests.push_back(request);
        plan.ways.push_back(way);
    }
    return plan;
}

/// What came of a plan.
struct Outcome {
    std::vector<ConvolutionResult> results;  ///< one for each of the request's rows
    double seconds = 0;

    std::vector<Certificate> certificates() const {
        std::vector<Certificate> all;
        for (const auto& one : results)
            all.insert(all.end(), one.certificates.begin(), one.certificates.end());
        return all;
    }
};

/// of_results: bytes of results that are not in memory yet.
ConvolutionResult convolve_rows(const FieldsRequest& fields, const RowsRequest& rows,
                                const ConvolutionRequest& request, const ConvolutionChoice& way, SkyMap& out,
                                double of_results, const Progress& progress) {
    ConvolutionPlan plan(request, way, fields.how);
    const auto maps = fields.map.rows().slice(rows.first_row, rows.n_rows);
    const auto result = out.rows().slice(rows.first_row, rows.n_rows);
    const bool is_direct = way.method == harmonic || maps.data() != result.data();
    if (!is_direct) of_results = static_cast<double>(result.size()) * sizeof(double);
    check_memory(fields, rows, way, plan, of_results);
    if (is_direct) return plan.convolve<double>(maps, fields.options.mask, result, progress);
    Array<double, 2> convolved(result.extents());
    auto done = plan.convolve<double>(maps, fields.options.mask, convolved.view(), progress);
    core::for_pieces(convolved.size(), fields.options.threads, [&](std::int64_t first, std::int64_t last) {
        std::copy(convolved.data() + first, convolved.data() + last, result.data() + first);
    });
    return done;
}

/// is_first: whether nothing was written to `out` before.
Outcome carry_out(const FieldsRequest& fields, const Plan& plan, bool is_first, SkyMap& out) {
    const core::Stopwatch watch;
    const auto n_rows = static_cast<double>(fields.map.rows().extent(0));
    Outcome outcome;
    for (std::size_t i = 0; i < fields.rows.size(); ++i) {
        const auto& rows = fields.rows[i];
        const auto progress =
            sht::part_of(fields.options.progress, static_cast<double>(rows.first_row) / n_rows,
                         static_cast<double>(rows.first_row + rows.n_rows) / n_rows);
        // Pages of zeros take memory once they are written to: until then these rows and those behind.
        const bool is_elsewhere = is_first && out.rows().data() != fields.map.rows().data();
        const auto to_come = is_elsewhere ? out.rows().size() - rows.first_row * out.rows().extent(1) : 0;
        outcome.results.push_back(convolve_rows(fields, rows, plan.requests[i], plan.ways[i], out,
                                                static_cast<double>(to_come) * sizeof(double), progress));
    }
    outcome.seconds = watch.seconds();
    return outcome;
}

/// Returns an error that says what was reached, or could be planned for, and why no more. gain: 0 where the
/// map was not smoothed.
ErrorNotKept refusal(const FieldsRequest& fields, double reached, double gain, const std::string& why) {
    std::string text = "is not certified for this map";
    if (gain > 0 && gain < 1) text += fmt::format(", of which the kernel leaves {:.2g} of the rms", gain);
    if (!why.empty()) text += "; " + why;
    constexpr double rounded_up = 1.05;
    if (!std::isfinite(reached))
        text += "; no error can be certified";
    else if (gain > 0)
        text += fmt::format("; its error may be {:.2g}", rounded_up * reached);
    else
        text += fmt::format("; the least error that can be planned for is {:.2g}", reached);
    return ErrorNotKept("error", wanted_error(fields), text);
}

/// What was done last, and how often it was planned.
struct Done {
    Plan plan;
    Outcome outcome;
    int attempts = 1;
    double planning_seconds = 0;
};

Done smooth_and_check(const FieldsRequest& fields, SkyMap& out) {
    // The second plan assumes a little less than the gain that was measured, which is measured again
    // afterwards.
    constexpr double margin = 0.98;
    const core::Stopwatch watch;
    auto planned = fields.is_given() ? plan_of_given(fields) : plan_for(fields, wanted_error(fields), {});
    bool may_repeat = !fields.is_given() && fields.must_keep();
    if (!planned.plan) {
        auto [least, plan] = plan_what_can_be_kept(fields);
        if (!fields.options.keep_missed) throw refusal(fields, least, 0, planned.why_not);
        if (!plan) plan = plan_without_bound(fields);
        if (!plan) throw refusal(fields, least, 0, planned.why_not);
        planned.plan = std::move(plan);
        may_repeat = false;
    }
    Done done{std::move(*planned.plan), {}};
    done.planning_seconds = watch.seconds();
    done.outcome = carry_out(fields, done.plan, true, out);
    if (!fields.must_keep()) return done;
    auto reached = largest_error(done.outcome.certificates());
    auto gain = smallest_gain(done.outcome.certificates());
    std::string why;
    // In harmonic space the result may have taken the map's place.
    may_repeat &= gain > 0 && std::isfinite(gain) && out.rows().data() != fields.map.rows().data();
    if (reached > wanted_error(fields) && may_repeat) {
        const core::Stopwatch again;
        planned = plan_for(fields, wanted_error(fields), margin * gain);
        why = planned.why_not;
        if (planned.plan) {
            done = {std::move(*planned.plan), {}, 2, done.planning_seconds + again.seconds()};
            done.outcome = carry_out(fields, done.plan, false, out);
            reached = largest_error(done.outcome.certificates());
            gain = smallest_gain(done.outcome.certificates());
        }
    }
    if (!(reached <= wanted_error(fields)) && !fields.options.keep_missed)
        throw refusal(fields, reached, gain, why);
    return done;
}

/// Measures by how much the answer depends on lmax: because the window has not faded away there, or because
/// pixels mix into lower degrees what the map has above. For white noise that is 7e-3 / nside of its rms
/// (measured from nside 32 to 256, Gaussians of 5 to 40 degrees).
void measure_lmax(const FieldsRequest& fields, const Done& done, SmoothedPart& part) {
    if (part.method != harmonic || part.reference != ConvolutionReference::continuous) return;
    part.map_above_lmax = 0;
    for (std::size_t i = 0; i < fields.rows.size(); ++i) {
        const auto& result = done.outcome.results[i];
        const double above = result.analysis.unresolved;
        if (!(above > 0)) {
            if (std::isnan(above)) part.map_above_lmax = above;
            continue;
        }
        part.map_above_lmax = std::max(part.map_above_lmax, above);
        const auto windows = windows_of(done.plan.requests[i], part.lmax);
        const double largest = largest_of(windows), last = largest_of(windows, part.lmax);
        if (!(largest > 0)) continue;
        part.window_above_lmax = std::max(part.window_above_lmax, last / largest);
        const double mixed =
            fields.map.nside() == 0 ? 0 : 7e-3 / static_cast<double>(fields.map.nside()) * largest;
        const double gain = smallest_gain(result.certificates);
        if (gain > 0 && std::isfinite(gain))
            part.lmax_effect = std::max(part.lmax_effect, std::max(last, mixed) * above / gain);
    }
}

void tell(const FieldsRequest& fields, SmoothedPart& part) {
    if (!(part.lmax_effect > wanted_error(fields))) return;
    const bool is_mixed = part.lmax_effect >
                          2 * part.window_above_lmax * part.map_above_lmax / smallest_gain(part.certificates);
    auto text =
        fmt::format("the answer depends on lmax = {} by about {:.1g}: {:.2g} of this map's rms lies above",
                    part.lmax, part.lmax_effect, part.map_above_lmax);
    text += is_mixed
                ? ", and the pixels mix it into lower degrees"
                : fmt::format(", where the window is {:.2g} of its largest value", part.window_above_lmax);
    if (fields.options.strict) throw ErrorNotKept("strict", text);
    part.notes.push_back(text);
}

SmoothedPart report_of(const FieldsRequest& fields, Done&& done) {
    const auto& first = done.plan.ways.front();
    const auto& options = fields.options;
    SmoothedPart part;
    part.fields = fields.fields;
    part.method = first.method;
    part.reference = *fields.rows.front().request.reference;
    part.normalization = options.normalization;
    part.device = done.outcome.results.front().device;
    part.precision = first.precision;
    if (fields.must_keep()) part.error_bound = wanted_error(fields);
    part.attempts = done.attempts;
    part.certificates = done.outcome.certificates();
    part.choices = std::move(done.plan.considered);
    part.choice = first;
    if (first.seconds > 0) part.predicted_seconds = first.seconds;
    part.planning_seconds = done.planning_seconds;
    part.seconds = done.outcome.seconds;
    for (std::size_t i = 0; i < fields.rows.size(); ++i) {
        const auto& rows = fields.rows[i];
        const auto& way = done.plan.ways[i];
        const auto& result = done.outcome.results[i];
        auto applied = rows.applied;
        if (way.method != harmonic && way.method != split && way.support > 0)
            applied.support = std::min(applied.support, way.support);
        part.kernels.push_back(applied);
        if (way.precision == Precision::float64) part.precision = Precision::float64;
        for (std::int64_t row = 0; row < rows.n_rows; ++row) part.rows.push_back(rows.first_row + row);
        part.masked_pixels.insert(part.masked_pixels.end(), result.masked_pixels.begin(),
                                  result.masked_pixels.end());
        part.unseen_pixels.insert(part.unseen_pixels.end(), result.unseen_pixels.begin(),
                                  result.unseen_pixels.end());
        part.parts = result.parts;
        part.certificate_seconds += result.certificate_seconds;
        if (way.method != harmonic) continue;
        part.lmax = std::max(part.lmax, way.lmax >= 0 ? way.lmax : rows.request.lmax);
        auto analysis = result.analysis;
        // A sum over pixels does not invert the synthesis, so it does not matter how far an inverse has come.
        if (part.reference == ConvolutionReference::discrete) analysis.note.clear();
        i == 0 ? void(part.analysis = analysis) : merge(analysis, part.analysis);
    }
    if (fields.has_one_kernel) part.kernels.resize(1);
    measure_lmax(fields, done, part);
    tell(fields, part);
    return part;
}

}  // namespace

SmoothedPart smooth_fields(const FieldsRequest& request, SkyMap& out) {
    auto done = smooth_and_check(request, out);
    return report_of(request, std::move(done));
}

}  // namespace zonal::planning
