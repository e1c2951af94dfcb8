// Masks of maps.
#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/interruption.hpp"
#include "io/map/read.hpp"
#include "sky/sky_part.hpp"
#include "zonal/error.hpp"
#include "zonal/grids/healpix_batch.hpp"
#include "zonal/io/sky_map.hpp"
#include "zonal/mask.hpp"

namespace zonal::io {
namespace {

/// Says why these pixels are not the map's; empty where they are.
std::string why_other_pixels(const Pixelization& mask, const MapFile& map) {
    if (same_pixels(mask, map.pixelization)) return "";
    const bool healpix = std::holds_alternative<HealpixPixels>(mask) &&
                         std::holds_alternative<HealpixPixels>(map.pixelization);
    return fmt::format("{}: the map has {}{}", to_string(mask), to_string(map.pixelization),
                       healpix ? "; zonal udgrade makes masks of another nside"
                               : "; its mask must have the same pixels, or be a part of them");
}

/// Where a map's pixels are in a full sky's file.
std::vector<PixelRange> places_in_file(const SkyMap& map, const Pixelization& file) {
    if (const auto why = why_other_pixels(file, map.header()); !why.empty()) throw InvalidArgument(why);
    const auto part = map.part();
    const auto* healpix = std::get_if<HealpixPixels>(&file);
    if (healpix == nullptr || healpix->ordering == healpix::Order::ring)
        return {part->pixels().begin(), part->pixels().end()};
    auto numbers = map.own_pixels();
    const View<std::int64_t, 1> view(numbers.data(), {std::ssize(numbers)});
    healpix::ring2nest(healpix->nside, view, view);
    std::sort(numbers.begin(), numbers.end());
    std::vector<PixelRange> places;
    for (const auto number : numbers)
        if (!places.empty() && places.back().end == number)
            ++places.back().end;
        else
            places.push_back({number, number + 1});
    return places;
}

}  // namespace

void require_same_sky(const MapFile& mask, const MapFile& map) {
    if (const auto why = why_other_pixels(mask.pixelization, map); !why.empty())
        throw IoError(fmt::format("{}: {}", mask.source, why));
    if (are_known_to_differ(mask.coordinates, map.coordinates))
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

void require_unmasked(double largest, const MapFile& mask) {
    if (largest > 0) return;
    throw IoError(fmt::format(
        "{}: column '{}' is 0 in all pixels of the map, which leaves none; --mask-field (field) takes "
        "another column",
        mask.source, mask.columns[0].name));
}

Array<double, 1> read_mask(const std::string& path, const SkyMap& map, std::vector<std::string>& notes,
                           const std::string& field) {
    const ReadMapOptions options{.fields = {field}, .polarized = false, .extent = Extent::own_pixels};
    const MapPart own{[&](const Pixelization& file) { return places_in_file(map, file); }, true};
    auto mask = sky_of(read_map(path, options, map.is_patch() ? &own : nullptr), options);
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
    Array<double, 1> result({map.grid().n_pixels()});
    copy_pixels(copies_between(from->pixels(), to->pixels()), std::as_const(mask).rows(),
                View<double, 2>(result.data(), {1, result.size()}));
    require_unmasked(*std::max_element(result.data(), result.data() + result.size()), header);
    return result;
}

}  // namespace zonal::io
