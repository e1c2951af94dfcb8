#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/io/header.hpp"
#include "zonal/memory.hpp"
#include "zonal/sky/map_analysis.hpp"
#include "zonal/window.hpp"

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
/// lmax or mmax, and tables so sparse that memory would not be bounded by the file's size. check_memory: what
/// is told of the memory that each component takes.
AlmFile read_alm(const std::string& path, const MemoryCheck& check_memory = require_memory);

/// Indices are 64-bit where lmax > 46339. Throws InvalidArgument when sizes do not fit the layout.
void write_alm(const std::string& path, const AlmFile& alm, const WriteOptions& options = {});

/// Throws IoError for coefficients that are NaN or infinite: how many, and the degree and order of the first.
/// what: they are, such as "coefficients".
void require_finite(const std::string& path, const AlmFile& alm, const std::string& what);

/// Leaves out what is above lmax or mmax, and fills up with 0.
void truncate(AlmFile& alm, std::int64_t lmax, std::int64_t mmax);

/// Multiplies T, E and B by their windows, [lmax + 1] or longer.
void multiply(AlmFile& alm, const Beam& beam);

/// Returns the alm as the library's functions take them.
MapAlm to_map_alm(const AlmFile& file);
/// Takes each component away as soon as it is copied.
MapAlm to_map_alm(AlmFile&& file);
/// The opposite: replaces what a file holds and leaves the header.
void set_alm(AlmFile& file, const MapAlm& alm);

/// Returns the alm of a map as a file: with its coordinates, unit and precision, and a note where the map has
/// Q and U but no I, so that T is 0. Throws InvalidArgument for a map of several fields that are not I, Q, U.
AlmFile to_alm_file(const MapAlm& alm, const SkyMap& map);

}  // namespace zonal::io
