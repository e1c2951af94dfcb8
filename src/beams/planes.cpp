#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "beams/beam_convolver.hpp"
#include "beams/sky_spectra.hpp"
#include "core/parallel.hpp"
#include "points/map_passes.hpp"
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
    core::parallel_for(layout.mmax() + 1, paying, [&](std::int64_t m, int) { work(m); });
}

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
            powers[static_cast<std::size_t>(beam.detector)].*to += spectra.mean_square(beam);
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

}  // namespace

// P_k has E_lm = - g_l sum_X Re(b^X_lk) s^X_lm, B_lm = - g_l sum_X Im(b^X_lk) s^X_lm; P_0 is the map of
// g_l sum_X b^X_l0 s^X_lm. For d = sum_lm conj(D^l_mk b_lk) s_lm, and sY_lm are Wigner functions.
template <class T>
void field_of_sky(const AlmLayout& layout, int threads, const EffectiveBeam& beam, std::int64_t k,
                  const View<const std::complex<T>, 2>& sky, const View<Complex, 2>& alm) {
    const auto of_components = parts(beam, k);
    for_orders(layout, threads, [&](std::int64_t m) {
        for (std::int64_t i = 0; i < alm.extent(0); ++i)
            std::fill_n(&alm(i, layout.index(m, m)), layout.lmax() + 1 - m, Complex(0));
        for (const auto& [c, f] : of_components) {
            const Complex* const factors = f.data();
            const View<const std::complex<T>, 1> of_sky = sky[c];
            Complex* const e = &alm(0, layout.offset(m));
            Complex* const b = k == 0 ? nullptr : &alm(1, layout.offset(m));
            for (std::int64_t l = m; l <= layout.lmax(); ++l) {
                const std::complex<T> given = of_sky[layout.offset(m) + l];
                const Complex s(given.real(), given.imag());
                if (b == nullptr) {
                    e[l] += factors[l].real() * s;
                } else {
                    e[l] -= factors[l].real() * s;
                    b[l] -= factors[l].imag() * s;
                }
            }
        }
    });
}

void add_sky_of_field(const AlmLayout& layout, int threads, const EffectiveBeam& beam, std::int64_t k,
                      const View<const Complex, 2>& alm, const View<Complex, 2>& sky) {
    const auto of_components = parts(beam, k);
    for_orders(layout, threads, [&](std::int64_t m) {
        for (const auto& [c, f] : of_components) {
            const Complex* const factors = f.data();
            const Complex* const e = &alm(0, layout.offset(m));
            const Complex* const b = k == 0 ? nullptr : &alm(1, layout.offset(m));
            Complex* const to = &sky(c, layout.offset(m));
            for (std::int64_t l = m; l <= layout.lmax(); ++l)
                to[l] += b == nullptr ? factors[l].real() * e[l]
                                      : -(factors[l].real() * e[l] + factors[l].imag() * b[l]);
        }
    });
}

void add_sky_of_planes(const BeamConvolver::Implementation& convolver, const Fields& fields,
                       const View<Complex, 2>& sky) {
    for (const Plane& plane : convolver.planes)
        points::for_map_passes(
            plane.samples.components(), plane.n_maps(), [&](std::int64_t first, std::int64_t maps) {
                SampleArray samples = fields.array(plane.samples, plane.field(first), maps);
                Array<Complex, 3> alm({maps, plane.samples.components(), convolver.sky_layout.size()});
                plane.samples.adjoint<double>(samples, alm.view());
                for (std::int64_t i = 0; i < maps; ++i) {
                    const auto b = static_cast<std::size_t>(plane.beams[static_cast<std::size_t>(first + i)]);
                    add_sky_of_field(convolver.sky_layout, convolver.options.threads, convolver.effective[b],
                                     plane.k, alm.view()[i], sky);
                }
            });
}

template void field_of_sky(const AlmLayout&, int, const EffectiveBeam&, std::int64_t,
                           const View<const std::complex<float>, 2>&, const View<Complex, 2>&);
template void field_of_sky(const AlmLayout&, int, const EffectiveBeam&, std::int64_t,
                           const View<const std::complex<double>, 2>&, const View<Complex, 2>&);

}  // namespace beams

template <class T>
BeamPlanes BeamConvolver::make_planes(View<const std::complex<T>, 2> sky, SampleRows rows,
                                      BeamReport* report) const {
    using beams::add_mean_squares;
    using beams::check_sky;
    using beams::Complex;
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
        points::for_map_passes(
            plane.samples.components(), plane.n_maps(), [&](std::int64_t first, std::int64_t maps) {
                Array<Complex, 3> alm({maps, plane.samples.components(), convolver.sky_layout.size()});
                for (std::int64_t i = 0; i < maps; ++i) {
                    const auto b = static_cast<std::size_t>(plane.beams[static_cast<std::size_t>(first + i)]);
                    field_of_sky<T>(convolver.sky_layout, convolver.options.threads, convolver.effective[b],
                                    plane.k, sky, alm.view()[i]);
                }
                SampleArray samples = storage->fields.array(plane.samples, plane.field(first), maps);
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
