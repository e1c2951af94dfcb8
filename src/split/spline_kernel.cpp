#include <fmt/core.h>

#include <memory>

#include "radial/kernels/kernel_implementation.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/split.hpp"

namespace zonal {
namespace {

class SplineKernel final : public RadialKernel::Implementation {
  public:
    explicit SplineKernel(SplineProfile spline)
        : Implementation(
              fmt::format("spline knots={} radius={:.6g} rad", spline.knots().size(), spline.support()),
              spline.support()),
          spline_(std::move(spline)) {}

    void profile(std::span<const double> theta, std::span<double> value) const override {
        for (std::size_t i = 0; i < theta.size(); ++i) value[i] = spline_(theta[i]);
    }
    std::vector<double> window(std::int64_t lmax) const override { return spline_.window(lmax); }
    std::vector<double> breaks() const override { return spline_.knots(); }
    /// A quintic in theta: P_l with l theta of a few units do for it.
    double bandwidth() const override { return 5; }

  private:
    SplineProfile spline_;
};

}  // namespace

RadialKernel SplineProfile::kernel() const {
    return RadialKernel(std::make_shared<SplineKernel>(*this));
}

PolarizationKernel SplineProfile::polarization_kernel() const {
    return PolarizationKernel::from_plus(kernel());
}

}  // namespace zonal
