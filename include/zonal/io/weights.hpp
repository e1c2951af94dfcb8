#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/io/header.hpp"
#include "zonal/weights.hpp"

namespace zonal::io {

/// As HEALPix' files hold them: weight_ring_nXXXXX.fits, healpix_full_weights_nside_XXXX.fits.
using healpix::QuadratureWeights;

/// Number of values: 2 nside or (3 nside + 1)(nside + 1) / 4.
std::int64_t weight_count(QuadratureWeights::Kind kind, std::int64_t nside);

/// Either kind, told apart by the column's name and the number of values. Throws IoError.
QuadratureWeights read_weights(const std::string& path);

/// In the HEALPix format, readable by healpy (use_weights, use_pixel_weights with datapath).
void write_weights(const std::string& path, const QuadratureWeights& weights,
                   const WriteOptions& options = {});

}  // namespace zonal::io
