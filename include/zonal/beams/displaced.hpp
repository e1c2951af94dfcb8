#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "zonal/alm.hpp"
#include "zonal/beams/convolver.hpp"
#include "zonal/points/samples.hpp"
#include "zonal/view.hpp"

/// Beams as sums of one radial kernel at several places, as the ARKCoS paper proposes (Elsner & Wandelt
/// 2011): b(n) = sum_j c_j K(angle between n and n_j), b_lk = K_l sum_j c_j conj(Y_lk(n_j)). A signal then is
/// a sum over the sky smoothed by K, d = sum_j c_j (K * s)(n_j turned by the pointing): one scalar transform,
/// whatever the beam's orders are. Beams are of T alone.
namespace zonal {

/// The kernels of a beam, and how far their sum is from it.
struct DisplacedKernels {
    std::vector<double> delta;   ///< [kernel] from the beam's axis, rad
    std::vector<double> chi;     ///< [kernel] direction from the beam's x axis towards y, rad
    std::vector<double> weight;  ///< [kernel] c_j
    std::vector<double> window;  ///< [l] K_l, which all share
    std::vector<double> missed;  ///< [l] sum over k of both signs of |b_lk - those of the sum|^2
    std::vector<double> power;   ///< [l] of |b_lk|^2, likewise
    std::vector<double> unused;  ///< [l] of |b_lk|^2 of orders above the kmax that was asked for
    /// At least the integral of |b - sum| over the sphere, both up to lmax, but for rounding: max |error of
    /// d| <= integral max |s| for every sky.
    double integral = 0;

    std::int64_t size() const { return std::ssize(weight); }
    std::int64_t lmax() const { return std::ssize(window) - 1; }
    /// rms(error of d) over all pointings, and that of d itself, of skies with this spectrum: exact but for
    /// rounding. spectrum: [l] C_l of the sky itself.
    double rms_error(const std::vector<double>& spectrum) const;
    double rms(const std::vector<double>& spectrum) const;
    double rms_unused(const std::vector<double>& spectrum) const;
    /// At least max |error of d| of every sky with this spectrum: sum_l (sum_m |s_lm|^2)^1/2 (missed_l)^1/2,
    /// by the inequality of Cauchy and Schwarz for each l, which rotations do not change.
    double largest_error(const std::vector<double>& spectrum) const;
    /// At least max |K * s| of every sky with this spectrum, likewise.
    double largest_smoothed(const std::vector<double>& spectrum) const;
};

/// How a beam is fitted.
struct DisplacedFitOptions {
    /// Without a spectrum: of integral / |integral of b|, so that max |error of d| <= error max |s| for every
    /// sky, where the beam's integral is 1. With one: of largest_error / rms(d), so that max |error of d| <=
    /// error max |d| for every sky with this spectrum. From 1e-9 to 0.5.
    double error = 1e-3;
    std::vector<double> spectrum =
        {};               ///< [l] C_l of the skies, by which the fit is weighted; empty: any sky
    int max_kernels = 8;  ///< from 1 to 16
    int threads = 0;      ///< 0: available_cpus()
};

/// Fits the fewest kernels that keep the error to a beam, [layout.size()]. The places lie on the great circle
/// through the beam's centre along its long axis, which its dipole and quadrupole show. They and c_j start
/// from the Gauss-Hermite rule, by which an elliptical Gaussian is a round one convolved with a line, and are
/// fitted by least squares (Levenberg-Marquardt), with the best K_l for each l (variable projection). Throws
/// InvalidArgument for options outside their range, for beams whose integral is 0, and where no fit keeps the
/// error, saying what the best one has.
DisplacedKernels fit_displaced_kernels(const AlmLayout& layout, View<const std::complex<double>, 1> beam,
                                       const DisplacedFitOptions& options = {});

/// How signals of displaced kernels are computed.
struct DisplacedOptions {
    double error = 1e-6;           ///< of interpolation: max |error| / max |K * s|, as PointOptions has it
    std::int64_t n_pointings = 0;  ///< as BeamOptions has it
    int threads = 0;               ///< 0: available_cpus()
};

/// The sky that DisplacedConvolver::make_samples has smoothed.
class DisplacedSamples {
  public:
    SampleRows rows() const { return samples_.rows(); }
    std::int64_t bytes() const { return samples_.bytes(); }

    // For Zonal's own parts.
    explicit DisplacedSamples(SampleArray samples) : samples_(std::move(samples)) {}
    const SampleArray& samples() const { return samples_; }

  private:
    SampleArray samples_;
};

/// What a detector measures whose beam is a sum of displaced kernels. It runs on the CPU. Immutable, cheap to
/// copy; any number of threads may use one at the same time. T is float or double; the arithmetic is double.
/// Results do not depend on the number of threads.
class DisplacedConvolver {
  public:
    /// Throws InvalidArgument for kernels more than largest_deflection from the axis, and as SphereSamples
    /// does.
    DisplacedConvolver(DisplacedKernels kernels, const DisplacedOptions& options);

    const DisplacedKernels& kernels() const { return *kernels_; }
    const AlmLayout& sky_layout() const { return samples_.layout(); }
    const SphereSamples& samples() const { return samples_; }
    /// At least max |error of d| / rms(d) of every sky with this spectrum: of the kernels' sum and of the
    /// interpolation.
    double bound(const std::vector<double>& spectrum) const;

    /// What pointings with theta_1 <= theta <= theta_2 need.
    SampleRows rows_between(double theta_1, double theta_2) const;
    /// sky: [sky_layout().size()]. report: null, or what to fill, for the sky's own spectrum.
    template <class T>
    DisplacedSamples make_samples(ConstView<std::complex<T>, 1> sky, SampleRows rows,
                                  BeamReport* report = nullptr) const;
    /// tod: [pointing] = what is measured at theta, phi, psi, [pointing] each, rad. Throws InvalidArgument,
    /// naming the pointing, unless 0 <= theta <= pi and the others are finite, and for rows that are not
    /// there.
    template <class T>
    void scan(const DisplacedSamples& samples, View<const double, 1> theta, View<const double, 1> phi,
              View<const double, 1> psi, View<T, 1> tod) const;
    /// sky = the transpose of make_samples and scan, as BeamConvolver::adjoint.
    template <class T>
    void adjoint(View<const double, 1> theta, View<const double, 1> phi, View<const double, 1> psi,
                 ConstView<T, 1> tod, View<std::complex<T>, 1> sky) const;

  private:
    std::shared_ptr<const DisplacedKernels> kernels_;
    SphereSamples samples_;
    DisplacedOptions options_;
};

}  // namespace zonal
