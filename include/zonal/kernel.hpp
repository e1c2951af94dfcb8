#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zonal {

class Grid;

/// A radially symmetric convolution kernel on the sphere, as a profile K(theta), in 1/sr, and as its window
///   K_l = 2 pi int K(theta) P_l(cos theta) d cos theta,   K(theta) = sum_l (2l+1)/(4 pi) K_l P_l(cos theta).
/// Convolution multiplies a_lm by K_l. K_0 is the kernel's integral over the sphere. Immutable; copies share.
class RadialKernel {
  public:
    /// exp(-l(l+1) sigma^2 / 2), sigma = fwhm / sqrt(8 ln 2); fwhm in rad, > 0. The profile is that of this
    /// window on the sphere, not of the plane, to 1e-13 of its peak.
    static RadialKernel gaussian(double fwhm);
    /// Constant up to the radius (rad, in (0, pi]), integral 1.
    static RadialKernel top_hat(double radius);
    /// K_l for l = 0 .. window.size() - 1, at least one, finite; zero above.
    static RadialKernel from_window(std::vector<double> window);
    /// Values (1/sr, finite) at two or more theta (rad, ascending from 0 to at most pi): monotone cubic
    /// interpolation in chord^2 = 4 sin^2(theta/2), after Fritsch & Carlson (1980) with the slopes of
    /// Fritsch & Butland (1984); zero beyond the last.
    static RadialKernel from_profile(const std::vector<double>& theta, std::vector<double> value);

    /// K(theta), in 1/sr, at theta in [0, pi]; zero beyond support().
    double profile(double theta) const;
    /// The same at many angles, in any order: fast where the kernel is a long window.
    std::vector<double> profile(const std::vector<double>& theta) const;
    /// K_l for l = 0 .. lmax, to 1e-12 of the largest for smooth profiles. Throws InvalidArgument unless
    /// lmax >= 0.
    std::vector<double> window(std::int64_t lmax) const;
    /// Where the profile ends, rad; pi where it does not.
    double support() const;
    /// The last degree at which the window is not zero (0 where all is); -1 where it does not end.
    std::int64_t band_limit() const;
    /// Such as "gaussian fwhm=0.0174533 rad".
    const std::string& name() const;

    /// The same profile up to theta_cut (rad, in (0, pi]), zero beyond.
    RadialKernel truncated(double theta_cut) const;
    /// The kernel times a finite number.
    RadialKernel scaled(double factor) const;

    class Implementation;
    /// For the library's own use, as is the next.
    explicit RadialKernel(std::shared_ptr<const Implementation> implementation);
    /// What the kernel knows about itself.
    const Implementation& implementation() const { return *implementation_; }

  private:
    std::shared_ptr<const Implementation> implementation_;
};

/// The smallest theta_cut (rad, to 1e-4 of itself) for which, and for all larger ones, truncating the kernel
/// costs at most `error` (above 0, below 1) times the rms of the convolved map (Elsner & Wandelt 2011, eq.
/// 7):
///   sum_l (2l+1) C_l (K_l - truncated K_l)^2 <= error^2 sum_l (2l+1) C_l K_l^2.
/// c_l: [lmax + 1], the map's spectrum, finite and not negative; empty for white noise without a band limit.
/// Throws InvalidArgument for other arguments, and where nothing of the map is left by the kernel.
double support_for_error(const RadialKernel& kernel, const std::vector<double>& c_l, double error);

/// The same for maps of a grid. Where that ends less than three pixels from the antipode, it is all of the
/// kernel: the error is a mean over pixels at any distance, and there, pixels are opposite each other.
double support_for_error(const RadialKernel& kernel, const std::vector<double>& c_l, double error,
                         const Grid& grid);

/// What truncating the kernel at theta_cut (rad, in (0, pi]) costs, in the same measure: 0 where nothing lies
/// beyond. Throws InvalidArgument for the same c_l as support_for_error.
double truncation_error(const RadialKernel& kernel, const std::vector<double>& c_l, double theta_cut);

}  // namespace zonal
