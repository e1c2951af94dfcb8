#include "planning/certificate_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "radial/ring_fft/geometry.hpp"

namespace zonal::planning {
namespace {

constexpr double unit(Precision precision) {
    return precision == Precision::single_ ? 0x1p-24 : 0x1p-53;
}

radial::KernelProfiles profiles_of(const ConvolutionRequest& request, const RadialKernel& scalar) {
    if (!request.polarization) return {&scalar, nullptr, false};
    return {request.polarization->plus(), request.polarization->minus(), true};
}

/// Whether ring FFTs do it all, and no ring is left to the sum over pixels.
bool converges(const ConvolutionRequest& request, const ConvolutionChoice& choice) {
    if (choice.method == ConvolutionMethod::pixel_sum) return false;
    if (choice.method == ConvolutionMethod::split) return true;  // its spline is made for it
    constexpr std::int64_t modes = 4, least = 64;                // as the geometry of ring FFTs
    std::int64_t longest = 0;
    for (const Ring& ring : request.grid.rings()) longest = std::max(longest, ring.n_pixels);
    const auto highest = std::max(modes * longest, least);
    auto cut = request;
    if (choice.support > 0) {
        cut.kernel = request.kernel.truncated(choice.support);
        if (request.polarization) cut.polarization = request.polarization->truncated(choice.support);
    }
    const double accuracy = choice.accuracy > 0 ? choice.accuracy : 3e-8;
    return radial::series_degree(profiles_of(cut, cut.kernel), accuracy, highest) >= 0;
}

}  // namespace

// Each value of the input, and each weight, is rounded once: that is like white noise, and at most eps N.
// Sums lose more where many products of one sign follow each other: once a partial sum has grown to a part s
// of the result, products below eps s are lost, which for a Gaussian are eps times the pixels in its beam. Of
// ring FFTs the modes are summed over rings, whose values are of either sign.
RoundingOfSums rounding_of_sums(const ConvolutionRequest& request, const ConvolutionChoice& choice,
                                const KernelNorms& kernel) {
    constexpr double of_input = 3, of_pixels = 0.25, least = 1, of_modes = 8;
    const double eps = unit(choice.precision);
    const double output = converges(request, choice) ? of_modes : least + of_pixels * kernel.pixels_in_beam();
    return {of_input * eps, output * eps};
}

double rounding_of_transforms(std::int64_t lmax, int iterations) {
    constexpr double once = 5, per_degree = 1.0 / 3;
    return 0x1p-53 * (once + per_degree * static_cast<double>(lmax)) * (1 + iterations);
}

}  // namespace zonal::planning
