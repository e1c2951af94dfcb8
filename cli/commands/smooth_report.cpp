#include "commands/smooth_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/choice_report.hpp"
#include "zonal/angle.hpp"

namespace zonal::cli {
namespace {

bool is_harmonic(const SmoothedPart& part) {
    return part.method == ConvolutionMethod::harmonic;
}
bool is_split(const SmoothedPart& part) {
    return part.method == ConvolutionMethod::split;
}
/// Whether the kernel is a profile that ends somewhere, not a window.
bool has_support(const SmoothOptions& options, const SmoothedPart& part) {
    if (is_split(part)) return false;
    const bool is_window = options.kernel.profile.empty() && options.kernel.sky_spectrum.empty();
    return !is_harmonic(part) || !is_window || options.kernel.cut;
}

void report_kernels(const SmoothOptions& options, const SmoothedPart& part,
                    const std::vector<double>& energies, Json& report) {
    const bool normalized = part.normalization == Normalization::window;
    const auto one = [&](std::size_t i) {
        const auto& kernel = part.kernels[i];
        Json entry;
        if (!energies.empty()) entry["energy_mev"] = energies[i];
        if (has_support(options, part)) entry["support_deg"] = radians_to_degrees(kernel.support);
        entry["kernel_integral"] = kernel.integral;
        if (normalized && (has_support(options, part) || is_split(part))) entry["scale"] = kernel.scale;
        if (has_support(options, part)) entry["truncation_error"] = kernel.truncation_error;
        return entry;
    };
    if (part.kernels.size() == 1) report.update(one(0));
    for (std::size_t i = 0; part.kernels.size() > 1 && i < part.kernels.size(); ++i)
        report["kernels"].push_back(one(i));
}

void report_planning(const SmoothOptions& options, const SmoothedPart& part, const SmoothingInput& given,
                     Session& session) {
    auto& report = session.report;
    if (!options.kernel.is_planned()) return;
    report["method_asked_for"] = to_string(options.kernel.chosen_method());
    if (!part.choice) return;
    if (options.kernel.explain) report_choices(part.choices, given.costs, session);
    report["device"] = to_string(part.choice->device);
    if (!options.kernel.plan.empty()) report["plan"] = options.kernel.plan;
    if (part.predicted_seconds) report["predicted_seconds"] = *part.predicted_seconds;
    report["predicted_error"] = part.choice->error;
    report["plan_seconds"] = part.planning_seconds;
}

std::string spectrum_text(const SmoothOptions& options) {
    const auto& spectrum = options.kernel.input_spectrum;
    return spectrum.empty() || spectrum == "white" ? "white maps" : "--input-cl " + spectrum;
}

/// Reports the parts of the error over the rms of the result, for the map whose error may be the largest.
void report_certificate(const SmoothOptions& options, const SmoothedPart& part, const SmoothingInput& given,
                        Session& session) {
    auto& report = session.report;
    const double file = given.file_rounding, asked_for = part.error_bound.value_or(0) + file;
    if (part.error_bound && !options.kernel.cut) {
        report["error_bound"] = asked_for;
        report["error_is"] = "expected of " + spectrum_text(options);
    }
    const auto worst =
        std::max_element(part.certificates.begin(), part.certificates.end(),
                         [](const auto& one, const auto& other) { return one.error < other.error; });
    const bool has_bound = worst != part.certificates.end() && std::isfinite(worst->error);
    // The file's rounding adds to the error of the variations as to the error of the whole.
    const double of_variations =
        has_bound && worst->error > 0 ? worst->error_of_variations * (1 + file / worst->error) : 0;
    if (has_bound) {
        const double gain = worst->rms_out > 0 ? worst->rms_out / worst->rms_in : 1;
        const auto& bound = worst->bound;
        report["certified_error"] = worst->error + file;
        if (part.certificate_seconds > 0) report["certificate_seconds"] = part.certificate_seconds;
        if (std::isfinite(of_variations)) report["certified_error_of_variations"] = of_variations;
        report["certificate"] = {{"cut", bound.cut / gain},
                                 {"window", bound.window / gain},
                                 {"quadrature", bound.quadrature / gain},
                                 {"accuracy", bound.accuracy / gain},
                                 {"rounding", bound.rounding / gain + bound.of_output},
                                 {"file", file},
                                 {"rms_in", worst->rms_in},
                                 {"rms_out", worst->rms_out}};
    }
    if (part.attempts > 1) report["attempts"] = part.attempts;
    if (!part.is_certified) return;
    const bool is_kept = has_bound && worst->error + file <= asked_for;
    report["error_is"] = is_kept ? "certified for this map" : "not certified";
    if (!has_bound)
        session.miss(
            fmt::format("--error = {}: is not certified for this map: its error has no bound", asked_for));
    else if (!is_kept)
        session.miss(fmt::format("--error = {}: is not certified for this map: its error may be up to {:.2g}",
                                 asked_for, worst->error + file));
    else if (!std::isfinite(of_variations))
        session.note("the error may be as large as all that varies in the map about its mean");
    else if (of_variations > asked_for)
        session.note(
            fmt::format("relative to what varies in the map about its mean, the error may be up to {:.2g}",
                        of_variations));
}

/// Adds a note if the other reference would give another answer.
void tell_other_reference(const SmoothedPart& part, Session& session) {
    if (!part.quadrature_error || !part.error_bound || part.normalization == Normalization::pixel) return;
    if (!(*part.quadrature_error > *part.error_bound)) return;
    const bool is_discrete = part.reference == ConvolutionReference::discrete;
    session.note(
        fmt::format("if the map were white noise, {} would differ by about {:.1g}; --reference {} gives it",
                    is_discrete ? "the window on a converged analysis" : "the sum over the pixels",
                    *part.quadrature_error, is_discrete ? "continuous" : "discrete"));
}

void report_errors(const SmoothOptions& options, const SmoothedPart& part, Json& report) {
    report["precision"] = part.precision == Precision::float32 ? "float" : "double";
    if (part.estimated_error) report["estimated_error"] = *part.estimated_error;
    if (part.quadrature_error) {
        report["estimated_quadrature_error"] = *part.quadrature_error;
        report["quadrature_error_is_of"] = spectrum_text(options);
    }
}

void report_part(const SmoothOptions& options, const SmoothedPart& part, const SmoothingInput& given,
                 Session& session) {
    auto& report = session.report;
    report_planning(options, part, given, session);
    if (options.kernel.given()) {
        report["method"] = to_string(part.method);
        report["normalize"] = to_string(part.normalization);
        report_kernels(options, part, given.energies, report);
    }
    if (is_harmonic(part)) {
        report["lmax"] = part.lmax;
        AnalysisChoice analysis;
        analysis.tolerance = part.tolerance;
        auto told = part.analysis;
        if (options.analysis.tolerance > 0 && !told.reached_tolerance)
            session.miss("--tolerance: " + std::exchange(told.note, ""));
        report_analysis(told, analysis, session);
        if (part.is_certified) report["convolution_seconds"] = part.seconds;
    } else {
        report_errors(options, part, report);
        if (part.choice) report_split(*part.choice, part.parts, session);
        report["convolution_seconds"] = part.seconds;
    }
    report_certificate(options, part, given, session);
    tell_other_reference(part, session);
    session.note(part.notes);
}

/// Says in words what the result stands for.
std::string meaning(const SmoothedPart& part) {
    if (part.reference == ConvolutionReference::discrete) return "the sum over the map's pixels";
    const auto& analysis = part.analysis;
    if (part.tolerance > 0 || !is_harmonic(part))
        return fmt::format("the window on the alm of a converged analysis up to lmax = {}", part.lmax);
    return fmt::format("the window on the alm of an analysis up to lmax = {} with {} iteration{}", part.lmax,
                       analysis.iterations, analysis.iterations == 1 ? "" : "s");
}

std::string names_of(const SmoothedPart& part, const SkyMap& map) {
    std::string names;
    for (const auto row : part.rows) names += (names.empty() ? "" : ", ") + map.row_name(row);
    return names;
}

std::optional<double> certified_error(const SmoothedPart& part, const SmoothingInput& given) {
    double largest = 0;
    for (const auto& one : part.certificates) largest = std::max(largest, one.error);
    return part.certificates.empty() || !std::isfinite(largest)
               ? std::nullopt
               : std::optional(largest + given.file_rounding);
}

void add_part_cards(const SmoothedPart& part, const SmoothOptions& options, const SmoothingInput& given,
                    std::vector<io::HeaderCard>& cards) {
    const auto& kernel = options.kernel;
    if (kernel.given()) {
        cards.push_back({"METHOD", to_string(part.method), "how it was convolved"});
        cards.push_back({"REFERENC", to_string(part.reference), "what the result stands for"});
        cards.push_back({"NORMALIZ", to_string(part.normalization), "of the kernel"});
    }
    if (has_support(options, part) && part.kernels.size() == 1)
        cards.push_back(
            {"SUPPORT", radians_to_degrees(part.kernels[0].support), "[deg] the kernel ends here"});
    if (is_split(part)) {
        cards.push_back({"L_CUT", part.choice->l_cut, "the split kernel's window ends here"});
        cards.push_back({"THETACUT", radians_to_degrees(part.choice->support),
                         "[deg] the split kernel's profile ends here"});
    }
    if (part.estimated_error) cards.push_back({"ESTERROR", *part.estimated_error, "rms, from REFERENC"});
    if (const auto error = certified_error(part, given))
        cards.push_back({"CERTERR", *error, "rms, from REFERENC: at most this"});
    if (!is_harmonic(part)) return;
    cards.push_back({"MAX-LPOL", part.lmax, "highest degree l"});
    cards.push_back(
        {"ITER", static_cast<std::int64_t>(part.analysis.iterations), "iterations of the analysis"});
    if (part.tolerance > 0) cards.push_back({"TOLERANC", part.tolerance, "tolerance of the analysis"});
}

void add_spin_cards(const SmoothedPart& part, const SmoothingInput& given,
                    std::vector<io::HeaderCard>& cards) {
    cards.push_back({"METHODQU", to_string(part.method), "how Q and U were convolved"});
    if (!is_harmonic(part) && !is_split(part))
        cards.push_back({"SUPPRTQU", radians_to_degrees(part.kernels[0].support),
                         "[deg] the kernel of Q and U ends here"});
    if (part.estimated_error)
        cards.push_back({"ESTERRQU", *part.estimated_error, "rms of Q and U, from REFERENC"});
    if (const auto error = certified_error(part, given))
        cards.push_back({"CERTERRQ", *error, "rms of Q and U, from REFERENC: at most this"});
    if (is_split(part)) {
        cards.push_back({"L_CUTQU", part.choice->l_cut, "the window of Q and U ends here"});
        cards.push_back(
            {"THCUTQU", radians_to_degrees(part.choice->support), "[deg] the profile of Q and U ends here"});
    }
    if (!is_harmonic(part)) return;
    cards.push_back({"LMAXQU", part.lmax, "highest degree l of Q and U"});
    cards.push_back({"ITERQU", static_cast<std::int64_t>(part.analysis.iterations),
                     "iterations of the analysis of Q and U"});
}

}  // namespace

void report_smoothing(const SmoothOptions& options, const SmoothedMap& smoothed, const SmoothingInput& given,
                      Session& session) {
    std::vector<Json> fields(static_cast<std::size_t>(smoothed.map.rows().extent(0)));
    Json parts = Json::array();
    std::string methods;
    for (const auto& part : smoothed.parts) {
        for (std::size_t k = 0; k < part.rows.size(); ++k)
            fields[static_cast<std::size_t>(part.rows[k])] = {{"name", smoothed.map.row_name(part.rows[k])},
                                                              {"masked_pixels", part.masked_pixels[k]},
                                                              {"unseen_pixels_out", part.unseen_pixels[k]}};
        const auto method = to_string(part.method);
        if (methods != method) methods += (methods.empty() ? "" : ", ") + method;
        if (smoothed.parts.size() == 1) {
            report_part(options, part, given, session);
            continue;
        }
        Json own = {{"part", names_of(part, smoothed.map)}};
        {
            const ReportTo scope(own, session);
            report_part(options, part, given, session);
        }
        parts.push_back(std::move(own));
    }
    if (smoothed.parts.size() > 1) {
        session.report["method"] = methods;
        session.report["parts"] = std::move(parts);
    }
    session.report["fields"] = std::move(fields);
    Json report = {{"reference", to_string(smoothed.parts[0].reference)},
                   {"stands_for", meaning(smoothed.parts[0])}};
    report.update(session.report);
    session.report = std::move(report);
}

std::vector<io::HeaderCard> option_cards(const SmoothOptions& options, const Session& session) {
    auto cards = provenance(session);
    const auto add_file = [&](const char* card, const std::string& file, const char* comment) {
        if (!file.empty()) cards.push_back({card, header_text(file), comment});
    };
    if (options.fwhm)
        cards.push_back({"FWHM", radians_to_degrees(options.fwhm->radians), "[deg] Gaussian smoothed with"});
    if (options.fwhm_in)
        cards.push_back(
            {"FWHMIN", radians_to_degrees(options.fwhm_in->radians), "[deg] Gaussian un-smoothed with"});
    add_file("BEAM", options.beam, "file of the beam smoothed with");
    add_file("PROFILE", options.kernel.profile, "file of the kernel's profile");
    add_file("CLFILE", options.kernel.sky_spectrum, "file of the C_l in the kernel");
    add_file("ENERGY", options.kernel.energy, "of the profile");
    add_file("BEAMIN", options.beam_in, "file of the beam un-smoothed with");
    if (options.floor > 0) cards.push_back({"BEAMFLR", options.floor, "smallest value divided by"});
    add_file("MASKFILE", options.mask.file, "mask");
    return cards;
}

std::vector<io::HeaderCard> smoothing_cards(const SmoothOptions& options, const SmoothedMap& smoothed,
                                            const SmoothingInput& given, const Session& session) {
    auto cards = option_cards(options, session);
    add_part_cards(smoothed.parts[0], options, given, cards);
    if (smoothed.parts.size() > 1) add_spin_cards(smoothed.parts[1], given, cards);
    return cards;
}

}  // namespace zonal::cli
