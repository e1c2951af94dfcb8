#include <fmt/core.h>

#include "planning/certificate/map_certificate.hpp"
#include "zonal/error.hpp"
#include "zonal/planning/convolution_plan.hpp"

namespace zonal {

template <class T>
ConvolutionResult convolve(const ConvolutionRequest& request, const CostModel& costs, ConstView<T, 2> maps,
                           View<T, 2> convolved, const Progress& progress) {
    constexpr double margin = 0.99;
    auto planned = request;
    for (int attempt = 0;; ++attempt) {
        const auto choice = plan_convolution(planned, costs).front();
        if (!choice.excluded.empty())
            throw ErrorNotKept(
                fmt::format("error = {}: no method keeps it: {}", request.error, choice.excluded));
        auto result = ConvolutionPlan(planned, choice).convolve<T>(maps, convolved, progress);
        const double error = planning::largest_error(result.certificates);
        if (error <= request.error) return result;
        const double gain = margin * planning::smallest_gain(result.certificates);
        if (attempt > 0 || !(gain > 0))
            throw ErrorNotKept(
                fmt::format("error = {}: the certified error is {:.3g}, as the kernel leaves {:.3g} "
                            "of the maps' rms",
                            request.error, error, gain));
        planned.gain = gain;
    }
}

template ConvolutionResult convolve(const ConvolutionRequest&, const CostModel&, View<const float, 2>,
                                    View<float, 2>, const Progress&);
template ConvolutionResult convolve(const ConvolutionRequest&, const CostModel&, View<const double, 2>,
                                    View<double, 2>, const Progress&);

}  // namespace zonal
