#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "options/common_options.hpp"
#include "shell/session.hpp"
#include "zonal/distributed/map_share.hpp"
#include "zonal/io/sky_map.hpp"
#include "zonal/sky/sky_map.hpp"
#include "zonal/view.hpp"

namespace zonal::cli {

/// --field, --pol, --hdu, --order-if-absent: what to read of a map file.
struct MapInput {
    std::vector<std::string> fields;
    std::string hdu;
    std::optional<bool> polarized;
    std::optional<healpix::Order> ordering_if_absent;
    std::optional<std::int64_t> multi_order_nside;
    bool nan_is_unseen = false;

    bool given() const {
        return !fields.empty() || !hdu.empty() || polarized || ordering_if_absent || multi_order_nside ||
               nan_is_unseen;
    }
};
void add_map_input(CLI::App& app, MapInput& input);

/// Which columns are read where --field names none: fields of the sky alone, or hits, errors and covariances
/// too.
enum class Columns { fields, all };

io::ReadMapOptions read_options(const MapInput& input, Columns columns);
/// What may be done about Q without U, for messages.
inline constexpr const char* how_to_choose =
    ": --field chooses columns, --no-pol makes spin-0 fields of them";

/// Reads it; the notes of reading go to the session. Throws UsageError for Q without U, and what
/// io::read_sky_map throws.
SkyMap read_sky_map(const std::string& path, const MapInput& input, Session& session,
                    Columns columns = Columns::fields, Extent extent = Extent::whole_sky);

/// Writes a map, or this rank's part of one, in --precision with these cards, behind those that say how it
/// was made, and reports it.
void write_map(const FileOptions& files, SkyMap& map, const std::vector<HeaderCard>& cards, Session& session);

/// The same for a map that is divided evenly among the ranks of the job.
MapShare read_map_share(const std::string& path, const MapInput& input, Session& session);
void write_map_share(const FileOptions& files, MapShare& map, const std::vector<HeaderCard>& cards,
                     Session& session);

/// Adds nside, ordering, coordinates and columns to a report.
Json describe(const MapFile& map);

}  // namespace zonal::cli
