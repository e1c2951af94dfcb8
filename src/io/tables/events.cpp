#include "zonal/io/events.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "io/fits/fits_reader.hpp"
#include "io/tables/number_columns.hpp"
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
        std::vector<int> columns{require_number_column(hdu, options.longitude),
                                 require_number_column(hdu, options.latitude)};
        if (!options.energy.empty()) columns.push_back(require_number_column(hdu, options.energy));
        auto values = reader.read_columns(hdu, columns, std::nan(""));
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto& column = hdu.columns[static_cast<std::size_t>(columns[i])];
            const bool angle = i < 2;
            const double factor = column_factor(column, angle ? angle_units() : energy_units(),
                                                angle ? "deg" : "MeV", events.source, events.notes);
            for (double& value : values[i]) value *= factor;
        }
        events.longitude = std::move(values[0]);
        events.latitude = std::move(values[1]);
        if (columns.size() > 2) events.energy = std::move(values[2]);
        return std::move(events);
    });
}

}  // namespace zonal::io
