#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "beams/beam_convolver.hpp"
#include "beams/displaced_fit.hpp"
#include "core/parallel.hpp"
#include "points/sphere_samples.hpp"
#include "sht/array_checks.hpp"
#include "zonal/beams/displaced.hpp"
#include "zonal/error.hpp"
#include "zonal/points/lensing.hpp"
#include "zonal/points/plan.hpp"
#include "zonal/spectrum.hpp"

namespace zonal {
namespace beams {
namespace {

using Angles = View<const double, 1>;

PointOptions point_options(const DisplacedKernels& kernels, const DisplacedOptions& options) {
    const std::int64_t lmax = kernels.lmax();
    // As many points as pointings for each kernel.
    const std::int64_t pointings = options.n_pointings == 0 ? (lmax + 1) * (lmax + 2) : options.n_pointings;
    return {.lmax = lmax,
            .error = options.error,
            .n_points = pointings * std::max<std::int64_t>(1, kernels.size()),
            .threads = options.threads};
}

void check(const DisplacedKernels& kernels, const DisplacedOptions& options) {
    const std::int64_t n = kernels.size();
    if (n < 1 || std::ssize(kernels.delta) != n || std::ssize(kernels.chi) != n || kernels.lmax() < 0)
        throw InvalidArgument("kernels", "must have a delta, a chi and a weight each, and a window");
    for (const double delta : kernels.delta)
        if (!(delta >= 0 && delta <= largest_deflection))
            throw InvalidArgument("kernels", fmt::format("one is {:.6g} rad from the beam's axis", delta),
                                  fmt::format("must be from 0 to {}", largest_deflection));
    if (options.n_pointings < 0)
        throw InvalidArgument("n_pointings", options.n_pointings,
                              "must be 0 (two for each coefficient) or positive");
}

/// Pointings that are displaced at once, which bounds the memory.
std::int64_t pointings_at_once(const DisplacedKernels& kernels) {
    constexpr std::int64_t most_points = 1 << 21;
    return std::max<std::int64_t>(1, most_points / kernels.size());
}

struct Aims {
    Angles theta, phi, psi;

    std::int64_t size() const { return theta.size(); }
    Aims slice(std::int64_t first, std::int64_t count) const {
        return {theta.slice(first, count), phi.slice(first, count), psi.slice(first, count)};
    }
};

/// Throws InvalidArgument for the first one that is nowhere.
void check(const Aims& aims) {
    sht::check_extent("phi", aims.phi, 0, "pointing", aims.size());
    sht::check_extent("psi", aims.psi, 0, "pointing", aims.size());
    for (const auto& [name, view] : {std::pair("theta", aims.theta), {"phi", aims.phi}, {"psi", aims.psi}})
        sht::check_host(name, view);
    for (std::int64_t i = 0; i < aims.size(); ++i) {
        if (!(aims.theta[i] >= 0 && aims.theta[i] <= std::numbers::pi))
            throw InvalidArgument("theta", aims.theta[i],
                                  fmt::format("must be from 0 to pi (pointing {})", i));
        if (!std::isfinite(aims.phi[i]))
            throw InvalidArgument("phi", aims.phi[i], fmt::format("must be finite (pointing {})", i));
        if (!std::isfinite(aims.psi[i]))
            throw InvalidArgument("psi", aims.psi[i], fmt::format("must be finite (pointing {})", i));
    }
}

/// Where the kernels are, one kernel after the other: [kernel * pointing].
PointPlan displaced(const SphereSamples& samples, const DisplacedKernels& kernels, const Aims& aims) {
    const std::int64_t n = aims.size(), all = n * kernels.size();
    const int threads = samples.options().threads;
    Array<double, 1> theta({all}), phi({all});
    Array<double, 2> way({2, n}), rotation({2, n});
    for (std::int64_t j = 0; j < kernels.size(); ++j) {
        const double delta = kernels.delta[static_cast<std::size_t>(j)],
                     chi = kernels.chi[static_cast<std::size_t>(j)];
        core::for_pieces(n, threads, [&](std::int64_t first, std::int64_t end) {
            for (std::int64_t i = first; i < end; ++i) {
                way(0, i) = delta * std::cos(chi + aims.psi[i]);
                way(1, i) = delta * std::sin(chi + aims.psi[i]);
            }
        });
        displace(aims.theta, aims.phi, way.view(), theta.view().slice(j * n, n), phi.view().slice(j * n, n),
                 rotation.view(), threads);
    }
    return PointPlan(samples, theta.view(), phi.view());
}

/// sum += part.
void add(const SampleArray& part, SampleArray& sum, int threads) {
    const points::SampleView from = part.storage().field(0), to = sum.storage().field(0);
    core::for_pieces((to.rows.end - to.rows.first) * to.stride, threads,
                     [&](std::int64_t first, std::int64_t end) {
                         for (std::int64_t i = first; i < end; ++i) to.data[i] += from.data[i];
                     });
}

}  // namespace
}  // namespace beams

DisplacedConvolver::DisplacedConvolver(DisplacedKernels kernels, const DisplacedOptions& options)
    : kernels_(
          (beams::check(kernels, options), std::make_shared<const DisplacedKernels>(std::move(kernels)))),
      samples_(beams::point_options(*kernels_, options)),
      options_(options) {}

double DisplacedConvolver::bound(const std::vector<double>& spectrum) const {
    const double error = kernels_->largest_error(spectrum) + beams::sum_of_weights(*kernels_) *
                                                                 samples_.bound() *
                                                                 kernels_->largest_smoothed(spectrum);
    if (error == 0) return 0;
    const double rms = kernels_->rms(spectrum);
    return rms > 0 ? error / rms : std::numeric_limits<double>::infinity();
}

SampleRows DisplacedConvolver::rows_between(double theta_1, double theta_2) const {
    samples_.rows_between(theta_1, theta_2);  // refuses what is no range
    const double furthest = *std::max_element(kernels_->delta.begin(), kernels_->delta.end());
    return samples_.rows_between(std::max(theta_1 - furthest, 0.0),
                                 std::min(theta_2 + furthest, std::numbers::pi));
}

template <class T>
DisplacedSamples DisplacedConvolver::make_samples(ConstView<std::complex<T>, 1> sky, SampleRows rows,
                                                  BeamReport* report) const {
    const AlmLayout& layout = sky_layout();
    sht::check_extent("sky", sky, 0, "coefficient", layout.size());
    sht::check_host("sky", sky);
    Array<std::complex<double>, 3> alm({1, 1, layout.size()});
    for (std::int64_t i = 0; i < layout.size(); ++i) alm(0, 0, i) = {sky[i].real(), sky[i].imag()};
    const View<const std::complex<double>, 1> given(alm.data(), {layout.size()});
    const std::vector<double> spectrum =
        report == nullptr ? std::vector<double>() : cross_spectrum<double>(layout, given, given);
    multiply_alm<double>(layout, kernels_->window,
                         View<std::complex<double>, 1>(alm.data(), {layout.size()}));
    SampleArray made = samples_.make_array(1, rows);
    std::vector<PointErrors> errors;
    samples_.synthesize<double>(alm.view(), made, report == nullptr ? nullptr : &errors);
    if (report != nullptr) {
        const double rms = kernels_->rms(spectrum);
        *report = {.bound = bound(spectrum), .method = BeamMethod::displaced, .kernels = kernels_->size()};
        if (rms > 0) {
            report->mean_error =
                (kernels_->rms_error(spectrum) + beams::sum_of_weights(*kernels_) * errors[0].rms_error) /
                rms;
            report->left_out = kernels_->rms_unused(spectrum) / rms;
        }
    }
    return DisplacedSamples(std::move(made));
}

template <class T>
void DisplacedConvolver::scan(const DisplacedSamples& samples, View<const double, 1> theta,
                              View<const double, 1> phi, View<const double, 1> psi, View<T, 1> tod) const {
    const beams::Aims all{theta, phi, psi};
    beams::check(all);
    sht::check_extent("tod", tod, 0, "pointing", all.size());
    sht::check_host("tod", tod);
    const std::int64_t step = beams::pointings_at_once(*kernels_), n_kernels = kernels_->size();
    for (std::int64_t first = 0; first < all.size(); first += step) {
        const std::int64_t n = std::min(step, all.size() - first);
        const PointPlan plan = beams::displaced(samples_, *kernels_, all.slice(first, n));
        beams::check_rows(samples_, samples.rows(), plan.rows());
        Array<double, 3> values({1, 1, n_kernels * n});
        plan.interpolate<double>(samples.samples(), values.view());
        for (std::int64_t i = 0; i < n; ++i) {
            double sum = 0;
            for (std::int64_t j = 0; j < n_kernels; ++j)
                sum += kernels_->weight[static_cast<std::size_t>(j)] * values(0, 0, j * n + i);
            tod[first + i] = static_cast<T>(sum);
        }
    }
}

template <class T>
void DisplacedConvolver::adjoint(View<const double, 1> theta, View<const double, 1> phi,
                                 View<const double, 1> psi, ConstView<T, 1> tod,
                                 View<std::complex<T>, 1> sky) const {
    const beams::Aims all{theta, phi, psi};
    beams::check(all);
    const AlmLayout& layout = sky_layout();
    sht::check_extent("tod", tod, 0, "pointing", all.size());
    sht::check_extent("sky", sky, 0, "coefficient", layout.size());
    sht::check_host("tod", tod);
    sht::check_host("sky", sky);
    const std::int64_t step = beams::pointings_at_once(*kernels_), n_kernels = kernels_->size();
    SampleArray sum = samples_.make_array();
    std::optional<SampleArray> part;  // those after the first
    if (all.size() > step) part = samples_.make_array();
    for (std::int64_t first = 0; first == 0 || first < all.size(); first += step) {
        const std::int64_t n = std::min(step, all.size() - first);
        const PointPlan plan = beams::displaced(samples_, *kernels_, all.slice(first, n));
        Array<double, 3> values({1, 1, n_kernels * n});
        for (std::int64_t j = 0; j < n_kernels; ++j)
            for (std::int64_t i = 0; i < n; ++i)
                values(0, 0, j * n + i) =
                    kernels_->weight[static_cast<std::size_t>(j)] * static_cast<double>(tod[first + i]);
        plan.spread<double>(values.view(), first == 0 ? sum : *part);
        if (first > 0) beams::add(*part, sum, samples_.options().threads);
    }
    Array<std::complex<double>, 3> alm({1, 1, layout.size()});
    samples_.adjoint<double>(sum, alm.view());
    multiply_alm<double>(layout, kernels_->window,
                         View<std::complex<double>, 1>(alm.data(), {layout.size()}));
    for (std::int64_t i = 0; i < layout.size(); ++i)
        sky[i] = {static_cast<T>(alm(0, 0, i).real()), static_cast<T>(alm(0, 0, i).imag())};
}

template DisplacedSamples DisplacedConvolver::make_samples<float>(View<const std::complex<float>, 1>,
                                                                  SampleRows, BeamReport*) const;
template DisplacedSamples DisplacedConvolver::make_samples<double>(View<const std::complex<double>, 1>,
                                                                   SampleRows, BeamReport*) const;
template void DisplacedConvolver::scan(const DisplacedSamples&, View<const double, 1>, View<const double, 1>,
                                       View<const double, 1>, View<float, 1>) const;
template void DisplacedConvolver::scan(const DisplacedSamples&, View<const double, 1>, View<const double, 1>,
                                       View<const double, 1>, View<double, 1>) const;
template void DisplacedConvolver::adjoint<float>(View<const double, 1>, View<const double, 1>,
                                                 View<const double, 1>, View<const float, 1>,
                                                 View<std::complex<float>, 1>) const;
template void DisplacedConvolver::adjoint<double>(View<const double, 1>, View<const double, 1>,
                                                  View<const double, 1>, View<const double, 1>,
                                                  View<std::complex<double>, 1>) const;

}  // namespace zonal
