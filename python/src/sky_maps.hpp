#pragma once

#include <string>

#include "arrays.hpp"
#include "zonal/mask.hpp"
#include "zonal/sky/sky_map.hpp"

namespace zonal::python {

/// What the rows of an array of maps are: "scalars" (any number), "iqu" or "qu".
MapFile header_of(const Pixelization& pixels, const std::string& fields, std::int64_t n_rows);

/// A sky with the pixels of an array, [row, pixel] in ring order. Values that mean UNSEEN become exactly
/// that. The array may be of float or double.
template <class T>
SkyMap sky_of(View<const T, 2> rows, const Pixelization& pixels, const std::string& fields) {
    SkyMap map(header_of(pixels, fields, rows.extent(0)));
    if (rows.extent(1) != map.rows().extent(1)) throw nb::value_error("maps: do not have the grid's pixels");
    for (std::int64_t row = 0; row < rows.extent(0); ++row)
        for (std::int64_t pixel = 0; pixel < rows.extent(1); ++pixel) {
            const double value = rows(row, pixel);
            map.rows()(row, pixel) = is_unseen_value(value) ? unseen_value : value;
        }
    return map;
}

/// Copies the rows of a sky into an array of as many rows and pixels.
template <class T>
void copy_rows(const SkyMap& map, View<T, 2> out) {
    const auto rows = map.rows();
    if (out.extents() != rows.extents())
        throw nb::value_error("out: has other rows or pixels than the result");
    for (std::int64_t row = 0; row < rows.extent(0); ++row)
        for (std::int64_t pixel = 0; pixel < rows.extent(1); ++pixel)
            out(row, pixel) = static_cast<T>(rows(row, pixel));
}

}  // namespace zonal::python
