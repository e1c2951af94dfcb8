#include "zonal/io/events.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "io/fits/fits_reader.hpp"
#include "io/tables/text.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

/// The system that a name in capitals stands for; unknown for others.
CoordinateSystem system_of(const std::string& name) {
    using enum CoordinateSystem;
    const std::vector<std::pair<CoordinateSystem, std::vector<std::string>>> names{
        {galactic, {"L", "B", "GLON", "GLAT"}}, {equatorial, {"RA", "DEC"}}, {ecliptic, {"ELON", "ELAT"}}};
    for (const auto& [system, columns] : names)
        if (std::find(columns.begin(), columns.end(), name) != columns.end()) return system;
    return unknown;
}

int require_column(const Hdu& hdu, const std::string& name) {
    const int index = hdu.find_column(name);
    if (index < 0) throw InvalidArgument(fmt::format("no column {}", name));
    const auto& column = hdu.columns[static_cast<std::size_t>(index)];
    if (!column.numeric() || column.repeat != 1)
        throw InvalidArgument(
            fmt::format("column {}: format {}: must be one number a row", name, column.format));
    return index;
}

/// What to multiply the column with.
double factor_of(const FitsColumn& column, const Units& units, const std::string& usual, EventList& events) {
    if (column.unit.empty())
        events.notes.push_back(
            fmt::format("{}: column {} has no unit: taken as {}", events.source, column.name, usual));
    return unit_factor(column.name, column.unit, units, usual);
}

}  // namespace

CoordinateSystem coordinates_of_columns(const std::string& longitude, const std::string& latitude) {
    const auto a = system_of(to_upper(longitude)), b = system_of(to_upper(latitude));
    for (const char* name : {"B", "GLAT", "DEC", "ELAT"})
        if (to_upper(longitude) == name)
            throw InvalidArgument(fmt::format("column {}: holds latitudes, not longitudes", longitude));
    for (const char* name : {"L", "GLON", "RA", "ELON"})
        if (to_upper(latitude) == name)
            throw InvalidArgument(fmt::format("column {}: holds longitudes, not latitudes", latitude));
    if (a != b)
        throw InvalidArgument(fmt::format("columns {} ({}) and {} ({}): must be of one coordinate system",
                                          longitude, to_string(a), latitude, to_string(b)));
    return a;
}

EventList read_events(const std::string& path, const ReadEventsOptions& options) {
    FitsReader reader(path);
    const Hdu& hdu = reader.select(options.hdu, "table of events", [&](const Hdu& candidate) {
        return candidate.find_column(options.longitude) >= 0 && candidate.find_column(options.latitude) >= 0;
    });
    EventList events;
    events.source = reader.source(hdu);
    return reader.in(hdu, [&] {
        events.coordinates = coordinates_of_columns(options.longitude, options.latitude);
        std::vector<int> columns{require_column(hdu, options.longitude),
                                 require_column(hdu, options.latitude)};
        if (!options.energy.empty()) columns.push_back(require_column(hdu, options.energy));
        auto values = reader.read_columns(hdu, columns, std::nan(""));
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto& column = hdu.columns[static_cast<std::size_t>(columns[i])];
            const bool angle = i < 2;
            const double factor =
                factor_of(column, angle ? angle_units() : energy_units(), angle ? "deg" : "MeV", events);
            for (double& value : values[i]) value *= factor;
        }
        events.longitude = std::move(values[0]);
        events.latitude = std::move(values[1]);
        if (columns.size() > 2) events.energy = std::move(values[2]);
        return std::move(events);
    });
}

}  // namespace zonal::io
