#include "sky_maps.hpp"

namespace zonal::python {

MapFile header_of(const Pixelization& pixels, const std::string& fields, std::int64_t n_rows) {
    MapFile file;
    file.pixelization = pixels;
    file.source = "the map";
    const auto add = [&file](std::string name, Stokes stokes) {
        file.columns.push_back({.name = std::move(name), .stokes = stokes});
    };
    if (fields == "iqu") add("I", Stokes::I);
    if (fields != "scalars") {
        add("Q", Stokes::Q);
        add("U", Stokes::U);
    }
    for (std::int64_t row = 0; fields == "scalars" && row < n_rows; ++row)
        add("map " + std::to_string(row), Stokes::none);
    return file;
}

}  // namespace zonal::python
