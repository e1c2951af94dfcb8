#pragma once

#include "io/fits/file_bytes.hpp"
#include "zonal/io/atomic_file.hpp"

namespace zonal::io {

/// Appends the gzipped bytes of `raw` to `packed`. Throws IoError.
void gzip(const FileBytes& raw, AtomicFile& packed);

}  // namespace zonal::io
