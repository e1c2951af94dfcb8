#include "beams/centred_beam.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "zonal/error.hpp"

namespace zonal::beams {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

/// Orders up to kmax, without an imaginary part at order 0.
Array<Complex, 2> orders_up_to(const AlmLayout& layout, const View<const Complex, 1>& beam,
                               const AlmLayout& wanted) {
    Array<Complex, 2> alm({1, wanted.size()});
    for (std::int64_t k = 0; k <= wanted.mmax(); ++k)
        for (std::int64_t l = k; l <= wanted.lmax(); ++l) {
            const Complex b = beam[layout.index(l, k)];
            if (!std::isfinite(b.real()) || !std::isfinite(b.imag()))
                throw InvalidArgument(fmt::format("beam[{}]", layout.index(l, k)), "must be finite");
            alm(0, wanted.index(l, k)) = k == 0 ? Complex(b.real()) : b;
        }
    return alm;
}

/// Where the dipole of b / integral points: Y_10 = (3 / 4 pi)^1/2 cos, Y_11 = - (3 / 8 pi)^1/2 sin exp(i
/// phi). At the pole where it has none, or lies there to rounding.
EulerAngles centre(const AlmLayout& layout, const Array<Complex, 2>& alm, double sign) {
    if (layout.mmax() < 1) return {};
    const Complex one = alm(0, layout.index(1, 1));
    const double x = -sign * std::sqrt(2.0) * one.real(), y = sign * std::sqrt(2.0) * one.imag(),
                 z = sign * alm(0, layout.index(1, 0)).real();
    constexpr double rounding = 1e-13;
    if (std::hypot(x, y) <= rounding * std::abs(z)) return {};
    return {.psi = 0, .theta = std::atan2(std::hypot(x, y), z), .phi = std::atan2(y, x)};
}

/// The least order above which there is no more than rounding.
std::int64_t highest_order(const AlmLayout& layout, const Array<Complex, 2>& alm) {
    std::vector<double> of_order(static_cast<std::size_t>(layout.mmax()) + 1);
    double all = 0;
    for (std::int64_t k = 0; k <= layout.mmax(); ++k)
        for (std::int64_t l = k; l <= layout.lmax(); ++l)
            of_order[static_cast<std::size_t>(k)] += std::norm(alm(0, layout.index(l, k)));
    for (const double power : of_order) all += power;
    constexpr double rounding = 1e-28;  // of squares
    std::int64_t k = layout.mmax();
    for (double above = 0; k > 0; --k) {
        above += of_order[static_cast<std::size_t>(k)];
        if (above > rounding * all) break;
    }
    return k;
}

}  // namespace

std::vector<double> power_from(const AlmLayout& layout, const View<const Complex, 1>& alm,
                               std::int64_t first) {
    std::vector<double> power(static_cast<std::size_t>(layout.lmax()) + 1);
    for (std::int64_t k = first; k <= layout.mmax(); ++k)
        for (std::int64_t l = k; l <= layout.lmax(); ++l)
            power[static_cast<std::size_t>(l)] += (k == 0 ? 1 : 2) * std::norm(alm[layout.index(l, k)]);
    return power;
}

CentredBeam centred(const AlmLayout& layout, const View<const Complex, 1>& beam, std::int64_t kmax,
                    int threads) {
    AlmLayout given(layout.lmax(), kmax);
    Array<Complex, 2> alm = orders_up_to(layout, beam, given);
    const double integral = std::sqrt(4 * pi) * alm(0, 0).real();
    EulerAngles angles = centre(given, alm, integral > 0 ? 1 : -1);
    if (angles.theta != 0) {
        const AlmLayout all(layout.lmax());
        Array<Complex, 2> turned({1, all.size()});
        // R_y(-theta) R_z(-phi), with R_y(-theta) = R_z(pi) R_y(theta) R_z(-pi)
        rotate_alm<double>(given, alm.view(), {.psi = -angles.phi - pi, .theta = angles.theta, .phi = pi},
                           all, turned.view(), {.threads = threads});
        alm = std::move(turned);
        given = all;
    }
    const AlmLayout kept(layout.lmax(), highest_order(given, alm));
    CentredBeam made{.integral = integral, .layout = kept};
    // Y_22 = (15 / 32 pi)^1/2 sin^2 exp(2 i phi)
    const Complex quadrupole = kept.mmax() >= 2 ? alm(0, given.index(2, 2)) / integral : 0;
    made.elongation = std::abs(quadrupole) * std::sqrt(32 * pi / 15);
    angles.psi = made.elongation > 0 ? -std::arg(quadrupole) / 2 : 0;
    made.to_beam = angles;
    const View<const Complex, 1> all_orders = std::as_const(alm).view()[0];
    made.power = power_from(given, all_orders, 0);
    made.above = power_from(given, all_orders, kept.mmax() + 1);
    made.alm.resize(static_cast<std::size_t>(kept.size()));
    for (std::int64_t k = 0; k <= kept.mmax(); ++k) {
        const Complex turn = std::polar(1.0, static_cast<double>(k) * angles.psi);
        for (std::int64_t l = k; l <= kept.lmax(); ++l)
            made.alm[static_cast<std::size_t>(kept.index(l, k))] = alm(0, given.index(l, k)) * turn;
    }
    return made;
}

}  // namespace zonal::beams
