// Where parts of transforms lie, and the cosines in them, which CUDA's kernels share.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "chebyshev/product/direct_math.hpp"
#include "chebyshev/transform/cosine_math.hpp"

namespace zonal::test {
namespace {

using namespace chebyshev;

TEST(ChebyshevPlaces, PartsAreEvenAndOddCoefficients) {
    for (std::int64_t n = 0; n < 9; ++n) {
        std::vector<int> taken(static_cast<std::size_t>(n));
        const auto parts = coefficient_parts(n);
        for (const int parity : {0, 1}) {
            EXPECT_EQ(parts.count[parity], n_of_parity(n, parity));
            for (std::int64_t i = 0; i < parts.count[parity]; ++i) {
                const auto k = i * parts.step + parity * parts.part_step;
                ASSERT_LT(k, n);
                EXPECT_EQ(k % 2, parity);
                ++taken[static_cast<std::size_t>(k)];
            }
        }
        for (const int count : taken) EXPECT_EQ(count, 1) << n;
    }
}

TEST(ChebyshevPlaces, PartsAreNearPointsAndTheirMirrorImages) {
    constexpr std::int64_t half = 5;
    const auto parts = value_parts(half);
    for (const int mirrored : {0, 1}) {
        EXPECT_EQ(parts.count[mirrored], half);
        for (std::int64_t i = 0; i < half; ++i)
            EXPECT_EQ(i * parts.step + mirrored * parts.part_step, mirrored * half + i);
    }
}

TEST(ChebyshevPlaces, ColumnsCountTheLastIndexFastest) {
    std::int64_t p = 0;
    for (std::int64_t batch = 0; batch < 3; ++batch)
        for (std::int64_t first = 0; first < 4; ++first)
            for (std::int64_t second = 0; second < 5; ++second, ++p) {
                const auto [b, f, s] = column_index(p, 4, 5);
                EXPECT_EQ((std::array{b, f, s}), (std::array{batch, first, second}));
            }
}

TEST(ChebyshevCosines, AreThoseOfTheAngles) {
    for (const std::int64_t m : {1, 2, 7, 12}) {
        const CosineTable cosine(m);
        for (std::int64_t t = 0; t < 9 * m; ++t) {
            const auto exact =
                std::cos(std::numbers::pi_v<long double> * static_cast<long double>(t) / (2 * m));
            EXPECT_NEAR(cosine(t), static_cast<double>(exact), 0x1p-53) << t << ' ' << m;
            if (t % (2 * m) == m) {
                EXPECT_EQ(cosine(t), 0) << t << ' ' << m;
            }
        }
        EXPECT_EQ(cosine.gauss(3, 0), cosine(3));
        EXPECT_EQ(cosine.gauss(2, 1), cosine(6));
        EXPECT_EQ(cosine.lobatto(3, 2), cosine(12));
    }
}

/// Two lines as the parts of one complex line, there and back by sums as they are written.
TEST(ChebyshevCosines, GoThroughAFourierTransformOfTwoLines) {
    constexpr std::int64_t m = 6;
    using Complex = std::complex<double>;
    std::mt19937 engine(1);
    std::normal_distribution<> normal;
    std::array<LinePairValue, m> x{}, values{};  // primed coefficients, and the values at Gauss points
    for (auto& c : x) c = {normal(engine), normal(engine)};
    const CosineTable cosine(m);
    for (std::int64_t j = 0; j < m; ++j)
        for (std::int64_t k = 0; k < m; ++k) {
            const double weight = cosine.gauss(k, j) * (k == 0 ? 0.5 : 1);
            values[static_cast<std::size_t>(j)].re += weight * x[static_cast<std::size_t>(k)].re;
            values[static_cast<std::size_t>(j)].im += weight * x[static_cast<std::size_t>(k)].im;
        }
    const auto root = [&](std::int64_t k) { return LinePairValue{cosine(k), cosine(m - k)}; };
    const auto turn = [](std::int64_t k, std::int64_t j, double sign) {
        return std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k * j) / m);
    };
    // x_0, x_2, .., x_3, x_1
    const auto place = [](std::int64_t j) { return j % 2 == 0 ? j / 2 : m - 1 - j / 2; };
    const auto at = [&](std::int64_t k) {
        return k < m ? x[static_cast<std::size_t>(k)] : LinePairValue{0, 0};
    };
    for (std::int64_t j = 0; j < m; ++j) {
        Complex sum(at(0).re / 2, at(0).im / 2);
        for (std::int64_t k = 1; k < m; ++k) {
            const auto mode = synthesis_mode(at(k), at(m - k), root(k));
            sum += Complex(mode.re, mode.im) * turn(k, place(j), 1);
        }
        EXPECT_NEAR(sum.real(), values[static_cast<std::size_t>(j)].re, 1e-14);
        EXPECT_NEAR(sum.imag(), values[static_cast<std::size_t>(j)].im, 1e-14);
    }
    std::array<Complex, m> v{};
    for (std::int64_t k = 0; k < m; ++k)
        for (std::int64_t j = 0; j < m; ++j) {
            const auto& value = values[static_cast<std::size_t>(j)];
            v[static_cast<std::size_t>(k)] += Complex(value.re, value.im) * turn(k, place(j), -1);
        }
    for (std::int64_t k = 0; k < m; ++k) {
        const auto &low = v[static_cast<std::size_t>(k)],
                   &mirrored = v[static_cast<std::size_t>((m - k) % m)];
        const auto found =
            analysis_mode({low.real(), low.imag()}, {mirrored.real(), mirrored.imag()}, root(k), 1.0 / m);
        EXPECT_NEAR(found.re, at(k).re, 1e-14) << k;
        EXPECT_NEAR(found.im, at(k).im, 1e-14) << k;
    }
}

TEST(ChebyshevPairs, AreAllThatHaveBothIndices) {
    for (std::int64_t a = 0; a < 4; ++a)
        for (std::int64_t b = 0; b < 5; ++b)
            for (std::int64_t k = 0; k <= a + b; ++k) {
                const auto [first, last] = pair_range(k, a, b);
                for (std::int64_t i = -12; i <= 12; ++i)
                    EXPECT_EQ(i >= first && i <= last, fold(i) <= a && fold(k - i) <= b) << a << b << k << i;
            }
}

}  // namespace
}  // namespace zonal::test
