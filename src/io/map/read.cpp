#include "io/map/read.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "io/fits/cards.hpp"
#include "io/fits/hdu_kind.hpp"
#include "io/map/columns.hpp"
#include "io/map/stokes_hdus.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

/// Calls body(value) for each of a column.
template <class Body>
void for_values(MapColumn& column, const Body& body) {
    core::for_pieces(std::ssize(column.values), 1, [&](std::int64_t first, std::int64_t last) {
        for (auto i = first; i < last; ++i) body(column.values[static_cast<std::size_t>(i)]);
    });
}

PolarizationConvention read_convention(const Hdu& hdu) {
    const std::string text = to_upper(hdu.header.text("POLCCONV").value_or(""));
    if (text.empty() || text == "UNKNOWN") return PolarizationConvention::absent;
    if (text == "COSMO") return PolarizationConvention::cosmo;
    if (text == "IAU") return PolarizationConvention::iau;
    throw InvalidArgument("POLCCONV = '" + text + "': must be COSMO or IAU");
}

void apply_convention(MapFile& map, const Hdu& hdu) {
    map.polarization_convention = read_convention(hdu);
    const int u = map.find(Stokes::U);
    if (u < 0) return;
    if (map.polarization_convention == PolarizationConvention::absent) {
        map.notes.push_back("no POLCCONV: polarisation taken as COSMO");
    }
    if (map.polarization_convention != PolarizationConvention::iau) return;
    for_values(map.columns[u], [](double& value) {
        if (!is_unseen_value(value)) value = -value;
    });
}

}  // namespace

void mark_unseen(const Hdu& hdu, MapColumn& column) {
    const bool nan_is_bad = to_upper(hdu.header.text("BAD_DATA").value_or("")) == "NAN";
    const double bad = nan_is_bad ? unseen_value : hdu.header.number("BAD_DATA").value_or(unseen_value);
    // A column of floats holds the key's value rounded to float.
    const bool narrow = column.precision == FilePrecision::float32 && std::abs(bad) < 3e38;
    const double stored = narrow ? static_cast<float>(bad) : bad;
    for_values(column, [=](double& value) {  // without branches, at the speed of memory
        const bool is_bad = (value == stored) | is_unseen_value(value) | (nan_is_bad & (value != value));
        value = is_bad ? unseen_value : value;
    });
}

namespace {

/// part: the pixels to read, or null for all.
MapFile read_hdu(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options,
                 const std::vector<PixelRange>* part) {
    const bool is_image = hdu.type == HduType::image;
    if (is_image && part != nullptr)
        throw InvalidArgument("is an image: only HEALPix tables can be read in parts");
    return is_image ? read_car_image(reader, hdu, options) : read_healpix_table(reader, hdu, options, part);
}

/// Where no HDU is asked for, the first that holds a map, or all that hold I, Q and U of one sky together.
MapFile read_found(FitsReader& reader, const Hdu& hdu, const ReadMapOptions& options,
                   const std::vector<PixelRange>* part) {
    const auto together =
        settles_polarization(options) ? std::vector<const Hdu*>{} : find_stokes_hdus(reader);
    if (!together.empty() && part != nullptr)
        throw InvalidArgument("I, Q and U are in an HDU each: one process reads them, or --hdu takes one");
    if (!together.empty())
        return read_stokes_hdus(together, [&](const Hdu& one) {
            return read_hdu(reader, one,
                            {.polarized = false,
                             .ordering_if_absent = options.ordering_if_absent,
                             .header_only = options.header_only},
                            nullptr);
        });
    auto map = read_hdu(reader, hdu, options, part);
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

MapFile read(const std::string& path, const ReadMapOptions& options, const std::vector<PixelRange>* part) {
    FitsReader reader(path);
    if (part != nullptr && reader.is_unpacked())
        throw IoError(path + ": is packed, so that it cannot be read in parts: unpack it first");
    const Hdu& hdu = select_map(reader, options.hdu);
    return reader.in(hdu, [&] {
        MapFile map = options.hdu.empty() ? read_found(reader, hdu, options, part)
                                          : read_hdu(reader, hdu, options, part);
        map.source = reader.source(hdu);
        map.cards = free_cards(hdu);
        apply_convention(map, hdu);
        for (auto& note : map.notes) note = fmt::format("{}: {}", map.source, note);
        return map;
    });
}

}  // namespace

MapFile read_map(const std::string& path, const ReadMapOptions& options) {
    return read(path, options, nullptr);
}

MapFile read_map_part(const std::string& path, const std::vector<PixelRange>& pixels,
                      const ReadMapOptions& options) {
    return read(path, options, &pixels);
}

}  // namespace zonal::io
