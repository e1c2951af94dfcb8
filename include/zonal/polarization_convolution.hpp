#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "zonal/convolution.hpp"

namespace zonal {

/// Windows of E and B, [lmax + 1] each.
struct SpinWindows {
    std::vector<double> gradient, curl;
};

/// What convolves Q and U by windows of E and B: with P = Q + iU and psi, psi' the directions (from e_theta
/// towards e_phi) of the great circle from p to p' at its two ends,
///   P'(p) = sum_p' w(p') [K+ e^{2i(psi-psi')} P(p') + K- e^{2i(psi+psi')} conj P(p')],
///   K+- = sum_l (2l+1)/(4 pi) (W^E_l +- W^B_l)/2 d^l_{2,+-2}(theta).
/// Immutable; copies share.
class PolarizationKernel {
  public:
    /// W_l for l = 0 .. size - 1, zero above; what is below 2 does not matter. Throws InvalidArgument for
    /// windows without a value from l = 2 on, or with values that are not finite.
    PolarizationKernel(const std::vector<double>& window_e, const std::vector<double>& window_b);
    /// exp(-(l(l+1) - 4) sigma^2 / 2) for both; fwhm in rad, from 1e-5 to 2 pi.
    static PolarizationKernel gaussian(double fwhm);
    /// K+ = plus cos^4(theta/2), no K-: the windows of E and B are one.
    static PolarizationKernel from_plus(const RadialKernel& plus);

    /// The same up to theta_cut (rad, in (0, pi]), zero beyond.
    PolarizationKernel truncated(double theta_cut) const;
    double support() const { return support_; }
    /// W^E_l and W^B_l for l = 0 .. lmax, zero below 2; of a truncated kernel those that it has. Throws
    /// InvalidArgument unless lmax >= 0.
    SpinWindows windows(std::int64_t lmax) const;
    /// The last degree of the windows; -1 where they do not end.
    std::int64_t band_limit() const;

    /// K+ / cos^4(theta/2) and K- / sin^4(theta/2), which are smooth everywhere, in 1/sr; null where zero.
    const RadialKernel* plus() const { return plus_.get(); }
    const RadialKernel* minus() const { return minus_.get(); }

  private:
    PolarizationKernel() = default;
    std::shared_ptr<const RadialKernel> plus_, minus_;
    std::shared_ptr<const SpinWindows> windows_;  ///< of whole kernels, as given
    double support_ = 0;
};

/// As support_for_error of a RadialKernel, for maps of Q and U with the spectra c_ee and c_bb, [lmax + 1]
/// each, both empty for white noise:
///   sum_l (2l+1) [C^EE_l (W^E_l - truncated)^2 + C^BB_l (W^B_l - truncated)^2]
///       <= error^2 sum_l (2l+1) [C^EE_l W^E_l^2 + C^BB_l W^B_l^2].
double support_for_error(const PolarizationKernel& kernel, const std::vector<double>& c_ee,
                         const std::vector<double>& c_bb, double error, const Grid& grid);
/// As truncation_error of a RadialKernel, in the same measure.
double truncation_error(const PolarizationKernel& kernel, const std::vector<double>& c_ee,
                        const std::vector<double>& c_bb, double theta_cut);

/// Convolves maps of Q and U by summing over the pixels within the kernel's support.
using PolarizationConvolutionPlan = KernelConvolutionPlan<PolarizationKernel>;

}  // namespace zonal
