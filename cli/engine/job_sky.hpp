#pragma once

#include <cstdint>

#include "options/common_options.hpp"
#include "shell/session.hpp"
#include "zonal/distributed/sky.hpp"
#include "zonal/sky/sky_map.hpp"

namespace zonal::cli {

/// Divides a sky among the ranks of the session's job, and reports the shares with --explain. polarized:
/// whether it has Q and U. Throws UsageError for pixels that are not HEALPix' and for more ranks than it can
/// be divided among.
DistributedSky divide_sky(const Pixelization& pixels, std::int64_t lmax, std::int64_t mmax, bool polarized,
                          const RunOptions& run, Session& session);

}  // namespace zonal::cli
