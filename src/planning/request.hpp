#pragma once

#include <cstdint>
#include <vector>

#include "zonal/planning/planner.hpp"

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
/// Returns the grid of the results of the whole sky.
inline const Grid& grid_out_of(const ConvolutionRequest& request) {
    return request.grid_out ? *request.grid_out : request.grid;
}
/// Says whether a method is a sum over pixels and nothing else.
inline bool is_sum(ConvolutionMethod method) {
    return method == ConvolutionMethod::pixel_sum || method == ConvolutionMethod::ring_fft;
}

/// Returns the kernel's windows, [component][l], l = 0 .. lmax.
std::vector<std::vector<double>> windows_of(const ConvolutionRequest& request, std::int64_t lmax);

/// Returns by how much the kernel's core, summed over the pixels of a whole HEALPix grid, misses its
/// integral, over the largest value of its window: the error of a constant map where it is worst, next to the
/// poles. It is small for kernels as wide as a pixel. A narrower kernel has its peak on the centre of one
/// pixel, where it is many times the integral, or misses all centres.
double defect_of_sums(const ConvolutionRequest& request, std::int64_t nside);

/// Says whether a profile ends with a step. Its window then falls as l^-1.5, and eigenvalues grow faster.
bool ends_with_step(const ConvolutionRequest& request);

}  // namespace zonal::planning
