#include "zonal/kernel.hpp"

#include <fmt/core.h>

#include <cmath>
#include <numbers>

#include "radial/kernels/kernel_implementation.hpp"
#include "zonal/error.hpp"

namespace zonal {
namespace {

void check_theta(double theta) {
    if (!(theta >= 0 && theta <= std::numbers::pi))
        throw InvalidArgument(fmt::format("theta = {} rad: must be from 0 to pi", theta));
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
    if (lmax < 0) throw InvalidArgument(fmt::format("lmax = {}: must not be negative", lmax));
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

}  // namespace zonal
