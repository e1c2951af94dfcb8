#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "radial/kernels/kernel_implementation.hpp"
#include "zonal/error.hpp"
#include "zonal/wavelets.hpp"

namespace zonal {
namespace {

class MexicanHat final : public RadialKernel::Implementation {
  public:
    explicit MexicanHat(double radius)
        : Implementation(fmt::format("mexican_hat radius={:.6g} rad", radius), std::numbers::pi),
          radius_(radius) {}

    void profile(std::span<const double> theta, std::span<double> value) const override {
        const double r2 = radius_ * radius_;
        const double norm = std::sqrt(2 * std::numbers::pi * (1 + r2 / 2 + r2 * r2 / 4)) * radius_;
        for (std::size_t i = 0; i < theta.size(); ++i) {
            const double half_y = std::tan(theta[i] / 2), x = 4 * half_y * half_y / r2;
            const double area = 1 + half_y * half_y;
            // At the antipode infinity times zero.
            value[i] = x > largest_exponent ? 0 : (2 - x) * area * area * std::exp(-x / 2) / norm;
        }
    }

    /// Its window falls as l^2 exp(-l^2 R^2 / 2) for a narrow hat; the second term is for the widest, which
    /// the stereographic projection bends.
    double bandwidth() const override { return 10 / radius_ + 50; }

  private:
    static constexpr double largest_exponent = 1000;
    double radius_;
};

}  // namespace

RadialKernel mexican_hat(double radius) {
    if (!(radius > 0 && radius <= 1))
        throw InvalidArgument(fmt::format("radius = {} rad: must be above 0 and at most 1", radius));
    return RadialKernel(std::make_shared<MexicanHat>(radius));
}

}  // namespace zonal
