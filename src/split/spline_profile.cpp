#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "split/spline_windows.hpp"
#include "split/split_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/polarization_convolution.hpp"
#include "zonal/split.hpp"

namespace zonal {

struct SplineProfile::Spline {
    split::SplineBasis basis;
    std::vector<double> coefficients;
};

SplineProfile::SplineProfile(std::vector<double> knots, std::vector<double> coefficients)
    : spline_(
          std::make_shared<Spline>(Spline{split::SplineBasis(std::move(knots)), std::move(coefficients)})) {
    const auto& basis = spline_->basis;
    if (!(basis.end() <= std::numbers::pi))
        throw InvalidArgument("knots", fmt::format("the last, {} rad, must be at most pi", basis.end()));
    if (std::ssize(spline_->coefficients) != basis.size())
        throw InvalidArgument("coefficients", fmt::format("{} of them, must be {}, 3 fewer than knots",
                                                          spline_->coefficients.size(), basis.size()));
    for (const double value : spline_->coefficients)
        if (!std::isfinite(value))
            throw InvalidArgument("coefficients", fmt::format("{}: must be finite", value));
}

double SplineProfile::operator()(double theta) const {
    return spline_->basis.evaluate(spline_->coefficients, theta);
}

double SplineProfile::support() const {
    return spline_->basis.end();
}

const std::vector<double>& SplineProfile::knots() const {
    return spline_->basis.knots();
}

const std::vector<double>& SplineProfile::coefficients() const {
    return spline_->coefficients;
}

std::vector<double> SplineProfile::window(std::int64_t lmax, int spin) const {
    if (lmax < 0) throw InvalidArgument("lmax", lmax, "must be 0 or more");
    split::check_spin(spin);
    if (spin == 2) return polarization_kernel().windows(lmax).gradient;
    return split::spline_window(spline_->basis, spline_->coefficients, lmax);
}

}  // namespace zonal
