#pragma once

#include <optional>
#include <string>

#include "zonal/sky/sky_map.hpp"

namespace zonal::io {

/// What a name says of a column that may be I, Q or U.
struct StokesName {
    Stokes stokes = Stokes::none;
    /// What the name has beside the letter, which the columns of one sky share: "ML-FULL" of Q_ML_FULL.
    std::string rest{};
    /// One of the names that HEALPix, WMAP and Planck give: it is that parameter, whatever stands beside it.
    bool is_common = false;
};

/// I_STOKES, TEMPERATURE, Q-POLARISATION, ...; and any name that begins or ends with one of the letters:
/// Q_DUST, TQU_Q, Stokes Q, QMAP. Empty for others, and for names of products such as Q_U.
std::optional<StokesName> stokes_from_name(const std::string& name);

/// Hits (N_OBS, HITS), errors and covariances (SIGMA, II_COV, I_RMS); none for any other name.
Auxiliary auxiliary_from_name(const std::string& name);

/// The column with the pixel numbers of a partial sky.
bool is_pixel_name(const std::string& name);

}  // namespace zonal::io
