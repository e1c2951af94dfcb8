#pragma once

#include <cstdint>
#include <vector>

#include "spectra/covariance_sink.hpp"
#include "zonal/spectra/covariance.hpp"

namespace zonal::masked {

/// Adds the improved narrow-kernel approximation of pseudo_covariance, but where both degrees are up to
/// exact_lmax. means: <C~>, [component, component, lmax + 1].
void add_narrow_kernel(const MaskedSky& sky, const std::vector<ComponentPair>& spectra,
                       View<const double, 3> means, std::int64_t exact_lmax, CovarianceSink& sink,
                       int threads);

}  // namespace zonal::masked
