#pragma once

#include "zonal/sky/header.hpp"

namespace zonal::io {

// Names that the library gives, for those who read files.
using zonal::CoordinateSystem;
using zonal::HeaderCard;
using zonal::parse_coordinate_system;
using zonal::to_string;
using Precision = FilePrecision;

/// How files are written.
struct WriteOptions {
    bool overwrite = false;  ///< false: IoError when the file exists
};

}  // namespace zonal::io
