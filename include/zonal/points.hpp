#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/device.hpp"
#include "zonal/progress.hpp"
#include "zonal/view.hpp"

/// Spherical harmonic transforms at any points (theta, phi), within an error that the caller names.
///
/// A function of degree lmax on the sphere goes on to the torus, f(-theta, phi) = (-1)^s f(theta, phi + pi),
/// as a trigonometric polynomial. SphereSamples makes its values on N x N samples of the torus, of which the
/// half 0 <= theta <= pi is kept; PointPlan makes those at points as sums over W x W samples around each,
/// weighted by a prolate window (a non-uniform Fourier transform of type 2, Dutt & Rokhlin 1993). Each has
/// its transpose. PointTransform is both for one set of points.
namespace zonal {

/// What samples are for; fixed when they are planned.
struct PointOptions {
    std::int64_t lmax = -1;  ///< must be given: >= 0
    std::int64_t mmax = -1;  ///< -1: lmax
    int spin = 0;            ///< from 0 to lmax; spin >= 1 transforms pairs (E, B) <-> (Q, U)
    /// Bound of max |error| / max |f| over the sphere, f any function of degree lmax: from 2e-14 to 0.1. It
    /// chooses N and W. What the interpolation does is within it; the Legendre stage rounds as that of any
    /// transform, by about 1e-15 sqrt(lmax) of max |f|, which shows in errors below 1e-13.
    double error = 1e-10;
    /// How many points each function will be asked for, about: many are worth more samples and a smaller W.
    /// 0: two for each coefficient. Results are within `error` whatever it is.
    std::int64_t n_points = 0;
    int threads = 0;  ///< 0: available_cpus()
    Device device = Device::cpu();
};

/// Rows [first, end) of samples, row j at theta = 2 pi j / N. Rows before 0 and after N / 2 are copies of
/// those on the other side of the pole, half a turn away.
struct SampleRows {
    std::int64_t first = 0, end = 0;
    bool operator==(const SampleRows&) const = default;
};

/// How far interpolated values of one function are from its true ones.
struct PointErrors {
    double rms_error = 0;  ///< root of the mean of |error|^2 over the torus: exact but for rounding
    double rms = 0;        ///< of the function itself
};

/// Samples of one or several functions, made by SphereSamples::make_array; and scratch memory of the calls
/// that write them, so that one call at a time may do so. Any number may read.
class SampleArray {
  public:
    ~SampleArray();
    SampleArray(SampleArray&&) noexcept;
    SampleArray& operator=(SampleArray&&) noexcept;

    std::int64_t n_maps() const;
    SampleRows rows() const;
    std::int64_t bytes() const;

    // For Zonal's own parts.
    struct Storage;
    explicit SampleArray(std::unique_ptr<Storage> storage);
    Storage& storage() { return *storage_; }
    const Storage& storage() const { return *storage_; }

  private:
    std::unique_ptr<Storage> storage_;
};

/// How functions of one lmax, mmax and spin are sampled for interpolation within an error. Immutable, cheap
/// to copy; any number of threads may use one at the same time.
///
/// alm: [map, components(), layout().size()], as ShtPlan has them. T is float or double; the arithmetic is
/// double. Results do not depend on the number of threads.
class SphereSamples {
  public:
    /// Throws InvalidArgument for options outside their range, and BackendUnavailable.
    explicit SphereSamples(const PointOptions& options);

    /// With mmax, n_points, threads and device resolved.
    const PointOptions& options() const;
    const AlmLayout& layout() const;
    std::int64_t components() const;  ///< of alm and of values: 1 for spin 0, else 2

    std::int64_t n_samples() const;  ///< N, of a whole circle in theta and in phi
    std::int64_t width() const;      ///< W, samples that a value is a sum over, in each direction
    /// At least max |error| / max |f| for every f, by the interpolation and its rounding; at most
    /// options().error.
    double bound() const;
    /// The same of derivatives, in units of lmax max |f|: 13 times as much at most.
    double derivative_bound() const;

    /// All rows, and those that points with theta_1 <= theta <= theta_2 need. Throws InvalidArgument unless
    /// 0 <= theta_1 <= theta_2 <= pi.
    SampleRows all_rows() const;
    SampleRows rows_between(double theta_1, double theta_2) const;
    /// Room for the samples of n_maps maps, those of `rows` alone: other rows cost neither memory nor
    /// transforms in phi. Throws InvalidArgument for rows that are not there.
    SampleArray make_array(std::int64_t n_maps, SampleRows rows) const;
    SampleArray make_array(std::int64_t n_maps = 1) const { return make_array(n_maps, all_rows()); }

    /// samples = those of the functions of these alm. errors: null, or where to put those of interpolated
    /// values, [map * components].
    template <class T>
    void synthesize(ConstView<std::complex<T>, 3> alm, SampleArray& samples,
                    std::vector<PointErrors>* errors = nullptr) const;
    /// alm = the transpose of synthesize. The samples are used up: what they hold after it is unspecified.
    template <class T>
    void adjoint(SampleArray& samples, View<std::complex<T>, 3> alm) const;

    // For Zonal's own parts.
    class Implementation;
    const Implementation& implementation() const { return *implementation_; }

  private:
    std::shared_ptr<const Implementation> implementation_;
};

/// Points among the samples, sorted by where they lie. Immutable; any number of threads may use one at the
/// same time. 32 bytes a point.
///
/// Values are [map, components, n_points()] in the caller's order of the points; their last axis is
/// contiguous. T is float or double. Results are the same for any number of threads; sums of `spread` are
/// rounded otherwise for another order of the same points.
class PointPlan {
  public:
    /// theta, phi: [point], in radians; phi of any number of turns. Throws InvalidArgument, naming the point,
    /// unless 0 <= theta <= pi and phi is finite.
    PointPlan(const SphereSamples& samples, View<const double, 1> theta, View<const double, 1> phi);
    ~PointPlan();
    PointPlan(PointPlan&&) noexcept;
    PointPlan& operator=(PointPlan&&) noexcept;

    std::int64_t n_points() const;
    /// What an array of samples must have: the rows that the points reach. Without points, those of the north
    /// pole.
    SampleRows rows() const;
    const SphereSamples& samples() const;

    /// values = those of the functions at the points, Q and U along e_theta and e_phi of each point. Throws
    /// InvalidArgument for samples of another SphereSamples or without the points' rows.
    template <class T>
    void interpolate(const SampleArray& samples, View<T, 3> values) const;
    /// And their derivatives d/dtheta and d/dphi, of each component.
    template <class T>
    void interpolate(const SampleArray& samples, View<T, 3> values, View<T, 3> by_theta,
                     View<T, 3> by_phi) const;
    /// samples = the transpose of interpolate, for SphereSamples::adjoint.
    template <class T>
    void spread(ConstView<T, 3> values, SampleArray& samples) const;

    // For Zonal's own parts.
    class Implementation;
    const Implementation& implementation() const { return *implementation_; }

  private:
    std::unique_ptr<const Implementation> implementation_;
};

/// What a call on points reports.
struct PointReport {
    double bound = 0;  ///< SphereSamples::bound()
    /// The largest rms_error / rms of the call's maps (PointErrors, both components together), 0 where all
    /// alm are.
    double mean_error = 0;
};

/// How to find alm from values at points.
struct PointAnalysisOptions {
    /// Factors of the squared residuals, such as the points' areas: [n_points] or empty for equal ones.
    /// Finite and not negative.
    View<const double, 1> weights = {};
    /// Until |S^T W (f - S a)| / |S^T W f| is at most this; > 0. The transforms must not err by more than a
    /// tenth of it.
    double tolerance = 1e-8;
    int max_iterations = 1000;  ///< 1 or more
    Progress progress = {};     ///< told after each iteration
};

struct PointAnalysisReport {
    int iterations = 0;
    double residual =
        0;  ///< |S^T W (f - S a)| / |S^T W f|, computed anew at the end; the largest of the batch
    bool reached_tolerance = true;
    /// One sentence where the tolerance was not reached, or fewer than two points for each of the (lmax +
    /// 1)^2 unknowns make the problem ill-conditioned; else empty.
    std::string note;
};

/// Scratch memory of a PointTransform's calls, one at a time.
class PointWorkspace {
  public:
    ~PointWorkspace();
    PointWorkspace(PointWorkspace&&) noexcept;
    PointWorkspace& operator=(PointWorkspace&&) noexcept;

    struct Storage;
    explicit PointWorkspace(std::unique_ptr<Storage> storage);
    Storage& storage() { return *storage_; }

  private:
    std::unique_ptr<Storage> storage_;
};

/// The transform S from alm to values at fixed points, and its transpose. Immutable; any number of threads
/// may use one at the same time. alm: [map, components, layout size], values: [map, components, n_points].
class PointTransform {
  public:
    /// options.n_points is not used. Throws what SphereSamples and PointPlan throw.
    PointTransform(View<const double, 1> theta, View<const double, 1> phi, const PointOptions& options);

    const SphereSamples& samples() const { return samples_; }
    const PointPlan& points() const { return points_; }
    PointWorkspace make_workspace() const;

    /// values = S alm: f(p) = sum_lm a_lm sY_lm(p) with the signs of ShtPlan. report: null, or what to fill.
    template <class T>
    void synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> values, PointWorkspace& workspace,
                    PointReport* report = nullptr) const;
    /// And derivatives by theta and phi.
    template <class T>
    void synthesize(ConstView<std::complex<T>, 3> alm, View<T, 3> values, View<T, 3> by_theta,
                    View<T, 3> by_phi, PointWorkspace& workspace, PointReport* report = nullptr) const;
    /// alm = S^T values: a_lm = sum_p f_p conj(sY_lm(p)).
    template <class T>
    void adjoint(ConstView<T, 3> values, View<std::complex<T>, 3> alm, PointWorkspace& workspace) const;
    /// alm = the least-squares solution of S alm = values, by conjugate gradients on S^T W S a = S^T W f.
    /// Throws InvalidArgument for options outside their range.
    template <class T>
    PointAnalysisReport analyze(ConstView<T, 3> values, View<std::complex<T>, 3> alm,
                                PointWorkspace& workspace, const PointAnalysisOptions& options = {}) const;

  private:
    SphereSamples samples_;
    PointPlan points_;
};

}  // namespace zonal
