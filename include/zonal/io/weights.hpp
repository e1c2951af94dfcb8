#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zonal/io/header.hpp"

namespace zonal::io {

/// HEALPix quadrature weights, relative to 4 pi / npix, as HEALPix' files hold them: deviations from 1.
struct QuadratureWeights {
    enum class Kind {
        ring,  ///< weight_ring_nXXXXX.fits: [2 nside], rings from the north pole to the equator
        pixel  ///< healpix_full_weights_nside_XXXX.fits: [(3 nside + 1)(nside + 1) / 4], one per class of
               ///< pixels
    };
    Kind kind = Kind::ring;
    std::int64_t nside = 0;
    std::int64_t lmax = -1;  ///< pixel weights: exact up to there; -1: the file does not say
    std::vector<double> deviations{};
};

/// Number of values: 2 nside or (3 nside + 1)(nside + 1) / 4.
std::int64_t weight_count(QuadratureWeights::Kind kind, std::int64_t nside);

/// Either kind, told apart by the column's name and the number of values. Throws IoError.
QuadratureWeights read_weights(const std::string& path);

/// In the HEALPix format, readable by healpy (use_weights, use_pixel_weights with datapath).
void write_weights(const std::string& path, const QuadratureWeights& weights,
                   const WriteOptions& options = {});

}  // namespace zonal::io
