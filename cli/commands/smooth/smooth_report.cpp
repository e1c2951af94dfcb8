#include "commands/smooth/smooth_report.hpp"

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
/// Whether the profile ends somewhere.
bool has_support(const SmoothedPart& part) {
    return !is_split(part) && !is_harmonic(part);
}

void report_kernels(const SmoothedPart& part, const std::vector<double>& energies, Json& report) {
    const auto one = [&](std::size_t i) {
        const auto& kernel = part.kernels[i];
        Json entry;
        if (!energies.empty()) entry["energy_mev"] = energies[i];
        if (has_support(part)) entry["support_deg"] = radians_to_degrees(kernel.support);
        entry["kernel_integral"] = kernel.integral;
        entry["scale"] = kernel.scale;
        return entry;
    };
    if (part.kernels.size() == 1) report.update(one(0));
    for (std::size_t i = 0; part.kernels.size() > 1 && i < part.kernels.size(); ++i)
        report["kernels"].push_back(one(i));
}

void report_planning(const SmoothOptions& options, const SmoothedPart& part, const SmoothingInput& given,
                     Session& session) {
    auto& report = session.report;
    report["method_asked_for"] = to_string(options.kernel.chosen_method());
    if (part.choices.empty()) return;
    if (options.kernel.explain) report_choices(part.choices, given.costs, session);
    if (part.predicted_seconds) report["predicted_seconds"] = *part.predicted_seconds;
    report["predicted_error"] = part.choice.error;
    report["plan_seconds"] = part.planning_seconds;
}

/// Reports the parts of the error over the rms of the result, for the map whose error may be the largest.
void report_certificate(const SmoothedPart& part, Session& session) {
    auto& report = session.report;
    if (part.error_bound) report["error_bound"] = *part.error_bound;
    const auto worst =
        std::max_element(part.certificates.begin(), part.certificates.end(),
                         [](const auto& one, const auto& other) { return one.error < other.error; });
    const bool has_bound = worst != part.certificates.end() && std::isfinite(worst->error);
    if (has_bound) {
        const double gain = worst->rms_out > 0 ? worst->rms_out / worst->rms_in : 1;
        const auto& bound = worst->bound;
        report["certified_error"] = worst->error;
        report["certificate_seconds"] = part.certificate_seconds;
        if (std::isfinite(worst->error_of_variations))
            report["certified_error_of_variations"] = worst->error_of_variations;
        report["certificate"] = {{"cut", bound.cut / gain},
                                 {"window", bound.window / gain},
                                 {"quadrature", bound.quadrature / gain},
                                 {"accuracy", bound.accuracy / gain},
                                 {"rounding", bound.rounding / gain + bound.of_output},
                                 {"rms_in", worst->rms_in},
                                 {"rms_out", worst->rms_out}};
    }
    if (part.attempts > 1) report["attempts"] = part.attempts;
    if (!part.error_bound) return;
    report["error_is"] = part.is_certified() ? "certified for this map" : "not certified";
    if (!has_bound)
        session.miss(fmt::format("--error = {}: is not certified for this map: its error has no bound",
                                 *part.error_bound));
    else if (!part.is_certified())
        session.miss(fmt::format("--error = {}: is not certified for this map: its error may be up to {:.2g}",
                                 *part.error_bound, worst->error));
    else if (!std::isfinite(worst->error_of_variations))
        session.note("the error may be as large as all that varies in the map about its mean");
    else if (worst->error_of_variations > *part.error_bound)
        session.note(
            fmt::format("relative to what varies in the map about its mean, the error may be up to {:.2g}",
                        worst->error_of_variations));
}

void report_part(const SmoothOptions& options, const SmoothedPart& part, const SmoothingInput& given,
                 Session& session) {
    auto& report = session.report;
    report_planning(options, part, given, session);
    report["method"] = to_string(part.method);
    report["device"] = to_string(part.device);
    report["normalize"] = to_string(part.normalization);
    report["reference"] = to_string(part.reference);
    report["stands_for"] = part.stands_for();
    report_kernels(part, given.energies, report);
    report["convolution_seconds"] = part.seconds;
    if (is_harmonic(part)) {
        report["lmax"] = part.lmax;
        if (!std::isnan(part.map_above_lmax)) {
            report["map_above_lmax"] = part.map_above_lmax;
            report["window_above_lmax"] = part.window_above_lmax;
            report["lmax_effect"] = part.lmax_effect;
        }
        AnalysisChoice analysis;
        analysis.tolerance = options.analysis.tolerance;
        auto told = part.analysis;
        if (options.analysis.tolerance > 0 && !told.reached_tolerance)
            session.miss("--tolerance: " + std::exchange(told.note, ""));
        report_analysis(told, analysis, session);
    } else {
        report["precision"] = part.precision == Precision::float32 ? "float" : "double";
        report_split(part.choice, part.parts, session);
    }
    report_certificate(part, session);
    session.note(part.notes);
}

/// Images have planes without names.
std::string title_of(const SkyMap& map, std::int64_t row) {
    return map.row_name(row).empty() ? fmt::format("column {}", row) : map.row_name(row);
}

std::string names_of(const SmoothedPart& part, const SkyMap& map) {
    std::string names;
    for (const auto row : part.rows) names += (names.empty() ? "" : ", ") + title_of(map, row);
    return names;
}

/// The cards of a part; suffix: of the names of those of Q and U, where I has its own.
void add_part_cards(const SmoothedPart& part, bool is_second, std::vector<io::HeaderCard>& cards) {
    const std::string of = is_second ? " of Q and U" : "";
    const auto add = [&](const char* name, const char* second, auto value, const std::string& comment) {
        cards.push_back({is_second ? second : name, value, comment + of});
    };
    add("METHOD", "METHODQU", to_string(part.method), "way of the convolution");
    if (!is_second) {
        cards.push_back({"REFERENC", to_string(part.reference), "what the result stands for"});
        cards.push_back({"NORMALIZ", to_string(part.normalization), "of the kernel"});
    }
    if (has_support(part) && part.kernels.size() == 1)
        add("SUPPORT", "SUPPRTQU", radians_to_degrees(part.kernels[0].support), "[deg] end of the kernel");
    if (is_split(part)) {
        add("L_CUT", "L_CUTQU", part.choice.l_cut, "end of the split kernel's window");
        add("THETACUT", "THCUTQU", radians_to_degrees(part.choice.support),
            "[deg] end of the split kernel's profile");
    }
    if (const double error = part.certified_error(); std::isfinite(error))
        add("CERTERR", "CERTERRQ", error, "rms, from REFERENC: at most this,");
    if (!is_harmonic(part)) return;
    add("MAX-LPOL", "LMAXQU", part.lmax, "highest degree l");
    add("ITER", "ITERQU", static_cast<std::int64_t>(part.analysis.iterations), "iterations of the analysis");
}

std::string names_of_all(const SkyMap& map) {
    std::string names;
    for (std::int64_t row = 0; row < map.rows().extent(0); ++row)
        names += (names.empty() ? "" : ", ") + title_of(map, row);
    return names;
}

/// What the reader needs, in a few lines.
void summarize(const SmoothOptions& options, const SmoothedMap& smoothed, Session& session) {
    const auto& header = smoothed.map.header();
    session.summary.push_back(fmt::format("read {}: {}, {}, {}", options.in, names_of_all(smoothed.map),
                                          to_string(header.pixelization), to_string(header.coordinates)));
    for (const auto& part : smoothed.parts)
        session.summary.push_back(
            fmt::format("{}: {}; {:.2g} s", names_of(part, smoothed.map), part.summary(), part.seconds));
    session.summary.push_back("wrote " + options.out);
}

}  // namespace

void report_smoothing(const SmoothOptions& options, const SmoothedMap& smoothed, const SmoothingInput& given,
                      Session& session) {
    std::vector<Json> fields(static_cast<std::size_t>(smoothed.map.rows().extent(0)));
    Json parts = Json::array();
    for (const auto& part : smoothed.parts) {
        for (std::size_t k = 0; k < part.rows.size(); ++k)
            fields[static_cast<std::size_t>(part.rows[k])] = {{"name", smoothed.map.row_name(part.rows[k])},
                                                              {"masked_pixels", part.masked_pixels[k]},
                                                              {"unseen_pixels_out", part.unseen_pixels[k]}};
        Json own = Json::object();
        if (smoothed.parts.size() > 1) own["part"] = names_of(part, smoothed.map);
        {
            const ReportTo scope(own, session);
            report_part(options, part, given, session);
        }
        parts.push_back(std::move(own));
    }
    if (parts.size() == 1) {
        session.report.update(parts[0]);
    } else {
        // What all parts have in common stands at the top, and all of each part in its own place.
        for (const auto& [key, value] : parts[0].items())
            if (parts[1].value(key, Json()) == value) session.report[key] = value;
        session.report["parts"] = std::move(parts);
    }
    session.report["fields"] = std::move(fields);
    summarize(options, smoothed, session);
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
    add_file("BEAMALM", options.beam_alm.file, "file of the beam smoothed with");
    add_file("PROFILE", options.kernel.profile, "file of the kernel's profile");
    add_file("CLFILE", options.kernel.sky_spectrum, "file of the C_l in the kernel");
    add_file("ENERGY", options.kernel.energy, "of the profile");
    add_file("BEAMIN", options.beam_in, "file of the beam un-smoothed with");
    if (options.floor > 0) cards.push_back({"BEAMFLR", options.floor, "smallest value divided by"});
    add_file("MASKFILE", options.mask.file, "mask");
    return cards;
}

std::vector<io::HeaderCard> smoothing_cards(const SmoothOptions& options, const SmoothedMap& smoothed,
                                            const Session& session) {
    auto cards = option_cards(options, session);
    for (std::size_t i = 0; i < smoothed.parts.size(); ++i) add_part_cards(smoothed.parts[i], i == 1, cards);
    return cards;
}

}  // namespace zonal::cli
