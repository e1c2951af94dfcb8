#pragma once

#include <cstdint>

namespace zonal {

/// What smoothing keeps between calls: the transforms of the last few grids and degrees on the CPU, and the
/// scratch memory of small ones, so that the second call of a kind does not make them anew. Results do not
/// depend on it.

/// Frees all of it. Any thread may call it at any time.
void clear_caches();
/// About how many bytes are kept.
std::int64_t cached_bytes();
/// From now on keeps this many bytes at most, 0 for nothing. By default 256 MiB.
void set_cache_limit(std::int64_t bytes);

}  // namespace zonal
