// Smooths the map of a FITS file with a Gaussian beam: smooth_map IN.fits OUT.fits FWHM_IN_DEGREES
#include <zonal/error.hpp>
#include <zonal/io/sky_map.hpp>
#include <zonal/planning/map_smoothing.hpp>

#include <cstdio>
#include <cstdlib>
#include <numbers>

int main(int argc, char** argv) try {
    if (argc != 4) {
        std::fprintf(stderr, "usage: smooth_map IN.fits OUT.fits FWHM_IN_DEGREES\n");
        return 2;
    }
    const double fwhm = std::atof(argv[3]) * std::numbers::pi / 180;

    // A SkyMap keeps its file's order, unit and coordinates beside the pixels, and writes them back.
    const zonal::SkyMap map = zonal::io::read_sky_map(argv[1]);
    const auto smoothed = zonal::smooth(map, {.fwhm = fwhm});
    zonal::io::write_sky_map(argv[2], smoothed.map, {.overwrite = true});
    std::printf("%s: %zu columns smoothed\n", argv[2], map.header().columns.size());
} catch (const zonal::Error& error) {
    std::fprintf(stderr, "smooth_map: %s\n", error.what());
    return 1;
}
