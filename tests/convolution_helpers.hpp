#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "compare.hpp"
#include "radial/reference.hpp"
#include "zonal/convolution.hpp"

/// Maps and kernels for tests of convolutions, and the direct sum to compare with.
namespace zonal::test {

inline constexpr double degree = std::numbers::pi / 180;

inline std::vector<double> random_map(std::int64_t n_pixels, unsigned seed = 1) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> map(static_cast<std::size_t>(n_pixels));
    for (double& value : map) value = normal(random);
    return map;
}

/// On the CPU.
inline PixelConvolutionOptions options_of(PixelMethod method, Precision precision = Precision::float64,
                                          int threads = 1) {
    PixelConvolutionOptions options;
    options.method = method;
    options.precision = precision;
    options.threads = threads;
    options.device = Device::cpu();
    return options;
}

/// Rings of 15 and 16 pixels that begin anywhere, with pixels in no ring between them.
inline Grid rings_at_any_longitude() {
    std::vector<Ring> rings;
    std::int64_t first = 0;
    for (int k = 0; k < 14; ++k) {
        const std::int64_t n = k % 3 == 0 ? 15 : 16;
        rings.push_back(make_ring((k + 0.7) * 0.22, 0.37 * k * k, 0.1 + 0.01 * k, n, first));
        first += n + 2;
    }
    return Grid(rings);
}

/// One map of type T on the CPU.
template <class T = double>
std::vector<double> convolved(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                              const std::vector<double>& map, PixelConvolutionOptions options = {}) {
    options.device = Device::cpu();
    const PixelConvolutionPlan plan(grid, kernel, grid_out, options);
    const std::vector<T> in(map.begin(), map.end());
    std::vector<T> out(static_cast<std::size_t>(grid_out.n_pixels()));
    plan.convolve<T>({in.data(), {1, grid.n_pixels()}}, {out.data(), {1, grid_out.n_pixels()}});
    return {out.begin(), out.end()};
}

inline std::vector<double> direct_sum(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                                      const std::vector<double>& map) {
    std::vector<double> out(static_cast<std::size_t>(grid_out.n_pixels()));
    reference::convolve(grid, kernel, grid_out, {map.data(), {grid.n_pixels()}},
                        {out.data(), {grid_out.n_pixels()}});
    return out;
}

/// The largest difference of a convolved random map from the direct sum, of the direct sum's maximum.
template <class T = double>
double error_of(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                const PixelConvolutionOptions& options = {}) {
    const auto map = random_map(grid.n_pixels());
    const auto exact = direct_sum(grid, kernel, grid_out, map);
    return relative_difference(convolved<T>(grid, kernel, grid_out, map, options), exact);
}

/// A window of both signs that falls to rounding: its profile oscillates and has a converging series.
inline RadialKernel random_window(std::int64_t lmax, unsigned seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> window;
    for (std::int64_t l = 0; l <= lmax; ++l) window.push_back(normal(random));
    return RadialKernel::from_window(window);
}

}  // namespace zonal::test
