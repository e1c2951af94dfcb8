#include "zonal/planning/noise_sky.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "zonal/error.hpp"
#include "zonal/sky/realization.hpp"

namespace zonal {
namespace {

ConvolutionRequest request_for(const std::vector<double>& window, const NoiseSkyOptions& options,
                               const SkyMap& map) {
    if (std::all_of(window.begin(), window.end(), [](double k) { return k == 0; }))
        throw InvalidArgument("window: is 0 up to lmax: there is nothing to convolve with");
    ConvolutionRequest request;
    request.grid = map.grid();
    request.lmax = std::ssize(window) - 1;
    request.kernel = RadialKernel::from_window(window);
    request.error = options.error;
    request.allow_single = options.allow_single;
    request.threads = options.threads;
    request.only_split = options.method == ConvolutionMethod::split;
    return request;
}

/// The fastest of the choices that may be taken.
std::optional<ConvolutionChoice> choose(bool only_split, const std::vector<ConvolutionChoice>& choices) {
    for (const auto& choice : choices)
        if (choice.excluded.empty() && (!only_split || choice.method == ConvolutionMethod::split))
            return choice;
    return std::nullopt;
}

}  // namespace

NoiseSky make_noise_sky(const std::vector<double>& window, const CostModel& costs,
                        const NoiseSkyOptions& options, SkyMap& map) {
    const auto request = request_for(window, options, map);
    NoiseSky sky;
    if (options.method == ConvolutionMethod::harmonic) {
        sky.choice.emplace().device = resolve_device(options.device);
    } else {
        sky.choices = plan_convolution(request, costs, options.device);
        sky.choice = choose(request.only_split, sky.choices);
        if (!sky.choice) return sky;
    }
    // Of unit spectrum: on pixels of the area w the variance is 1/w, n_pixels / 4 pi on HEALPix.
    sky.noise_variance = 1 / map.grid().rings()[0].weight;
    Array<double, 2> noise({1, map.grid().n_pixels()});
    white_noise<double>(options.seed, noise.view()[0], options.threads);
    for (double& value : noise) value *= std::sqrt(sky.noise_variance);
    sky.result = ConvolutionPlan(request, *sky.choice)
                     .convolve<double>(std::as_const(noise).view(), map.rows(), options.progress);
    return sky;
}

}  // namespace zonal
