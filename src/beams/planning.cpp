#include "zonal/beams/planning.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "beams/beam_convolver.hpp"
#include "beams/displaced_fit.hpp"
#include "points/point_checks.hpp"
#include "points/sample_choice.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/points/lensing.hpp"
#include "zonal/spectrum.hpp"

namespace zonal {
namespace beams {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// Kernels that are tried: beyond that beams are no lines of kernels.
constexpr int most_tried_kernels = 8;
/// Shares of the error of the fit, and of the interpolation.
constexpr double share = 0.5;

double cube(std::int64_t lmax) {
    return std::pow(static_cast<double>(lmax + 1), 3);
}

void add_field(const SphereSamples& samples, double fields, BeamWork& work) {
    const auto n = static_cast<double>(samples.n_samples());
    work.fields += fields;
    work.samples += fields * n * n / 2;
    work.degrees += fields * cube(samples.layout().lmax());
}

/// Throws InvalidArgument where displaced kernels are not for what was asked.
void check_displaced(const View<const Complex, 3>& beams, const BeamOptions& options) {
    points::check_cpu(options.device, "the method displaced");
    if (options.half_wave_plate)
        throw InvalidArgument("method",
                              "displaced: knows no half-wave plate: must be harmonic or automatic then");
    if (beams.extent(1) != 1)
        throw InvalidArgument(
            "method", "displaced: is for skies and beams of T alone: must be harmonic or automatic for E, B");
}

/// The kernels of a detector and their interpolation, within the error; nothing where no fit keeps it.
std::optional<DisplacedConvolver> fit_detector(const AlmLayout& layout, const View<const Complex, 1>& beam,
                                               const std::vector<double>& spectrum,
                                               const BeamOptions& options, double& best) {
    const DisplacedFitOptions fit{.error = share * options.error,
                                  .spectrum = spectrum,
                                  .max_kernels = most_tried_kernels,
                                  .threads = options.threads};
    auto kernels = find_displaced_kernels(layout, beam, options.kmax, fit, best);
    best /= share;
    if (!kernels) return std::nullopt;
    if (*std::max_element(kernels->delta.begin(), kernels->delta.end()) > largest_deflection) {
        best = infinite;
        return std::nullopt;
    }
    const double largest = sum_of_weights(*kernels) * kernels->largest_smoothed(spectrum),
                 rms = kernels->rms(spectrum);
    const double error = largest > 0 ? share * options.error * rms / largest : points::largest_named_error;
    if (!(error >= points::least_named_error)) return std::nullopt;
    DisplacedConvolver made(std::move(*kernels), {.error = std::min(error, points::largest_named_error),
                                                  .n_pointings = options.n_pointings,
                                                  .threads = options.threads});
    best = made.bound(spectrum);
    if (!(best <= options.error)) return std::nullopt;
    return made;
}

/// The fits of all detectors; none where one has none.
std::vector<DisplacedConvolver> fit_all(const AlmLayout& layout, const View<const Complex, 3>& beams,
                                        const std::vector<double>& spectrum, const BeamOptions& options,
                                        double& worst) {
    std::vector<DisplacedConvolver> made;
    for (std::int64_t d = 0; d < beams.extent(0); ++d) {
        double best = 0;
        auto one = fit_detector(layout, beams[d][0], spectrum, options, best);
        worst = std::max(worst, best);
        if (!one) return {};
        made.push_back(std::move(*one));
    }
    return made;
}

/// The least that displaced kernels may cost: one for each detector, in samples as wide, and the fit.
BeamWork least_work(const BeamConvolver& harmonic) {
    BeamWork work;
    const auto detectors = static_cast<double>(harmonic.n_detectors());
    const auto points = detectors * static_cast<double>(harmonic.samples().options().n_points);
    const auto width = static_cast<double>(harmonic.samples().width());
    add_field(harmonic.samples(), detectors, work);
    work.places = work.values = work.displacements = points;
    work.products = points * width * width;
    work.fits = detectors * static_cast<double>(harmonic.sky_layout().lmax() + 1);
    return work;
}

}  // namespace
}  // namespace beams

double BeamWork::seconds(const BeamCosts& costs) const {
    return degrees * costs.degree + samples * costs.sample + places * costs.place + values * costs.value +
           products * costs.product + displacements * costs.displace + fits * costs.fit;
}

BeamWork work_of(const BeamConvolver& convolver) {
    BeamWork work;
    const SphereSamples& samples = convolver.samples();
    const auto width = static_cast<double>(samples.width()),
               fields = static_cast<double>(convolver.n_fields());
    beams::add_field(samples, fields, work);
    work.places = static_cast<double>(samples.options().n_points);
    work.values = work.places * fields;
    work.products = work.values * width * width;
    return work;
}

BeamWork work_of(const std::vector<DisplacedConvolver>& detectors) {
    BeamWork work;
    for (const DisplacedConvolver& each : detectors) {
        const SphereSamples& samples = each.samples();
        const auto width = static_cast<double>(samples.width()),
                   points = static_cast<double>(samples.options().n_points);  // one for each kernel
        beams::add_field(samples, 1, work);
        work.places += points;
        work.values += points;
        work.displacements += points;
        work.products += points * width * width;
        work.fits += static_cast<double>(samples.layout().lmax() + 1);
    }
    return work;
}

template <class T>
BeamChoice choose_beam_method(const AlmLayout& layout, View<const std::complex<double>, 3> beams,
                              View<const std::complex<T>, 2> sky, const BeamOptions& options,
                              BeamMethod method, const BeamCosts& costs) {
    using beams::fit_all;
    using beams::infinite;
    if (method == BeamMethod::displaced) beams::check_displaced(beams, options);
    const bool is_open = method == BeamMethod::automatic && beams.extent(1) == 1 && !options.half_wave_plate;
    const bool any_device = options.device.kind() == Device::Kind::automatic;
    // It also checks all that both methods are given; where kernels are asked for, it need not have all
    // orders.
    BeamOptions of_orders = options;
    if (method == BeamMethod::displaced || (is_open && any_device)) of_orders.device = Device::cpu();
    if (method == BeamMethod::displaced && options.kmax >= -1 && options.kmax <= layout.mmax())
        of_orders.kmax = 0;
    BeamConvolver harmonic(layout, beams, of_orders);
    sht::check_extent("sky", sky, 0, "component", harmonic.components());
    sht::check_extent("sky", sky, 1, "coefficient", harmonic.sky_layout().size());
    BeamChoice choice{.harmonic_seconds = infinite, .displaced_seconds = infinite};
    if (method != BeamMethod::displaced) choice.harmonic_seconds = work_of(harmonic).seconds(costs);
    const bool looks = method == BeamMethod::displaced ||
                       (is_open && !harmonic.implementation()->is_on_gpu() &&
                        beams::least_work(harmonic).seconds(costs) < choice.harmonic_seconds);
    if (looks) {
        double reached = 0;
        const auto spectrum = cross_spectrum<T>(harmonic.sky_layout(), sky[0], sky[0]);
        BeamOptions of_kernels = harmonic.options();
        of_kernels.kmax = options.kmax == -1 ? layout.mmax() : options.kmax;
        choice.displaced = fit_all(layout, beams, spectrum, of_kernels, reached);
        if (!choice.displaced.empty()) choice.displaced_seconds = work_of(choice.displaced).seconds(costs);
        if (method == BeamMethod::displaced && choice.displaced.empty())
            throw InvalidArgument(
                "error", options.error,
                fmt::format("up to {} displaced kernels reach {:.3g} for this beam and sky: must be at least "
                            "that, or the method must be harmonic",
                            beams::most_tried_kernels, reached));
    }
    if (method == BeamMethod::displaced || choice.displaced_seconds < choice.harmonic_seconds) {
        choice.method = BeamMethod::displaced;
    } else {
        choice.displaced.clear();
        const bool stays = resolve_device(options.device) == harmonic.options().device;
        choice.harmonic.emplace(stays ? std::move(harmonic) : BeamConvolver(layout, beams, options));
    }
    return choice;
}

template BeamChoice choose_beam_method(const AlmLayout&, View<const std::complex<double>, 3>,
                                       View<const std::complex<float>, 2>, const BeamOptions&, BeamMethod,
                                       const BeamCosts&);
template BeamChoice choose_beam_method(const AlmLayout&, View<const std::complex<double>, 3>,
                                       View<const std::complex<double>, 2>, const BeamOptions&, BeamMethod,
                                       const BeamCosts&);

}  // namespace zonal
