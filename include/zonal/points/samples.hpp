#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/device.hpp"
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
    /// Where the samples are and all is computed. On a GPU the caller's arrays may be in its memory or in the
    /// host's. Widths are even there, and the samples differ from those on the CPU.
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
    /// As PointWorkspace::use_stream.
    void use_stream(void* cuda_stream);

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

}  // namespace zonal
