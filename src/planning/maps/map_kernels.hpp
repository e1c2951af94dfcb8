#pragma once

#include <cstdint>
#include <vector>

#include "zonal/planning/map_smoothing.hpp"
#include "zonal/polarization_convolution.hpp"

/// The kernels that a map is smoothed with.
namespace zonal::planning {

/// What a map is smoothed with: a window, or kernels of spin 0.
struct MapKernel {
    SmoothingWindow window{};
    std::vector<RadialKernel> kernels{};  ///< empty: the window; else one for all rows, or one for each

    bool has_window() const { return kernels.empty(); }
    /// Says whether the window is more than a Gaussian or a beam: only harmonic space can apply it then.
    bool is_ratio() const {
        return window.fwhm_in || window.beam_in || window.pixel_window_in || window.pixel_window_out;
    }
};

/// A kernel on its way to a convolution.
struct CutKernel {
    RadialKernel kernel;  ///< cut and normalised
    AppliedKernel applied;
    bool is_cut = false;  ///< its support is not the given kernel's
};

/// Returns the kernels as they are given, neither cut nor normalised. lmax: of a beam; -1: its own.
std::vector<CutKernel> given_kernels(const MapKernel& kernel, std::int64_t lmax);

/// The functions below make kernels from given ones. normalize: scales the integral to 1, and throws
/// InvalidArgument where it is 0; otherwise the values stay as they are.
CutKernel whole_kernel(const CutKernel& given, bool normalize);

/// Cuts a kernel at theta_cut, rad. c_l: the spectra of the maps that it will convolve; an empty one is
/// white.
CutKernel cut_at(const CutKernel& given, double theta_cut, const std::vector<std::vector<double>>& c_l,
                 bool normalize);

/// Cuts a kernel where the cut costs at most `error`, including what it takes from the integral.
CutKernel cut_for_error(const CutKernel& given, double error, const std::vector<std::vector<double>>& c_l,
                        const Grid& grid, bool normalize);

/// Returns the uncut kernel of Q and U: a Gaussian's, or that of a beam's E and B windows. normalize: scales
/// the beam's by what makes the integral of I's kernel 1.
PolarizationKernel whole_spin_kernel(const MapKernel& kernel, std::int64_t lmax, const CutKernel& scalar,
                                     bool normalize);

/// Returns the windows for harmonic space up to lmax: one for all rows of the map, or one for each. applied:
/// gets the kernels that have these windows.
std::vector<Beam> harmonic_windows(const MapKernel& kernel, const MapSmoothingOptions& options,
                                   bool normalize, std::int64_t lmax, std::vector<AppliedKernel>& applied);

}  // namespace zonal::planning
