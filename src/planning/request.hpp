#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/planning/planner.hpp"
#include "zonal/view.hpp"

/// What a request's maps are made of: one component of spin 0, or two, which are Q and U in pixels and E and
/// B in harmonic space.
namespace zonal::planning {

/// Throws InvalidArgument, which names the field, its value and the range allowed, for a request that
/// contradicts itself.
void check(const ConvolutionRequest& request);

inline int spin_of(const ConvolutionRequest& request) {
    return request.polarization ? 2 : 0;
}
inline std::int64_t n_components(const ConvolutionRequest& request) {
    return request.polarization ? 2 : 1;
}

/// Returns the kernel's windows, [component][l], l = 0 .. lmax.
std::vector<std::vector<double>> windows_of(const ConvolutionRequest& request, std::int64_t lmax);

/// Returns the maps' C_l, [component]; empty ones are white.
std::vector<std::vector<double>> spectra_of(const ConvolutionRequest& request);

/// Draws random alm of these spectra ([component]; white ones are 1), [1, component, coefficient].
Array<std::complex<double>, 3> draw_alm(const std::vector<std::vector<double>>& spectra,
                                        const AlmLayout& layout, std::uint64_t seed, int threads);

}  // namespace zonal::planning
