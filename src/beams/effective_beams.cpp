#include "beams/effective_beams.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "zonal/sht.hpp"

namespace zonal::beams {
namespace {

/// Orders first_order to last_order of a detector's beam, with room for orders up to mmax.
Array<Complex, 2> orders_of(const AlmLayout& layout, const View<const Complex, 2>& beam,
                            std::int64_t first_order, std::int64_t last_order, const AlmLayout& wanted) {
    Array<Complex, 2> alm({beam.extent(0), wanted.size()});
    for (std::int64_t c = 0; c < beam.extent(0); ++c)
        for (std::int64_t k = first_order; k <= last_order; ++k)
            for (std::int64_t l = std::max<std::int64_t>(k, c == 0 ? 0 : 2); l <= layout.lmax(); ++l) {
                const Complex b = beam(c, layout.index(l, k));
                alm(c, wanted.index(l, k)) = k == 0 ? Complex(b.real()) : b;
            }
    return alm;
}

/// E, B of X from those of b_Q + i b_U: [2, layout.size()], in place. Gauss-Legendre rings for lmax do it
/// exactly: X, which may go on above lmax, times a function of degree lmax is a polynomial in cos theta of
/// degree 2 lmax.
void reflect(const AlmLayout& layout, std::int64_t kmax, const View<Complex, 3>& alm, int threads) {
    const std::int64_t n_phi = 2 * (kmax + 4) + 2;
    const ShtPlan plan(Grid::gauss_legendre(layout.lmax() + 1, n_phi), {.lmax = layout.lmax(),
                                                                        .mmax = layout.mmax(),
                                                                        .spin = 2,
                                                                        .threads = threads,
                                                                        .device = Device::cpu()});
    Array<double, 3> map({1, 2, plan.grid().n_pixels()});
    plan.synthesize<double>(alm, map.view());
    std::vector<Complex> turns;
    for (std::int64_t j = 0; j < n_phi; ++j)
        turns.push_back(std::polar(
            1.0, -2 * std::numbers::pi * static_cast<double>(4 * j % n_phi) / static_cast<double>(n_phi)));
    for (std::int64_t p = 0; p < map.extent(2); ++p) {
        const Complex x =
            std::conj(Complex(map(0, 0, p), map(0, 1, p))) * turns[static_cast<std::size_t>(p % n_phi)];
        map(0, 0, p) = x.real();
        map(0, 1, p) = x.imag();
    }
    plan.quadrature<double>(map.view(), alm);
}

/// Orders that X has: conj(P) has -k and k where P has k and -k, and exp(-4 i phi) takes those to -k - 4 and
/// k - 4.
std::vector<bool> reflected_orders(const EffectiveBeam& beam) {
    std::vector<bool> orders(static_cast<std::size_t>(beam.layout.mmax()) + 1);
    for (std::int64_t k = 0; k <= beam.layout.mmax(); ++k)
        if (beam.has(k))
            for (const std::int64_t of_x : {k + 4, std::abs(k - 4)})
                if (of_x <= beam.layout.mmax()) orders[static_cast<std::size_t>(of_x)] = true;
    return orders;
}

/// Takes away what rounding has left elsewhere, and of imaginary parts at order 0.
void keep(const std::vector<bool>& orders, EffectiveBeam& beam) {
    const AlmLayout& layout = beam.layout;
    for (std::int64_t c = 0; c < beam.alm.extent(0); ++c)
        for (std::int64_t k = 0; k <= layout.mmax(); ++k)
            for (std::int64_t l = k; l <= layout.lmax(); ++l) {
                Complex& b = beam.alm(c, layout.index(l, k));
                if (!orders[static_cast<std::size_t>(k)]) b = 0;
                if (k == 0) b = b.real();
            }
}

}  // namespace

bool EffectiveBeam::has(std::int64_t k) const {
    if (k > layout.mmax()) return false;
    for (std::int64_t c = 0; c < alm.extent(0); ++c)
        for (std::int64_t l = k; l <= layout.lmax(); ++l)
            if (alm(c, layout.index(l, k)) != 0.0) return true;
    return false;
}

std::vector<EffectiveBeam> effective_beams(const AlmLayout& layout, const View<const Complex, 3>& beams,
                                           std::int64_t first_order, std::int64_t last_order,
                                           bool half_wave_plate, int threads) {
    std::vector<EffectiveBeam> made;
    const std::int64_t lmax = layout.lmax();
    const AlmLayout same(lmax, last_order), reflected(lmax, std::min(last_order + 4, lmax));
    for (std::int64_t detector = 0; detector < beams.extent(0); ++detector) {
        if (!half_wave_plate) {
            made.push_back({detector, Modulation::none, same,
                            orders_of(layout, beams[detector], first_order, last_order, same)});
            continue;
        }
        auto intensity = orders_of(layout, beams[detector], first_order, last_order, same);
        std::fill(intensity.begin() + same.size(), intensity.end(), 0.0);
        made.push_back({detector, Modulation::none, same, std::move(intensity)});
        if (lmax < 2) continue;
        const std::int64_t n = reflected.size();
        EffectiveBeam cosine{detector, Modulation::cosine, reflected,
                             orders_of(layout, beams[detector], first_order, last_order, reflected)};
        std::fill_n(cosine.alm.begin(), n, 0.0);
        const std::vector<bool> orders = reflected_orders(cosine);
        reflect(reflected, last_order, View<Complex, 3>(cosine.alm.data() + n, {1, 2, n}), threads);
        keep(orders, cosine);
        Array<Complex, 2> sine({3, n});
        for (std::int64_t i = 0; i < n; ++i) {
            sine(1, i) = -cosine.alm(2, i);
            sine(2, i) = cosine.alm(1, i);
        }
        made.push_back(std::move(cosine));
        made.push_back({detector, Modulation::sine, reflected, std::move(sine)});
    }
    return made;
}

}  // namespace zonal::beams
