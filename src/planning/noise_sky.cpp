#include "zonal/planning/noise_sky.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "planning/certificate/map_certificate.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/certificate.hpp"
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
    if (options.method == ConvolutionMethod::split) request.method = ConvolutionMethod::split;
    return request;
}

/// The fastest of the choices that may be taken.
std::optional<ConvolutionChoice> choose(ConvolutionMethod method,
                                        const std::vector<ConvolutionChoice>& choices) {
    for (const auto& choice : choices)
        if (choice.excluded.empty() && (method == ConvolutionMethod::automatic || choice.method == method))
            return choice;
    return std::nullopt;
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
    const auto convolve = [&] {
        sky.result = ConvolutionPlan(request, *sky.choice)
                         .convolve<double>(std::as_const(noise).view(), map.rows(), options.progress);
    };
    if (options.method == ConvolutionMethod::harmonic) {
        sky.choice.emplace().device = resolve_device(options.device);
        convolve();
        return sky;
    }
    request.gain = gain_of_noise(request);
    constexpr int attempts = 2;
    constexpr double margin = 0.98;
    for (int i = 0; i < attempts; ++i) {
        sky.choices = plan_convolution(request, costs, options.device);
        sky.choice = choose(request.method, sky.choices);
        if (!sky.choice) break;
        convolve();
        if (planning::largest_error(sky.result.certificates) <= options.error) return sky;
        request.gain = margin * planning::smallest_gain(sky.result.certificates);
    }
    sky.choice.reset();
    std::fill_n(map.rows().data(), map.rows().size(), 0.0);
    return sky;
}

}  // namespace zonal
