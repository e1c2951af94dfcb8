#include <algorithm>
#include <cmath>

#include "radial/kernels/wavelet_steps.hpp"
#include "zonal/wavelets.hpp"

namespace zonal {

// Marinucci et al. (2008), section 2: with phi the step from 1 at 1/B to 0 at 1 whose derivative is
// exp(-1 / (1 - u^2)), u in [-1, 1],
//   b^2(x) = phi(x / B) - phi(x),
// where one of the two is always 0 or 1.
WaveletWindows needlet_windows(double base, std::int64_t lmax) {
    radial::check_wavelets(base, "base", lmax, 0);
    const radial::SmoothStep step([](double t) {
        const double u = 2 * t - 1;
        return std::exp(-1 / (1 - u * u));
    });
    WaveletWindows result;
    result.scaling.assign(static_cast<std::size_t>(lmax) + 1, 0.0);
    result.scaling[0] = 1;
    // One step lies between base^(j-1) and base^j: what it leaves of scale j, scale j - 1 takes.
    for (double centre = 1; centre / base < static_cast<double>(lmax); centre *= base) {
        std::vector<double> window(result.scaling.size());
        const auto last = std::min(std::ceil(centre * base), static_cast<double>(lmax));
        for (auto l = static_cast<std::size_t>(centre / base) + 1; static_cast<double>(l) <= last; ++l) {
            const double x = static_cast<double>(l) / centre;
            window[l] =
                std::sqrt(x < 1 ? step((x * base - 1) / (base - 1)).rest : step((x - 1) / (base - 1)).step);
        }
        result.wavelets.push_back(std::move(window));
    }
    return result;
}

}  // namespace zonal
