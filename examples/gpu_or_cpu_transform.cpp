// Transforms coefficients to a map and back, on a GPU if there is one.
#include <zonal/sht.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

int main() {
    using Complex = std::complex<double>;
    const std::int64_t lmax = 511;
    // Sums over these rings are exact integrals, so that the way back needs no iterations.
    const auto grid = zonal::Grid::gauss_legendre(lmax + 1, 2 * lmax + 2);
    // automatic() takes a CUDA device if there is one; cuda() throws BackendUnavailable where there is none.
    const auto device = zonal::resolve_device(zonal::Device::automatic());
    const zonal::ShtPlan plan(grid, {.lmax = lmax, .device = device});

    // [map, component, coefficient]; arrays on the device can be passed as well.
    zonal::Array<Complex, 3> alm({1, 1, plan.layout().size()}), back(alm.extents());
    zonal::Array<double, 3> map({1, 1, grid.n_pixels()});
    for (std::int64_t m = 0; m <= lmax; ++m)
        for (std::int64_t l = m; l <= lmax; ++l)
            alm(0, 0, plan.layout().index(l, m)) = {std::cos(double(l + m)),
                                                    m == 0 ? 0 : std::sin(double(l - m))};

    const auto start = std::chrono::steady_clock::now();
    plan.synthesize<double>(alm.view(), map.view());
    plan.quadrature<double>(map.view(), back.view());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

    double error = 0;
    for (std::int64_t i = 0; i < alm.size(); ++i) {
        const double difference = std::abs(back.data()[i] - alm.data()[i]);
        if (!(difference <= error)) error = difference;
    }
    std::printf("%s: there and back in %.3f s, largest error %.1e\n", to_string(device).c_str(),
                seconds.count(), error);
    return error < 1e-11 ? 0 : 1;
}
