#pragma once

#include <complex>
#include <cstdint>
#include <memory>

#include "zonal/alm.hpp"
#include "zonal/device.hpp"
#include "zonal/grid.hpp"
#include "zonal/view.hpp"

/// Gravitational lensing: a sky seen through a field of deflections, T~(n) = T(n') and P~(n) = e^{2 i gamma}
/// P(n') for P = Q + iU, where n' lies |d| away from n in the direction of d, and e_theta of n makes the
/// angle gamma less with the geodesic at n' than e_theta of n' does. d = grad phi + r x grad psi for the
/// potential phi and, where there is one, the curl potential psi; d_theta, d_phi in radians.
namespace zonal {

/// Deflections beyond it are refused: half a turn away the geodesic, and with it gamma, is not defined.
inline constexpr double largest_deflection = 3;  // rad

/// Moves points along geodesics. theta, phi: [point], 0 <= theta <= pi. deflection: [2, point], along e_theta
/// and e_phi, rad. new_theta, new_phi: [point], phi of as many turns as before; rotation: [2, point], cos
/// gamma and sin gamma. Nothing is divided by |d| or sin theta: points at the poles and those that stay are
/// as right as others. Throws InvalidArgument, naming the point, for a deflection above largest_deflection or
/// NaN. threads: 0 means available_cpus().
void displace(View<const double, 1> theta, View<const double, 1> phi, View<const double, 2> deflection,
              View<double, 1> new_theta, View<double, 1> new_phi, View<double, 2> rotation, int threads = 0);

/// What deflects. alm: [1 or 2, layout.size()]: of phi, and of the curl potential.
struct DeflectionPotentials {
    AlmLayout layout;
    View<const std::complex<double>, 2> alm;
};

/// What skies are lensed, and how; fixed when Lensing is made.
struct LensingOptions {
    std::int64_t lmax = -1;  ///< of the sky; must be given: >= 0, with E and B >= 2
    std::int64_t mmax = -1;  ///< -1: lmax
    int components = 1;      ///< 1: T -> I; 2: E, B -> Q, U; 3: T, E, B -> I, Q, U
    /// Bound of max |error| / max |T|, and of max |error of P| / max |P|, over the sphere; from 2e-14 to 0.1
    /// as in PointOptions. At points that are in no grid the deflections' own errors count too.
    double error = 1e-7;
    /// Whether differentiate can be called, which keeps 32 bytes more for each pixel of a grid, and 48
    /// for each point.
    bool derivatives = true;
    int threads = 0;  ///< 0: available_cpus()
    /// Where all is computed. On a GPU alm, values, theta and phi may be in its memory or in the host's, and
    /// potentials and gradients are in the host's.
    Device device = Device::cpu();
};

/// What a call of Lensing::lens reports.
struct LensingReport {
    double bound = 0;  ///< of max |error| / max |f|, at most the error asked for
    /// rms(error) / rms(f) over the torus, of these alm; the largest of the call's maps.
    double mean_error = 0;
};

/// Lensing of skies by one field of deflections, at the pixels of a grid or at any points, with its transpose
/// and its derivatives. Immutable: any number of threads may use one at the same time. Results do not depend
/// on the number of threads.
///
/// alm: [map, components, AlmLayout(lmax, mmax).size()]; values: [map, components, n_values()]. The last axis
/// of both is contiguous. T is float or double; positions are double. Arrays in a GPU's memory must be ready,
/// or be written by work on the default stream; calls return when all is done. Throws InvalidArgument when a
/// shape does not fit.
class Lensing {
  public:
    /// At the pixels of a grid, of which those in no ring are left as they are. Throws InvalidArgument for
    /// potentials of no degree above 0, deflections above largest_deflection, and as SphereSamples does.
    Lensing(const Grid& grid, const DeflectionPotentials& potentials, const LensingOptions& options);
    /// At points, [point].
    Lensing(View<const double, 1> theta, View<const double, 1> phi, const DeflectionPotentials& potentials,
            const LensingOptions& options);
    ~Lensing();
    Lensing(Lensing&&) noexcept;
    Lensing& operator=(Lensing&&) noexcept;

    const LensingOptions& options() const;  ///< with mmax and threads resolved
    const AlmLayout& layout() const;        ///< of the sky
    std::int64_t n_values() const;
    double bound() const;  ///< LensingReport::bound
    /// |d| of the points in rad: the largest, and the root of the mean square.
    double largest() const;
    double rms() const;

    /// values = the lensed sky. report: null, or what to fill.
    template <class T>
    void lens(ConstView<std::complex<T>, 3> alm, View<T, 3> values, LensingReport* report = nullptr) const;
    /// alm = the transpose: sum_p f_p conj(lensed Y_lm(p)). It does not undo lensing.
    template <class T>
    void adjoint(ConstView<T, 3> values, View<std::complex<T>, 3> alm) const;
    /// The derivatives of sum_p f_p (lensed sky)_p by the potentials, [1 or 2, potentials' layout size]: L
    /// changes by <g, dphi> = sum (2 - delta_m0) Re(conj(g_lm) dphi_lm). values: f, alm: the sky's. Throws
    /// InvalidArgument without LensingOptions::derivatives.
    template <class T>
    void differentiate(ConstView<std::complex<T>, 3> alm, ConstView<T, 3> values,
                       View<std::complex<double>, 2> gradient) const;

    // For Zonal's own parts.
    class Implementation;
    const Implementation& implementation() const { return *implementation_; }

  private:
    std::unique_ptr<const Implementation> implementation_;
};

/// Bytes that Lensing on a grid, and lens() of one sky into values in double precision that are written for
/// the first time, take beside alm and potentials.
double bytes_of_lensing(const Grid& grid, const AlmLayout& potentials, std::int64_t n_potentials,
                        const LensingOptions& options);

/// How far the way back is sought.
struct InverseDeflectionOptions {
    /// The way back misses its point by at most this share of the largest |d|; from 4e-14 to 0.1.
    double error = 1e-10;
    int max_iterations = 50;  ///< 1 or more
    int threads = 0;          ///< 0: available_cpus()
};

/// How the way back was found.
struct InverseDeflectionReport {
    int iterations = 0;  ///< Newton's
    /// By how much the way back misses, in rad: the largest |D + e^{i gamma} d(n')|.
    double residual = 0;
    /// How fast deflections change: the largest rad per rad at the points where those that end here begin.
    /// Below 1 on the whole sphere there is one inverse; fixed-point steps would contract by it.
    double contraction = 0;
};

/// inverse = D at points x such that y = exp_x(D) is deflected to x, exp_y(d(y)) = x: where light that comes
/// from x is seen. [2, point], rad, along e_theta and e_phi of x. By Newton's iteration from D = -d(x).
/// Throws InvalidArgument for potentials whose deflections fold the sky so that no D is found, naming the
/// point and by how much d changes there.
InverseDeflectionReport invert_deflection(const DeflectionPotentials& potentials, View<const double, 1> theta,
                                          View<const double, 1> phi, View<double, 2> inverse,
                                          const InverseDeflectionOptions& options = {});
/// At the pixels of a grid, [2, grid.n_pixels()]; those in no ring are left as they are.
InverseDeflectionReport invert_deflection(const DeflectionPotentials& potentials, const Grid& grid,
                                          View<double, 2> inverse,
                                          const InverseDeflectionOptions& options = {});

}  // namespace zonal
