#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "zonal/kernel.hpp"
#include "zonal/memory.hpp"
#include "zonal/progress.hpp"

namespace zonal {

class PolarizationKernel;

/// A SplineProfile is a profile K(theta), in 1/sr: an even spline of degree 5 with four continuous
/// derivatives that is 0 from support() on. Copies share.
class SplineProfile {
  public:
    /// Makes the spline of these knots (rad, ascending from 0 to the support, which is at most pi; 8 or more)
    /// and coefficients [knots.size() - 3] of B-splines in the order of their maxima. Throws InvalidArgument.
    SplineProfile(std::vector<double> knots, std::vector<double> coefficients);

    /// Returns K(theta) in 1/sr, theta in [0, pi].
    double operator()(double theta) const;
    /// Returns the angle where the profile ends, rad.
    double support() const;
    const std::vector<double>& knots() const;
    const std::vector<double>& coefficients() const;
    /// Returns K_l = 2 pi int K(theta) P_l(cos theta) d cos theta for l = 0 .. lmax, to rounding, or for spin
    /// 2 the window of polarization_kernel(). spin: 0 or 2.
    std::vector<double> window(std::int64_t lmax, int spin = 0) const;
    /// Returns the profile as a kernel for convolutions.
    RadialKernel kernel() const;
    /// Returns the kernel of Q and U with K+ = K cos^4(theta/2) and K- = 0: its windows of E and B are equal.
    PolarizationKernel polarization_kernel() const;

  private:
    struct Spline;
    std::shared_ptr<const Spline> spline_;
};

/// Options of a split: the maps that it is for, and the fit.
struct KernelSplitOptions {
    /// Spin of the maps: 0, or 2 for Q and U. With 2 the window is that of E and of B and counts from l = 2
    /// on, spectra are sums of EE and BB, and the profile is that of polarization_kernel().
    int spin = 0;
    /// Angle where the profile ends, rad, in (0, pi].
    double theta_cut = 0;
    /// C_l of the maps that the kernel will be applied to, [lmax + 1], not negative, in any unit. Errors are
    /// weighted with it. Empty: white, C_l = 1. See wiener_spectrum.
    std::vector<double> input_spectrum{};
    /// C_l above lmax, with which leakage is weighted, in the unit of input_spectrum; 0: the last C_l of it.
    /// Sums over pixels see there what the pixels alias, which is more if the spectrum is steep.
    double spectrum_beyond = 0;
    /// Estimated errors are that of the fit times alpha, to stand for that of the convolutions; 5 in the
    /// paper.
    double alpha = 5;
    /// Singular values of the fit below this times the largest are left out, in (0, 1).
    double cutoff = 1e-6;
    /// A split passes with an amplification of at most this. A profile that does all the work has about 1.
    /// See SplitQuality.
    double max_amplification = 2;
    /// Weight in the fit, in (0, 1], of degrees above lmax, where the profile's window should vanish. With 1
    /// it is smallest there, with less the fit below lmax is a little better.
    double leakage_weight = 0.1;
    /// A split passes with a leakage of at most this; 0: half of the error in find_l_cut.
    double max_leakage = 0;
    /// Intervals between knots; 0: as many as the band limit needs, see docs/how-it-works/split.md.
    std::int64_t n_intervals = 0;
    /// How much denser the knots lie at theta = 0 than at theta_cut, 1 to 100.
    double knot_density = 1;
    int threads = 0;                            ///< 0: available_cpus()
    MemoryCheck check_memory = require_memory;  ///< told of what a splitter takes, before it does
};

/// The quality of the split at one l_cut.
struct SplitQuality {
    std::int64_t l_cut;
    /// rms of the error of a convolved map over the rms of that map, times alpha (Sutter, Wandelt & Elsner
    /// 2015, eq. 6).
    double estimated_error;
    /// max_l |window of the profile| / max_l |K_l|: by how much the two parts are larger than their sum,
    /// which is also how much rounding of the profile's convolution grows.
    double amplification;
    /// rms of what the profile adds above lmax, over the rms of the convolved map, if the map goes on there
    /// with its last C_l, as white noise on pixels does. For maps that end at lmax, a sum over pixels sees
    /// there what it aliases.
    double leakage;
    int rank;  ///< number of singular values that the fit keeps
};

/// A KernelSplit approximates K_l by window_l [l <= l_cut] + (window of the profile)_l.
struct KernelSplit {
    SplitQuality quality;
    std::vector<double> window;          ///< [l_cut + 1], for harmonic space
    SplineProfile profile;               ///< for pixel space
    std::vector<double> profile_window;  ///< [lmax + 1], of the profile
    /// quality.estimated_error without alpha, computed anew from the window and the values of the profile
    /// that are returned.
    double actual_error;
    int spin = 0;  ///< KernelSplitOptions::spin
};

/// Splits a kernel into a window up to l_cut and a profile up to theta_cut (Sutter, Wandelt & Elsner 2015).
/// The profile minimises
///   sum_{l > l_cut} (2l+1) C_l (window of the profile - K)_l^2
/// and the window makes up for the rest up to l_cut exactly. The constructor prepares what all l_cut share;
/// the object is immutable then, and many threads may use it.
class KernelSplitter {
  public:
    /// window: K_l for l = 0 .. lmax, finite, not all zero, lmax >= 8. Throws InvalidArgument, and Cancelled
    /// between windows of splines and blocks of the fit.
    KernelSplitter(std::vector<double> window, const KernelSplitOptions& options,
                   const Progress& progress = {});
    ~KernelSplitter();
    KernelSplitter(KernelSplitter&&) noexcept;
    KernelSplitter& operator=(KernelSplitter&&) noexcept;

    std::int64_t lmax() const;
    /// Returns the options with the numbers of knots and threads filled in.
    const KernelSplitOptions& options() const;

    /// Returns how good the split at l_cut is, or the split itself. l_cut: 0 to lmax() - 1.
    SplitQuality quality(std::int64_t l_cut) const;
    KernelSplit split(std::int64_t l_cut) const;

    /// Returns the smallest l_cut that it finds with estimated_error at most `error`, and amplification and
    /// leakage at most those of the options. Quality is not monotone in l_cut, so after a binary search the
    /// `neighbourhood` values below are tried too, and again below each that passes. Returns nothing if none
    /// of the l_cut that divide 0 to lmax() - 1 into most_parts(neighbourhood) passes, although one between
    /// them may. Throws Cancelled between fits.
    std::optional<std::int64_t> find_l_cut(double error, std::int64_t neighbourhood = 8,
                                           const Progress& progress = {}) const;
    /// Into how many parts a search divides 0 to lmax() - 1 at most.
    static constexpr std::int64_t most_parts(std::int64_t neighbourhood) {
        return neighbourhood > 0 ? 64 : 8;
    }

  private:
    struct Problem;
    std::unique_ptr<const Problem> problem_;
};

/// Returns KernelSplit::actual_error for any two windows: the rms of the error of maps of c_l that are
/// convolved with their sum in place of the kernel, over the rms of the convolved maps. kernel: [lmax + 1];
/// window: at most as many; profile_window: [lmax + 1]; c_l: [lmax + 1], or empty for white maps. Throws
/// InvalidArgument for other lengths.
double split_error(const std::vector<double>& kernel, const std::vector<double>& window,
                   const std::vector<double>& profile_window, const std::vector<double>& c_l);

/// Returns C_l^2 / (C_l + N_l), and 0 where both are 0: the spectrum of a Wiener-filtered map, which can be
/// an input_spectrum of splits. signal, noise: [lmax + 1], not negative.
std::vector<double> wiener_spectrum(const std::vector<double>& signal, const std::vector<double>& noise);

}  // namespace zonal
