#include "zonal/spectra/correlation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/parallel.hpp"
#include "sht/array_checks.hpp"
#include "zonal/error.hpp"
#include "zonal/grid.hpp"

namespace zonal {
namespace {

/// Nodes whose terms are summed together.
constexpr std::int64_t block = 32;

/// Calls use(L, P_L(x)) for L below degrees: (L+1) P_{L+1} = (2L+1) x P_L - L P_{L-1}.
template <class Use>
void for_legendre(double x, std::int64_t degrees, const Use& use) {
    double before = 0, value = 1;
    for (std::int64_t l = 0; l < degrees; ++l) {
        use(l, value);
        const auto degree = static_cast<double>(l);
        const double next = ((2 * degree + 1) * x * value - degree * before) / (degree + 1);
        before = value;
        value = next;
    }
}

/// xi_W at x.
double correlation(const View<const double, 1>& spectrum, double x) {
    double sum = 0;
    for_legendre(x, spectrum.size(), [&](std::int64_t l, double value) {
        sum += static_cast<double>(2 * l + 1) * spectrum[l] * value;
    });
    return sum / (4 * std::numbers::pi);
}

void require_finite_values(const char* name, const View<const double, 1>& values) {
    for (std::int64_t i = 0; i < values.size(); ++i)
        if (!std::isfinite(values[i]))
            throw InvalidArgument(fmt::format("{}[{}]", name, i), values[i], "must be a finite number");
}

}  // namespace

void correlation_spectra(View<const double, 1> mask_spectrum, View<const double, 1> apodisation,
                         View<double, 1> kernel, View<double, 1> estimator, int threads) {
    const std::int64_t n = apodisation.size(), degrees = kernel.size();
    if (mask_spectrum.size() < 1)
        throw InvalidArgument("mask_spectrum", "has no degrees: must have W_0 at least");
    if (n < 1) throw InvalidArgument("apodisation", "is empty: must have one node at least");
    sht::check_extent("estimator", estimator, 0, "L", degrees);
    require_finite_values("mask_spectrum", mask_spectrum);
    require_finite_values("apodisation", apodisation);
    const Grid nodes = Grid::gauss_legendre(n, 1);  // weights: 2 pi times those of the quadrature
    const double at_zero = correlation(mask_spectrum, 1);
    if (!(at_zero > 0))
        throw InvalidArgument("mask_spectrum",
                              "has a correlation function that is not positive at theta = 0");
    const std::int64_t n_blocks = (n + block - 1) / block;
    Array<double, 3> sums({n_blocks, 2, degrees});
    core::parallel_for(n_blocks, core::resolve_threads(threads), [&](std::int64_t task, int) {
        double* const of_kernel = &sums(task, 0, 0);
        double* const of_estimator = of_kernel + degrees;
        for (std::int64_t j = task * block; j < std::min(n, (task + 1) * block); ++j) {
            const double f = apodisation[j];
            if (f == 0) continue;
            const auto& ring = nodes.rings()[static_cast<std::size_t>(j)];
            const double xi = correlation(mask_spectrum, ring.cos_theta);
            constexpr double nothing = 1e-10;  // rounding of xi is below it up to degrees of a million
            if (!(std::abs(xi) > nothing * at_zero))
                throw InvalidArgument(
                    "apodisation",
                    fmt::format("is {} at theta = {:.6g}, where the mask's correlation function is {:.2g} of "
                                "that at 0: must be 0 where the mask has no pairs of pixels",
                                f, ring.theta, xi / at_zero));
            const double plain = ring.weight * f, divided = plain / xi;
            for_legendre(ring.cos_theta, degrees, [&](std::int64_t l, double value) {
                of_kernel[l] += plain * value;
                of_estimator[l] += divided * value;
            });
        }
    });
    for (std::int64_t l = 0; l < degrees; ++l) {
        kernel[l] = estimator[l] = 0;
        for (std::int64_t task = 0; task < n_blocks; ++task) {
            kernel[l] += sums(task, 0, l);
            estimator[l] += sums(task, 1, l);
        }
    }
}

}  // namespace zonal
