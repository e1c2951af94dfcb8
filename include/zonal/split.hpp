#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "zonal/kernel.hpp"
#include "zonal/progress.hpp"

namespace zonal {

class PolarizationKernel;

/// A profile K(theta), in 1/sr, that is an even spline of degree 5 with four continuous derivatives and zero
/// from support() on. Copies share.
class SplineProfile {
  public:
    /// knots: rad, ascending from 0 to the support, at most pi, at least 8. coefficients: [knots.size() - 3],
    /// of the even B-splines in the order of their maxima. Throws InvalidArgument.
    SplineProfile(std::vector<double> knots, std::vector<double> coefficients);

    /// K(theta) in 1/sr, theta in [0, pi].
    double operator()(double theta) const;
    /// Where the profile ends, rad.
    double support() const;
    const std::vector<double>& knots() const;
    const std::vector<double>& coefficients() const;
    /// K_l = 2 pi int K(theta) P_l(cos theta) d cos theta for l = 0 .. lmax, by Gauss-Legendre quadrature
    /// between the knots, to rounding; of spin 2 that of polarization_kernel(). spin: 0 or 2.
    std::vector<double> window(std::int64_t lmax, int spin = 0) const;
    /// The same as a kernel for convolutions.
    RadialKernel kernel() const;
    /// The kernel K+ = K cos^4(theta/2) of Q and U, whose windows of E and B are one.
    PolarizationKernel polarization_kernel() const;

  private:
    struct Spline;
    std::shared_ptr<const Spline> spline_;
};

/// What a split is made for.
struct KernelSplitOptions {
    /// Of the maps: 0, or 2 for Q and U. There the window, of E and B alike, counts from l = 2 on, spectra
    /// are the sum of those of E and B, and the profile is that of polarization_kernel().
    int spin = 0;
    /// Where the profile ends, rad, in (0, pi].
    double theta_cut = 0;
    /// C_l of the maps that the kernel will be applied to, [lmax + 1], not negative, in any unit: what errors
    /// are weighted with. Empty: white, C_l = 1. See wiener_spectrum.
    std::vector<double> input_spectrum{};
    /// C_l above lmax, by which leakage is weighed, in the unit of input_spectrum; 0: as the last of that.
    /// Sums over pixels see there what the pixels alias, which of steep spectra is more.
    double spectrum_beyond = 0;
    /// The error of the fit is multiplied by this to stand for that of the convolutions. The paper takes 5.
    double alpha = 5;
    /// Singular values of the fit below this times the largest are left out, in (0, 1).
    double cutoff = 1e-6;
    /// A split passes with an amplification of at most this. A profile that does all has 1 and may need a
    /// little more.
    double max_amplification = 2;
    /// Weight, in (0, 1], of degrees above lmax, where the profile's window shall vanish. 1 keeps it smallest
    /// there, less lets the fit below lmax be a little better.
    double leakage_weight = 0.1;
    /// A split passes with a leakage of at most this; 0: half the error that is asked for.
    double max_leakage = 0;
    /// Intervals between knots; 0: as many as the band limit needs, see docs/split.md.
    std::int64_t n_intervals = 0;
    /// How much denser the knots lie at theta = 0 than at theta_cut, 1 to 100.
    double knot_density = 1;
    int threads = 0;  ///< 0: available_cpus()
};

/// How good the split at one l_cut is.
struct SplitQuality {
    std::int64_t l_cut;
    /// alpha times the error of the fit: the root mean square of the error of a convolved map over that of
    /// the convolved map (Sutter, Wandelt & Elsner 2015, eq. 6).
    double estimated_error;
    /// max_l |window of the profile| / max_l |K_l|: how much larger than the result the numbers are that are
    /// added up to it, and so how much arithmetic errors of the profile's convolution grow.
    double amplification;
    /// Root mean square of what the profile adds above lmax to a map that goes on there with its last C_l
    /// (white noise on pixels does), over that of the convolved map. Of maps that end at lmax a sum over
    /// pixels brings back what it aliases.
    double leakage;
    int rank;  ///< singular values of the fit that are kept
};

/// K_l = window_l [l <= l_cut] + (window of the profile)_l, nearly.
struct KernelSplit {
    SplitQuality quality;
    std::vector<double> window;          ///< [l_cut + 1], what is applied in harmonic space
    SplineProfile profile;               ///< what is applied in pixel space
    std::vector<double> profile_window;  ///< [lmax + 1], of the profile
    /// As quality.estimated_error but without alpha, from window and profile as they stand: the window of the
    /// profile is computed anew from its values.
    double actual_error;
    int spin = 0;  ///< KernelSplitOptions::spin
};

/// Splits a kernel between harmonic and pixel space (Sutter, Wandelt & Elsner 2015): a window up to l_cut and
/// a profile up to theta_cut, which together make
///   sum_{l > l_cut} (2l+1) C_l (window of the profile - K)_l^2
/// the smallest; the window up to l_cut makes up for the rest exactly. Prepares what all l_cut share; then
/// immutable, and any number of threads may use it.
class KernelSplitter {
  public:
    /// window: K_l, l = 0 .. lmax, finite, lmax >= 8 and not all zero. Throws InvalidArgument; Cancelled, as
    /// find_l_cut does, between windows of splines and blocks of the fit.
    KernelSplitter(std::vector<double> window, const KernelSplitOptions& options,
                   const Progress& progress = {});
    ~KernelSplitter();
    KernelSplitter(KernelSplitter&&) noexcept;
    KernelSplitter& operator=(KernelSplitter&&) noexcept;

    std::int64_t lmax() const;
    /// With knots and threads resolved.
    const KernelSplitOptions& options() const;

    /// l_cut: 0 to lmax() - 1.
    SplitQuality quality(std::int64_t l_cut) const;
    KernelSplit split(std::int64_t l_cut) const;

    /// The smallest l_cut whose estimated_error is at most `error` and whose amplification and leakage are at
    /// most those of the options, as far as a binary search finds it: as quality is not monotone in l_cut,
    /// the `neighbourhood` values below are tried too, again below each that passes. Empty where none of nine
    /// l_cut from 0 to lmax() - 1 passes. Throws Cancelled between the fits that it tries.
    std::optional<std::int64_t> find_l_cut(double error, std::int64_t neighbourhood = 8,
                                           const Progress& progress = {}) const;

  private:
    struct Problem;
    std::unique_ptr<const Problem> problem_;
};

/// What KernelSplit::actual_error is, of any two windows in place of a kernel: the root mean square of the
/// error of maps of c_l that are convolved with their sum, over that of the convolved maps. kernel: [lmax +
/// 1]; window: at most as many; profile_window: [lmax + 1]; c_l: [lmax + 1], or empty for white maps. Throws
/// InvalidArgument for other lengths.
double split_error(const std::vector<double>& kernel, const std::vector<double>& window,
                   const std::vector<double>& profile_window, const std::vector<double>& c_l);

/// C_l^2 / (C_l + N_l), 0 where both are 0: the spectrum of a Wiener-filtered map, an input spectrum for
/// splits. signal, noise: [lmax + 1], not negative.
std::vector<double> wiener_spectrum(const std::vector<double>& signal, const std::vector<double>& noise);

}  // namespace zonal
