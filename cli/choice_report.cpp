#include "choice_report.hpp"

#include <algorithm>
#include <cmath>

#include "angles.hpp"

namespace zonal::cli {

Json report_of(const ConvolutionChoice& choice) {
    Json row = {{"method", to_string(choice.method)}, {"device", to_string(choice.device)}};
    if (choice.support > 0) {
        row["precision"] = choice.precision == Precision::single_ ? "float" : "double";
        row["support_arcmin"] = choice.support / arcmin;
        row["accuracy"] = choice.accuracy;
    }
    if (choice.method == zonal::ConvolutionMethod::harmonic) row["iterations"] = choice.iterations;
    if (choice.l_cut >= 0) row["l_cut"] = choice.l_cut;
    if (choice.l_cut >= 0 && choice.harmonic_device != choice.device)
        row["harmonic_device"] = to_string(choice.harmonic_device);
    if (choice.seconds > 0) row["seconds"] = choice.seconds;
    row["error"] = choice.error;
    if (!choice.excluded.empty()) row["excluded"] = choice.excluded;
    return row;
}

void report_choices(const std::vector<ConvolutionChoice>& choices, const std::string& costs,
                    Session& session) {
    session.report["costs"] = costs;
    session.report["choices"] = Json::array();
    for (const auto& choice : choices) session.report["choices"].push_back(report_of(choice));
}

// Measured with maps of C_l = 1/(l(l+1)) at nside 128 and 256: 1/15, 1/8 and 1/4.7 at lmax = 1.5, 2 and 2.5
// nside.
double iteration_gain(std::int64_t lmax, std::int64_t nside) {
    const double degrees = static_cast<double>(lmax) / static_cast<double>(nside);
    return std::clamp(std::exp(-2.08 + 1.16 * (degrees - 2)), 0.03, 0.8);
}

}  // namespace zonal::cli
