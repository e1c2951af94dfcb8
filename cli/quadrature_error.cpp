#include "quadrature_error.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "zonal/realization.hpp"
#include "zonal/sht.hpp"

namespace zonal::cli {
namespace {

using Complex = std::complex<double>;

constexpr std::int64_t largest_nside = 128;

/// Values at l * stretch, linear in between; 0 beyond the last.
std::vector<double> stretched(const std::vector<double>& values, double stretch, std::int64_t lmax) {
    std::vector<double> result(static_cast<std::size_t>(lmax + 1));
    for (std::size_t l = 0; l < result.size(); ++l) {
        const double at = stretch * static_cast<double>(l);
        const auto below = static_cast<std::size_t>(at);
        if (below >= values.size()) break;
        const double next = below + 1 < values.size() ? values[below + 1] : 0;
        result[l] = values[below] + (at - static_cast<double>(below)) * (next - values[below]);
    }
    return result;
}

/// sum_lm K_l^2 |a_lm|^2.
double power(const AlmLayout& layout, const std::vector<double>& window, const Array<Complex, 3>& alm) {
    double sum = 0;
    for (std::int64_t m = 0; m <= layout.mmax(); ++m)
        for (auto l = m; l <= layout.lmax(); ++l) {
            const double k = window[static_cast<std::size_t>(l)];
            sum += (m == 0 ? 1 : 2) * k * k * std::norm(alm(0, 0, layout.index(l, m)));
        }
    return sum;
}

}  // namespace

double quadrature_error(const RadialKernel& kernel, std::int64_t nside, const std::vector<double>& c_l,
                        int threads) {
    const auto probe_nside = std::min(nside, largest_nside);
    const double stretch = static_cast<double>(nside) / static_cast<double>(probe_nside);
    const std::int64_t lmax = 3 * probe_nside - 1;
    const auto window =
        stretched(kernel.window(static_cast<std::int64_t>(std::ceil(stretch * static_cast<double>(lmax)))),
                  stretch, lmax);
    ShtOptions options;
    options.lmax = lmax;
    options.threads = threads;
    options.device = Device::cpu();
    const ShtPlan plan(Grid::healpix(probe_nside), options);
    SkySpectra spectra;
    spectra.tt = c_l.empty() ? std::vector<double>(window.size(), 1.0) : stretched(c_l, stretch, lmax);
    Array<Complex, 3> sent({1, 1, plan.layout().size()}), found(sent.extents());
    Array<double, 3> map({1, 1, plan.grid().n_pixels()});
    realize<double>(spectra, 1, plan.layout(), {sent.data(), {1, sent.extent(2)}}, threads);
    plan.synthesize<double>(sent.view(), map.view());
    plan.quadrature<double>(map.view(), found.view());
    for (std::int64_t i = 0; i < sent.size(); ++i) found.data()[i] -= sent.data()[i];
    const double right = power(plan.layout(), window, sent);
    return right > 0 ? std::sqrt(power(plan.layout(), window, found) / right) : 0;
}

}  // namespace zonal::cli
