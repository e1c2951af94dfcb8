#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shell/session.hpp"
#include "zonal/grid.hpp"
#include "zonal/io/map.hpp"
#include "zonal/smoothing.hpp"
#include "zonal/view.hpp"

namespace zonal::cli {

/// --field, --pol, --hdu, --order-if-absent: what to read of a map file.
struct MapInput {
    std::vector<std::string> fields;
    std::string hdu;
    std::optional<bool> polarised;
    std::optional<io::Ordering> ordering_if_absent;

    bool given() const { return !fields.empty() || !hdu.empty() || polarised || ordering_if_absent; }
};
void add_map_input(CLI::App& app, MapInput& input);

/// Columns that are transformed together: I, Q, U; Q, U; or any number of spin-0 fields.
struct FieldGroup {
    Fields fields;
    std::int64_t first_row;
    std::int64_t n_rows;
};

/// A map as the transforms want it: the full sky, in ring order, UNSEEN where a partial sky has no pixels.
class SkyMap {
  public:
    /// Reads it. Throws IoError for NaN and infinite pixels, saying how many and where the first is.
    SkyMap(const std::string& path, const MapInput& input, Session& session);
    /// A map on other pixels with the same columns and header, all 0.
    SkyMap(const SkyMap& like, const io::Pixelisation& pixelisation);
    /// A map of these columns (values not used), all 0.
    explicit SkyMap(io::MapFile header);
    /// A copy of these rows, which are transformed together as `fields`; not to be written.
    SkyMap(const SkyMap& map, Fields fields, const std::vector<std::int64_t>& rows);

    /// Pixels as they are in the file, header, columns without their values.
    const io::MapFile& header() const { return file_; }
    io::MapFile& header() { return file_; }
    const Grid& grid() const { return grid_; }
    /// 0 where the map is not HEALPix.
    std::int64_t nside() const;
    const std::vector<FieldGroup>& groups() const { return groups_; }

    /// [row, pixel]; rows are in the order of the groups, not of the file's columns.
    View<double, 2> rows() { return values_.view(); }
    View<const double, 2> rows() const { return values_.view(); }
    View<double, 2> rows(const FieldGroup& group);
    View<const double, 2> rows(const FieldGroup& group) const;
    /// "I": name of the column behind a row.
    const std::string& row_name(std::int64_t row) const;
    /// Where I, or else the only field, is; -1: none.
    std::int64_t intensity_row() const;

    /// Makes a partial sky a full one, in what is written.
    void write_full_sky() { file_.pixels.clear(); }
    /// Writes it in the order and precision, and with the pixels, that the header says.
    void write(const std::string& path, const io::WriteOptions& options);

  private:
    void make_groups();
    void read_values();

    io::MapFile file_;
    Grid grid_;
    std::vector<FieldGroup> groups_;
    std::vector<std::size_t> column_of_row_;
    Array<double, 2> values_;
};

/// "nside 32, ring" or "CAR, 180 x 360".
std::string to_string(const io::Pixelisation& pixelisation);

/// Adds nside, ordering, coordinates and columns to a report.
Json describe(const io::MapFile& map);

/// Replaces UNSEEN by 0.
void zero_unseen(View<double, 1> values);

/// Copies between the file's order and ring order.
void to_ring_order(const io::Pixelisation& pixelisation, View<const double, 1> file_order,
                   View<double, 1> ring_order);
void from_ring_order(const io::Pixelisation& pixelisation, View<const double, 1> ring_order,
                     View<double, 1> file_order);

}  // namespace zonal::cli
