#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "radial/kernels/kernel_implementation.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

class TopHat final : public RadialKernel::Implementation {
  public:
    explicit TopHat(double radius)
        : Implementation(fmt::format("top_hat radius={:.6g} rad", radius), radius),
          height_(2 * std::pow(std::sin(radius / 2), 2)) {}

    void profile(std::span<const double> /*theta*/, std::span<double> value) const override {
        std::fill(value.begin(), value.end(), 1 / (2 * std::numbers::pi * height_));
    }

    // K_l = (P_{l-1} - P_{l+1}) / ((2l+1) h) at cos theta = 1 - h, in the differences d_l = P_l - P_{l-1} in
    // which nothing cancels: (l+1) d_{l+1} = l d_l - (2l+1) h P_l.
    std::vector<double> window(std::int64_t lmax) const override {
        std::vector<double> result(static_cast<std::size_t>(lmax) + 1);
        double p = 1, d = 0;
        for (std::size_t l = 0; l < result.size(); ++l) {
            const auto degree = static_cast<double>(l), odd = 2 * degree + 1;
            const double next = (degree * d - odd * height_ * p) / (degree + 1);
            result[l] = -(d + next) / (odd * height_);
            d = next;
            p += d;
        }
        return result;
    }

    double bandwidth() const override { return 0; }

  private:
    double height_;  // 1 - cos radius
};

}  // namespace

RadialKernel RadialKernel::top_hat(double radius) {
    if (!(radius > 0 && radius <= std::numbers::pi))
        throw InvalidArgument(fmt::format("radius = {} rad: must be above 0 and at most pi", radius));
    return RadialKernel(std::make_shared<TopHat>(radius));
}

}  // namespace zonal
