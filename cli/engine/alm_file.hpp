#pragma once

#include <cstdint>
#include <string>

#include "options/analysis_options.hpp"
#include "zonal/io/alm.hpp"
#include "zonal/window.hpp"

/// alm files in memory.
namespace zonal::cli {

/// Reads alm; the notes go to the session. Throws IoError for coefficients that are NaN or infinite, saying
/// how many and where the first is.
io::AlmFile read_alm(const std::string& path, Session& session);

/// Writes alm. Throws IoError, as read_alm does, for coefficients that overflowed.
void write_alm_file(const std::string& path, const io::AlmFile& file, const io::WriteOptions& options);

/// Leaves out what is above lmax or mmax.
void truncate(io::AlmFile& file, std::int64_t lmax, std::int64_t mmax);

/// Multiplies T, E, B by their windows.
void multiply(io::AlmFile& file, const Beam& beam);

/// The alm of a map with one field, or I, Q, U (or Q, U: T is then 0, which a note says), as a file.
/// Throws UsageError for a map of several other fields.
void require_one_sky(const SkyMap& map);
io::AlmFile to_alm_file(const SkyMap& map, const MapAlm& alm, Session& session);

/// [component, layout.size()]
Array<std::complex<double>, 2> to_array(const io::AlmFile& file);

}  // namespace zonal::cli
