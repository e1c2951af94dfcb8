#include "planning/convolve.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "planning/certificate/map_certificate.hpp"
#include "zonal/error.hpp"

namespace zonal {

template <class T>
planning::CheckedConvolution planning::convolve_and_check(ConvolutionRequest request, const CostModel& costs,
                                                          std::optional<Device> device, ConstView<T, 2> maps,
                                                          View<T, 2> convolved, const Progress& progress) {
    // The second plan assumes a little less than the gain that was measured, which is measured again.
    constexpr double margin = 0.98;
    constexpr int attempts = 2;
    const auto may_be_taken = [&](const ConvolutionChoice& choice) {
        return choice.excluded.empty() &&
               (request.method == ConvolutionMethod::automatic || choice.method == request.method);
    };
    CheckedConvolution done;
    for (int i = 0; i < attempts; ++i) {
        done.choices = device ? plan_convolution(request, costs, *device) : plan_convolution(request, costs);
        const auto best = std::find_if(done.choices.begin(), done.choices.end(), may_be_taken);
        done.choice = best == done.choices.end() ? std::nullopt : std::optional(*best);
        if (!done.choice) break;
        done.result = ConvolutionPlan(request, *done.choice).convolve<T>(maps, convolved, progress);
        done.error = largest_error(done.result.certificates);
        done.gain = smallest_gain(done.result.certificates);
        if (done.error <= request.error || !(done.gain > 0)) break;
        request.gain = margin * done.gain;
    }
    return done;
}

template <class T>
ConvolutionResult convolve(const ConvolutionRequest& request, const CostModel& costs, ConstView<T, 2> maps,
                           View<T, 2> convolved, const Progress& progress) {
    auto done = planning::convolve_and_check<T>(request, costs, {}, maps, convolved, progress);
    if (done.keeps(request.error)) return std::move(done.result);
    if (!done.choice)
        throw ErrorNotKept("error", request.error,
                           fmt::format("no method keeps it: {}", done.choices.front().excluded));
    throw ErrorNotKept(
        "error", request.error,
        fmt::format("the certified error is {:.3g}, as the kernel leaves {:.3g} of the maps' rms", done.error,
                    done.gain));
}

template planning::CheckedConvolution planning::convolve_and_check(ConvolutionRequest, const CostModel&,
                                                                   std::optional<Device>,
                                                                   View<const float, 2>, View<float, 2>,
                                                                   const Progress&);
template planning::CheckedConvolution planning::convolve_and_check(ConvolutionRequest, const CostModel&,
                                                                   std::optional<Device>,
                                                                   View<const double, 2>, View<double, 2>,
                                                                   const Progress&);
template ConvolutionResult convolve(const ConvolutionRequest&, const CostModel&, View<const float, 2>,
                                    View<float, 2>, const Progress&);
template ConvolutionResult convolve(const ConvolutionRequest&, const CostModel&, View<const double, 2>,
                                    View<double, 2>, const Progress&);

}  // namespace zonal
