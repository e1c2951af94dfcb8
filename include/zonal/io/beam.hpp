#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/io/header.hpp"
#include "zonal/window.hpp"

namespace zonal::io {

/// A beam or pixel window as a file holds it. A file of one column serves T, E and B as it stands; one of two
/// columns (T, polarization) serves E and B with its second.
struct BeamFile : Beam {
    int columns = 1;       ///< how many the file has
    std::string source{};  ///< for messages
    std::vector<std::string> notes{};
};

/// FITS (binary or ASCII table, 1 to 3 columns, row = l) or text: one column b_l from l = 0 on; two to four,
/// then the first is l (0, 1, 2, ... without gaps). Throws IoError, also for values that are not finite.
BeamFile read_beam(const std::string& path);

/// HEALPix pixel window pixel_window_nXXXX.fits: columns TEMPERATURE and POLARIZATION.
/// nside: 0 takes any; otherwise a file of another NSIDE is an IoError.
BeamFile read_pixel_window(const std::string& path, std::int64_t nside = 0);

/// Binary table with columns TEMPERATURE, GRADIENT, CURL: one where all three are equal.
void write_beam(const std::string& path, const Beam& beam, const WriteOptions& options = {});

}  // namespace zonal::io
