#include "io/map/stokes_hdus.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "io/fits/hdu_kind.hpp"
#include "io/map/columns.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

std::vector<const Hdu*> map_hdus(const FitsReader& reader) {
    std::vector<const Hdu*> found;
    for (const auto& hdu : reader.hdus())
        if (kind_of(hdu) == FileKind::map) found.push_back(&hdu);
    return found;
}

/// What the HDUs' names say of them.
std::vector<MapField> fields_of(const std::vector<const Hdu*>& hdus) {
    std::vector<MapField> fields(hdus.size());
    for (std::size_t i = 0; i < hdus.size(); ++i) fields[i].name = hdus[i]->name;
    std::vector<std::string> notes;
    assign_stokes(fields, {}, {}, notes);
    return fields;
}

}  // namespace

std::vector<const Hdu*> find_stokes_hdus(const FitsReader& reader) {
    const auto hdus = map_hdus(reader);
    if (hdus.size() < 2 || hdus.size() > 3) return {};
    const auto fields = fields_of(hdus);
    const auto count = [&](Stokes stokes) {
        return std::count_if(fields.begin(), fields.end(),
                             [&](const MapField& field) { return field.stokes == stokes; });
    };
    const bool is_one_sky = count(Stokes::Q) == 1 && count(Stokes::U) == 1 && count(Stokes::none) == 0;
    return is_one_sky ? hdus : std::vector<const Hdu*>{};
}

MapFile read_stokes_hdus(const std::vector<const Hdu*>& hdus,
                         const std::function<MapFile(const Hdu&)>& read_one) {
    const auto fields = fields_of(hdus);
    MapFile map;
    for (std::size_t i = 0; i < hdus.size(); ++i) {
        auto one = read_one(*hdus[i]);
        if (one.columns.size() != 1)
            throw InvalidArgument(
                fmt::format("holds one of I, Q, U by its name, but {} fields; --hdu (hdu=) reads it alone",
                            one.columns.size()));
        auto& column = one.columns[0];
        column.stokes = fields[i].stokes;
        const auto name = stokes_from_name(column.name);
        if (!name || name->stokes != column.stokes) column.name = fields[i].name;
        if (i == 0) {
            map = std::move(one);
            continue;
        }
        if (one.pixelization != map.pixelization || one.pixels != map.pixels ||
            one.coordinates != map.coordinates)
            throw InvalidArgument(fmt::format(
                "{} and {} hold I, Q, U of one sky by their names, but have other pixels or coordinates; "
                "--hdu (hdu=) reads one",
                hdus[0]->label(), hdus[i]->label()));
        map.columns.push_back(std::move(column));
        map.notes.insert(map.notes.end(), one.notes.begin(), one.notes.end());
    }
    return map;
}

std::string other_maps(const FitsReader& reader, const Hdu& read) {
    std::string text;
    for (const auto* hdu : map_hdus(reader))
        if (hdu != &read) text += (text.empty() ? "" : ", ") + hdu->label();
    return text;
}

}  // namespace zonal::io
