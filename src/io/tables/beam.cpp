#include "zonal/io/beam.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "io/fits/fits_reader.hpp"
#include "io/fits/fits_writer.hpp"
#include "io/fits/hdu_kind.hpp"
#include "io/tables/text_table.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

constexpr std::size_t max_window_columns = 3;  // T, E, B

void check_finite(const std::vector<std::vector<double>>& columns) {
    for (const auto& column : columns) {
        if (column.empty() || column.size() != columns[0].size()) {
            throw InvalidArgument("its columns are empty or have different lengths");
        }
        const auto bad =
            std::find_if(column.begin(), column.end(), [](double value) { return !std::isfinite(value); });
        if (bad != column.end()) {
            throw InvalidArgument(
                fmt::format("value {} at l = {}: must be finite", *bad, bad - column.begin()));
        }
    }
}

/// One column is for T, E and B; of two the second is for E and B.
BeamFile make_window(const std::vector<std::vector<double>>& columns, const std::string& source) {
    check_finite(columns);
    BeamFile window;
    window.columns = static_cast<int>(columns.size());
    window.temperature = columns[0];
    window.gradient = columns[std::min<std::size_t>(1, columns.size() - 1)];
    window.curl = columns.back();
    window.source = source;
    return window;
}

std::vector<std::vector<double>> read_table_window(FitsReader& reader, const Hdu& hdu) {
    if (hdu.columns.empty() || hdu.columns.size() > max_window_columns) {
        throw InvalidArgument(
            fmt::format("{} columns: must be 1 (T), 2 (T, P) or 3 (T, E, B)", hdu.columns.size()));
    }
    std::vector<int> all;
    for (std::size_t i = 0; i < hdu.columns.size(); ++i) all.push_back(static_cast<int>(i));
    return reader.read_columns(hdu, all, std::nan(""));
}

/// Any table that is not plainly something else: beams have no keys and names of their own.
bool may_be_window(const Hdu& hdu) {
    const auto kind = kind_of(hdu);
    const bool map_keys = hdu.header.has("PIXTYPE") || hdu.header.has("ORDERING");
    return !hdu.columns.empty() && kind != FileKind::alm && kind != FileKind::weights &&
           kind != FileKind::solution && !map_keys;
}

BeamFile read_text_window(const FileBytes& file) {
    TextTable table = read_text_table(file);
    auto columns = std::move(table.columns);
    if (columns.size() > 1) {
        const auto first_l = first_multipole(file, columns[0]);
        if (first_l != 0) {
            throw IoError(fmt::format("{}: begins at l = {}: must begin at 0", file.path(), first_l));
        }
        columns.erase(columns.begin());
    }
    if (columns.size() > max_window_columns) {
        throw IoError(fmt::format("{}: {} columns: must be b_l, or l and 1 to 3 columns b_l", file.path(),
                                  columns.size() + 1));
    }
    try {
        return make_window(columns, file.path());
    } catch (const InvalidArgument& error) {
        throw IoError(fmt::format("{}: {}", file.path(), error.what()));
    }
}

}  // namespace

BeamFile read_beam(const std::string& path) {
    auto file = std::make_unique<FileBytes>(path);
    if (!file->starts_like_fits()) return read_text_window(*file);
    FitsReader reader(std::move(file));
    const Hdu& hdu = reader.select("", "table of b_l", may_be_window);
    return reader.in(hdu, [&] { return make_window(read_table_window(reader, hdu), reader.source(hdu)); });
}

BeamFile read_pixel_window(const std::string& path, std::int64_t nside) {
    FitsReader reader(path);
    const Hdu& hdu = reader.select("", "pixel window", may_be_window);
    return reader.in(hdu, [&] {
        const auto found = hdu.header.integer("NSIDE");
        if (nside > 0 && found && *found != nside) {
            throw InvalidArgument("NSIDE", *found,
                                  fmt::format("a pixel window of nside {} is needed", nside));
        }
        const int temperature = hdu.find_column("TEMPERATURE");
        const int polarization = std::max(hdu.find_column("POLARIZATION"), hdu.find_column("POLARISATION"));
        if (temperature < 0) throw InvalidArgument("no column TEMPERATURE: not a pixel window");
        std::vector<int> columns{temperature};
        if (polarization >= 0) columns.push_back(polarization);
        BeamFile window = make_window(reader.read_columns(hdu, columns, std::nan("")), reader.source(hdu));
        if (polarization < 0)
            window.notes.push_back(window.source + ": no column POLARIZATION: T's is used for E and B");
        return window;
    });
}

void write_beam(const std::string& path, const Beam& beam, const WriteOptions& options) {
    const bool one = beam.gradient == beam.temperature && beam.curl == beam.temperature;
    std::vector<std::vector<double>> values{beam.temperature};
    if (!one) values.insert(values.end(), {beam.gradient, beam.curl});
    check_finite(values);
    std::vector<WriteColumn> columns;
    constexpr const char* names[] = {"TEMPERATURE", "GRADIENT", "CURL"};
    for (std::size_t i = 0; i < values.size(); ++i)
        columns.push_back({names[i], "D", "", "beam window b(l)"});
    FitsWriter writer(path, options);
    writer.begin_table("BEAM WINDOW", beam.lmax() + 1, columns);
    writer.write_card({"MAX-LPOL", beam.lmax(), "largest l; row = l"});
    for (std::size_t i = 0; i < values.size(); ++i) {
        writer.write_column(static_cast<int>(i), 0, values[i].data(), beam.lmax() + 1);
    }
    writer.commit();
}

}  // namespace zonal::io
