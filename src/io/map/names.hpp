#pragma once

#include <string>

#include "zonal/io/map.hpp"

namespace zonal::io {

/// I_STOKES, TEMPERATURE, Q-POLARISATION, ...; none for any other name.
Stokes stokes_from_name(const std::string& name);

/// Hits, errors and covariances: N_OBS, HITS, II_COV, ...
bool is_auxiliary_name(const std::string& name);

/// The column with the pixel numbers of a partial sky.
bool is_pixel_name(const std::string& name);

}  // namespace zonal::io
