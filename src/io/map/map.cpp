#include "zonal/io/map.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/interruption.hpp"
#include "core/parallel.hpp"
#include "io/map/read.hpp"
#include "sky/sky_part.hpp"
#include "zonal/error.hpp"
#include "zonal/io/sky_map.hpp"
#include "zonal/mask.hpp"
#include "zonal/memory.hpp"

namespace zonal::io {
namespace {

/// Turns NaN into unseen_value; says how many there were.
void replace_nan(MapFile& file) {
    for (auto& column : file.columns) {
        std::int64_t count = 0;
        core::for_pieces(std::ssize(column.values), 1, [&](std::int64_t first, std::int64_t last) {
            for (auto pixel = first; pixel < last; ++pixel) {
                double& value = column.values[static_cast<std::size_t>(pixel)];
                if (!std::isnan(value)) continue;
                value = unseen_value;
                ++count;
            }
        });
        if (count == 0) continue;
        file.notes.push_back(
            fmt::format("{}: column {}: {} NaN taken as UNSEEN", file.source, column.name, count));
    }
}

bool has_infinite_pixels(const MapFile& file) {
    return std::any_of(file.columns.begin(), file.columns.end(), [](const MapColumn& column) {
        return count_bad_pixels(View<const double, 1>(column.values.data(), {std::ssize(column.values)}))
                   .infinite > 0;
    });
}

/// Throws IoError unless all pixels are numbers; the first bad one is named by its number in the file.
void require_numbers(const MapFile& file) {
    for (const auto& column : file.columns) {
        auto bad = count_bad_pixels(View<const double, 1>(column.values.data(), {std::ssize(column.values)}));
        if (file.may_be_infinite) bad.infinite = 0;
        if (bad.nan + bad.infinite == 0) continue;
        const auto first = bad.nan > 0 ? bad.first_nan : bad.first_infinite;
        const auto pixel = file.partial() ? file.pixels[static_cast<std::size_t>(first)] : first;
        throw IoError(fmt::format("{}: column {}: {} pixels are {}, the first is pixel {}{}", file.source,
                                  column.name, bad.nan > 0 ? bad.nan : bad.infinite,
                                  bad.nan > 0 ? "NaN" : "infinite", pixel, bad.nan > 0 ? nan_as_unseen : ""));
    }
}

}  // namespace

void require_same_sky(const MapFile& mask, const MapFile& map) {
    if (!same_pixels(mask.pixelization, map.pixelization)) {
        const bool healpix = std::holds_alternative<HealpixPixels>(mask.pixelization) &&
                             std::holds_alternative<HealpixPixels>(map.pixelization);
        throw IoError(fmt::format("{}: {}: the map has {}{}", mask.source, to_string(mask.pixelization),
                                  to_string(map.pixelization),
                                  healpix ? "; zonal udgrade makes masks of another nside"
                                          : "; its mask must have the same pixels, or be a part of them"));
    }
    const auto unknown = CoordinateSystem::unknown;
    if (mask.coordinates != unknown && map.coordinates != unknown && mask.coordinates != map.coordinates)
        throw IoError(fmt::format("{}: coordinates are {}, the map's are {}", mask.source,
                                  to_string(mask.coordinates), to_string(map.coordinates)));
}

double mask_value(double value, const std::string& source, std::int64_t pixel) {
    const double kept = is_unseen_value(value) ? 0 : value;
    if (kept < 0 || kept > 1)
        throw IoError(
            fmt::format("{}: pixel {} (ring order) is {}: a mask must be from 0 to 1", source, pixel, kept));
    return kept;
}

std::string describe_reading(const MapFile& map) {
    constexpr std::size_t most_names = 6;
    std::vector<std::string> names, units;
    for (std::size_t i = 0; i < map.columns.size(); ++i) {
        const auto& column = map.columns[i];
        const bool is_stokes = map.polarized() && column.stokes != Stokes::none;
        names.emplace_back(is_stokes             ? std::string(1, "-IQU"[static_cast<int>(column.stokes)])
                           : column.name.empty() ? fmt::format("column {}", i)
                                                 : column.name);
        if (std::find(units.begin(), units.end(), column.unit) == units.end()) units.push_back(column.unit);
    }
    const auto more = names.size() > most_names ? names.size() - most_names : 0;
    names.resize(names.size() - more);
    auto text = fmt::format("{}", fmt::join(names, ", "));
    if (more > 0) text += fmt::format(" and {} more", more);
    if (map.polarized())
        text += map.polarization_convention == PolarizationConvention::iau ? " (IAU)" : " (COSMO)";
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

SkyMap read_sky_map(const std::string& path, const ReadMapOptions& options) {
    auto file = read_map(path, options);
    file.may_be_infinite = options.infinite_is_kept && has_infinite_pixels(file);
    if (options.nan_is_unseen) replace_nan(file);
    require_numbers(file);
    options.check_memory(SkyMap::bytes_beside(file, options.extent), file.source + ": its pixels in order");
    return SkyMap(std::move(file), options.extent);
}

void require_unmasked(double largest, const MapFile& mask) {
    if (largest > 0) return;
    throw IoError(fmt::format(
        "{}: column '{}' is 0 everywhere, which leaves no pixel; --mask-field (field) takes another column",
        mask.source, mask.columns[0].name));
}

Array<double, 1> read_mask(const std::string& path, const SkyMap& map, std::vector<std::string>& notes,
                           const std::string& field) {
    auto mask = read_sky_map(path, {.fields = {field}, .polarized = false, .extent = Extent::own_pixels});
    const auto& header = mask.header();
    notes = header.notes;
    require_same_sky(header, map.header());
    const auto row = mask.rows()[0];
    const auto from = mask.part(), to = map.part();
    std::int64_t place = 0;
    core::RarePoll poll;
    for (const auto& range : from->pixels())
        for (auto pixel = range.first; pixel < range.end; ++pixel, ++place) {
            poll();
            row[place] = mask_value(row[place], header.source, pixel);
        }
    require_unmasked(*std::max_element(row.data(), row.data() + row.size()), header);
    Array<double, 1> result({map.grid().n_pixels()});
    copy_pixels(copies_between(from->pixels(), to->pixels()), std::as_const(mask).rows(),
                View<double, 2>(result.data(), {1, result.size()}));
    return result;
}

}  // namespace zonal::io
