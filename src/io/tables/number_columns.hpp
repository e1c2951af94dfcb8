#pragma once

#include <string>
#include <vector>

#include "io/fits/fits_scan.hpp"
#include "io/tables/text.hpp"

/// Columns of tables that hold one number a row.
namespace zonal::io {

/// The index of this column of one number a row. Throws InvalidArgument where there is none.
int require_number_column(const Hdu& hdu, const std::string& name);

/// What to multiply the column with. Where it has no unit it is
/// taken as the usual one, which a note says. source: "events.fits: HDU 1 'EVENTS'". Throws InvalidArgument
/// for a unit that is not among them.
double column_factor(const FitsColumn& column, const Units& units, const std::string& usual,
                     const std::string& source, std::vector<std::string>& notes);

}  // namespace zonal::io
