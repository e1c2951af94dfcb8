#pragma once

#include <string>

#include "arrays.hpp"
#include "zonal/sky/sky_map.hpp"

namespace zonal::python {

/// What the rows of an array of maps are: "scalars" (any number), "iqu" or "qu".
MapFile header_of(const Pixelization& pixels, const std::string& fields, std::int64_t n_rows);

/// A sky with the pixels of an array, [row, pixel] in ring order, of float or double.
template <class T>
SkyMap sky_of(View<const T, 2> rows, const Pixelization& pixels, const std::string& fields, int threads = 0) {
    SkyMap map(header_of(pixels, fields, rows.extent(0)));
    map.set_rows<T>(rows, threads);
    return map;
}

}  // namespace zonal::python
