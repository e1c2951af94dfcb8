#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "zonal/kernel.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal::radial {

/// W_l = 2 pi int (K+ d^l_{2,2} +- K- d^l_{2,-2}) sin theta d theta, l = 0 .. lmax, of the kernel from
/// `first` to `last` (rad), between which it has no steps.
SpinWindows windows_between(const PolarizationKernel& kernel, double first, double last, std::int64_t lmax);

/// sum_l (2l+1)/(4 pi) (W^E_l^2 + W^B_l^2) over all degrees, of the same part.
double power_between(const PolarizationKernel& kernel, double first, double last);

/// Nodes (rad) and weights of a rule for integrals over theta.
struct Quadrature {
    std::vector<double> theta, weight;
};

/// The Gauss rule between each two neighbouring edges (rad, ascending) that integrates what oscillates no
/// faster than P_l of this degree to rounding.
Quadrature quadrature_between(const std::vector<double>& edges, double degree);

struct KernelExtent {
    double theta;  ///< rad, from where on nothing of the profile counts; at most the support
    double peak;   ///< the largest |K| that was seen, 1/sr
};

/// threshold: of the peak, what counts as nothing.
KernelExtent find_extent(const RadialKernel& kernel, double threshold);

}  // namespace zonal::radial

namespace zonal {

/// What each sort of kernel knows about itself.
class RadialKernel::Implementation {
  public:
    virtual ~Implementation() = default;

    /// K, 1/sr, at colatitudes up to the support. theta, value: [n].
    virtual void profile(std::span<const double> theta, std::span<double> value) const = 0;
    /// K_l, l = 0 .. lmax. By quadrature of the profile, unless a kernel knows better.
    virtual std::vector<double> window(std::int64_t lmax) const;
    /// The last degree at which the window is not zero; -1 where it does not end.
    virtual std::int64_t band_limit() const { return -1; }
    /// Whether it is made of its window, which the profile follows from: a Gaussian, or b_l.
    virtual bool is_window() const { return false; }
    /// Colatitudes from 0 to the support, ascending, between which the profile is smooth.
    virtual std::vector<double> breaks() const { return {0, support_}; }
    /// Up to which degree the profile oscillates between its breaks: beyond it P_l would have coefficients
    /// below rounding.
    virtual double bandwidth() const = 0;

    double support() const { return support_; }
    const std::string& name() const { return name_; }

  protected:
    Implementation(std::string name, double support) : name_(std::move(name)), support_(support) {}

  private:
    std::string name_;
    double support_;
};

}  // namespace zonal
