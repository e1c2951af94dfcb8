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

/// Convolution of Q and U as the sum over pixels within the kernel's support. Immutable: any number of
/// threads may use one plan at the same time.
class PolarizationConvolutionPlan {
  public:
    /// As PixelConvolutionPlan. Throws InvalidArgument and BackendUnavailable.
    PolarizationConvolutionPlan(const Grid& grid, const PolarizationKernel& kernel, const Grid& grid_out,
                                const PixelConvolutionOptions& options = {});
    ~PolarizationConvolutionPlan();
    PolarizationConvolutionPlan(PolarizationConvolutionPlan&&) noexcept;
    PolarizationConvolutionPlan& operator=(PolarizationConvolutionPlan&&) noexcept;

    const Grid& grid() const;
    const Grid& grid_out() const;
    /// With accuracy, threads and device resolved.
    const PixelConvolutionOptions& options() const;
    /// Of one map, Q and U; in bands, of all devices, with the bands' parts of the maps.
    std::int64_t workspace_bytes() const;
    /// Of each device, in the order of PixelConvolutionOptions::devices.
    std::vector<PixelConvolutionShare> shares() const;
    PixelConvolutionWork work() const;
    /// n_maps: that calls will bring at once; >= 1.
    PixelConvolutionWorkspace make_workspace(std::int64_t n_maps = 1) const;

    /// maps: [map, 2 (Q, U), grid.n_pixels()], convolved: [map, 2, grid_out.n_pixels()], last axis
    /// contiguous, not overlapping; on CUDA in host memory or, where there is one device, the device's. COSMO
    /// convention; with IAU's, U has the other sign in both. Pixels of the output in no ring are left as they
    /// are. Throws InvalidArgument, Cancelled and DeviceError.
    template <class T>
    void convolve(View<const T, 3> maps, View<T, 3> convolved, const Progress& progress = {}) const;
    template <class T>
    void convolve(View<const T, 3> maps, View<T, 3> convolved, PixelConvolutionWorkspace& workspace,
                  const Progress& progress = {}) const;

  private:
    struct Implementation;
    std::unique_ptr<const Implementation> implementation_;
};

}  // namespace zonal
