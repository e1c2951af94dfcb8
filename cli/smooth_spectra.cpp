#include "smooth_spectra.hpp"

#include <algorithm>

#include "spectrum_file.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::cli {
namespace {

std::vector<std::vector<double>> spectra_of(const SkyMap& map, const SmoothOptions& options) {
    auto choice = options.analysis;
    choice.iterations = 0;
    choice.weights = "none";
    Session scratch;  // what the analysis reports is not about the result
    scratch.quiet = true;
    const auto alm = analyze_map(map, choice, options.run, scratch);
    std::vector<std::vector<double>> all;
    for (std::int64_t row = 0; row < alm.alm.extent(0); ++row)
        all.push_back(cross_spectrum<double>(alm.layout, alm.alm.view()[row], alm.alm.view()[row]));
    const auto holds = [](const std::vector<double>& c_l) {
        return std::any_of(c_l.begin(), c_l.end(), [](double value) { return value > 0; });
    };
    for (auto& c_l : all)
        if (!holds(c_l)) c_l.clear();  // an empty map: white
    return all;
}

}  // namespace

std::vector<std::vector<double>> input_spectra(const SmoothOptions& options, const SkyMap& map,
                                               Session& session) {
    const auto& name = options.kernel.input_spectrum;
    if (options.kernel.cut && !name.empty() && name != "white")
        session.note("--input-cl weighs the error of --cut");
    if (name.empty() || name == "white") return {{}};
    if (name == "map") return spectra_of(map, options);
    return {read_tt("--input-cl", name, session)};
}

}  // namespace zonal::cli
