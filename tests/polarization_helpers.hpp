#pragma once

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "radial/reference.hpp"
#include "sht_helpers.hpp"
#include "zonal/polarization_convolution.hpp"

/// Maps of Q and U and kernels for tests of their convolutions, and what to compare with.
namespace zonal::test {

using Maps = Array<double, 3>;

inline Maps random_maps(std::int64_t n_maps, const Grid& grid, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    Maps maps({n_maps, 2, grid.n_pixels()});
    for (double& pixel : maps) pixel = normal(generator);
    return maps;
}

inline std::vector<double> random_windows(std::int64_t lmax, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> window;
    for (std::int64_t l = 0; l <= lmax; ++l)
        window.push_back(normal(generator) / (1 + static_cast<double>(l)));
    return window;
}

/// exp(-(l(l+1) - 4) sigma^2 / 2)
inline std::vector<double> gaussian_window(double fwhm, std::size_t size) {
    const double sigma = fwhm / std::sqrt(8 * std::numbers::ln2);
    std::vector<double> window(size);
    for (std::size_t l = 0; l < size; ++l) {
        const double degree = static_cast<double>(l);
        window[l] = std::exp(-(degree * (degree + 1) - 4) * sigma * sigma / 2);
    }
    return window;
}

template <class T = double>
Array<T, 3> convolved(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
                      const Array<T, 3>& maps, const PixelConvolutionOptions& options) {
    Array<T, 3> out({maps.extent(0), 2, grid_out.n_pixels()});
    PolarizationConvolutionPlan(grid, kernel, grid_out, options).convolve<T>(maps.view(), out.view());
    return out;
}

inline Maps direct_sum(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
                       const Maps& maps) {
    Maps out({maps.extent(0), 2, grid_out.n_pixels()});
    for (std::int64_t map = 0; map < maps.extent(0); ++map)
        reference::convolve(grid, kernel, grid_out, maps.view()[map], out.view()[map]);
    return out;
}

/// Adjoint synthesis, windows, synthesis: the same sum over all pixels, in another order.
inline Maps harmonically(const Grid& grid, const std::vector<double>& window_e,
                         const std::vector<double>& window_b, const Grid& grid_out, const Maps& maps) {
    const auto lmax = static_cast<std::int64_t>(window_e.size()) - 1;
    const AlmLayout layout(lmax, lmax);
    Array<std::complex<double>, 3> alm({1, 2, layout.size()});
    Maps weighted = maps, out({1, 2, grid_out.n_pixels()});
    for (const Ring& ring : grid.rings())
        for (std::int64_t pixel = ring.first_pixel; pixel < ring.first_pixel + ring.n_pixels; ++pixel)
            for (int c = 0; c < 2; ++c) weighted(0, c, pixel) *= ring.weight;
    ShtOptions options;
    options.lmax = lmax;
    options.spin = 2;
    options.device = Device::cpu();
    ShtPlan(grid, options).adjoint_synthesis<double>(std::as_const(weighted).view(), alm.view());
    for (std::int64_t m = 0; m <= lmax; ++m)
        for (std::int64_t l = m; l <= lmax; ++l) {
            alm(0, 0, layout.index(l, m)) *= window_e[static_cast<std::size_t>(l)];
            alm(0, 1, layout.index(l, m)) *= window_b[static_cast<std::size_t>(l)];
        }
    ShtPlan(grid_out, options).synthesize<double>(std::as_const(alm).view(), out.view());
    return out;
}

}  // namespace zonal::test
