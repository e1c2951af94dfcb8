#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "radial/kernels/legendre_sum.hpp"

// Legendre sums at many angles against the plain recurrence in long double.
namespace zonal::radial {
namespace {

/// Both hemispheres, both poles, the equator, angles of every order of magnitude; no multiple of a vector.
std::vector<double> some_angles() {
    std::vector<double> theta{0, std::numbers::pi / 2, std::numbers::pi};
    for (int i = 1; i < 50; ++i) {
        theta.push_back(std::numbers::pi * i / 50);
        theta.push_back(std::pow(10, -i / 5.0));
        theta.push_back(std::numbers::pi - std::pow(10, -i / 5.0));
    }
    return theta;
}

std::vector<double> random_numbers(std::size_t n, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<double> result(n);
    for (double& value : result) value = normal(generator);
    return result;
}

/// P_l, l = 0 .. lmax, in differences, as 1 - cos theta loses nothing near the north pole. The angle is the
/// double that the library gets, exactly.
std::vector<long double> legendre(double theta, std::size_t lmax) {
    const long double sine = std::sin(static_cast<long double>(theta) / 2), h = 2 * sine * sine;
    std::vector<long double> p{1};
    long double e = 0;
    for (std::size_t l = 0; l < lmax; ++l) {
        e -= static_cast<long double>(2 * l + 1) * h * p[l];
        p.push_back(p[l] + e / static_cast<long double>(l + 1));
    }
    return p;
}

TEST(LegendreSum, AgreesWithLongDouble) {
    const auto theta = some_angles();
    for (const std::size_t lmax : {0, 1, 2, 7, 2000}) {
        const auto series = random_numbers(lmax + 1, 1);
        std::vector<double> value(theta.size());
        legendre_series(series, theta, value);
        double size = 0;
        for (const double term : series) size += std::abs(term);
        for (std::size_t i = 0; i < theta.size(); ++i) {
            const auto p = legendre(theta[i], lmax);
            long double expected = 0;
            for (std::size_t l = 0; l <= lmax; ++l) expected += series[l] * p[l];
            // Rounding of l steps adds up like a random walk and is divided by as much, of 1 - cos by l
            // theta.
            EXPECT_NEAR(value[i], static_cast<double>(expected), 1e-14 * size) << theta[i] << " " << lmax;
        }
    }
}

TEST(LegendreMoments, AreTheTransposeOfTheSum) {
    const auto theta = some_angles();
    for (const std::size_t lmax : {0, 1, 2, 7, 2000}) {
        const auto series = random_numbers(lmax + 1, 1), weight = random_numbers(theta.size(), 2);
        std::vector<double> value(theta.size()), moment(lmax + 1);
        legendre_series(series, theta, value);
        legendre_moments(theta, weight, moment);
        double left = 0, right = 0;
        for (std::size_t i = 0; i < theta.size(); ++i) left += weight[i] * value[i];
        for (std::size_t l = 0; l <= lmax; ++l) right += moment[l] * series[l];
        // The same products in another order: rounding of random sums of 150 x lmax numbers
        EXPECT_NEAR(left, right, 1e-14 * std::sqrt(150.0 * static_cast<double>(lmax + 1))) << lmax;
    }
}

TEST(LegendreSum, OfNothingIsZero) {
    std::vector<double> value{1}, moment{1, 1};
    legendre_series({}, std::vector<double>{0.3}, value);
    EXPECT_EQ(value[0], 0);
    legendre_moments({}, {}, moment);
    EXPECT_EQ(moment, (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace zonal::radial
