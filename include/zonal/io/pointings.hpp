#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/io/header.hpp"
#include "zonal/memory.hpp"

namespace zonal::io {

/// Which columns of a table of pointings to read.
struct ReadPointingsOptions {
    /// Name (EXTNAME) or number of the HDU; empty: the first table with the columns of theta, phi and psi.
    std::string hdu{};
    std::string theta = "THETA";
    std::string phi = "PHI";
    std::string psi = "PSI";
    /// Read where the table has it.
    std::string hwp = "HWP";
};

/// Where a detector looks: as a pointing of BeamConvolver, in rad.
struct PointingTable {
    std::vector<double> theta{}, phi{}, psi{};
    std::vector<double> hwp{};         ///< of a half-wave plate; empty where the table has none
    std::string source{};              ///< "scan.fits: HDU 1 'POINTINGS'"
    std::vector<std::string> notes{};  ///< what was assumed while reading

    std::int64_t size() const { return std::ssize(theta); }
};

/// Columns of one number a row, in their units (deg, rad; radians where none is stated, said so). Throws
/// IoError for columns that are missing or of another unit, and for angles that are no pointing: theta must
/// be from 0 to pi, which it may exceed by the rounding of its column, and all finite. check_memory: what is
/// told of the memory that the columns take.
PointingTable read_pointings(const std::string& path, const ReadPointingsOptions& options = {},
                             const MemoryCheck& check_memory = require_memory);

/// What a detector measures, a row for each pointing.
struct SignalFile {
    std::vector<double> signal{};
    std::string unit{};
    FilePrecision precision = FilePrecision::float64;
    std::vector<HeaderCard> cards{};
};

/// Writes a table of one column, SIGNAL. Throws IoError for values that are NaN or infinite.
void write_signal(const std::string& path, const SignalFile& file, const WriteOptions& options = {});

}  // namespace zonal::io
