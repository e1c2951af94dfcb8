#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/planner.hpp"
#include "zonal/realization.hpp"
#include "zonal/view.hpp"

/// What a request's maps have one of, of spin 0, or two of, Q and U in pixels and E and B in degrees.
namespace zonal::cli {

inline int spin_of(const ConvolutionRequest& request) {
    return request.polarization ? 2 : 0;
}
inline std::int64_t n_components(const ConvolutionRequest& request) {
    return request.polarization ? 2 : 1;
}

/// [component], l = 0 .. lmax, of the kernel.
inline std::vector<std::vector<double>> windows_of(const ConvolutionRequest& request, std::int64_t lmax) {
    if (!request.polarization) return {request.kernel.window(lmax)};
    auto [gradient, curl] = request.polarization->windows(lmax);
    return {std::move(gradient), std::move(curl)};
}

/// [component]; empty ones are white.
inline std::vector<std::vector<double>> spectra_of(const ConvolutionRequest& request) {
    if (!request.polarization) return {request.c_l};
    return {request.c_l, request.c_bb};
}

/// Random alm of these spectra ([component], white ones are 1), [1, component, coefficient].
inline Array<std::complex<double>, 3> draw_alm(const std::vector<std::vector<double>>& spectra,
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

}  // namespace zonal::cli
