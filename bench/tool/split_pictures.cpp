#include "tool/split_pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "zonal/angle.hpp"

namespace zonal::cli {
namespace {

/// The maps by their numbers in the request.
enum MapNumber { whole, profile, beyond_window, residual };

Json full_sky(const std::string& title, MapNumber map) {
    return {{"title", title}, {"map", int{map}}};
}

/// colors_of: the map whose values the colours suit.
Json patch(const std::string& title, MapNumber map, MapNumber colors_of, std::int64_t nside) {
    constexpr double widest = 60, side = 175 * 58.6;  // degrees; 175 pixels at nside 1
    const double size = std::min(widest, side / static_cast<double>(nside));
    return {{"title", fmt::format("{}, {:.3g}°", title, size)},
            {"map", int{map}},
            {"colors_of", int{colors_of}},
            {"size", degrees_to_radians(size)}};
}

std::vector<double> difference(std::vector<double> a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return a;
}

}  // namespace

void draw_split(const std::string& path, const SplitMaps& maps, const std::vector<Graph>& graphs,
                const OutputOptions& output, Session& session) {
    const auto without_window = difference(maps.whole, maps.window);
    const auto rest = difference(without_window, maps.profile);
    const auto nside = maps.nside;
    const Json skies = {full_sky("whole kernel", whole),
                        full_sky("whole kernel − sum of both parts", residual)};
    const Json patches = {patch("whole kernel", whole, whole, nside),
                          patch("whole kernel − harmonic part", beyond_window, profile, nside),
                          patch("profile", profile, profile, nside)};
    draw_picture(path,
                 {{{"draw", "split"}, {"nside", nside}, {"rows", {skies, patches, to_json(graphs)}}},
                  {maps.whole, maps.profile, without_window, rest}},
                 output, session);
}

}  // namespace zonal::cli
