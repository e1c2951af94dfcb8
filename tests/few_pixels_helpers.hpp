#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "zonal/convolution.hpp"

/// What tests of maps share in which few pixels are not 0.
namespace zonal::test {

inline PixelConvolutionOptions summed(Precision precision = Precision::float64, int threads = 2) {
    PixelConvolutionOptions options;
    options.method = PixelMethod::pixel_sum;
    options.device = Device::cpu();
    options.precision = precision;
    options.threads = threads;
    return options;
}

/// One pixel in `one_in`, at random, has a random value.
inline std::vector<double> sparse_map(const Grid& grid, double one_in, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    std::vector<double> map(static_cast<std::size_t>(grid.n_pixels()), 0.);
    for (double& pixel : map)
        if (uniform(generator) * one_in < 1) pixel = normal(generator);
    const Ring& ring = grid.rings()[grid.rings().size() / 2];
    map[static_cast<std::size_t>(ring.first_pixel + ring.n_pixels / 3)] = 1;  // one at least
    return map;
}

/// Ends at 1/16 of its peak.
inline RadialKernel kernel_to(double support) {
    return RadialKernel::gaussian(support).truncated(support);
}

inline Grid rings_of_any_length(std::int64_t longest) {
    std::mt19937 generator(2);
    std::vector<Ring> rings;
    std::int64_t first = 5;
    for (int r = 0; r < 24; ++r) {
        const auto n = static_cast<std::int64_t>(1 + generator() % static_cast<unsigned>(longest));
        rings.push_back(
            make_ring(0.13 * r, 1e-9 * static_cast<double>(generator()), 0.01 * (r + 1), n, first));
        first += n + r % 3;
    }
    std::shuffle(rings.begin(), rings.end(), generator);
    return Grid(rings);
}

template <class T = double>
std::vector<T> summed_over_pixels(const Grid& grid, const RadialKernel& kernel, const Grid& grid_out,
                                  const std::vector<T>& maps,
                                  const PixelConvolutionOptions& options = summed()) {
    const std::int64_t n_maps = std::ssize(maps) / grid.n_pixels();
    std::vector<T> out(static_cast<std::size_t>(n_maps * grid_out.n_pixels()), T(0));
    PixelConvolutionPlan(grid, kernel, grid_out, options)
        .convolve<T>(View<const T, 2>(maps.data(), {n_maps, grid.n_pixels()}),
                     View<T, 2>(out.data(), {n_maps, grid_out.n_pixels()}));
    return out;
}

}  // namespace zonal::test
