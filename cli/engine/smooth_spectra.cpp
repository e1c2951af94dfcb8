#include "engine/smooth_spectra.hpp"

#include <algorithm>

#include "engine/spectrum_file.hpp"
#include "zonal/spectrum.hpp"

namespace zonal::cli {
namespace {

bool holds(const std::vector<double>& c_l) {
    return std::any_of(c_l.begin(), c_l.end(), [](double value) { return value > 0; });
}

/// Of all alm of the map.
std::vector<std::vector<double>> spectra_of_map(const SkyMap& map, const SmoothOptions& options) {
    auto choice = options.analysis;
    choice.iterations = 0;
    choice.weights = "none";
    Session scratch;  // what the analysis reports is not about the result
    scratch.quiet = true;
    const auto alm = analyze_map(map, choice, options.run, scratch);
    std::vector<std::vector<double>> all;
    for (std::int64_t row = 0; row < alm.alm.extent(0); ++row)
        all.push_back(cross_spectrum<double>(alm.layout, alm.alm.view()[row], alm.alm.view()[row]));
    return all;
}

}  // namespace

std::vector<std::vector<double>> input_spectra(const SmoothOptions& options, const SkyMap& map,
                                               Session& session) {
    const auto& name = options.kernel.input_spectrum;
    if (options.kernel.cut && !name.empty() && name != "white")
        session.note("--input-cl weighs the error of --cut");
    if (name.empty() || name == "white") return {{}};
    if (name != "map") return {read_tt("--input-cl", name, session)};
    auto all = spectra_of_map(map, options);
    for (auto& c_l : all)
        if (!holds(c_l)) c_l.clear();  // an empty map: white
    return all;
}

std::vector<std::vector<double>> polarization_spectra(const SmoothOptions& options, const SkyMap& map,
                                                      Session& session) {
    const auto& name = options.kernel.input_spectrum;
    if (name.empty() || name == "white") return {{}, {}};
    if (name != "map") return read_ee_and_bb("--input-cl", name, session);
    auto both = spectra_of_map(map, options);
    return holds(both[0]) || holds(both[1]) ? both : std::vector<std::vector<double>>{{}, {}};
}

}  // namespace zonal::cli
