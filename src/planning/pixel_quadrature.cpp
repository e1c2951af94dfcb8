#include "zonal/planning/pixel_quadrature.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

#include "planning/request.hpp"
#include "zonal/error.hpp"
#include "zonal/grids/healpix_regions.hpp"
#include "zonal/healpix.hpp"
#include "zonal/sht.hpp"

namespace zonal {
namespace {

using Complex = std::complex<double>;
using planning::draw_alm;
using planning::spin_of;
using planning::windows_of;

/// Of the pixels on which errors are measured.
constexpr std::int64_t largest_nside = 128;
/// Above this a sum over the pixels is no convolution.
constexpr double most_defect = 0.2;

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

/// sum_lm K_l^2 |a_lm|^2 of all components. windows: [component].
double power(const AlmLayout& layout, const std::vector<std::vector<double>>& windows,
             const Array<Complex, 3>& alm) {
    double sum = 0;
    for (std::size_t c = 0; c < windows.size(); ++c)
        for (std::int64_t m = 0; m <= layout.mmax(); ++m)
            for (auto l = m; l <= layout.lmax(); ++l) {
                const double k = windows[c][static_cast<std::size_t>(l)];
                const auto index = layout.index(l, m);
                sum += (m == 0 ? 1 : 2) * k * k * std::norm(alm(0, static_cast<std::int64_t>(c), index));
            }
    return sum;
}

/// The sum of the kernel's values at the centres of the pixels within its support.
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

ConvolutionRequest request_with(const RadialKernel& kernel, int threads) {
    ConvolutionRequest request;
    request.kernel = kernel;
    request.threads = threads;
    return request;
}

}  // namespace

PixelQuadrature::PixelQuadrature(const ConvolutionRequest& request, std::int64_t nside)
    : request_(request), nside_(nside), defect_(find_defect()) {}

PixelQuadrature::PixelQuadrature(const RadialKernel& kernel, std::int64_t nside, int threads)
    : PixelQuadrature(request_with(kernel, threads), nside) {}

double PixelQuadrature::find_defect() const {
    constexpr double core = 20;  // pixels: what is further out is smooth
    const double pixel = std::sqrt(std::numbers::pi / 3) / static_cast<double>(nside_);
    // Of Q and U the part with a peak, where directions do not differ: K- is 0 there.
    const auto* kernel = request_.polarization ? request_.polarization->plus() : &request_.kernel;
    if (kernel == nullptr) return 0;
    const auto near = kernel->truncated(std::min({core * pixel, kernel->support(), std::numbers::pi}));
    const double area = pixel * pixel, integral = near.window(0)[0];
    double scale = 0;
    for (const auto& window : windows_of(request_, 4 * nside_))
        for (const double value : window) scale = std::max(scale, std::abs(value));
    if (!(scale > 0)) return 0;
    double largest = 0;
    // Next to a pole, where the caps end, and between.
    for (const std::int64_t ring : {std::int64_t{0}, nside_ / 2, nside_ - 1, 3 * nside_ / 2, 2 * nside_ - 1})
        largest = std::max(
            largest,
            std::abs(area * sum_around(near, nside_, healpix::ring(nside_, ring).first_pixel) - integral));
    return largest / scale;
}

bool PixelQuadrature::is_sum() const {
    return defect_ <= most_defect;
}

std::string PixelQuadrature::explanation() const {
    return fmt::format("the kernel is so narrow that its sums over these pixels are {:.2g} off its integral",
                       defect_);
}

double PixelQuadrature::error(const std::vector<std::vector<double>>& spectra) const {
    const auto probe_nside = std::min(nside_, largest_nside);
    const double stretch = static_cast<double>(nside_) / static_cast<double>(probe_nside);
    const std::int64_t lmax = 3 * probe_nside - 1;
    const auto most = static_cast<std::int64_t>(std::ceil(stretch * static_cast<double>(lmax)));
    auto windows = windows_of(request_, most);
    for (auto& window : windows) window = stretched(window, stretch, lmax);
    auto probe_spectra = spectra;
    for (auto& c_l : probe_spectra)
        if (!c_l.empty()) c_l = stretched(c_l, stretch, lmax);
    const ShtPlan plan(
        Grid::healpix(probe_nside),
        {.lmax = lmax, .spin = spin_of(request_), .threads = request_.threads, .device = Device::cpu()});
    const auto sent = draw_alm(probe_spectra, plan.layout(), 1, request_.threads);
    Array<Complex, 3> found(sent.extents());
    Array<double, 3> map({1, sent.extent(1), plan.grid().n_pixels()});
    plan.synthesize<double>(sent.view(), map.view());
    plan.quadrature<double>(map.view(), found.view());
    for (std::int64_t i = 0; i < sent.size(); ++i) found.data()[i] -= sent.data()[i];
    const double right = power(plan.layout(), windows, sent);
    const double measured = right > 0 ? std::sqrt(power(plan.layout(), windows, found) / right) : 0;
    return is_sum() ? measured : std::max(measured, defect_);
}

// Measured with maps of C_l = 1/(l(l+1)) at nside 128 and 256.
double iteration_gain(std::int64_t lmax, std::int64_t nside) {
    const double degrees = static_cast<double>(lmax) / static_cast<double>(nside);
    return std::clamp(std::exp(-2.08 + 1.16 * (degrees - 2)), 0.03, 0.8);
}

ConvolutionRequest with_quadrature(ConvolutionRequest request) {
    if (request.reference != ConvolutionReference::continuous || request.gain) return request;
    if (request.quadrature_error && request.iteration_gain) return request;
    const auto nside = request.grid.healpix_nside();
    if (nside == 0)
        throw InvalidArgument(
            "quadrature_error, iteration_gain",
            fmt::format("must be given on {}: they are known for HEALPix grids alone", request.grid.name()));
    if (!request.quadrature_error)
        request.quadrature_error = PixelQuadrature(request, nside).error(planning::spectra_of(request));
    if (!request.iteration_gain) request.iteration_gain = iteration_gain(request.lmax, nside);
    return request;
}

}  // namespace zonal
