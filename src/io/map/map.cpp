#include "zonal/io/map.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "zonal/error.hpp"

namespace zonal::io {
namespace {

double physical_memory_bytes() {
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::int64_t full_sky_size(const Pixelisation& pixelisation) {
    if (const auto* healpix = std::get_if<HealpixPixels>(&pixelisation))
        return 12 * healpix->nside * healpix->nside;
    const auto& car = std::get<CarPixels>(pixelisation);
    return car.n_rings * car.n_phi;
}

Grid make_grid(const Pixelisation& pixelisation) {
    if (const auto* healpix = std::get_if<HealpixPixels>(&pixelisation)) return Grid::healpix(healpix->nside);
    const auto& car = std::get<CarPixels>(pixelisation);
    return car.poles ? Grid::clenshaw_curtis(car.n_rings, car.n_phi, car.phi_0)
                     : Grid::fejer1(car.n_rings, car.n_phi, car.phi_0);
}

int MapFile::find(Stokes stokes) const {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const MapColumn& column) { return column.stokes == stokes; });
    return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

void expand_to_full_sky(MapFile& map) {
    if (!map.partial()) return;
    const std::int64_t n_pixels = full_sky_size(map.pixelisation);
    const double bytes =
        static_cast<double>(n_pixels) * static_cast<double>(map.columns.size() * sizeof(double));
    if (bytes > physical_memory_bytes()) {
        throw InvalidArgument(
            fmt::format("{}: the full sky of {} pixels needs {:.3g} GB of memory, {:.3g} GB are there",
                        map.source, n_pixels, bytes / 1e9, physical_memory_bytes() / 1e9));
    }
    for (auto& column : map.columns) {
        std::vector<double> full(static_cast<std::size_t>(n_pixels), unseen_value);
        for (std::size_t i = 0; i < map.pixels.size(); ++i) full[map.pixels[i]] = column.values[i];
        column.values = std::move(full);
    }
    map.pixels.clear();
}

}  // namespace zonal::io
