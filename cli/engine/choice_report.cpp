#include "engine/choice_report.hpp"

#include <cmath>

#include "zonal/angle.hpp"

namespace zonal::cli {

Json report_of(const ConvolutionChoice& choice) {
    Json row = {{"method", to_string(choice.method)}, {"device", to_string(choice.device)}};
    if (choice.support > 0) {
        row["precision"] = choice.precision == Precision::float32 ? "float" : "double";
        row["support_arcmin"] = radians_to_arcmin(choice.support);
        row["accuracy"] = choice.accuracy;
    }
    if (choice.method == zonal::ConvolutionMethod::harmonic) row["iterations"] = choice.iterations;
    if (choice.l_cut >= 0) row["l_cut"] = choice.l_cut;
    if (choice.l_cut >= 0 && choice.harmonic_device != choice.device)
        row["harmonic_device"] = to_string(choice.harmonic_device);
    if (choice.seconds > 0) row["seconds"] = choice.seconds;
    if (choice.exchange_seconds > 0) row["exchange_seconds"] = choice.exchange_seconds;
    if (std::isfinite(choice.error)) row["error"] = choice.error;
    if (!choice.excluded.empty()) row["excluded"] = choice.excluded;
    return row;
}

void report_choices(const std::vector<ConvolutionChoice>& choices, const std::string& costs,
                    Session& session) {
    session.report["costs"] = costs;
    session.report["choices"] = Json::array();
    for (const auto& choice : choices) session.report["choices"].push_back(report_of(choice));
}

void report_split(const ConvolutionChoice& choice, const SplitConvolutionSeconds& seconds, Session& session) {
    if (choice.method != zonal::ConvolutionMethod::split) return;
    auto& report = session.report;
    report["l_cut"] = choice.l_cut;
    report["theta_cut_arcmin"] = radians_to_arcmin(choice.support);
    report["amplification"] = choice.split->quality.amplification;
    report["leakage"] = choice.split->quality.leakage;
    report["harmonic_device"] = to_string(choice.harmonic_device);
    report["parts_seconds"] = {{"pixels", seconds.pixels}, {"harmonic", seconds.harmonic}};
}

}  // namespace zonal::cli
