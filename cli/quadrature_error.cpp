#include "quadrature_error.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "zonal/healpix.hpp"
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

/// Of the kernel's values at the centres of the pixels within its support.
double sum_around(const RadialKernel& kernel, std::int64_t nside, std::int64_t pixel) {
    using healpix::Order;
    const auto centre = healpix::pix2vec(nside, Order::ring, pixel);
    std::vector<double> theta;
    const auto angles = healpix::pix2ang(nside, Order::ring, pixel);
    for (const auto& range : healpix::query_disc(nside, angles, kernel.support()))
        for (auto other = range.first; other < range.end; ++other) {
            const auto v = healpix::pix2vec(nside, Order::ring, other);
            const double chord = std::hypot(v[0] - centre[0], v[1] - centre[1], v[2] - centre[2]);
            theta.push_back(2 * std::asin(std::min(1.0, chord / 2)));
        }
    double sum = 0;
    for (const double value : kernel.profile(theta)) sum += value;
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
    const double measured = right > 0 ? std::sqrt(power(plan.layout(), window, found) / right) : 0;
    const double defect = sum_defect(kernel, nside);
    return defect > most_sum_defect ? std::max(measured, defect) : measured;
}

double sum_defect(const RadialKernel& kernel, std::int64_t nside) {
    constexpr double core = 20;  // pixels: what is further out is smooth
    const double pixel = std::sqrt(std::numbers::pi / 3) / static_cast<double>(nside);
    const auto near = kernel.truncated(std::min({core * pixel, kernel.support(), std::numbers::pi}));
    const double area = pixel * pixel, integral = near.window(0)[0];
    double scale = 0;
    for (const double value : kernel.window(4 * nside)) scale = std::max(scale, std::abs(value));
    if (!(scale > 0)) return 0;
    double largest = 0;
    // Next to a pole, where the caps end, and between.
    for (const std::int64_t ring : {std::int64_t{0}, nside / 2, nside - 1, 3 * nside / 2, 2 * nside - 1})
        largest = std::max(
            largest,
            std::abs(area * sum_around(near, nside, healpix::ring(nside, ring).first_pixel) - integral));
    return largest / scale;
}

}  // namespace zonal::cli
