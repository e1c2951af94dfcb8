#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/io/header.hpp"

namespace zonal::io {

/// The content of a file of coefficients.
struct AlmFile {
    AlmLayout layout{0};
    /// [component][layout.size()]: T; T, E, B.
    std::vector<std::vector<std::complex<double>>> components{};
    FilePrecision precision = FilePrecision::float64;
    std::string unit{};
    CoordinateSystem coordinates = CoordinateSystem::unknown;
    std::vector<HeaderCard> cards{};   ///< as in MapFile, of the first HDU
    std::vector<std::string> notes{};  ///< what was assumed while reading
};

/// One binary table a component, rows (index, real, imaginary) in any order, index = l^2 + l + m + 1, m >= 0.
/// lmax and mmax are those of MAX-LPOL and MAX-MPOL, or the largest that occur. Coefficients that a table
/// leaves out are 0. Throws IoError for an index that occurs twice, m < 0, l > MAX-LPOL, tables of unequal
/// lmax or mmax, and tables so sparse that memory would not be bounded by the file's size.
AlmFile read_alm(const std::string& path);

/// Indices are 64-bit where lmax > 46339. Throws InvalidArgument when sizes do not fit the layout.
void write_alm(const std::string& path, const AlmFile& alm, const WriteOptions& options = {});

}  // namespace zonal::io
