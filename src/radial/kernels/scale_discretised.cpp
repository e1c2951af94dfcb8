#include <fmt/core.h>

#include <cmath>

#include "radial/kernels/wavelet_steps.hpp"
#include "zonal/error.hpp"
#include "zonal/wavelets.hpp"

namespace zonal {

// Leistedt et al. (2013), section 2.2: with k the step from 1 at 1/lambda to 0 at 1,
//   k(t) = int_t^1 s^2(x) dx / x / int_{1/lambda}^1,  s(x) = exp(-1 / (1 - u^2)),
//   u = 2 lambda / (lambda - 1) (x - 1/lambda) - 1,
//   kappa^2(t) = k(t / lambda) - k(t),   eta^2(t) = k(t).
WaveletWindows scale_discretised_windows(double dilation, int j_min, std::int64_t lmax) {
    radial::check_wavelets(dilation, "dilation", lmax, 1);
    const double low = 1 / dilation, width = 1 - low;
    const radial::SmoothStep step([low, width](double t) {
        const double u = 2 * t - 1;
        return std::exp(-2 / (1 - u * u)) / (low + width * t);
    });
    const auto k = [&](double t) { return step((t - low) / width); };
    int j_max = 0;
    double largest = 1;
    for (; largest < static_cast<double>(lmax); largest *= dilation) ++j_max;
    if (j_min < 0 || j_min > j_max)
        throw InvalidArgument(fmt::format("j_min = {}: must be from 0 to {} for dilation {} and lmax = {}",
                                          j_min, j_max, dilation, lmax));
    WaveletWindows result;
    double centre = std::pow(dilation, j_min);
    for (std::int64_t l = 0; l <= lmax; ++l)
        result.scaling.push_back(std::sqrt(k(static_cast<double>(l) / centre).step));
    for (int j = j_min; j <= j_max; ++j, centre *= dilation) {
        auto& window = result.wavelets.emplace_back();
        for (std::int64_t l = 0; l <= lmax; ++l) {
            const double t = static_cast<double>(l) / centre;
            window.push_back(std::sqrt(t < 1 ? k(t).rest : k(t / dilation).step));
        }
    }
    return result;
}

}  // namespace zonal
