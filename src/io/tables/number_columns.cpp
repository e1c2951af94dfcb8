#include "io/tables/number_columns.hpp"

#include <fmt/core.h>

#include "zonal/error.hpp"

namespace zonal::io {

int require_number_column(const Hdu& hdu, const std::string& name) {
    const int index = hdu.find_column(name);
    if (index < 0) throw InvalidArgument(fmt::format("no column {}", name));
    const auto& column = hdu.columns[static_cast<std::size_t>(index)];
    if (!column.numeric() || column.repeat != 1)
        throw InvalidArgument(
            fmt::format("column {}: format {}: must be one number a row", name, column.format));
    return index;
}

double column_factor(const FitsColumn& column, const Units& units, const std::string& usual,
                     const std::string& source, std::vector<std::string>& notes) {
    if (column.unit.empty())
        notes.push_back(fmt::format("{}: column {} has no unit: taken as {}", source, column.name, usual));
    return unit_factor(column.name, column.unit, units, usual);
}

}  // namespace zonal::io
