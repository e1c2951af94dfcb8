#include "zonal/planning/noise_sky.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "planning/convolve.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/certificate.hpp"
#include "zonal/sky/realization.hpp"

namespace zonal {
namespace {

ConvolutionRequest request_for(const std::vector<double>& window, const NoiseSkyOptions& options,
                               const SkyMap& map) {
    if (std::all_of(window.begin(), window.end(), [](double k) { return k == 0; }))
        throw InvalidArgument("window", "is 0 up to lmax: there is nothing to convolve with");
    ConvolutionRequest request;
    request.grid = map.grid();
    request.lmax = std::ssize(window) - 1;
    request.kernel = RadialKernel::from_window(window);
    request.error = options.error;
    request.allow_single = options.allow_single;
    request.threads = options.threads;
    if (options.method == ConvolutionMethod::split) request.method = ConvolutionMethod::split;
    return request;
}

}  // namespace

NoiseSky make_noise_sky(const std::vector<double>& window, const CostModel& costs,
                        const NoiseSkyOptions& options, SkyMap& map) {
    auto request = request_for(window, options, map);
    NoiseSky sky;
    // Of unit spectrum: on pixels of the area w the variance is 1/w, n_pixels / 4 pi on HEALPix.
    sky.noise_variance = 1 / map.grid().rings()[0].weight;
    Array<double, 2> noise({1, map.grid().n_pixels()});
    white_noise<double>(options.seed, noise.view()[0], options.threads);
    for (double& value : noise) value *= std::sqrt(sky.noise_variance);
    const auto unit = std::as_const(noise).view();
    if (options.method == ConvolutionMethod::harmonic) {
        sky.choice.emplace().device = resolve_device(options.device);
        sky.result =
            ConvolutionPlan(request, *sky.choice).convolve<double>(unit, map.rows(), options.progress);
        return sky;
    }
    request.gain = gain_of_noise(request);
    auto done = planning::convolve_and_check<double>(request, costs, options.device, unit, map.rows(),
                                                     options.progress);
    sky.choices = std::move(done.choices);
    if (done.keeps(options.error)) {
        sky.choice = std::move(done.choice);
        sky.result = std::move(done.result);
        return sky;
    }
    std::fill_n(map.rows().data(), map.rows().size(), 0.0);
    return sky;
}

}  // namespace zonal
