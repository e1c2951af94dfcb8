#pragma once

#include <string_view>

#include "io/fits/fits_scan.hpp"

namespace zonal::io {

/// How the fields of one column of an ASCII table become numbers. CFITSIO's own conversion is not rounded
/// correctly.
struct AsciiField {
    const FitsColumn& column;
    std::string null_text{};  ///< TNULL
    bool has_null = false;
    double scale = 1;
    double zero = 0;
    double null = 0;  ///< what a field equal to TNULL becomes

    AsciiField(const Hdu& hdu, const FitsColumn& field, double null_value);
    /// row: one row of the table. A blank field is 0, as in Fortran. Throws InvalidArgument for what is no
    /// number.
    double value(std::string_view row) const;
};

}  // namespace zonal::io
