#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sht_helpers.hpp"
#include "sky/rotation_wigner.hpp"

namespace zonal::test {
namespace {

/// What a rotation by beta makes of one coefficient of degree l and order m: of a_lm = 1 the real part of
/// order row, of a_lm = i its imaginary part.
Complex response(std::int64_t l, std::int64_t row, std::int64_t m, double beta) {
    sht::WignerDegree wigner(l, beta);
    wigner.prepare(l);
    const auto stride = static_cast<std::int64_t>(wigner.start_p.size()), lanes = sht::rotation_lanes();
    core::AlignedVector<double> unit(stride), signed_unit(stride), sum_re(stride), sum_im(stride);
    core::AlignedVector<double> row_sums((l + 1) * 2 * lanes);
    const double sign = m % 2 == 0 ? 1 : -1, row_sign = row % 2 == 0 ? 1 : -1;
    unit[m] = m == 0 ? 0.5 : 1;
    signed_unit[m] = sign;
    sht::rotate_degree(wigner, {1, stride, unit.data(), unit.data(), signed_unit.data(), signed_unit.data(),
                                row_sums.data(), sum_re.data(), sum_im.data()});
    Complex sum(row_sign * sum_re[row], row_sign * sum_im[row]);
    for (std::int64_t i = 0; i < lanes; ++i)
        sum += Complex(row_sums[row * 2 * lanes + i], row_sums[(row * 2 + 1) * lanes + i]);
    return sum;
}

TEST(WignerMatrix, IsAccurateAtDegree4096) {
    // d^l_{m'm} +- (-1)^m d^l_{m',-m}, from Wigner's explicit sum with 3000 digits (mpmath 1.3)
    struct Row {
        std::int64_t row, m;
        double beta, even, odd;
    };
    const Row rows[] = {
        {3000, 2000, 1.1, 0.012049942638127061, 0.012049942638127061},
        {0, 7, 1.1, -0.0084021508302440628, 0.0},
        {1500, 5, 1.5, -0.0025979011496999765, -0.023274773510721389},
        {4090, 4000, 0.1, 1.611651880975496e-11, 1.611651880975496e-11},
        {1000, 2500, 1.5, 0.0019653786367626784, 0.0094566903089303456},
        {100, 100, 0.001, -0.38915318363531784, -0.38915318363531784},
    };
    for (const Row& row : rows) {
        const auto found = response(4096, row.row, row.m, row.beta);
        // Each of l steps rounds by eps of a value that is at most of order l^(-1/3) = 0.06; the roundings
        // add up as a random walk, 4 standard deviations.
        const double tolerance = 4 * eps * std::sqrt(4096.0) * 0.06;
        EXPECT_NEAR(found.real(), row.even, tolerance) << row.row << " " << row.m;
        EXPECT_NEAR(found.imag(), row.odd, tolerance) << row.row << " " << row.m;
    }
}

/// d^1 and d^2 in closed form (Varshalovich et al. 1988, tables 4.4 and 4.6).
TEST(WignerMatrix, HasItsClosedForms) {
    for (const double beta : {1e-6, 0.3, 1.2, 1.5707963267948966}) {
        const double c = std::cos(beta), s = std::sin(beta);
        const double tolerance = 8 * eps;
        for (const auto& [found, expected] : {std::pair{response(1, 0, 0, beta).real(), c},
                                              {response(1, 1, 0, beta).real(), -s / std::sqrt(2)},
                                              {response(1, 0, 1, beta).real(), std::sqrt(2) * s},
                                              {response(1, 1, 1, beta).real(), c},
                                              {response(1, 1, 1, beta).imag(), 1},
                                              {response(2, 0, 0, beta).real(), (3 * c * c - 1) / 2},
                                              {response(2, 2, 0, beta).real(), std::sqrt(0.375) * s * s},
                                              {response(2, 2, 2, beta).real(), (1 + c * c) / 2},
                                              {response(2, 2, 2, beta).imag(), c}})
            EXPECT_NEAR(found, expected, tolerance) << beta;
    }
}

}  // namespace
}  // namespace zonal::test
