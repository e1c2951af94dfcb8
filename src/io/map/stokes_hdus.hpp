#pragma once

#include <functional>
#include <vector>

#include "io/fits/fits_reader.hpp"
#include "zonal/io/map.hpp"

namespace zonal::io {

/// The HDUs of a file that holds I, Q and U (or Q and U) of one sky in an HDU each, as HEALPix' cut-sky files
/// do: the names of all HDUs that hold maps say so. Empty for other files.
std::vector<const Hdu*> find_stokes_hdus(const FitsReader& reader);

/// Reads them as one map. read_one: reads an HDU's only field. Throws InvalidArgument where they differ in
/// pixels or coordinates, or one has several fields.
MapFile read_stokes_hdus(const std::vector<const Hdu*>& hdus,
                         const std::function<MapFile(const Hdu&)>& read_one);

/// Names the HDUs that hold maps beside the one that was read; empty where none does.
std::string other_maps(const FitsReader& reader, const Hdu& read);

}  // namespace zonal::io
