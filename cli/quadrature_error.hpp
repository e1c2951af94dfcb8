#pragma once

#include <cstdint>
#include <vector>

#include "zonal/kernel.hpp"

namespace zonal::cli {

/// How far a sum over HEALPix pixels is from the integral that it stands for, rms over the rms of the result:
/// measured on a random sky of this spectrum (empty: white up to 3 nside - 1). Beyond nside 128 on pixels of
/// nside 128 with kernel and spectrum as much wider, which has no smaller error, as the poles' share of the
/// sky is larger there.
double quadrature_error(const RadialKernel& kernel, std::int64_t nside, const std::vector<double>& c_l,
                        int threads);

}  // namespace zonal::cli
