#include "sht/reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace zonal::reference {
namespace {

using Real = long double;
using ComplexReal = std::complex<Real>;

/// The spin-weighted Legendre functions F+ and F- of one order m and colatitude, for l = 0..lmax (zero below
/// max(m, s)). Spin 0: plus[l] = lambda_lm, minus unused.
struct LegendreFunctions {
    std::vector<Real> plus, minus;
};

/// d^l_{m,s} up to its sign convention: the sequence "+" or "-" of docs/how-it-works/methods.md, by the
/// three-term recurrence in l. branch = +1 or -1.
std::vector<Real> wigner_sequence(std::int64_t lmax, std::int64_t m, std::int64_t s, Real theta, int branch) {
    std::vector<Real> d(lmax + 1, 0);
    const std::int64_t first = std::max(m, s), n = std::min(m, s);
    if (first > lmax) return d;
    const Real c = std::cos(theta / 2), q = std::sin(theta / 2), x = std::cos(theta);
    // sqrt((2L)! / ((L+n)! (L-n)!)) c^p q^r, the factors taken in an order that cannot overflow.
    const std::int64_t p = branch > 0 ? first + n : first - n, r = branch > 0 ? first - n : first + n;
    Real start = 1;
    for (std::int64_t k = 1; k <= first - n; ++k) start *= std::sqrt(Real(first + n + k) / k);
    d[first] = start * std::pow(c, Real(p)) * std::pow(q, Real(r));
    for (std::int64_t l = first; l < lmax; ++l) {
        auto root = [&](std::int64_t k) { return std::sqrt(Real((k * k - m * m)) * Real(k * k - s * s)); };
        const Real mixed = l == 0 ? 0 : Real(m * s) / (Real(l) * (l + 1));
        const Real previous = l == first ? 0 : d[l - 1] * (l + 1) * root(l) / l;
        d[l + 1] = ((2 * l + 1) * (l + 1) * (x - branch * mixed) * d[l] - previous) / root(l + 1);
    }
    return d;
}

LegendreFunctions legendre_functions(std::int64_t lmax, std::int64_t m, int s, Real theta) {
    auto upper = wigner_sequence(lmax, m, s, theta, +1);
    LegendreFunctions functions{std::vector<Real>(lmax + 1, 0), std::vector<Real>(lmax + 1, 0)};
    auto sign = [](std::int64_t k) { return k % 2 == 0 ? Real(1) : Real(-1); };
    auto norm = [](std::int64_t l) { return std::sqrt((2 * l + 1) / (4 * std::numbers::pi_v<Real>)); };
    if (s == 0) {
        for (std::int64_t l = m; l <= lmax; ++l) functions.plus[l] = sign(m) * norm(l) * upper[l];
        return functions;
    }
    auto lower = wigner_sequence(lmax, m, s, theta, -1);
    for (std::int64_t l = std::max<std::int64_t>(m, s); l <= lmax; ++l) {
        const Real positive = (m >= s ? sign(m - s) : 1) * upper[l];  // d_{m,+s}
        const Real negative = sign(m + s) * lower[l];                 // d_{m,-s}
        const Real plus_s = sign(s) * norm(l) * negative, minus_s = sign(s) * norm(l) * positive;
        functions.plus[l] = (plus_s + sign(s) * minus_s) / 2;
        functions.minus[l] = (plus_s - sign(s) * minus_s) / 2;
    }
    return functions;
}

/// The colatitude from cosine or sine, whichever is smaller: that one carries the angle to full precision.
Real colatitude(const Ring& ring) {
    if (std::abs(ring.cos_theta) < ring.sin_theta) return std::acos(Real(ring.cos_theta));
    const Real from_pole = std::asin(Real(ring.sin_theta));
    return ring.cos_theta > 0 ? from_pole : std::numbers::pi_v<Real> - from_pole;
}

ComplexReal phase(const Ring& ring, std::int64_t pixel, std::int64_t m) {
    // m k mod n keeps the argument small, so nothing is lost at large m.
    const Real turns = Real((m * pixel) % ring.n_pixels) / ring.n_pixels;
    return std::polar(Real(1), 2 * std::numbers::pi_v<Real> * turns + m * Real(ring.phi_0));
}

}  // namespace

void synthesize(const Grid& grid, const AlmLayout& layout, int spin, View<const std::complex<double>, 2> alm,
                View<double, 2> map) {
    const ComplexReal i(0, 1);
    const int components = spin == 0 ? 1 : 2;
    for (const Ring& ring : grid.rings()) {
        for (int component = 0; component < components; ++component)
            for (std::int64_t k = 0; k < ring.n_pixels; ++k) map(component, ring.first_pixel + k) = 0;
        std::vector<Real> sums(components * ring.n_pixels, 0);
        for (std::int64_t m = 0; m <= layout.mmax(); ++m) {
            const auto functions = legendre_functions(layout.lmax(), m, spin, colatitude(ring));
            ComplexReal f[2] = {0, 0};
            for (std::int64_t l = m; l <= layout.lmax(); ++l) {
                const ComplexReal a(alm(0, layout.index(l, m)));
                if (spin == 0) {
                    f[0] += a * functions.plus[l];
                } else {
                    const ComplexReal b(alm(1, layout.index(l, m)));
                    f[0] -= a * functions.plus[l] + i * b * functions.minus[l];
                    f[1] -= b * functions.plus[l] - i * a * functions.minus[l];
                }
            }
            for (int component = 0; component < components; ++component)
                for (std::int64_t k = 0; k < ring.n_pixels; ++k)
                    sums[component * ring.n_pixels + k] +=
                        (m == 0 ? 1 : 2) * (f[component] * phase(ring, k, m)).real();
        }
        for (int component = 0; component < components; ++component)
            for (std::int64_t k = 0; k < ring.n_pixels; ++k)
                map(component, ring.first_pixel + k) =
                    static_cast<double>(sums[component * ring.n_pixels + k]);
    }
}

void adjoint_synthesis(const Grid& grid, const AlmLayout& layout, int spin, View<const double, 2> map,
                       View<std::complex<double>, 2> alm) {
    const ComplexReal i(0, 1);
    const int components = spin == 0 ? 1 : 2;
    std::vector<ComplexReal> sums(components * layout.size(), 0);
    for (const Ring& ring : grid.rings()) {
        for (std::int64_t m = 0; m <= layout.mmax(); ++m) {
            ComplexReal f[2] = {0, 0};
            for (int component = 0; component < components; ++component)
                for (std::int64_t k = 0; k < ring.n_pixels; ++k)
                    f[component] += Real(map(component, ring.first_pixel + k)) * std::conj(phase(ring, k, m));
            const auto functions = legendre_functions(layout.lmax(), m, spin, colatitude(ring));
            for (std::int64_t l = m; l <= layout.lmax(); ++l) {
                const auto index = layout.index(l, m);
                if (spin == 0) {
                    sums[index] += f[0] * functions.plus[l];
                } else {
                    sums[index] -= f[0] * functions.plus[l] + i * f[1] * functions.minus[l];
                    sums[layout.size() + index] -= f[1] * functions.plus[l] - i * f[0] * functions.minus[l];
                }
            }
        }
    }
    for (int component = 0; component < components; ++component)
        for (std::int64_t index = 0; index < layout.size(); ++index)
            alm(component, index) = std::complex<double>(sums[component * layout.size() + index]);
}

}  // namespace zonal::reference
