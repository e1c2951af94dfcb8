#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/parallel.hpp"
#include "points/lensing/displacement_math.hpp"
#include "points/lensing/lensing.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace points {

WorkArray<double, 3> values_of(const SpinField& field, View<const std::complex<double>, 3> alm) {
    auto samples = field.samples.make_array(alm.extent(0), field.points->rows());
    field.samples.synthesize<double>(alm, samples);
    WorkArray<double, 3> values(field.samples.options().device,
                                {alm.extent(0), alm.extent(1), field.points->n_points()});
    field.points->interpolate<double>(samples, values.view());
    return values;
}

namespace {

using Complex = std::complex<double>;

/// out = factor(l) in, in the memory of the device.
void scale(const AlmLayout& layout, EthFactor factor, const View<const Complex, 1>& in,
           const View<Complex, 1>& out, int threads, Device device) {
    if (device.kind() == Device::Kind::cuda) return cuda::scale(device, layout, factor, in, out);
    core::parallel_for(layout.mmax() + 1, core::resolve_threads(threads), [&](std::int64_t m, int) {
        for (std::int64_t l = m; l <= layout.lmax(); ++l)
            out[layout.index(l, m)] = factor(static_cast<double>(l)) * in[layout.index(l, m)];
    });
}

}  // namespace

EthFields::EthFields(const AlmLayout& layout, int of_spin, View<const Complex, 3> alm, double error,
                     View<const double, 1> theta, View<const double, 1> phi, int threads, Device device)
    : spin_(of_spin) {
    WorkArray<Complex, 3> there;
    if (alm.space() != space_on(device)) {
        there = WorkArray<Complex, 3>(device, alm.extents());
        there.copy_from(alm.data());
        alm = std::as_const(there).view();
    }
    std::shared_ptr<const PointPlan> points;  // those of all spins are alike
    const auto values = [&](int spin, const WorkArray<Complex, 3>& of) {
        const auto options =
            field_options(layout.lmax(), layout.mmax(), spin, error, theta.extent(0), threads, device);
        const SpinField field = points ? SpinField(options, points) : SpinField(options, theta, phi);
        points = field.points;
        return values_of(field, of.view());
    };
    if (spin_ < layout.lmax()) {
        WorkArray<Complex, 3> raised(device, {1, 2, layout.size()});
        if (alm.extent(1) == 1) raised.clear();
        for (std::int64_t c = 0; c < alm.extent(1); ++c)
            scale(layout, {static_cast<double>(spin_), true}, alm[0][c], raised.view()[0][c], threads,
                  device);
        up_ = values(spin_ + 1, raised);
    }
    if (spin_ == 0) return;
    // Spin 0 has two real fields, the maps of what E and B give.
    const auto shape = spin_ == 1 ? std::array<std::int64_t, 3>{2, 1, layout.size()}
                                  : std::array<std::int64_t, 3>{1, 2, layout.size()};
    WorkArray<Complex, 3> lowered(device, shape);
    for (std::int64_t c = 0; c < 2; ++c)
        scale(layout, {static_cast<double>(spin_), false}, alm[0][c],
              spin_ == 1 ? lowered.view()[c][0] : lowered.view()[0][c], threads, device);
    down_ = values(spin_ - 1, lowered);
}

EthValues EthFields::values() const {
    EthValues values{.spin = spin_};
    const std::int64_t n = std::max(up_.extent(2), down_.extent(2));
    for (int c = 0; c < 2; ++c) {
        if (up_.size() > 0) values.up[c] = up_.data() + c * n;
        if (down_.size() > 0) values.down[c] = down_.data() + c * n;
    }
    return values;
}

}  // namespace points

namespace {

/// The real numbers that complex ones are.
template <class Complex>
auto as_numbers(const View<Complex, 1>& alm) {
    using Number = std::conditional_t<std::is_const_v<Complex>, const typename Complex::value_type,
                                      typename Complex::value_type>;
    return View<Number, 1>(reinterpret_cast<Number*>(alm.data()), {2 * alm.extent(0)}, alm.space());
}

/// A part's alm of one map in double precision, [1, components, size], where the given ones are.
template <class T>
points::WorkArray<std::complex<double>, 3> doubles_of(const Lensing::Implementation& lensing,
                                                      const Lensing::Implementation::Part& part,
                                                      const View<const std::complex<T>, 3>& alm,
                                                      std::int64_t map) {
    const bool on_cuda = alm.space() == MemorySpace::cuda;
    const Device device = on_cuda ? lensing.options.device : Device::cpu();
    points::WorkArray<std::complex<double>, 3> sky(device, {1, part.components, lensing.layout.size()});
    for (std::int64_t c = 0; c < part.components; ++c) {
        const auto from = alm[map][part.first + c];
        const auto to = sky.view()[0][c];
        if (on_cuda) {
            points::cuda::gather<T, double>("alm", device, nullptr, as_numbers(from), as_numbers(to));
            continue;
        }
        core::for_pieces(to.extent(0), lensing.options.threads, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) to[i] = std::complex<double>(from[i]);
        });
    }
    return sky;
}

/// Adds to by_deflection, [2, point], what one map's part adds.
template <class T>
void add_slopes(const Lensing::Implementation& lensing, const Lensing::Implementation::Part& part,
                const View<const std::complex<T>, 3>& alm, const View<const T, 3>& values, std::int64_t map,
                points::WorkArray<double, 2>& by_deflection) {
    const auto& options = lensing.options;
    const std::int64_t n = lensing.targets.n_points();
    const auto sky = doubles_of(lensing, part, alm, map);
    points::WorkArray<double, 2> factors(options.device, {part.components, n});
    for (std::int64_t c = 0; c < part.components; ++c)
        lensing.targets.gather<T, double>(values[map][part.first + c], factors.view()[c]);
    const auto there = lensing.displaced.view();
    const points::EthFields eth(lensing.layout, part.spin, sky.view(), std::max(options.error / 2, 2e-14),
                                there[0], there[1], options.threads, options.device);
    const auto field = points::values_of(part.field, sky.view());
    points::SlopeSums sums{.eth = eth.values()};
    for (int c = 0; c < 2; ++c) {
        const std::int64_t own = c < part.components ? c * n : 0;
        sums.field[c] = field.data() + own;
        sums.factors[c] = factors.data() + own;
        sums.deflection[c] = lensing.deflection.data() + c * n;
        sums.rotation[c] = lensing.rotation.data() + c * n;
        sums.by_deflection[c] = by_deflection.data() + c * n;
    }
    if (options.device.kind() == Device::Kind::cuda) return points::cuda::add_slopes(options.device, sums, n);
    core::for_pieces(n, options.threads, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) sums.add(i);
    });
}

}  // namespace

template <class T>
void Lensing::differentiate(ConstView<std::complex<T>, 3> alm, ConstView<T, 3> values,
                            View<std::complex<double>, 2> gradient) const {
    const auto& lensing = *implementation_;
    if (!lensing.options.derivatives)
        throw InvalidArgument("derivatives", "were not asked for: must be true in LensingOptions");
    points::check_arrays(lensing, alm, values);
    sht::check_host("gradient", gradient);
    sht::check_extent("gradient", gradient, 0, "potentials", lensing.n_potentials);
    sht::check_extent("gradient", gradient, 1, "coefficients", lensing.potential_layout.size());
    points::WorkArray<double, 2> by_deflection(lensing.options.device, {2, lensing.targets.n_points()});
    by_deflection.clear();
    for (std::int64_t map = 0; map < alm.extent(0); ++map)
        for (const auto& part : lensing.parts) add_slopes<T>(lensing, part, alm, values, map, by_deflection);
    lensing.deflecting->adjoint(std::as_const(by_deflection).view(), gradient);
}

template void Lensing::differentiate<float>(View<const std::complex<float>, 3>, View<const float, 3>,
                                            View<std::complex<double>, 2>) const;
template void Lensing::differentiate<double>(View<const std::complex<double>, 3>, View<const double, 3>,
                                             View<std::complex<double>, 2>) const;

}  // namespace zonal
