#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

/// A part of the sky that has memory for these pixels, numbers in ring order, ascending. rows: of them.
template <class T>
SkyMap sky_of(View<const T, 2> rows, MapFile header, std::vector<std::int64_t> pixels, int threads = 0) {
    header.pixels = std::move(pixels);
    SkyMap map(std::move(header), Extent::own_pixels);
    map.set_rows<T>(rows, threads);
    return map;
}

}  // namespace zonal::python
