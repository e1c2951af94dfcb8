#pragma once

#include <string>

#include "zonal/io/map.hpp"

namespace zonal::io {

/// I_STOKES, TEMPERATURE, Q-POLARISATION, ...; none for any other name.
Stokes stokes_from_name(const std::string& name);

/// Hits (N_OBS, HITS), errors and covariances (SIGMA, II_COV); none for any other name.
Auxiliary auxiliary_from_name(const std::string& name);

/// The column with the pixel numbers of a partial sky.
bool is_pixel_name(const std::string& name);

}  // namespace zonal::io
