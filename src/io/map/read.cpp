#include "io/map/read.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "core/parallel.hpp"
#include "io/fits/cards.hpp"
#include "io/fits/hdu_kind.hpp"
#include "io/map/columns.hpp"
#include "io/map/stokes_hdus.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

PolarizationConvention read_convention(const Hdu& hdu) {
    const std::string text = to_upper(hdu.header.text("POLCCONV").value_or(""));
    if (text.empty() || text == "UNKNOWN") return PolarizationConvention::absent;
    if (text == "COSMO") return PolarizationConvention::cosmo;
    if (text == "IAU") return PolarizationConvention::iau;
    throw InvalidArgument("POLCCONV = '" + text + "': must be COSMO or IAU");
}

/// The pixels of a column that has been read.
View<double, 1> column_pixels(MapFile& map, int column, const SkyRows* rows) {
    const auto i = static_cast<std::size_t>(column);
    if (rows != nullptr && !rows->rows.empty()) return rows->rows[i];
    return {map.columns[i].values.data(), {std::ssize(map.columns[i].values)}};
}

void apply_convention(MapFile& map, const Hdu& hdu, const SkyRows* rows) {
    map.polarization_convention = read_convention(hdu);
    const int u = map.find(Stokes::U);
    if (u < 0) return;
    if (map.polarization_convention == PolarizationConvention::absent) {
        map.notes.push_back("no POLCCONV: polarisation taken as COSMO");
    }
    if (map.polarization_convention != PolarizationConvention::iau) return;
    const auto pixels = column_pixels(map, u, rows);
    core::for_pieces(pixels.size(), 1, [&](std::int64_t first, std::int64_t last) {
        for (auto i = first; i < last; ++i)
            if (!is_unseen_value(pixels[i])) pixels[i] = -pixels[i];
    });
}

/// part: the pixels to read, or null for all.
MapFile read_hdu(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options, const MapPart* part,
                 SkyRows* rows) {
    const bool is_image = hdu.type == HduType::image;
    if (is_image && part != nullptr && !part->may_be_more)
        throw InvalidArgument("is an image: only HEALPix tables can be read in parts");
    return is_image ? read_car_image(reader, hdu, options, part)
                    : read_healpix_table(reader, hdu, options, part, rows);
}

/// Where no HDU is asked for, the first that holds a map, or all that hold I, Q and U of one sky together.
MapFile read_found(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options, const MapPart* part,
                   SkyRows* rows) {
    const auto together =
        settles_polarization(options) ? std::vector<const Hdu*>{} : find_stokes_hdus(reader);
    if (!together.empty() && part != nullptr && !part->may_be_more)
        throw InvalidArgument("I, Q and U are in an HDU each: one process reads them, or --hdu takes one");
    if (!together.empty())
        return read_stokes_hdus(together, [&](const Hdu& one) {
            return read_hdu(reader, one,
                            {.polarized = false,
                             .ordering_if_absent = options.ordering_if_absent,
                             .header_only = options.header_only},
                            nullptr, nullptr);
        });
    auto map = read_hdu(reader, hdu, options, part, rows);
    if (const auto others = other_maps(reader, hdu); !others.empty())
        map.notes.push_back(fmt::format("{}: they hold maps, too, which --hdu (hdu=) reads", others));
    return map;
}

/// The HDU that is asked for, or the first that holds a map. Says of images in other projections what to do.
const Hdu& select_map(const FitsReader& reader, const std::string& name_or_number) {
    const auto is_map = [](const Hdu& hdu) { return kind_of(hdu) == FileKind::map; };
    const auto& hdus = reader.hdus();
    if (name_or_number.empty() && std::none_of(hdus.begin(), hdus.end(), is_map))
        for (const auto& hdu : hdus)
            if (const auto why = why_no_map(hdu); !why.empty()) reader.fail(hdu, why);
    return reader.select(name_or_number, "map", is_map);
}

MapFile read_from(FitsReader& reader, const ReadMapOptions& options, const MapPart* part, SkyRows* rows) {
    const Hdu& hdu = select_map(reader, options.hdu);
    return reader.in(hdu, [&] {
        MapFile map = options.hdu.empty() ? read_found(reader, hdu, options, part, rows)
                                          : read_hdu(reader, hdu, options, part, rows);
        map.source = reader.source(hdu);
        map.cards = free_cards(hdu);
        apply_convention(map, hdu, rows);
        for (auto& note : map.notes) note = fmt::format("{}: {}", map.source, note);
        return map;
    });
}

}  // namespace

MapFile read_map(const std::string& path, const ReadMapOptions& options, const MapPart* part, SkyRows* rows) {
    FitsReader reader(path);
    if (part != nullptr && !part->may_be_more && reader.is_unpacked())
        throw IoError(path + ": is packed, so that it cannot be read in parts: unpack it first");
    return read_from(reader, options, part, rows);
}

void visit_columns(const std::string& path, ReadMapOptions options, std::int64_t count,
                   const std::function<void(const MapFile&)>& visit) {
    constexpr std::int64_t most_values = std::int64_t{1} << 23;
    FitsReader reader(path);
    const bool is_image = select_map(reader, options.hdu).type == HduType::image;
    std::int64_t together = 1;
    for (std::int64_t first = 0; first < count;) {
        options.fields.clear();
        for (; first < count && std::ssize(options.fields) < together; ++first)
            options.fields.push_back(std::to_string(first));
        const auto map = read_from(reader, options, nullptr, nullptr);
        visit(map);
        // Columns of a table may have names that exclude each other, planes of an image have not.
        const auto size = std::max<std::int64_t>(1, std::ssize(map.columns[0].values));
        if (is_image) together = std::max<std::int64_t>(1, most_values / size);
    }
}

MapFile read_map(const std::string& path, const ReadMapOptions& options) {
    return read_map(path, options, nullptr);
}

MapFile read_map_part(const std::string& path, const std::vector<PixelRange>& pixels,
                      const ReadMapOptions& options) {
    const MapPart part{[&](const Pixelization&) { return pixels; }};
    return read_map(path, options, &part);
}

}  // namespace zonal::io
