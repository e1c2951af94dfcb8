#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zonal {

class Grid;

/// A RadialKernel is a radially symmetric kernel: it has a profile K(theta), in 1/sr, and a window
///   K_l = 2 pi int K(theta) P_l(cos theta) d cos theta,   K(theta) = sum_l (2l+1)/(4 pi) K_l P_l(cos theta).
/// Convolution multiplies a_lm by K_l; K_0 is the integral over the sphere. It is immutable; copies share.
class RadialKernel {
  public:
    /// Makes the Gaussian with the window exp(-l(l+1) sigma^2 / 2), sigma = fwhm / sqrt(8 ln 2); fwhm in rad,
    /// > 0. Its profile is exact on the sphere to 1e-13 of the peak, not that of the plane.
    static RadialKernel gaussian(double fwhm);
    /// Makes a kernel that is constant up to the radius (rad, in (0, pi]) and has the integral 1.
    static RadialKernel top_hat(double radius);
    /// Makes a kernel of K_l for l = 0 .. window.size() - 1, at least one, all finite. K_l is 0 above.
    static RadialKernel from_window(std::vector<double> window);
    /// Makes a kernel of values (1/sr, finite) at two or more theta (rad, ascending from 0 to at most pi), by
    /// monotone cubic interpolation in chord^2 = 4 sin^2(theta/2), after Fritsch & Carlson (1980) with the
    /// slopes of Fritsch & Butland (1984). It is 0 beyond the last theta.
    static RadialKernel from_profile(const std::vector<double>& theta, std::vector<double> value);

    /// Returns K(theta), in 1/sr, at theta in [0, pi]; it is 0 beyond support().
    double profile(double theta) const;
    /// Returns the same at many angles, in any order. This is faster if the kernel is a long window.
    std::vector<double> profile(const std::vector<double>& theta) const;
    /// Returns K_l for l = 0 .. lmax, for smooth profiles to 1e-12 of the largest. Throws InvalidArgument
    /// unless lmax >= 0.
    std::vector<double> window(std::int64_t lmax) const;
    /// Returns the angle where the profile ends, rad; pi if it does not end.
    double support() const;
    /// Returns the last degree with K_l != 0 (0 if all are 0), or -1 if the window does not end.
    std::int64_t band_limit() const;
    /// Returns a name for reports, such as "gaussian fwhm=0.0174533 rad".
    const std::string& name() const;

    /// Returns the kernel with this profile up to theta_cut (rad, in (0, pi]) and 0 beyond.
    RadialKernel truncated(double theta_cut) const;
    /// Returns the kernel multiplied by a finite number.
    RadialKernel scaled(double factor) const;

    class Implementation;
    /// This and the next member are for the library's own use.
    explicit RadialKernel(std::shared_ptr<const Implementation> implementation);
    /// What the kernel knows about itself.
    const Implementation& implementation() const { return *implementation_; }

  private:
    std::shared_ptr<const Implementation> implementation_;
};

/// Returns the smallest theta_cut (rad, to 1e-4 of itself) at which a kernel may be truncated: there and at
/// larger angles this costs at most `error` (in (0, 1)) times the rms of the convolved map, as in Elsner &
/// Wandelt (2011), eq. 7:
///   sum_l (2l+1) C_l (K_l - truncated K_l)^2 <= error^2 sum_l (2l+1) C_l K_l^2.
/// c_l: [lmax + 1], the map's spectrum, finite and not negative; empty for white noise without a band limit.
/// Throws InvalidArgument for other arguments, and if the kernel leaves nothing of the map.
double support_for_error(const RadialKernel& kernel, const std::vector<double>& c_l, double error);

/// Returns the same for maps of a grid, or the whole support if that ends less than 3 pixels from the
/// antipode: the error is a mean over pixels at any distance, and there every pixel has another one opposite.
double support_for_error(const RadialKernel& kernel, const std::vector<double>& c_l, double error,
                         const Grid& grid);

/// Returns what truncating the kernel at theta_cut (rad, in (0, pi]) costs, in the same measure; 0 if nothing
/// lies beyond. Throws InvalidArgument for the same c_l as support_for_error.
double truncation_error(const RadialKernel& kernel, const std::vector<double>& c_l, double theta_cut);

}  // namespace zonal
