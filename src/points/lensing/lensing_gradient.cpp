#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "core/parallel.hpp"
#include "points/lensing/displacement_math.hpp"
#include "points/lensing/lensing.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace points {

Array<double, 3> values_of(const SpinField& field, View<const std::complex<double>, 3> alm) {
    auto samples = field.samples.make_array(alm.extent(0), field.points->rows());
    field.samples.synthesize<double>(alm, samples);
    Array<double, 3> values({alm.extent(0), alm.extent(1), field.points->n_points()});
    field.points->interpolate<double>(samples, values.view());
    return values;
}

namespace {

/// alm times sqrt((l - s) (l + s + 1)) for eth, sqrt((l + s) (l - s + 1)) for its conjugate.
template <class Factor>
void scale(const AlmLayout& layout, const View<const std::complex<double>, 1>& in,
           const View<std::complex<double>, 1>& out, const Factor& factor) {
    for (std::int64_t m = 0; m <= layout.mmax(); ++m)
        for (std::int64_t l = m; l <= layout.lmax(); ++l) {
            const double square = factor(static_cast<double>(l));
            out[layout.index(l, m)] = square > 0 ? std::sqrt(square) * in[layout.index(l, m)] : 0;
        }
}

}  // namespace

EthFields::EthFields(const AlmLayout& layout, int of_spin, View<const std::complex<double>, 3> alm,
                     double error, View<const double, 1> theta, View<const double, 1> phi, int threads)
    : spin(of_spin) {
    const auto options = [&](int s) {
        return field_options(layout.lmax(), layout.mmax(), s, error, theta.extent(0), threads);
    };
    const double s = spin;
    if (spin < layout.lmax()) {
        Array<std::complex<double>, 3> raised({1, 2, layout.size()});
        for (std::int64_t c = 0; c < alm.extent(1); ++c)
            scale(layout, alm[0][c], raised.view()[0][c], [s](double l) { return (l - s) * (l + s + 1); });
        up = values_of({options(spin + 1), theta, phi}, std::as_const(raised).view());
    }
    if (spin == 0) return;
    // Spin 0 has two real fields, the maps of what E and B give.
    const auto shape = spin == 1 ? std::array<std::int64_t, 3>{2, 1, layout.size()}
                                 : std::array<std::int64_t, 3>{1, 2, layout.size()};
    Array<std::complex<double>, 3> lowered(shape);
    for (std::int64_t c = 0; c < 2; ++c)
        scale(layout, alm[0][c], spin == 1 ? lowered.view()[c][0] : lowered.view()[0][c],
              [s](double l) { return (l + s) * (l - s + 1); });
    down = values_of({options(spin - 1), theta, phi}, std::as_const(lowered).view());
}

// f = - sum (E + iB) sY for s > 0, sum a Y for s = 0; eth sY = sqrt((l - s)(l + s + 1)) s+1Y, its conjugate
// operator's of sY is - sqrt((l + s)(l - s + 1)) s-1Y.
std::complex<double> EthFields::raised(std::int64_t i) const {
    if (up.size() == 0) return 0;
    const std::complex<double> value(up(0, 0, i), up(0, 1, i));
    return spin == 0 ? -value : value;
}
std::complex<double> EthFields::lowered(std::int64_t i) const {
    if (spin == 0) return std::conj(raised(i));
    if (spin == 1) return {down(0, 0, i), down(1, 0, i)};
    return -std::complex<double>(down(0, 0, i), down(0, 1, i));
}
// eth = - (D_theta + i D_phi)
std::complex<double> EthFields::along_theta(std::int64_t i) const {
    return -0.5 * (raised(i) + lowered(i));
}
std::complex<double> EthFields::along_phi(std::int64_t i) const {
    return std::complex<double>(0, 0.5) * (raised(i) - lowered(i));
}

}  // namespace points

namespace {

/// Adds to by_deflection, [2, point], what one map's part adds.
template <class T>
void add_slopes(const Lensing::Implementation& lensing, const Lensing::Implementation::Part& part,
                const View<const std::complex<T>, 3>& alm, const View<const T, 3>& values, std::int64_t map,
                Array<double, 2>& by_deflection) {
    const std::int64_t n = lensing.targets.n_points(), size = lensing.layout.size();
    Array<std::complex<double>, 3> sky({1, part.components, size});
    Array<double, 2> factors({part.components, n});
    for (std::int64_t c = 0; c < part.components; ++c) {
        const auto from = alm[map][part.first + c];
        for (std::int64_t i = 0; i < size; ++i) sky(0, c, i) = std::complex<double>(from[i]);
        lensing.targets.gather(values[map][part.first + c], factors.view()[c]);
    }
    const View<const double, 1> theta(lensing.theta.data(), {n}), phi(lensing.phi.data(), {n});
    const auto& options = lensing.options;
    const points::EthFields eth(lensing.layout, part.spin, std::as_const(sky).view(),
                                std::max(options.error / 2, 2e-14), theta, phi, options.threads);
    const auto field = points::values_of(part.field, std::as_const(sky).view());
    core::for_pieces(n, options.threads, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            std::complex<double> lensed(field(0, 0, i), part.components == 2 ? field(0, 1, i) : 0);
            for (int k = 0; k < part.spin; ++k) lensed *= lensing.turn(i);
            const auto slopes = points::slopes_by_deflection(part.spin, lensed, eth.along_theta(i),
                                                             eth.along_phi(i), lensing.deflection(0, i),
                                                             lensing.deflection(1, i), lensing.turn(i));
            const std::complex<double> factor(factors(0, i), part.components == 2 ? factors(1, i) : 0);
            by_deflection(0, i) += (std::conj(factor) * slopes.by_theta).real();
            by_deflection(1, i) += (std::conj(factor) * slopes.by_phi).real();
        }
    });
}

}  // namespace

template <class T>
void Lensing::differentiate(ConstView<std::complex<T>, 3> alm, ConstView<T, 3> values,
                            View<std::complex<double>, 2> gradient) const {
    const auto& lensing = *implementation_;
    if (!lensing.options.derivatives)
        throw InvalidArgument("derivatives", "were not asked for: must be true in LensingOptions");
    points::check_shapes(lensing, alm, values);
    sht::check_host("gradient", gradient);
    sht::check_extent("gradient", gradient, 0, "potentials", lensing.n_potentials);
    sht::check_extent("gradient", gradient, 1, "coefficients", lensing.potential_layout.size());
    Array<double, 2> by_deflection({2, lensing.targets.n_points()});
    for (std::int64_t map = 0; map < alm.extent(0); ++map)
        for (const auto& part : lensing.parts) add_slopes<T>(lensing, part, alm, values, map, by_deflection);
    points::DeflectionField(lensing.targets, lensing.potential_layout, lensing.n_potentials,
                            lensing.deflection_error, lensing.options.threads)
        .adjoint(std::as_const(by_deflection).view(), gradient);
}

template void Lensing::differentiate<float>(View<const std::complex<float>, 3>, View<const float, 3>,
                                            View<std::complex<double>, 2>) const;
template void Lensing::differentiate<double>(View<const std::complex<double>, 3>, View<const double, 3>,
                                             View<std::complex<double>, 2>) const;

}  // namespace zonal
