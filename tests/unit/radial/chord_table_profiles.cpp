#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "compare.hpp"
#include "radial/kernels/chord_table.hpp"
#include "zonal/error.hpp"

// Tables of profiles in chord^2 against the profiles themselves.
namespace zonal::radial {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double arcmin = pi / 10800;

/// The largest difference between table and kernel over the peak, on angles that are no nodes of the table.
template <class T>
double difference(const RadialKernel& kernel, const ChordTable& table, int n_angles = 20011) {
    double largest = 0;
    std::vector<double> theta;
    for (int i = 0; i <= n_angles; ++i) theta.push_back(std::min(table.theta_end(), pi) * i / n_angles);
    const auto value = kernel.profile(theta);
    const auto view = table.view<T>();
    for (std::size_t i = 0; i + 1 < theta.size(); ++i) {
        const double chord = 2 * std::sin(theta[i] / 2);
        const double k = static_cast<double>(evaluate(view, static_cast<T>(chord * chord)));
        largest = test::larger(largest, std::abs(k - value[i]));
    }
    return largest / table.peak();
}

TEST(ChordTable, HoldsGaussiansToItsAccuracy) {
    for (const double fwhm : {0.1 * arcmin, 4.7 * arcmin, 0.1, 1.0, 3.0}) {
        const auto kernel = RadialKernel::gaussian(fwhm);
        const ChordTable table(kernel, 1e-13);
        EXPECT_LE(table.error(), 1e-13) << fwhm;
        // Rounding of chord^2, whose effect is at most x e^-x <= 0.4 times its own
        EXPECT_LE(difference<double>(kernel, table), 1.2e-13) << fwhm;
    }
}

TEST(ChordTable, OfANarrowKernelIsSmall) {
    const ChordTable table(RadialKernel::gaussian(4.7 * arcmin), 1e-13);
    EXPECT_LE(table.n_pieces(), 256);
    EXPECT_LE(table.theta_end(), 9 * 4.7 * arcmin / 2.3548);
}

TEST(ChordTable, InSinglePrecisionErrsByRounding) {
    for (const double fwhm : {4.7 * arcmin, 0.1, 1.0}) {
        const auto kernel = RadialKernel::gaussian(fwhm);
        // A few roundings of 6e-8 of the value, 0.4 of one in chord^2
        EXPECT_LE(difference<float>(kernel, ChordTable(kernel, 1e-8)), 3e-7) << fwhm;
    }
}

TEST(ChordTable, HoldsOscillatingKernelsOverTheWholeSphere) {
    // Only its rounding over 512 terms limits the kernel; alternating signs put the peak at the antipode.
    for (const double sign : {1.0, -1.0}) {
        std::vector<double> window;
        for (int l = 0; l <= 512; ++l) window.push_back(std::pow(sign, l) * (l % 7 + 1));
        const auto kernel = RadialKernel::from_window(window);
        const ChordTable table(kernel, 1e-13);
        EXPECT_EQ(table.end(), 4);
        EXPECT_LE(table.error(), 1e-13) << sign;
        // chord^2 = 4 - w loses w's last digits: l^2 eps / 2
        EXPECT_LE(difference<double>(kernel, table), sign > 0 ? 2e-13 : 512 * 512 * 2.2e-16) << sign;
    }
}

TEST(ChordTable, IsZeroBeyondTheCut) {
    const auto kernel = RadialKernel::gaussian(10 * arcmin).truncated(12 * arcmin);
    const ChordTable table(kernel, 1e-13);
    const auto view = table.view<double>();
    EXPECT_DOUBLE_EQ(table.theta_end(), 12 * arcmin);
    EXPECT_NEAR(evaluate(view, table.end()), kernel.profile(12 * arcmin), 1e-13 * table.peak());
    EXPECT_EQ(evaluate(view, std::nextafter(table.end(), 5.0)), 0);
    EXPECT_EQ(evaluate(view, 4.0), 0);
}

TEST(ChordTable, DoesNotMindTheNeighbouringPiece) {
    // The index comes from a single-precision root, which may be on the other side of a boundary.
    const auto kernel = RadialKernel::gaussian(10 * arcmin);
    const ChordTable table(kernel, 1e-13);
    const auto view = table.view<double>();
    for (int k = 1; k < view.n_half; ++k) {
        const double u = static_cast<double>(k) * k / view.inverse_step_squared;
        const double theta = 2 * std::asin(std::sqrt(u) / 2);
        for (const double off : {-1e-7, 0.0, 1e-7})
            EXPECT_NEAR(evaluate(view, u * (1 + off)), kernel.profile(theta * (1 + off / 2)),
                        1.2e-13 * table.peak());
    }
}

TEST(ChordTable, HoldsKernelsThatEndBeyondTheEquator) {
    const auto kernel = RadialKernel::gaussian(1.0).truncated(2.5);
    const ChordTable table(kernel, 1e-13);
    EXPECT_LE(difference<double>(kernel, table), 1.2e-13);
    EXPECT_EQ(evaluate(table.view<double>(), 3.9), 0);
}

TEST(ChordTable, ReachesModestAccuraciesInSpiteOfKinks) {
    // A table of 300 values of a smooth profile, as those of the Fermi tools
    std::vector<double> theta, value;
    theta.reserve(300);
    value.reserve(300);
    for (int i = 0; i < 300; ++i) {
        theta.push_back(1e-6 * i * i);
        value.push_back(std::pow(1 + std::pow(theta.back() / 0.002, 2), -1.7));
    }
    const auto kernel = RadialKernel::from_profile(theta, value);
    for (const double accuracy : {1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7}) {
        const ChordTable table(kernel, accuracy);
        EXPECT_LE(table.error(), accuracy);
        EXPECT_LE(difference<double>(kernel, table), 1.5 * accuracy);
    }
}

TEST(ChordTable, SaysWhatItReachesWithKinks) {
    const auto kernel = RadialKernel::from_profile({0, 0.1, 0.2, 0.3}, {1, 0.6, 0.5, 0});
    const ChordTable table(kernel, 1e-13);
    EXPECT_LE(table.error(), 1e-10);
    // A bound, which is reached beside the kinks, where these angles are not.
    EXPECT_LE(difference<double>(kernel, table), table.error());
}

TEST(ChordTable, OfATopHatIsExact) {
    const auto kernel = RadialKernel::top_hat(0.01);
    const ChordTable table(kernel, 1e-13);
    EXPECT_LE(difference<double>(kernel, table), 1e-15);
    EXPECT_EQ(table.n_pieces(), 4);
}

TEST(ChordTable, OfNothingIsZero) {
    const ChordTable table(RadialKernel::top_hat(1).scaled(0), 1e-13);
    EXPECT_EQ(evaluate(table.view<double>(), 0.0), 0);
    EXPECT_EQ(table.error(), 0);
}

TEST(ChordTable, RejectsAccuracyBeyondDouble) {
    EXPECT_THROW(ChordTable(RadialKernel::top_hat(1), 1e-17), InvalidArgument);
    EXPECT_THROW(ChordTable(RadialKernel::top_hat(1), 1), InvalidArgument);
}

}  // namespace
}  // namespace zonal::radial
