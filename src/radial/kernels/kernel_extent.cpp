#include "radial/kernels/kernel_extent.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace zonal::radial {

KernelExtent find_extent(const RadialKernel& kernel, double threshold) {
    // Narrow kernels need angles of every order of magnitude, oscillating ones many.
    constexpr int n_even = 512, n_per_octave = 32, n_octaves = 40;
    std::vector<double> theta{0};
    for (int i = 1; i <= n_even; ++i) theta.push_back(kernel.support() * i / n_even);
    for (int i = 1; i <= n_per_octave * n_octaves; ++i)
        theta.push_back(kernel.support() * std::exp2(-static_cast<double>(i) / n_per_octave));
    std::sort(theta.begin(), theta.end());
    const auto value = kernel.profile(theta);
    double peak = 0;
    for (const double k : value) peak = std::max(peak, std::abs(k));
    std::size_t last = theta.size() - 1;
    while (last > 0 && std::abs(value[last]) <= peak * threshold) --last;
    // The next angle but one, as a zero of an oscillation may hide the last value that counts.
    return {theta[std::min(last + 2, theta.size() - 1)], peak};
}

}  // namespace zonal::radial
