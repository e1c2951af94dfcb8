// Uses the component io: writes a small HEALPix map and reads it back.
#include <zonal/io.hpp>

#include <cstdio>
#include <filesystem>

int main() {
    const auto path = (std::filesystem::temp_directory_path() / "zonal_consumer_map.fits").string();
    zonal::io::MapFile map;
    map.pixelization = zonal::io::HealpixPixels{.nside = 2, .ordering = zonal::healpix::Order::ring};
    map.columns.resize(1);
    map.columns[0].name = "TEMPERATURE";
    map.columns[0].precision = zonal::FilePrecision::float64;
    for (int pixel = 0; pixel < 48; ++pixel) map.columns[0].values.push_back(pixel / 7.0);

    zonal::io::write_map(path, map, {.overwrite = true});
    const auto read = zonal::io::read_map(path);
    std::filesystem::remove(path);
    const bool same = read.columns.size() == 1 && read.columns[0].values == map.columns[0].values;
    std::puts(same ? "the map came back" : "the map changed");
    return same ? 0 : 1;
}
