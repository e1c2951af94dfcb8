#include "choice_report.hpp"

#include <numbers>

namespace zonal::cli {

Json report_of(const ConvolutionChoice& choice) {
    constexpr double arcmin = std::numbers::pi / (180 * 60);
    Json row = {{"method", to_string(choice.method)}, {"device", to_string(choice.device)}};
    if (choice.support > 0) {
        row["precision"] = choice.precision == Precision::single_ ? "float" : "double";
        row["support_arcmin"] = choice.support / arcmin;
        row["accuracy"] = choice.accuracy;
    }
    if (choice.method == zonal::ConvolutionMethod::harmonic) row["iterations"] = choice.iterations;
    if (choice.l_cut >= 0) row["l_cut"] = choice.l_cut;
    if (choice.seconds > 0) row["seconds"] = choice.seconds;
    row["error"] = choice.error;
    if (!choice.excluded.empty()) row["excluded"] = choice.excluded;
    return row;
}

}  // namespace zonal::cli
