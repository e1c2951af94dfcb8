#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/analysis.hpp"
#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/progress.hpp"
#include "zonal/sky/map_analysis.hpp"
#include "zonal/sky/rotation.hpp"
#include "zonal/sky/sky_map.hpp"
#include "zonal/sky/smoothing.hpp"
#include "zonal/view.hpp"

/// Maps on other pixels, in other coordinates, or at points: the map's alm are found, and the field that they
/// are is evaluated where it is wanted. Q and U turn with their axes.
namespace zonal {

/// How a turned field is evaluated on a grid.
enum class RotationWay {
    alm,    ///< its alm are turned: O(lmax^3), to rounding
    points  ///< the field is interpolated where the pixels come from: O(lmax^2 log lmax + pixels)
};

/// How a map is resampled.
struct ResamplingOptions {
    /// How its alm are found. lmax is by default the lesser of what both grids hold, at points what the map's
    /// does; mmax, mask and remove are not used. mask_mode is zero or error.
    MapAnalysisOptions analysis = {};
    std::optional<EulerAngles> rotation = {};  ///< g(n) = f(R^-1 n), R that of the angles
    RotationWay way = RotationWay::alm;
    /// Bound of max |error| / max |f| of what is interpolated, as PointOptions::error: at points, and on a
    /// grid where a rotation goes by points.
    double error = 1e-10;
    bool fill_masked = false;  ///< keep what is computed where the map is UNSEEN
};

/// What was assumed and reached.
struct ResamplingReport {
    std::int64_t lmax = 0;
    /// What the analysis that went worst reports. Its `unresolved` is measured in any case: rms(f - S a) /
    /// rms(f), the share of the map, UNSEEN pixels as 0, that no alm up to lmax make up and that is not in
    /// the result.
    AnalysisReport analysis;
    bool interpolated = false;  ///< whether values come from points, within bound
    double bound = 0;           ///< SphereSamples::bound() of these
    double mean_error = 0;      ///< rms(error) / rms(f) over the torus, of these alm; the largest
};

/// The fields of maps at the pixels of another grid. maps: [field, grid.n_pixels()], 3 fields for iqu, 2 for
/// qu; resampled: [field, to.n_pixels()]. A pixel that lies in no ring of `to` is left as it is; one that
/// comes from an UNSEEN pixel of its field is UNSEEN: of HEALPix the pixel that holds its direction, else the
/// nearest one (nearest ring, then longitude). Q and U mask each other. Throws InvalidArgument for maps with
/// NaN or infinite pixels, for an lmax below 2 with Q and U or above what the grid holds, and what analyze
/// and SphereSamples reject.
ResamplingReport resample(const Grid& grid, View<const double, 2> maps, Fields fields, const Grid& to,
                          View<double, 2> resampled, const ResamplingOptions& options = {});
/// And at points, theta and phi: [point]; Q and U are along e_theta and e_phi of each, which at a pole are
/// those that its phi names. by_theta, by_phi: empty, or where d/dtheta and d/dphi of each component go, of
/// the shape of `resampled`; not with a rotation. Throws InvalidArgument as PointPlan does, too.
ResamplingReport resample(const Grid& grid, View<const double, 2> maps, Fields fields,
                          View<const double, 1> theta, View<const double, 1> phi, View<double, 2> resampled,
                          const ResamplingOptions& options = {}, View<double, 2> by_theta = {},
                          View<double, 2> by_phi = {});

/// How fields of alm are evaluated at points.
struct EvaluationOptions {
    double error = 1e-10;           ///< as PointOptions::error
    int threads = 0;                ///< 0: available_cpus()
    Device device = Device::cpu();  ///< where samples are made and read; arrays are on the host
    Progress progress = {};
};

/// What an evaluation has reached, the worst of its fields.
struct EvaluationReport {
    double bound = 0;             ///< SphereSamples::bound()
    double derivative_bound = 0;  ///< SphereSamples::derivative_bound()
    double mean_error = 0;        ///< rms(error) / rms(f) over the torus, of these alm
};

/// The same of alm, [field, layout.size()]: any number of scalars' for Fields::scalars, T, E, B for iqu, E, B
/// for qu. I and (Q, U) share what the points cost. PointTransform and SphereFunction keep it for more calls.
EvaluationReport evaluate(const AlmLayout& layout, View<const std::complex<double>, 2> alm, Fields fields,
                          View<const double, 1> theta, View<const double, 1> phi, View<double, 2> values,
                          const EvaluationOptions& options = {}, View<double, 2> by_theta = {},
                          View<double, 2> by_phi = {});

/// The memory of the host that evaluate, or resample at points beside its analysis, takes beside alm, points
/// and results.
double bytes_of_evaluation(const AlmLayout& layout, Fields fields, std::int64_t n_fields,
                           std::int64_t n_points, const EvaluationOptions& options, bool derivatives);

/// A map on other pixels.
struct ResampledMap {
    SkyMap map;
    ResamplingReport report;
    std::vector<std::string> notes;  ///< of the analyses, for the user
};

/// A map on other pixels. A partial sky stays one, unless it is turned.
ResampledMap resample(const SkyMap& map, const Pixelization& pixels, const ResamplingOptions& options = {});

/// Turns a map on its own pixels. The result is a full sky of unknown coordinates: set them where the angles
/// are those of coordinate_rotation.
ResampledMap rotate(const SkyMap& map, const EulerAngles& angles, ResamplingOptions options = {});

/// The memory of the host that resample takes beside the map, its result among it.
double bytes_of_resampling(const SkyMap& map, const Pixelization& pixels,
                           const ResamplingOptions& options = {});

/// The same of one group at points, its values among it.
double bytes_of_resampling(const SkyMap& map, std::int64_t n_points, const ResamplingOptions& options,
                           bool derivatives);

/// Returns the same map in another order of the same pixels, a partial sky as one. Throws InvalidArgument for
/// other pixels.
SkyMap reorder(SkyMap map, const Pixelization& pixels);

}  // namespace zonal
