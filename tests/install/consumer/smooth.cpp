// The smallest program that smooths a map: one bright pixel, a Gaussian of 10 degrees.
#include <zonal/sht.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>

int main() {
    const double pi = std::numbers::pi;
    const double sigma = 10 * pi / 180 / std::sqrt(8 * std::log(2.0));  // of the FWHM
    const auto grid = zonal::Grid::healpix(16);
    const zonal::ShtPlan plan(grid, {.lmax = 32});

    zonal::Array<double, 3> map({1, 1, grid.n_pixels()});
    zonal::Array<std::complex<double>, 3> alm({1, 1, plan.layout().size()});
    map(0, 0, 1000) = 1;
    plan.quadrature<double>(std::as_const(map).view(), alm.view());
    double peak = 0;  // by the addition theorem: pixel area * sum_l (2l+1) / (4 pi) K_l
    for (std::int64_t l = 0; l <= 32; ++l) {
        const double window = std::exp(-0.5 * sigma * sigma * double(l * (l + 1)));
        peak += double(2 * l + 1) / double(grid.n_pixels()) * window;
        for (std::int64_t m = 0; m <= l; ++m) alm(0, 0, plan.layout().index(l, m)) *= window;
    }
    plan.synthesize<double>(std::as_const(alm).view(), map.view());

    std::printf("peak %.15f, expected %.15f\n", map(0, 0, 1000), peak);
    return std::abs(map(0, 0, 1000) / peak - 1) < 1e-12 ? 0 : 1;
}
