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

/// Name that HEALPix and healpy give the file of these weights.
std::string weight_file_name(QuadratureWeights::Kind kind, std::int64_t nside);

/// Computes weights, up to options.lmax. Throws Error when they do not converge.
QuadratureWeights compute_weights(QuadratureWeights::Kind kind, std::int64_t nside,
                                  const healpix::WeightOptions& options = {});

/// Weights and where they came from.
struct FoundWeights {
    QuadratureWeights values{};
    std::string description{};  ///< "pixel, from /home/a/.cache/zonal/healpix_full_weights_nside_0064.fits"
    std::vector<std::string> notes{};  ///< for the user: that a kept file was not what it should be
    bool computed = false;
};

/// Finds the weights for a map. choice: "ring" or "pixel" takes those of the cache folder, or computes them
/// and keeps them there; anything else is the path of a HEALPix weight file. Throws IoError for a file of
/// another nside.
FoundWeights find_weights(const std::string& choice, std::int64_t nside,
                          const healpix::WeightOptions& options = {});

}  // namespace zonal::io
