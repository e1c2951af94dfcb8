#include "tool/split_pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace zonal::cli {
namespace {

constexpr int sheet_width = 1200;  // pixels, as are all below

struct Panel {
    std::string title;
    std::span<const double> values;
    std::optional<plot::Range> range;  ///< empty: the values' own
};

plot::MapPlot map_plot(const Panel& panel, std::int64_t nside) {
    plot::MapPlot plot;
    plot.value = plot::healpix_ring(nside, panel.values);
    plot.title = panel.title;
    plot.coordinates = fmt::format("nside {}", nside);
    plot.graticule = false;
    if (panel.range) {
        plot.minimum = panel.range->minimum;
        plot.maximum = panel.range->maximum;
    }
    return plot;
}

plot::Image full_sky(const Panel& panel, std::int64_t nside) {
    auto plot = map_plot(panel, nside);
    plot.image = {.width = sheet_width / 2, .height = 330};
    return draw_map(plot);
}

plot::Image patch(const Panel& panel, std::int64_t nside) {
    constexpr double widest = 60, side = 175 * 58.6;  // degrees; 175 pixels at nside 1
    auto plot = map_plot(panel, nside);
    plot.projection = plot::Projection::gnomonic;
    plot.centre_lon = 45;
    plot.centre_lat = 20;
    plot.field = std::min(widest, side / static_cast<double>(nside));
    plot.title += fmt::format(", {:.3g}°", plot.field);
    plot.image = {.width = sheet_width / 3, .height = 345};
    return draw_map(plot);
}

/// Of every so many values: a million say what the range is.
plot::Range range_of(std::span<const double> values) {
    const auto step = 1 + values.size() / 1'000'000;
    std::vector<double> some;
    for (std::size_t i = 0; i < values.size(); i += step) some.push_back(values[i]);
    return plot::automatic_range(some, plot::Scale::linear);
}

std::vector<double> difference(std::span<const double> a, std::span<const double> b) {
    std::vector<double> result(a.begin(), a.end());
    for (std::size_t i = 0; i < result.size(); ++i) result[i] -= b[i];
    return result;
}

}  // namespace

std::vector<std::vector<plot::Image>> draw_split_maps(const SplitMaps& maps) {
    const auto beyond_window = difference(maps.whole, maps.window);
    const auto residual = difference(beyond_window, maps.profile);
    const auto whole_range = range_of(maps.whole), profile_range = range_of(maps.profile);
    const auto nside = maps.nside;
    return {{full_sky({"whole kernel", maps.whole, whole_range}, nside),
             full_sky({"whole kernel − sum of both parts", residual, {}}, nside)},
            {patch({"whole kernel", maps.whole, whole_range}, nside),
             patch({"whole kernel − harmonic part", beyond_window, profile_range}, nside),
             patch({"profile", maps.profile, profile_range}, nside)}};
}

std::vector<plot::Image> draw_graph_row(const std::vector<plot::Graph>& graphs) {
    std::vector<plot::Image> row;
    for (const auto& graph : graphs) {
        plot::ImageOptions image{.width = sheet_width / static_cast<int>(graphs.size()), .height = 300};
        row.push_back(plot::draw_graphs({{graph}, image}));
    }
    return row;
}

}  // namespace zonal::cli
