#include "zonal/beams/elliptical.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

#include "grids/latitude_nodes.hpp"
#include "zonal/error.hpp"
#include "zonal/sht.hpp"

namespace zonal {
namespace beams {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

/// 1 / sigma^2 along the axes.
struct Axes {
    double long_axis, short_axis;
    explicit Axes(const EllipticalBeamOptions& options) {
        const double sigma = options.fwhm / std::sqrt(8 * std::log(2.0)), square = 1 / (sigma * sigma);
        long_axis = square / options.ellipticity;
        short_axis = square * options.ellipticity;
    }
};

void check(const EllipticalBeamOptions& options) {
    if (options.lmax < 0) throw InvalidArgument("lmax", options.lmax, "must be 0 or positive");
    if (!(options.fwhm > 0 && std::isfinite(options.fwhm)))
        throw InvalidArgument("fwhm", options.fwhm, "must be a positive angle, in rad");
    if (!(options.ellipticity >= 1 && options.ellipticity <= 10))
        throw InvalidArgument("ellipticity", options.ellipticity, "must be from 1 (round) to 10");
    if (!std::isfinite(options.orientation))
        throw InvalidArgument("orientation", options.orientation, "must be an angle, in rad");
    if (!std::isfinite(options.polarization))
        throw InvalidArgument("polarization", options.polarization, "must be an angle, in rad");
    if (!(options.efficiency >= 0 && options.efficiency <= 1))
        throw InvalidArgument("efficiency", options.efficiency, "must be from 0 to 1");
    if (!(options.error >= 1e-14 && options.error <= 0.5))
        throw InvalidArgument("error", options.error, "must be from 1e-14 to 0.5");
    if (options.polarized && options.lmax < 2)
        throw InvalidArgument("lmax", options.lmax, "must be at least 2 for E and B");
}

/// The order k = 2 n above which rounding hides the beam's power: order 2 n has rho^n of the amplitude, rho =
/// (e - 1) / (e + 1), for exp(-r^2 A / 2) I_n(r^2 D / 2) in the plane (A, D: half the sum and difference of 1
/// / sigma^2) has a square integral of Q_{n - 1/2}(2 A^2 / D^2 - 1) / (pi D).
std::int64_t highest_order(double ellipticity) {
    const double rho = (ellipticity - 1) / (ellipticity + 1);
    constexpr double rounding = 1e-17;
    constexpr std::int64_t margin = 3;
    return 2 * (margin +
                (rho > 0 ? static_cast<std::int64_t>(std::ceil(std::log(rounding) / std::log(rho))) : 0));
}

/// Rings up to where the beam is below rounding, by the Gauss-Legendre rule in theta: a ring of n_phi pixels
/// for each node.
Grid grid_for(const EllipticalBeamOptions& options, const Axes& axes, std::int64_t n_phi) {
    constexpr double reach = 9;  // exp(-9^2 / 2) = 3e-18
    const double end = std::min(reach / std::sqrt(axes.long_axis), pi);
    // The integrand has frequencies up to lmax and those of a Gaussian whose short axis is end / 9 /
    // ellipticity; the rule converges once there are more than two nodes in the shortest wave.
    const double waves =
        (static_cast<double>(options.lmax) + reach * std::sqrt(axes.short_axis)) * end / (2 * pi);
    const auto n = static_cast<std::int64_t>(std::ceil(3.5 * waves)) + 32;
    const auto nodes = grids::with_southern(grids::gauss_legendre_nodes(n), n);
    std::vector<Ring> rings;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto& node = nodes[static_cast<std::size_t>(i)];
        const double theta = end * (1 - node.cos_theta) / 2;
        rings.push_back(
            make_ring(theta, 0, node.weight * end / 2 * std::sin(theta) * 2 * pi / static_cast<double>(n_phi),
                      n_phi, i * n_phi));
    }
    return Grid(std::move(rings), -1, "a beam");
}

/// [1, 3 or 1, pixel]: b, and Re and Im of b exp(2 i (polarization - phi)).
Array<double, 3> pixels_of(const EllipticalBeamOptions& options, const Axes& axes, const Grid& grid) {
    Array<double, 3> map({1, options.polarized ? 3 : 1, grid.n_pixels()});
    for (const Ring& ring : grid.rings())
        for (std::int64_t j = 0; j < ring.n_pixels; ++j) {
            const double phi = 2 * pi * static_cast<double>(j) / static_cast<double>(ring.n_pixels);
            const double c = std::cos(phi - options.orientation), s = std::sin(phi - options.orientation);
            const double b =
                std::exp(-ring.theta * ring.theta / 2 * (axes.long_axis * c * c + axes.short_axis * s * s));
            const std::int64_t pixel = ring.first_pixel + j;
            map(0, 0, pixel) = b;
            if (!options.polarized) continue;
            const Complex p = options.efficiency * std::polar(b, 2 * (options.polarization - phi));
            map(0, 1, pixel) = p.real();
            map(0, 2, pixel) = p.imag();
        }
    return map;
}

/// Sum over components and l of |b_lk|^2, k and -k.
double power_of_order(const AlmLayout& layout, const Array<Complex, 3>& alm, std::int64_t k) {
    double sum = 0;
    for (std::int64_t c = 0; c < alm.extent(1); ++c)
        for (std::int64_t l = k; l <= layout.lmax(); ++l)
            sum += (k == 0 ? 1 : 2) * std::norm(alm(0, c, layout.index(l, k)));
    return sum;
}

}  // namespace
}  // namespace beams

BeamAlm elliptical_beam(const EllipticalBeamOptions& options) {
    using beams::Axes;
    using beams::check;
    using beams::Complex;
    using beams::grid_for;
    using beams::highest_order;
    using beams::pi;
    using beams::pixels_of;
    using beams::power_of_order;
    check(options);
    const Axes axes(options);
    const std::int64_t lmax = options.lmax;
    const std::int64_t highest = highest_order(options.ellipticity) + (options.polarized ? 2 : 0);
    const AlmLayout layout(lmax, std::min(highest, lmax));
    const Grid grid = grid_for(options, axes, 2 * highest + 2);
    const Array<double, 3> map = pixels_of(options, axes, grid);
    Array<Complex, 3> alm({1, map.extent(1), layout.size()});
    for (const int spin : {0, 2}) {
        if (spin == 2 && !options.polarized) break;
        const ShtPlan plan(grid, {.lmax = lmax,
                                  .mmax = layout.mmax(),
                                  .spin = spin,
                                  .threads = options.threads,
                                  .device = Device::cpu()});
        const std::int64_t first = spin == 0 ? 0 : 1, components = spin == 0 ? 1 : 2;
        plan.quadrature<double>(
            View<const double, 3>(map.data() + first * map.extent(2), {1, components, map.extent(2)}),
            View<Complex, 3>(alm.data() + first * layout.size(), {1, components, layout.size()}));
    }
    const double norm = std::sqrt(4 * pi) * alm(0, 0, 0).real();
    for (Complex& b : alm) b /= norm;
    std::vector<double> above(static_cast<std::size_t>(layout.mmax()) +
                              2);  // [k] power of the orders from k on
    for (std::int64_t k = layout.mmax(); k >= 0; --k)
        above[static_cast<std::size_t>(k)] =
            above[static_cast<std::size_t>(k) + 1] + power_of_order(layout, alm, k);
    const auto share = [&](std::int64_t kmax) {
        return std::sqrt(above[static_cast<std::size_t>(kmax) + 1] / above[0]);
    };
    std::int64_t kmax = 0;
    while (kmax < layout.mmax() && share(kmax) > options.error) ++kmax;
    BeamAlm beam{AlmLayout(lmax, kmax), Array<Complex, 2>({alm.extent(1), AlmLayout(lmax, kmax).size()}),
                 share(kmax)};
    const std::int64_t step = 2;  // odd orders vanish but for rounding
    for (std::int64_t c = 0; c < alm.extent(1); ++c)
        for (std::int64_t k = 0; k <= kmax; k += step)
            for (std::int64_t l = k; l <= lmax; ++l) {
                const Complex b = alm(0, c, layout.index(l, k));
                beam.alm(c, beam.layout.index(l, k)) = k == 0 ? Complex(b.real()) : b;
            }
    return beam;
}

}  // namespace zonal
