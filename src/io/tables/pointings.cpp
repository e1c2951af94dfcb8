#include "zonal/io/pointings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/fits/cards.hpp"
#include "io/fits/fits_reader.hpp"
#include "io/fits/fits_writer.hpp"
#include "io/tables/number_columns.hpp"
#include "zonal/error.hpp"

namespace zonal::io {
namespace {

void check_angles(const std::string& name, const std::vector<double>& angles) {
    const auto bad = std::find_if(angles.begin(), angles.end(), [](double x) { return !std::isfinite(x); });
    if (bad != angles.end())
        throw InvalidArgument(
            fmt::format("column {}: row {} is {}: must be finite", name, bad - angles.begin() + 1, *bad));
}

void check_colatitudes(const FitsColumn& column, std::vector<double>& theta) {
    // What pi, or 180 degrees, may be rounded to in the file.
    const double most = std::numbers::pi * (column.type != 'D' ? 1 + 0x1p-22 : 1 + 0x1p-50);
    for (std::size_t i = 0; i < theta.size(); ++i) {
        if (!(theta[i] >= 0 && theta[i] <= most))
            throw InvalidArgument(
                fmt::format("column {}: row {} is {} rad: must be a colatitude, from 0 to pi (180 degrees)",
                            column.name, i + 1, theta[i]));
        theta[i] = std::min(theta[i], std::numbers::pi);
    }
}

}  // namespace

PointingTable read_pointings(const std::string& path, const ReadPointingsOptions& options,
                             const MemoryCheck& check_memory) {
    FitsReader reader(path);
    const Hdu& hdu = reader.select(options.hdu, "table of pointings", [&](const Hdu& candidate) {
        return candidate.find_column(options.theta) >= 0 && candidate.find_column(options.phi) >= 0 &&
               candidate.find_column(options.psi) >= 0;
    });
    PointingTable table;
    table.source = reader.source(hdu);
    return reader.in(hdu, [&] {
        std::vector<int> columns{require_number_column(hdu, options.theta),
                                 require_number_column(hdu, options.phi),
                                 require_number_column(hdu, options.psi)};
        if (hdu.find_column(options.hwp) >= 0) columns.push_back(require_number_column(hdu, options.hwp));
        check_memory(8.0 * static_cast<double>(columns.size()) * static_cast<double>(hdu.rows),
                     fmt::format("{}: {} pointings", path, hdu.rows));
        auto values = reader.read_columns(hdu, columns, std::nan(""));
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto& column = hdu.columns[static_cast<std::size_t>(columns[i])];
            const double factor = column_factor(column, angle_units(), "rad", table.source, table.notes);
            for (double& value : values[i]) value *= factor;
            check_angles(column.name, values[i]);
            if (i == 0) check_colatitudes(column, values[i]);
        }
        table.theta = std::move(values[0]);
        table.phi = std::move(values[1]);
        table.psi = std::move(values[2]);
        if (columns.size() > 3) table.hwp = std::move(values[3]);
        return std::move(table);
    });
}

void write_signal(const std::string& path, const SignalFile& file, const WriteOptions& options) {
    check_cards(file.cards);
    const auto bad =
        std::find_if(file.signal.begin(), file.signal.end(), [](double x) { return !std::isfinite(x); });
    if (bad != file.signal.end())
        throw IoError(fmt::format("{}: row {} of the signal is {}: must be finite", path,
                                  bad - file.signal.begin() + 1, *bad));
    FitsWriter writer(path, options);
    writer.begin_table("SIGNAL", std::ssize(file.signal),
                       {{"SIGNAL", file.precision == FilePrecision::float64 ? "D" : "E", file.unit,
                         "what the detector measures, a row for each pointing"}});
    writer.write_cards(without_keys(file.cards, {"EXTNAME"}));
    writer.write_column(0, 0, file.signal.data(), std::ssize(file.signal));
    writer.commit();
}

}  // namespace zonal::io
