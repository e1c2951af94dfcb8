#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "compare.hpp"
#include "simd_helpers.hpp"
#include "zonal/polarization_convolution.hpp"

namespace zonal::test {
namespace {

constexpr double fwhm = 0.05, theta_cut = 0.12;

Array<double, 3> random_fields(const Grid& grid) {
    std::mt19937 generator(1);
    std::normal_distribution<double> normal;
    Array<double, 3> fields({1, 2, grid.n_pixels()});
    for (double& pixel : fields) pixel = normal(generator);
    return fields;
}

PixelConvolutionOptions pixel_sum(Precision precision) {
    PixelConvolutionOptions options;
    options.method = PixelMethod::pixel_sum;
    options.device = Device::cpu();
    options.precision = precision;
    return options;
}

/// Q and U as two maps.
Array<double, 3> convolved(const Grid& grid, Precision precision) {
    const Array<double, 3> fields = random_fields(grid);
    Array<double, 3> out(fields.extents());
    const View<const double, 2> maps(fields.data(), {2, grid.n_pixels()});
    PixelConvolutionPlan(grid, RadialKernel::gaussian(fwhm).truncated(theta_cut), grid, pixel_sum(precision))
        .convolve<double>(maps, View<double, 2>(out.data(), {2, grid.n_pixels()}));
    return out;
}

/// Q and U as Q and U.
Array<double, 3> convolved_polarization(const Grid& grid, Precision precision) {
    const Array<double, 3> fields = random_fields(grid);
    Array<double, 3> out(fields.extents());
    PolarizationConvolutionPlan(grid, PolarizationKernel::gaussian(fwhm).truncated(theta_cut), grid,
                                pixel_sum(precision))
        .convolve<double>(fields.view(), out.view());
    return out;
}

class EveryTargetSumsPixels : public ::testing::TestWithParam<Target> {};

// Sums of 100 terms in another order: 1e-16 (6e-8 in single precision) each.
TEST_P(EveryTargetSumsPixels, AsTheBestOneDoes) {
    for (const Grid& grid : {Grid::healpix(48), Grid::equidistant_cylindrical(60, 118)})
        for (const Precision precision : {Precision::float64, Precision::float32}) {
            const double tolerance = precision == Precision::float64 ? 1e-13 : 3e-6;
            const Array<double, 3> best = convolved(grid, precision);
            const Array<double, 3> best_polarization = convolved_polarization(grid, precision);
            const ForcedTarget forced(GetParam().bit);
            EXPECT_LT(relative_difference(convolved(grid, precision), best), tolerance) << grid.name();
            EXPECT_LT(relative_difference(convolved_polarization(grid, precision), best_polarization),
                      tolerance)
                << grid.name();
        }
}

INSTANTIATE_TEST_SUITE_P(Targets, EveryTargetSumsPixels, ::testing::ValuesIn(targets()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace zonal::test
