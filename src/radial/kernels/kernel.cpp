#include "zonal/kernel.hpp"

#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "radial/kernels/kernel_implementation.hpp"
#include "zonal/angle.hpp"
#include "zonal/error.hpp"
#include "zonal/window.hpp"

namespace zonal {
namespace {

void check_theta(double theta) {
    if (!(theta >= 0 && theta <= std::numbers::pi))
        throw InvalidArgument("theta", fmt::format("{} rad", theta), "must be from 0 to pi");
}

}  // namespace

RadialKernel::RadialKernel(std::shared_ptr<const Implementation> implementation)
    : implementation_(std::move(implementation)) {}

double RadialKernel::profile(double theta) const {
    return profile(std::vector<double>{theta}).front();
}

std::vector<double> RadialKernel::profile(const std::vector<double>& theta) const {
    // Only the angles within the support are worth the sum of a long window.
    std::vector<double> inside;
    std::vector<std::size_t> place;
    for (std::size_t i = 0; i < theta.size(); ++i) {
        check_theta(theta[i]);
        if (theta[i] > support()) continue;
        inside.push_back(theta[i]);
        place.push_back(i);
    }
    std::vector<double> value(inside.size()), result(theta.size());
    implementation_->profile(inside, value);
    for (std::size_t i = 0; i < place.size(); ++i) result[place[i]] = value[i];
    return result;
}

std::vector<double> RadialKernel::window(std::int64_t lmax) const {
    if (lmax < 0 || lmax > max_window_lmax)
        throw InvalidArgument("lmax", lmax, fmt::format("must be from 0 to {}", max_window_lmax));
    return implementation_->window(lmax);
}

double RadialKernel::support() const {
    return implementation_->support();
}

std::int64_t RadialKernel::band_limit() const {
    return implementation_->band_limit();
}

const std::string& RadialKernel::name() const {
    return implementation_->name();
}

namespace {

class Truncated final : public RadialKernel::Implementation {
  public:
    Truncated(RadialKernel whole, double theta_cut)
        : Implementation(fmt::format("{} cut={:.6g} rad", whole.name(), theta_cut), theta_cut),
          whole_(std::move(whole)) {}

    void profile(std::span<const double> theta, std::span<double> value) const override {
        whole_.implementation().profile(theta, value);
    }

    std::vector<double> breaks() const override {
        auto result = whole_.implementation().breaks();
        std::erase_if(result, [this](double theta) { return theta >= support(); });
        result.push_back(support());
        return result;
    }

    double bandwidth() const override { return whole_.implementation().bandwidth(); }

  private:
    RadialKernel whole_;
};

class Scaled final : public RadialKernel::Implementation {
  public:
    Scaled(RadialKernel unit, double factor)
        : Implementation(fmt::format("{} times={:.6g}", unit.name(), factor), unit.support()),
          unit_(std::move(unit)),
          factor_(factor) {}

    void profile(std::span<const double> theta, std::span<double> value) const override {
        unit_.implementation().profile(theta, value);
        for (double& k : value) k *= factor_;
    }

    std::vector<double> window(std::int64_t lmax) const override {
        auto result = unit_.window(lmax);
        for (double& k_l : result) k_l *= factor_;
        return result;
    }

    std::int64_t band_limit() const override { return unit_.band_limit(); }
    bool is_window() const override { return unit_.implementation().is_window(); }
    std::vector<double> breaks() const override { return unit_.implementation().breaks(); }
    double bandwidth() const override { return unit_.implementation().bandwidth(); }

  private:
    RadialKernel unit_;
    double factor_;
};

}  // namespace

RadialKernel RadialKernel::truncated(double theta_cut) const {
    theta_cut = checked_width("theta_cut", theta_cut);
    if (theta_cut >= support()) return *this;
    return RadialKernel(std::make_shared<Truncated>(*this, theta_cut));
}

RadialKernel RadialKernel::scaled(double factor) const {
    if (!std::isfinite(factor)) throw InvalidArgument("factor", factor, "must be finite");
    return RadialKernel(std::make_shared<Scaled>(*this, factor));
}

}  // namespace zonal
