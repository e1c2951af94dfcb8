#include "planning/certificate/rounding_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "radial/kernels/kernel_implementation.hpp"

namespace zonal::planning {
namespace {

constexpr double unit(Precision precision) {
    return precision == Precision::float32 ? 0x1p-24 : 0x1p-53;
}

/// Says whether the profile is smooth and fades away where it ends. Ring FFTs then do all the work, and leave
/// no ring to the sum over pixels.
bool is_smooth(const RadialKernel& profile, double support, double accuracy) {
    const double end = support > 0 ? std::min(support, profile.support()) : profile.support();
    const bool has_kinks = profile.implementation().breaks().size() > 2;
    return !has_kinks && std::abs(profile.profile(end)) <= accuracy * std::abs(profile.profile(0));
}

bool converges(const ConvolutionRequest& request, const ConvolutionChoice& choice) {
    if (choice.method == ConvolutionMethod::pixel_sum) return false;
    if (choice.method == ConvolutionMethod::split) return true;  // its spline is smooth and fades away
    const auto is_smooth_part = [&](const RadialKernel* part) {
        return part == nullptr || is_smooth(*part, choice.support, choice.accuracy);
    };
    if (!request.polarization) return is_smooth_part(&request.kernel);
    return is_smooth_part(request.polarization->plus()) && request.polarization->minus() == nullptr;
}

}  // namespace

// Each value of the input, and each weight, is rounded once. That is like white noise, and at most eps N.
// Sums lose more where many products of one sign follow each other: once a partial sum has grown to a part s
// of the result, products below eps s are lost. For a Gaussian these add up to eps times the pixels in its
// beam. Ring FFTs lose less: they sum modes over rings, whose values have either sign.
RoundingOfSums rounding_of_sums(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                                const KernelNorms& kernel) {
    constexpr double of_input = 3, of_pixels = 0.25, least = 1, of_modes = 8;
    const double eps = unit(choice.precision);
    const double output = converges(request, choice) ? of_modes : least + of_pixels * kernel.pixels_in_beam();
    return {of_input * eps, output * eps};
}

// Sums over rings and degrees of this many terms lose about their root; tables of Legendre functions and the
// places of rings lose as many digits as waves have.
double rounding_of_transforms(std::int64_t lmax, int iterations) {
    constexpr double once = 5, per_root = 20, per_degree = 0.5;
    const auto degrees = static_cast<double>(lmax);
    return 0x1p-53 * (once + per_root * std::sqrt(degrees) + per_degree * degrees) * (1 + iterations);
}

}  // namespace zonal::planning
