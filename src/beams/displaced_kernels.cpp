#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "beams/displaced_fit.hpp"
#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "zonal/beams/displaced.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace beams {
namespace {

using std::numbers::pi;

constexpr double least_fit_error = 1e-9, most_fit_error = 0.5;
constexpr int most_fitted_kernels = 16;

/// Which the line of kernels, and without a spectrum the error, is measured by.
bool has_integral(const View<const std::complex<double>, 1>& beam) {
    return beam[0].real() != 0;
}

void check(const AlmLayout& layout, const View<const std::complex<double>, 1>& beam,
           const DisplacedFitOptions& options) {
    if (!layout.has_all_orders()) throw InvalidArgument("layout", "must have all orders up to its mmax");
    sht::check_extent("beam", beam, 0, "coefficient", layout.size());
    sht::check_host("beam", beam);
    if (!(options.error >= least_fit_error && options.error <= most_fit_error))
        throw InvalidArgument("error", options.error,
                              fmt::format("must be from {} to {}", least_fit_error, most_fit_error));
    if (options.max_kernels < 1 || options.max_kernels > most_fitted_kernels)
        throw InvalidArgument("max_kernels", options.max_kernels,
                              fmt::format("must be from 1 to {}", most_fitted_kernels));
    const auto n = std::ssize(options.spectrum);
    if (n != 0 && n != layout.lmax() + 1)
        throw InvalidArgument("spectrum", fmt::format("has {} values: must have {}, l = 0 to {}, or none", n,
                                                      layout.lmax() + 1, layout.lmax()));
    for (const double c : options.spectrum)
        if (!(c >= 0 && std::isfinite(c)))
            throw InvalidArgument("spectrum", c, "must be of finite values that are not negative");
}

/// Adds where the kernels are in the beam's axes.
void set_places(const CentredBeam& beam, const LineFit& fit, DisplacedKernels& kernels) {
    const RotationMatrix turn = rotation_matrix(beam.to_beam);
    for (const double u : fit.place) {
        const double x = std::sin(u), z = std::cos(u);
        const auto at = [&](std::size_t row) { return turn[row][0] * x + turn[row][2] * z; };
        kernels.delta.push_back(std::atan2(std::hypot(at(0), at(1)), at(2)));
        kernels.chi.push_back(std::atan2(at(1), at(0)));
    }
}

/// All but the integral.
DisplacedKernels kernels_of(const CentredBeam& beam, const LineFit& fit) {
    DisplacedKernels made{
        .weight = fit.weight, .window = fit.window, .missed = beam.above, .power = beam.power};
    set_places(beam, fit, made);
    for (std::int64_t k = 0; k <= fit.layout.mmax(); ++k)
        for (std::int64_t l = k; l <= fit.layout.lmax(); ++l)
            made.missed[static_cast<std::size_t>(l)] +=
                (k == 0 ? 1 : 2) * std::norm(fit.residual[static_cast<std::size_t>(fit.layout.index(l, k))]);
    return made;
}

/// That of the residual; orders that are in no layout are bounded by their norm.
double residual_integral(const CentredBeam& beam, const LineFit& fit, int threads) {
    double above = 0;
    for (const double power : beam.above) above += power;
    return integral_bound(fit.layout, fit.residual, threads) + std::sqrt(4 * pi * above);
}

}  // namespace

double sum_of_weights(const DisplacedKernels& kernels) {
    double sum = 0;
    for (const double c : kernels.weight) sum += std::abs(c);
    return sum;
}

std::optional<DisplacedKernels> find_displaced_kernels(const AlmLayout& layout,
                                                       const View<const std::complex<double>, 1>& beam,
                                                       std::int64_t kmax, const DisplacedFitOptions& options,
                                                       double& best) {
    best = std::numeric_limits<double>::infinity();
    if (!has_integral(beam)) return std::nullopt;
    const int threads = core::resolve_threads(options.threads);
    const CentredBeam own = centred(layout, beam, kmax, threads);
    const bool any_sky = options.spectrum.empty();
    const std::vector<double> weights =
        any_sky ? std::vector<double>(static_cast<std::size_t>(layout.lmax()) + 1, 1.0) : options.spectrum;
    for (int n = 1; n <= options.max_kernels; ++n) {
        if (n > 1 && !(own.elongation > 0)) break;  // there is no line to place them on
        const LineFit fit = fit_line(own, weights, n, threads);
        DisplacedKernels kernels = kernels_of(own, fit);
        if (any_sky) kernels.integral = residual_integral(own, fit, threads);
        const double rms = kernels.rms(weights), largest = any_sky ? 0 : kernels.largest_error(weights);
        const double reached = any_sky       ? kernels.integral / std::abs(own.integral)
                               : largest > 0 ? largest / rms
                                             : 0;
        best = std::min(best, reached);
        if (!(reached <= options.error)) continue;  // nor NaN of a sky
        kernels.unused = power_from(layout, beam, kmax + 1);
        if (!any_sky) kernels.integral = residual_integral(own, fit, threads);
        return kernels;
    }
    return std::nullopt;
}

}  // namespace beams

namespace {

/// Sum of term(2 l + 1, value, C_l) over all l.
template <class Term>
double sum_over_degrees(const std::vector<double>& values, const std::vector<double>& spectrum,
                        const Term& term) {
    if (spectrum.size() != values.size())
        throw InvalidArgument("spectrum",
                              fmt::format("has {} values: must have {}", spectrum.size(), values.size()));
    double sum = 0;
    for (std::size_t l = 0; l < values.size(); ++l)
        sum += term(static_cast<double>(2 * l + 1), values[l], spectrum[l]);
    return sum;
}

}  // namespace

double DisplacedKernels::rms_error(const std::vector<double>& spectrum) const {
    return std::sqrt(
        sum_over_degrees(missed, spectrum, [](double, double part, double c) { return part * c; }));
}
double DisplacedKernels::rms(const std::vector<double>& spectrum) const {
    return std::sqrt(
        sum_over_degrees(power, spectrum, [](double, double part, double c) { return part * c; }));
}
double DisplacedKernels::rms_unused(const std::vector<double>& spectrum) const {
    return std::sqrt(
        sum_over_degrees(unused, spectrum, [](double, double part, double c) { return part * c; }));
}
double DisplacedKernels::largest_error(const std::vector<double>& spectrum) const {
    return sum_over_degrees(
        missed, spectrum, [](double orders, double part, double c) { return std::sqrt(orders * c * part); });
}
double DisplacedKernels::largest_smoothed(const std::vector<double>& spectrum) const {
    return sum_over_degrees(window, spectrum, [](double orders, double k, double c) {
        return std::abs(k) * orders * std::sqrt(c / (4 * std::numbers::pi));
    });
}

DisplacedKernels fit_displaced_kernels(const AlmLayout& layout, View<const std::complex<double>, 1> beam,
                                       const DisplacedFitOptions& options) {
    beams::check(layout, beam, options);
    if (!beams::has_integral(beam))
        throw InvalidArgument("beam", "has an integral of 0: must have another, by which the error is meant");
    double best = 0;
    auto found = beams::find_displaced_kernels(layout, beam, layout.mmax(), options, best);
    if (!found)
        throw InvalidArgument(
            "error", options.error,
            fmt::format("up to {} displaced kernels reach {:.3g} for this beam: must be at least that, or "
                        "take the beam's orders, as BeamConvolver does",
                        options.max_kernels, best));
    return std::move(*found);
}

}  // namespace zonal
