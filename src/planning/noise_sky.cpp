#include "zonal/planning/noise_sky.hpp"

#include <algorithm>
#include <cmath>

#include "zonal/error.hpp"
#include "zonal/sky/realization.hpp"

namespace zonal {

NoiseSky make_noise_sky(const std::vector<double>& window, const MapSmoothingOptions& options,
                        std::uint64_t seed, SkyMap& map) {
    if (std::all_of(window.begin(), window.end(), [](double k) { return k == 0; }))
        throw InvalidArgument("window", "is 0 up to lmax: there is nothing to convolve with");
    // With a spectrum of 1: on pixels of area w the variance is 1/w, n_pixels / 4 pi on HEALPix.
    NoiseSky sky{1 / map.grid().rings()[0].weight, {}};
    white_noise<double>(seed, map.rows()[0], options.threads);
    const double sigma = std::sqrt(sky.noise_variance);
    for (std::int64_t pixel = 0; pixel < map.rows().extent(1); ++pixel) map.rows()(0, pixel) *= sigma;
    auto how = options;
    how.reference = ConvolutionReference::discrete;
    how.lmax = std::ssize(window) - 1;
    auto smoothed = convolve(map, {RadialKernel::from_window(window)}, how);
    sky.part = std::move(smoothed.parts.front());
    map = std::move(smoothed.map);
    return sky;
}

}  // namespace zonal
