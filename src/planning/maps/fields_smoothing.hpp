#pragma once

#include <cstdint>
#include <vector>

#include "planning/maps/map_kernels.hpp"
#include "zonal/planning/convolution_plan.hpp"
#include "zonal/planning/map_smoothing.hpp"

namespace zonal::planning {

constexpr double usual_error = 1e-5;

/// Rows of a map that follow each other and are convolved with one kernel.
struct RowsRequest {
    ConvolutionRequest request;  ///< complete
    AppliedKernel applied;
    std::int64_t first_row = 0, n_rows = 1;
};

/// Whether harmonic space is to do as healpy does: as many iterations as are asked for, and no error to keep.
inline bool is_plain(const MapSmoothingOptions& options) {
    return !options.error && (options.method == ConvolutionMethod::harmonic ||
                              options.iterations.has_value() || options.tolerance > 0);
}

/// What is asked for the fields of one spin of a map.
struct FieldsRequest {
    const SkyMap& map;
    const MapSmoothingOptions& options;
    Fields fields = Fields::scalars;  ///< scalars, or qu
    ConvolutionOptions how{};
    std::vector<RowsRequest> rows{};
    bool has_one_kernel = true;     ///< for all rows
    bool is_harmonic_only = false;  ///< only harmonic space can do what is asked for

    /// Whether the error is to be certified for the map.
    bool must_keep() const { return options.error || !(is_plain(options) || options.cut); }
    /// Whether the options say how the analysis ends, so that nothing is left to plan.
    bool is_given() const { return is_plain(options) || options.iterations || options.tolerance > 0; }
};

/// Returns the requests for the fields of spin 0 of a map, and for its Q and U, of those that it has. The
/// map, the kernel and the options must outlive them. Throws InvalidArgument for options that contradict each
/// other or the map.
std::vector<FieldsRequest> requests_of(const SkyMap& map, const MapKernel& kernel,
                                       const MapSmoothingOptions& options);

/// Plans, smooths and checks, and repeats this with the measured gain where the first plan was not enough.
/// out: may be the request's map. Throws ErrorNotKept where the error is not certified, unless keep_missed is
/// set.
SmoothedPart smooth_fields(const FieldsRequest& request, SkyMap& out);

}  // namespace zonal::planning
