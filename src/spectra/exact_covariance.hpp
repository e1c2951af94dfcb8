#pragma once

#include <cstdint>
#include <vector>

#include "spectra/covariance_sink.hpp"
#include "zonal/spectra/covariance.hpp"

namespace zonal::masked {

/// Adds the exact covariance of pseudo_covariance for degrees up to exact_lmax, for the sky up to sky_lmax.
void add_exact(const MaskedSky& sky, const std::vector<ComponentPair>& spectra, std::int64_t exact_lmax,
               std::int64_t sky_lmax, CovarianceSink& sink, int threads);

}  // namespace zonal::masked
