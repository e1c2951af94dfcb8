#pragma once

#include <cstdint>
#include <string>

#include "shell/session.hpp"
#include "zonal/io/weights.hpp"
#include "zonal/weights.hpp"

namespace zonal::cli {

struct FoundWeights {
    io::QuadratureWeights values;
    std::string description;  ///< "pixel, from /home/a/.cache/zonal/healpix_full_weights_nside_0064.fits"
};

/// choice: "ring" or "pixel" (from the cache, or computed and put there), or the path of a HEALPix weight
/// file.
FoundWeights weights_for(const std::string& choice, std::int64_t nside, int threads, Session& session);

/// Name of HEALPix' file of these weights.
std::string weight_file_name(io::QuadratureWeights::Kind kind, std::int64_t nside);

/// lmax: -1 for the default of the kind. Adds residual and iterations to the report. Throws Error when they
/// do not converge.
io::QuadratureWeights compute_weights(io::QuadratureWeights::Kind kind, std::int64_t nside, std::int64_t lmax,
                                      int threads, Session& session);

}  // namespace zonal::cli
