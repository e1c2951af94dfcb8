#pragma once

#include <complex>
#include <cstdint>
#include <memory>

#include "zonal/alm.hpp"
#include "zonal/device.hpp"
#include "zonal/points/samples.hpp"
#include "zonal/view.hpp"

/// What detectors with beams that are not round measure of a sky: the convolution over all directions and
/// orientations of the beam (Wandelt & Gorski 2001; Prezeau & Reinecke 2010).
///
/// A beam is that of a detector that looks at the north pole: the function b_I, and b_Q, b_U along e_theta
/// and e_phi, as alm T or T, E, B with orders up to kmax. A pointing (theta, phi, psi) turns it by R_z(phi)
/// R_y(theta) R_z(psi), so that its x axis, the meridian phi = 0 of the beam, lies in the direction psi from
/// e_theta (south) towards e_phi (east). The detector then measures
///
///     d = integral of b_I I + b_Q Q + b_U U = sum_X sum_lm conj(b^X_lm of the turned beam) s^X_lm .
///
/// A factor of 1/2 of a power detector and the efficiency of a polariser belong to the beam.
///
/// d = Re sum_k (2 - delta_k0) exp(-i k psi) P_k(theta, phi), with a field P_k = Q_k + i U_k of spin k for
/// each order k of the beam. Their samples are made once for a sky; a pointing then takes a sum over W x W of
/// them.
namespace zonal {

/// The layout of a beam that has n_coefficients up to some kmax, which it finds. Throws InvalidArgument where
/// no kmax fits.
AlmLayout beam_layout(std::int64_t lmax, std::int64_t n_coefficients);

/// How signals of beams are computed; fixed when they are planned.
struct BeamOptions {
    std::int64_t kmax = -1;  ///< orders of the beams that are used; -1: all
    /// Whether a half-wave plate turns in front of the detectors. At an angle alpha from the beam's x axis it
    /// takes P = Q + i U of the sky, in the Cartesian (Ludwig's third) frame of the beam, to exp(4 i alpha)
    /// conj(P): two more beams, of orders up to kmax + 4. It needs T, E and B.
    bool half_wave_plate = false;
    /// Bound of max |error of d| / max |d|, the largest over all theta, phi and psi (and alpha), from 1e-13
    /// to 0.1; the Legendre stages round besides, as in PointOptions. What orders above kmax would have added
    /// is no part of it; BeamReport says how much that is.
    double error = 1e-6;
    /// How many pointings each sky will be asked for, about; 0: two for each coefficient of the sky. It
    /// changes the time, not the error.
    std::int64_t n_pointings = 0;
    int threads = 0;  ///< 0: available_cpus()
    /// Where the samples are and signals are made, within the same error. Skies and beams are on the host.
    Device device = Device::cpu();
};

/// How signals of beams are made: from a field for each order of the beam, as BeamConvolver does, or from the
/// sky smoothed with a radial kernel, at several places for each pointing (zonal/beams/displaced.hpp).
/// `automatic` takes what costs less (zonal/beams/planning.hpp).
enum class BeamMethod { automatic, harmonic, displaced };

/// How far d is from what the beams would measure; the largest of all detectors.
struct BeamReport {
    double bound = 0;  ///< BeamConvolver::bound(), or DisplacedConvolver::bound() for the sky
    /// rms(error) / rms(d) over all theta, phi (of the torus), psi and alpha, of this sky.
    double mean_error = 0;
    /// rms(d of the beam's orders above kmax) / rms(d) over all pointings, of this sky.
    double left_out = 0;
    BeamMethod method = BeamMethod::harmonic;
    std::int64_t kernels = 0;  ///< of a displaced beam; the most of all detectors
};

class BeamConvolver;

/// Samples of a sky's fields P_k, which BeamConvolver::make_planes makes. Any number of threads may read
/// them.
class BeamPlanes {
  public:
    ~BeamPlanes();
    BeamPlanes(BeamPlanes&&) noexcept;
    BeamPlanes& operator=(BeamPlanes&&) noexcept;

    SampleRows rows() const;
    std::int64_t bytes() const;

    // For Zonal's own parts.
    struct Storage;
    explicit BeamPlanes(std::unique_ptr<Storage> storage);
    const Storage& storage() const { return *storage_; }

  private:
    std::unique_ptr<Storage> storage_;
};

/// Pointings of detectors, sorted by where they lie, in the memory of the convolver's device. Immutable. 40
/// bytes each, and 8 more for each detector whose psi, and for each whose plate, is its own.
class Pointings {
  public:
    /// theta, phi, psi: [1 or detectors, pointing], in rad, of all detectors or of each. hwp: angles of the
    /// half-wave plate in the same way, without elements where there is none. Detectors that share theta and
    /// phi share the work of finding samples and their weights. With a GPU they may be in its memory, as for
    /// PointPlan. Throws InvalidArgument, naming the pointing, unless 0 <= theta <= pi and the others are
    /// finite.
    Pointings(const BeamConvolver& convolver, View<const double, 2> theta, View<const double, 2> phi,
              View<const double, 2> psi, View<const double, 2> hwp = {});
    ~Pointings();
    Pointings(Pointings&&) noexcept;
    Pointings& operator=(Pointings&&) noexcept;

    std::int64_t n_pointings() const;
    /// What planes must have.
    SampleRows rows() const;

    // For Zonal's own parts.
    class Implementation;
    const Implementation& implementation() const { return *implementation_; }

  private:
    std::unique_ptr<const Implementation> implementation_;
};

/// Convolution of skies with the beams of one or several detectors. Immutable, cheap to copy; any number of
/// threads may use one at the same time. T is float or double; the arithmetic is double. Results do not
/// depend on the number of threads.
class BeamConvolver {
  public:
    /// beams: [detector, component, layout.size()], component T, or T, E, B. The lmax of the layout is that
    /// of skies, too; imaginary parts of order 0, and E and B below l = 2, count as 0. Throws
    /// InvalidArgument, and BackendUnavailable.
    BeamConvolver(const AlmLayout& layout, View<const std::complex<double>, 3> beams,
                  const BeamOptions& options = {});

    /// With kmax, n_pointings, threads and device resolved.
    const BeamOptions& options() const;
    std::int64_t n_detectors() const;
    std::int64_t components() const;      ///< of a sky: 1 or 3
    const AlmLayout& sky_layout() const;  ///< with all orders
    /// At least max |error| / max |d| for every sky, by the interpolation and its rounding; at most
    /// options().error. The interpolation is one linear map for every k, so that at a given psi it errs by
    /// the same share of max |d| as it does of any function's.
    double bound() const;
    /// How fields are sampled; and the real fields that planes hold.
    const SphereSamples& samples() const;
    std::int64_t n_fields() const;

    /// Those of the rows that pointings with theta_1 <= theta <= theta_2 need, such as Pointings::rows() or
    /// samples().rows_between(); by default of the whole sky. sky: [component, sky_layout().size()]. report:
    /// null, or what to fill.
    template <class T>
    BeamPlanes make_planes(View<const std::complex<T>, 2> sky, SampleRows rows,
                           BeamReport* report = nullptr) const;
    template <class T>
    BeamPlanes make_planes(View<const std::complex<T>, 2> sky, BeamReport* report = nullptr) const {
        return make_planes<T>(sky, samples().all_rows(), report);
    }
    /// tod: [detector, pointing] = what the detectors measure, in the caller's order of the pointings. With a
    /// GPU it may be in its memory: work on the default stream comes before, and all is done when the call
    /// returns. Throws InvalidArgument for planes and pointings of another convolver, and without rows that
    /// are needed.
    template <class T>
    void scan(const BeamPlanes& planes, const Pointings& pointings, View<T, 2> tod) const;
    /// sky = the transpose of make_planes and scan: <adjoint(tod), s> = sum of tod d(s), with alm of m > 0
    /// counted twice. tod: where that of scan may be.
    template <class T>
    void adjoint(const Pointings& pointings, ConstView<T, 2> tod, View<std::complex<T>, 2> sky) const;

    // For Zonal's own parts.
    class Implementation;
    const std::shared_ptr<const Implementation>& implementation() const { return implementation_; }

  private:
    std::shared_ptr<const Implementation> implementation_;
};

}  // namespace zonal
