#pragma once

#include <cstdint>

#include "zonal/sky/resampling.hpp"

namespace zonal::sky {

/// The memory of the host that the analysis of a group of fields takes beside maps and alm.
double bytes_of_field_analysis(const Grid& grid, std::int64_t n_fields, Fields fields, std::int64_t lmax,
                               const MapAnalysisOptions& how);

/// The memory of the host that resample takes beside its maps, its result among it.
double bytes_of_resampling(const Grid& grid, std::int64_t n_fields, Fields fields, const Grid& to,
                           std::int64_t lmax, const ResamplingOptions& options);

}  // namespace zonal::sky
