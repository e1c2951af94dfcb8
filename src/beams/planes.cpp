#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "beams/beam_convolver.hpp"
#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"

/// Between a sky and the samples of its fields P_k.
namespace zonal {
namespace beams {
namespace {

/// Calls work(m, first index of the order) for the orders of a sky, of which `threads` threads take some
/// each.
template <class Work>
void for_orders(const AlmLayout& layout, int threads, const Work& work) {
    // ns of a coefficient of a few components
    const auto paying = core::paying_threads(threads, 5e-3 * static_cast<double>(layout.size()));
    core::parallel_for(layout.lmax() + 1, paying, [&](std::int64_t m, int) { work(m); });
}

/// The factors of each component that the beam has at this order.
std::vector<std::pair<std::int64_t, std::vector<Complex>>> parts(const EffectiveBeam& beam, std::int64_t k) {
    std::vector<std::pair<std::int64_t, std::vector<Complex>>> made;
    for (std::int64_t c = 0; c < beam.alm.extent(0); ++c) {
        auto f = factors(beam, c, k);
        if (std::any_of(f.begin(), f.end(), [](Complex x) { return x != 0.0; }))
            made.emplace_back(c, std::move(f));
    }
    return made;
}

/// Sums over m, of both signs, of conj(s^X_lm) s^Y_lm of a sky.
class SkySpectra {
  public:
    template <class T>
    SkySpectra(const AlmLayout& layout, const View<const std::complex<T>, 2>& sky)
        : sums_({sky.extent(0), sky.extent(0), layout.lmax() + 1}) {
        for (std::int64_t x = 0; x < sky.extent(0); ++x)
            for (std::int64_t y = 0; y < sky.extent(0); ++y)
                for (std::int64_t m = 0; m <= layout.mmax(); ++m)
                    for (std::int64_t l = m; l <= layout.lmax(); ++l) {
                        const std::complex<T> a = sky(x, layout.index(l, m)), b = sky(y, layout.index(l, m));
                        sums_(x, y, l) +=
                            (m == 0 ? 1 : 2) * static_cast<double>(a.real() * b.real() + a.imag() * b.imag());
                    }
    }

    /// Mean over all pointings of the square of the beam's signal of order k: 2 Re(exp(-i k psi) P_k), or
    /// P_0.
    double mean_square(const EffectiveBeam& beam, std::int64_t k) const {
        double sum = 0;
        for (const auto& [x, a] : parts(beam, k))
            for (const auto& [y, b] : parts(beam, k))
                for (std::size_t l = 0; l < a.size(); ++l)
                    sum += sums_(x, y, static_cast<std::int64_t>(l)) * (std::conj(a[l]) * b[l]).real();
        return beam.mean_square() * (k == 0 ? 1 : 2) * sum / (4 * std::numbers::pi);
    }

  private:
    Array<double, 3> sums_;
};

/// Sums of squares of a detector's signal: what the planes hold, what interpolation adds, what is left out.
struct Power {
    double kept = 0, error = 0, torus = 0, left_out = 0;
};

BeamReport report_of(const BeamConvolver::Implementation& convolver, const std::vector<Power>& powers) {
    BeamReport report{.bound = convolver.bound()};
    for (const Power& power : powers) {
        if (power.torus > 0)
            report.mean_error = std::max(report.mean_error, std::sqrt(power.error / power.torus));
        if (power.left_out > 0)
            report.left_out = std::max(report.left_out, std::sqrt(power.left_out / power.kept));
    }
    return report;
}

/// Adds what a pass of a plane tells.
void add_errors(const BeamConvolver::Implementation& convolver, const Plane& plane, std::int64_t first,
                const std::vector<PointErrors>& errors, std::vector<Power>& powers) {
    const std::int64_t components = plane.samples.components();
    for (std::int64_t i = 0; i < std::ssize(errors) / components; ++i) {
        const auto b = static_cast<std::size_t>(plane.beams[static_cast<std::size_t>(first + i)]);
        const EffectiveBeam& beam = convolver.effective[b];
        Power& power = powers[static_cast<std::size_t>(beam.detector)];
        const double share = beam.mean_square() * (plane.k == 0 ? 1 : 2);
        for (std::int64_t c = 0; c < components; ++c) {
            const PointErrors& of_field = errors[static_cast<std::size_t>(i * components + c)];
            power.error += share * of_field.rms_error * of_field.rms_error;
            power.torus += share * of_field.rms * of_field.rms;
        }
    }
}

/// Adds what the sky's spectra tell.
void add_mean_squares(const BeamConvolver::Implementation& convolver, const SkySpectra& spectra,
                      std::vector<Power>& powers) {
    const auto add = [&](const std::vector<EffectiveBeam>& beams, double Power::*to) {
        for (const EffectiveBeam& beam : beams)
            for (std::int64_t k = 0; k <= beam.layout.mmax(); ++k)
                powers[static_cast<std::size_t>(beam.detector)].*to += spectra.mean_square(beam, k);
    };
    add(convolver.effective, &Power::kept);
    add(convolver.left_out, &Power::left_out);
}

template <class T>
void check_sky(const BeamConvolver::Implementation& convolver, const View<T, 2>& sky) {
    sht::check_extent("sky", sky, 0, "component", convolver.components);
    sht::check_extent("sky", sky, 1, "coefficient", convolver.sky_layout.size());
    sht::check_host("sky", sky);
}

/// Calls work(first map, maps) for what is transformed at once.
template <class Work>
void for_passes(const Plane& plane, const Work& work) {
    const std::int64_t most = maps_at_once(plane);
    for (std::int64_t first = 0; first < plane.n_maps(); first += most)
        work(first, std::min(most, plane.n_maps() - first));
}

}  // namespace

std::vector<Complex> factors(const EffectiveBeam& beam, std::int64_t component, std::int64_t k) {
    std::vector<Complex> made(static_cast<std::size_t>(beam.layout.lmax()) + 1);
    for (std::int64_t l = k; l <= beam.layout.lmax(); ++l)
        made[static_cast<std::size_t>(l)] = std::sqrt(4 * std::numbers::pi / static_cast<double>(2 * l + 1)) *
                                            beam.alm(component, beam.layout.index(l, k));
    return made;
}

// P_k has E_lm = - g_l sum_X Re(b^X_lk) s^X_lm, B_lm = - g_l sum_X Im(b^X_lk) s^X_lm; P_0 is the map of
// g_l sum_X b^X_l0 s^X_lm. For d = sum_lm conj(D^l_mk b_lk) s_lm, and sY_lm are Wigner functions.
template <class T>
void field_of_sky(const BeamConvolver::Implementation& convolver, const EffectiveBeam& beam, std::int64_t k,
                  const View<const std::complex<T>, 2>& sky, const View<Complex, 2>& alm) {
    const AlmLayout& layout = convolver.sky_layout;
    const auto of_components = parts(beam, k);
    for_orders(layout, convolver.options.threads, [&](std::int64_t m) {
        for (std::int64_t l = m; l <= layout.lmax(); ++l) {
            const std::int64_t i = layout.index(l, m);
            Complex e = 0, b = 0;
            for (const auto& [c, f] : of_components) {
                const Complex factor = f[static_cast<std::size_t>(l)], s(sky(c, i).real(), sky(c, i).imag());
                e += factor.real() * s;
                b += factor.imag() * s;
            }
            alm(0, i) = k == 0 ? e : -e;
            if (k > 0) alm(1, i) = -b;
        }
    });
}

void add_sky_of_field(const BeamConvolver::Implementation& convolver, const EffectiveBeam& beam,
                      std::int64_t k, const View<const Complex, 2>& alm, const View<Complex, 2>& sky) {
    const AlmLayout& layout = convolver.sky_layout;
    const auto of_components = parts(beam, k);
    for_orders(layout, convolver.options.threads, [&](std::int64_t m) {
        for (std::int64_t l = m; l <= layout.lmax(); ++l) {
            const std::int64_t i = layout.index(l, m);
            for (const auto& [c, f] : of_components) {
                const Complex factor = f[static_cast<std::size_t>(l)];
                sky(c, i) += k == 0 ? factor.real() * alm(0, i)
                                    : -(factor.real() * alm(0, i) + factor.imag() * alm(1, i));
            }
        }
    });
}

void add_sky_of_planes(const BeamConvolver::Implementation& convolver, const Fields& fields,
                       const View<Complex, 2>& sky) {
    for (const Plane& plane : convolver.planes)
        for_passes(plane, [&](std::int64_t first, std::int64_t maps) {
            SampleArray samples = fields.array(plane, first, maps);
            Array<Complex, 3> alm({maps, plane.samples.components(), convolver.sky_layout.size()});
            plane.samples.adjoint<double>(samples, alm.view());
            for (std::int64_t i = 0; i < maps; ++i) {
                const auto b = static_cast<std::size_t>(plane.beams[static_cast<std::size_t>(first + i)]);
                add_sky_of_field(convolver, convolver.effective[b], plane.k, alm.view()[i], sky);
            }
        });
}

template void field_of_sky(const BeamConvolver::Implementation&, const EffectiveBeam&, std::int64_t,
                           const View<const std::complex<float>, 2>&, const View<Complex, 2>&);
template void field_of_sky(const BeamConvolver::Implementation&, const EffectiveBeam&, std::int64_t,
                           const View<const std::complex<double>, 2>&, const View<Complex, 2>&);

}  // namespace beams

template <class T>
BeamPlanes BeamConvolver::make_planes(View<const std::complex<T>, 2> sky, SampleRows rows,
                                      BeamReport* report) const {
    using beams::add_mean_squares;
    using beams::check_sky;
    using beams::Complex;
    using beams::for_passes;
    using beams::Plane;
    using beams::Power;
    using beams::report_of;
    using beams::SkySpectra;
    const Implementation& convolver = *implementation_;
    check_sky(convolver, sky);
    const SampleRows all = convolver.samples.all_rows();
    if (rows.first < all.first || rows.end > all.end || rows.first >= rows.end)
        throw InvalidArgument("rows", fmt::format("{} to {}", rows.first, rows.end),
                              fmt::format("must be some of {} to {}", all.first, all.end));
    auto storage = std::make_unique<BeamPlanes::Storage>(implementation_, rows);
    std::vector<Power> powers(static_cast<std::size_t>(convolver.n_detectors));
    std::vector<PointErrors> errors;
    for (const Plane& plane : convolver.planes)
        for_passes(plane, [&](std::int64_t first, std::int64_t maps) {
            Array<Complex, 3> alm({maps, plane.samples.components(), convolver.sky_layout.size()});
            for (std::int64_t i = 0; i < maps; ++i) {
                const auto b = static_cast<std::size_t>(plane.beams[static_cast<std::size_t>(first + i)]);
                field_of_sky<T>(convolver, convolver.effective[b], plane.k, sky, alm.view()[i]);
            }
            SampleArray samples = storage->fields.array(plane, first, maps);
            plane.samples.synthesize<double>(alm.view(), samples, report == nullptr ? nullptr : &errors);
            if (report != nullptr) add_errors(convolver, plane, first, errors, powers);
        });
    if (report != nullptr) {
        add_mean_squares(convolver, SkySpectra(convolver.sky_layout, sky), powers);
        *report = report_of(convolver, powers);
    }
    return BeamPlanes(std::move(storage));
}

template BeamPlanes BeamConvolver::make_planes(View<const std::complex<float>, 2>, SampleRows,
                                               BeamReport*) const;
template BeamPlanes BeamConvolver::make_planes(View<const std::complex<double>, 2>, SampleRows,
                                               BeamReport*) const;

}  // namespace zonal
