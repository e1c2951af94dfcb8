#pragma once

#include <string>

namespace zonal::io {

/// Returns the folder where Zonal keeps what is dear to compute, for reading: $XDG_CACHE_HOME/zonal, or
/// ~/.cache/zonal. It need not be there. Empty where neither XDG_CACHE_HOME nor HOME is an absolute path.
std::string cache_folder();

/// Returns the same folder for writing, and makes it where it is not there. Throws IoError when it cannot be
/// made.
std::string make_cache_folder();

}  // namespace zonal::io
