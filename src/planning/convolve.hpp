#pragma once

#include <optional>
#include <vector>

#include "zonal/planning/convolution_plan.hpp"

namespace zonal::planning {

/// What was planned and done last.
struct CheckedConvolution {
    std::vector<ConvolutionChoice> choices;
    std::optional<ConvolutionChoice> choice;  ///< empty: none of the choices keeps the error
    ConvolutionResult result;
    double error = 0, gain = 0;  ///< the largest certified error, and the smallest measured gain

    bool keeps(double wanted) const { return choice && error <= wanted; }
};

/// Plans for the request's gain, convolves, and does both once more with the measured gain if the certified
/// error is above the request's. device: in place of the request's devices.
template <class T>
CheckedConvolution convolve_and_check(ConvolutionRequest request, const CostModel& costs,
                                      std::optional<Device> device, ConstView<T, 2> maps,
                                      View<T, 2> convolved, const Progress& progress);

}  // namespace zonal::planning
