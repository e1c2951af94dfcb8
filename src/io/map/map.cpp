#include "zonal/io/map.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/interruption.hpp"
#include "core/parallel.hpp"
#include "io/map/read.hpp"
#include "zonal/error.hpp"
#include "zonal/io/sky_map.hpp"
#include "zonal/mask.hpp"
#include "zonal/memory.hpp"

namespace zonal::io {
namespace {

/// What each column of a file in memory holds that is no number; with replace, NaN become unseen_value.
std::vector<BadPixels> find_bad_pixels(MapFile& file, bool replace) {
    std::vector<BadPixels> bad;
    for (auto& column : file.columns) {
        auto& values = column.values;
        bad.push_back(count_bad_pixels(View<const double, 1>(values.data(), {std::ssize(values)})));
        if (replace && bad.back().nan > 0) mark_unseen({.nan = true}, values.data(), std::ssize(values));
    }
    return bad;
}

/// Notes NaN that became unseen_value, and throws IoError for other pixels that are no numbers: the first one
/// is named by its number in the file. bad: what was found in each column.
void settle_bad_pixels(const std::vector<BadPixels>& bad, const ReadMapOptions& options, MapFile& file) {
    const auto name = [&](std::size_t i) {
        return fmt::format("{}: column {}", file.source, column_label(file, i));
    };
    for (std::size_t i = 0; i < bad.size(); ++i) {
        file.may_be_infinite |= options.infinite_is_kept && bad[i].infinite > 0;
        if (options.nan_is_unseen && bad[i].nan > 0)
            file.notes.push_back(fmt::format("{}: {} NaN taken as UNSEEN", name(i), bad[i].nan));
    }
    for (std::size_t i = 0; i < bad.size(); ++i) {
        const auto nan = options.nan_is_unseen ? 0 : bad[i].nan;
        const auto infinite = options.infinite_is_kept ? 0 : bad[i].infinite;
        if (nan + infinite == 0) continue;
        const auto first = nan > 0 ? bad[i].first_nan : bad[i].first_infinite;
        const auto pixel = file.partial() ? file.pixels[static_cast<std::size_t>(first)] : first;
        throw IoError(fmt::format("{}: {} pixels are {}, the first is pixel {}{}", name(i),
                                  nan > 0 ? nan : infinite, nan > 0 ? "NaN" : "infinite", pixel,
                                  nan > 0 ? nan_as_unseen : ""));
    }
}

/// Has the rows of a map take the values of a file. sky: gets the map once its header is known.
SkyRows rows_of(std::optional<SkyMap>& sky, const ReadMapOptions& options) {
    SkyRows rows{.nan_is_unseen = options.nan_is_unseen};
    rows.make = [&](const MapFile& header) {
        std::vector<View<double, 1>> columns;
        const bool is_whole = (header.find(Stokes::Q) >= 0) == (header.find(Stokes::U) >= 0);
        if (!is_whole) return columns;  // no SkyMap will take it
        options.check_memory(SkyMap::bytes_beside(header, options.extent),
                             header.source + ": its pixels in order");
        sky.emplace(header, options.extent);
        columns.resize(header.columns.size());
        for (std::int64_t row = 0; row < sky->rows().extent(0); ++row)
            columns[static_cast<std::size_t>(&sky->column(row) - sky->header().columns.data())] =
                sky->rows()[row];
        return columns;
    };
    return rows;
}

}  // namespace

std::string column_label(const MapFile& map, std::size_t column) {
    const auto& name = map.columns[column].name;
    return name.empty() ? fmt::format("{}", column) : name;
}

std::string describe_reading(const MapFile& map) {
    constexpr std::size_t most_names = 6;
    std::vector<std::string> names, units;
    const bool polarized = map.polarized();
    for (std::size_t i = 0; i < map.columns.size(); ++i) {
        const auto& column = map.columns[i];
        const bool is_stokes = polarized && column.stokes != Stokes::none;
        names.emplace_back(is_stokes             ? std::string(1, "-IQU"[static_cast<int>(column.stokes)])
                           : column.name.empty() ? "column " + column_label(map, i)
                                                 : column.name);
        if (std::find(units.begin(), units.end(), column.unit) == units.end()) units.push_back(column.unit);
    }
    const auto more = names.size() > most_names ? names.size() - most_names : 0;
    names.resize(names.size() - more);
    auto text = fmt::format("{}", fmt::join(names, ", "));
    if (more > 0) text += fmt::format(" and {} more", more);
    if (polarized) text += map.polarization_convention == PolarizationConvention::iau ? " (IAU)" : " (COSMO)";
    text += ", " + to_string(map.pixelization);
    if (map.partial()) text += fmt::format(", {} pixels of the sky", map.pixels.size());
    text += map.coordinates == CoordinateSystem::unknown ? ", unknown coordinates"
                                                         : ", " + to_string(map.coordinates);
    for (const auto& unit : units) text += unit.empty() ? units.size() == 1 ? ", no unit" : "" : ", " + unit;
    return text;
}

void expand_to_full_sky(MapFile& map) {
    if (!map.partial()) return;
    const std::int64_t n_pixels = full_sky_size(map.pixelization);
    require_memory(static_cast<double>(n_pixels) * static_cast<double>(map.columns.size() * sizeof(double)),
                   fmt::format("{}: the full sky of {} pixels", map.source, n_pixels));
    for (auto& column : map.columns) {
        std::vector<double> full(static_cast<std::size_t>(n_pixels), unseen_value);
        core::for_pieces(std::ssize(map.pixels), 1, [&](std::int64_t first, std::int64_t last) {
            for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
                full[map.pixels[i]] = column.values[i];
        });
        column.values = std::move(full);
    }
    map.pixels.clear();
}

SkyMap sky_of(MapFile file, const ReadMapOptions& options) {
    settle_bad_pixels(find_bad_pixels(file, options.nan_is_unseen), options, file);
    options.check_memory(SkyMap::bytes_beside(file, options.extent), file.source + ": its pixels in order");
    return SkyMap(std::move(file), options.extent);
}

SkyMap read_sky_map(const std::string& path, const ReadMapOptions& options) {
    std::optional<SkyMap> sky;
    auto rows = rows_of(sky, options);
    auto file = read_map(path, options, nullptr, &rows);
    if (!sky) return sky_of(std::move(file), options);
    settle_bad_pixels(rows.bad, options, file);
    sky->header() = std::move(file);
    return *std::move(sky);
}

}  // namespace zonal::io
