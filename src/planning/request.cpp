#include "planning/request.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <utility>

#include "core/constants.hpp"
#include "planning/aliased_spectrum.hpp"
#include "planning/planned_kernel.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/sky/realization.hpp"

namespace zonal {
namespace planning {
namespace {

void check_polarization(const ConvolutionRequest& request) {
    if (!request.polarization) {
        if (!request.c_bb.empty()) throw InvalidArgument("c_bb", "only for Q and U");
        return;
    }
    if (request.lmax < 2) throw InvalidArgument("lmax", request.lmax, "must be 2 or more for Q and U");
    if (request.c_bb.size() != request.c_l.size())
        throw InvalidArgument("c_bb", fmt::format("{} values, must have as many as c_l, {}",
                                                  request.c_bb.size(), request.c_l.size()));
    if (request.polarization->band_limit() < 0)
        throw InvalidArgument("polarization", "is truncated, and must be the whole kernel");
    if (request.method == ConvolutionMethod::split && !can_be_split(request))
        throw InvalidArgument(
            "method", "split",
            "kernels whose windows of E and B differ cannot be split: must be auto, ring-fft or pixel-sum");
}

/// Errors are relative to the power of a sky of these spectra, which must be a number.
void require_finite_power(const std::vector<double>& c_l, const char* name) {
    double power = 0;
    for (std::size_t l = 0; l < c_l.size(); ++l) power += (2 * static_cast<double>(l) + 1) * c_l[l];
    if (!std::isfinite(power))
        throw InvalidArgument(
            name,
            fmt::format("the sum of (2l+1)C_l is {}: it must be finite; scale the spectrum down", power));
}

}  // namespace

void check(const ConvolutionRequest& request) {
    if (request.lmax < 0) throw InvalidArgument("lmax", request.lmax, "must be 0 or more");
    if (!request.c_l.empty() && std::ssize(request.c_l) != request.lmax + 1)
        throw InvalidArgument(
            "c_l", fmt::format("{} values, must be lmax + 1 = {}", request.c_l.size(), request.lmax + 1));
    require_finite_power(request.c_l, "c_l");
    require_finite_power(request.c_bb, "c_bb");
    check_polarization(request);
    if (!(request.error > 0 && request.error < 1))
        throw InvalidArgument("error", request.error, "must be above 0 and below 1");
    if (const auto gain = request.gain; gain && !(*gain > 0 && std::isfinite(*gain)))
        throw InvalidArgument("gain", *gain, "must be above 0 and finite");
    if (const auto error = request.quadrature_error; error && !(*error >= 0))
        throw InvalidArgument("quadrature_error", *error, "must be 0 or more");
    if (const auto gain = request.iteration_gain; gain && !(*gain > 0 && *gain < 1))
        throw InvalidArgument("iteration_gain", *gain, "must be above 0 and below 1");
    if (request.n_maps < 1) throw InvalidArgument("n_maps", request.n_maps, "must be at least 1");
    if (!(request.theta_cut >= 0 && request.theta_cut <= core::pi))
        throw InvalidArgument("theta_cut", request.theta_cut, "must be from 0 to pi (rad)");
}

std::vector<std::vector<double>> windows_of(const ConvolutionRequest& request, std::int64_t lmax) {
    if (!request.polarization) return {request.kernel.window(lmax)};
    auto [gradient, curl] = request.polarization->windows(lmax);
    return {std::move(gradient), std::move(curl)};
}

std::vector<std::vector<double>> spectra_of(const ConvolutionRequest& request) {
    if (!request.polarization) return {request.c_l};
    return {request.c_l, request.c_bb};
}

Array<std::complex<double>, 3> draw_alm(const std::vector<std::vector<double>>& spectra,
                                        const AlmLayout& layout, std::uint64_t seed, int threads) {
    const auto filled = [&](const std::vector<double>& c_l) {
        return c_l.empty() ? std::vector<double>(static_cast<std::size_t>(layout.lmax() + 1), 1.0) : c_l;
    };
    const bool has_spin = spectra.size() == 2;
    SkySpectra sky;
    (has_spin ? sky.ee : sky.tt) = filled(spectra[0]);
    if (has_spin) sky.bb = filled(spectra[1]);
    const std::int64_t n_drawn = has_spin ? 3 : 1, n_components = std::ssize(spectra);
    Array<std::complex<double>, 2> drawn({n_drawn, layout.size()});
    realize<double>(sky, seed, layout, drawn.view(), threads);
    Array<std::complex<double>, 3> alm({1, n_components, layout.size()});
    std::copy_n(drawn.view()[n_drawn - n_components].data(), alm.size(), alm.data());
    return alm;
}

}  // namespace planning

std::string to_string(ConvolutionMethod method) {
    switch (method) {
        case ConvolutionMethod::pixel_sum:
            return "pixel-sum";
        case ConvolutionMethod::ring_fft:
            return "ring-fft";
        case ConvolutionMethod::harmonic:
            return "harmonic";
        case ConvolutionMethod::split:
            return "split";
        default:
            return "auto";
    }
}

std::string to_string(ConvolutionReference reference) {
    return reference == ConvolutionReference::discrete ? "discrete" : "continuous";
}

std::vector<std::vector<double>> spectra_on_pixels(const ConvolutionRequest& request) {
    const bool ends_at_lmax = request.reference == ConvolutionReference::continuous;
    const auto own = [&](std::vector<double> c_l) {
        if (c_l.empty()) c_l.assign(static_cast<std::size_t>(request.lmax + 1), 1.0);
        if (ends_at_lmax) c_l.push_back(0);
        return c_l;
    };
    if (request.c_l.empty() && !ends_at_lmax)
        return std::vector<std::vector<double>>(request.polarization ? 2 : 1);
    const double nside = std::sqrt(static_cast<double>(request.grid.n_pixels()) / 12);
    const auto c_l = own(request.c_l);
    if (!request.polarization) return {split::aliased_spectrum(c_l, nside)};
    // Of E and B together, to either.
    const auto c_bb = own(request.c_bb);
    auto both = c_l;
    for (std::size_t l = 0; l < both.size(); ++l) both[l] += c_bb[l];
    const auto seen = split::aliased_spectrum(both, nside);
    std::vector<std::vector<double>> spectra(2, seen);
    for (std::size_t l = 0; l < seen.size(); ++l) {
        const std::size_t known = std::min(l, both.size() - 1);
        spectra[0][l] -= c_bb[known];
        spectra[1][l] -= c_l[known];
    }
    return spectra;
}

bool can_be_split(const ConvolutionRequest& request) {
    return !request.polarization || request.polarization->minus() == nullptr;
}

double split_error(const KernelSplit& split, const ConvolutionRequest& request) {
    if (!can_be_split(request))
        throw InvalidArgument("split", "the windows of E and B differ, and such kernels cannot be split");
    const auto kernel = split::planned_kernel(request);
    return split_error(kernel->window_to_split(), split.window,
                       split.profile.window(request.lmax, kernel->spin()), kernel->spectrum());
}

}  // namespace zonal
