// Draws a random sky with a known spectrum, makes a map of it, and measures the spectrum of the map.
#include <zonal/sky/map_analysis.hpp>
#include <zonal/sky/synfast.hpp>

#include <cmath>
#include <cstdio>

int main() {
    const std::int64_t nside = 64, lmax = 2 * nside;
    zonal::SkySpectra spectra;
    for (std::int64_t l = 0; l <= lmax; ++l) spectra.tt.push_back(l < 2 ? 0 : 1 / double(l * (l + 1)));

    // The same seed gives the same sky for any lmax, nside and machine.
    const auto sky = zonal::synfast(spectra, zonal::HealpixPixels{nside}, {.lmax = lmax, .seed = 3});
    const auto measured = zonal::anafast(sky.map, {.lmax = lmax}).front();

    double chi_squared = 0;  // of the bands: each C_l scatters by sqrt(2 / (2l + 1))
    int bands = 0;
    std::printf("        l  C_l / input  scatter\n");
    for (std::int64_t first = 2; 2 * first <= lmax; first *= 2, ++bands) {
        double ratio = 0, modes = 0;
        for (std::int64_t l = first; l < 2 * first; ++l) {
            const auto i = static_cast<std::size_t>(l);
            ratio += double(2 * l + 1) * measured.values[i] / spectra.tt[i];
            modes += double(2 * l + 1);
        }
        const double scatter = std::sqrt(2 / modes);
        chi_squared += std::pow((ratio / modes - 1) / scatter, 2);
        std::printf("%3ld .. %3ld  %11.4f  %7.4f\n", long(first), long(2 * first - 1), ratio / modes,
                    scatter);
    }
    return chi_squared < 4 * bands ? 0 : 1;
}
