#pragma once

#include <cstdint>
#include <optional>
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
    /// Returns the degree where a beam from a file ends that may not be extended; -1 for other windows.
    std::int64_t end_of_window() const;
};

/// A kernel as it is applied.
struct FieldsKernel {
    RadialKernel kernel;
    std::optional<PolarizationKernel> polarization;  ///< of Q and U
    AppliedKernel applied;
};

/// Returns one kernel for all rows, or one for each. has_spin: for Q and U. lmax: windows are followed up to
/// this degree; -1: a Gaussian's are not cut, and a beam's to its end. normalize: scales the integral of the
/// kernel of spin 0 to 1, and those of Q and U by as much; throws InvalidArgument where it is 0.
std::vector<FieldsKernel> kernels_of(const MapKernel& kernel, bool has_spin, std::int64_t lmax,
                                     bool normalize);

}  // namespace zonal::planning
