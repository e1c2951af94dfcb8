// Convolves a map with a compact beam as a sum over its pixels. Unlike smoothing in harmonic space this does
// not ring: a point source stays positive and ends where the beam ends.
#include <zonal/convolution.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

int main() {
    const double degree = std::numbers::pi / 180;
    const auto grid = zonal::Grid::healpix(64);
    const auto beam = zonal::RadialKernel::gaussian(5 * degree).truncated(15 * degree);

    // A plan is made once for a grid and a kernel and serves any number of maps, here one: [map, pixel].
    const zonal::PixelConvolutionPlan plan(grid, beam, grid, {.method = zonal::PixelMethod::pixel_sum});
    zonal::Array<double, 2> map({1, grid.n_pixels()}), convolved({1, grid.n_pixels()});
    map(0, grid.n_pixels() / 3) = 1;
    plan.convolve<double>(map.view(), convolved.view());

    double total = 0;
    for (const double pixel : convolved) total += pixel;
    const auto lit = std::count_if(convolved.begin(), convolved.end(), [](double x) { return x > 0; });
    const double share = double(lit) / double(grid.n_pixels());
    const double cap = (1 - std::cos(15 * degree)) / 2;  // of the sphere
    const double lowest = *std::min_element(convolved.begin(), convolved.end());
    std::printf("flux %.6f of 1, on %.4f of the sky (the beam: %.4f), lowest pixel %g\n", total, share, cap,
                lowest);
    // The beam's integral is 1, sampled by pixels of 0.9 degrees.
    return std::abs(total - 1) < 1e-3 && std::abs(share / cap - 1) < 0.05 && lowest >= 0 ? 0 : 1;
}
