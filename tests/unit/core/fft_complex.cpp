#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <set>
#include <vector>

#include "compare.hpp"
#include "fft/complex_fft.hpp"

namespace zonal::fft {
namespace {

using Complex = std::complex<double>;
using LongComplex = std::complex<long double>;
using Transform = void (ComplexFft::*)(Complex*);

constexpr double eps = std::numeric_limits<double>::epsilon();

std::vector<Complex> random_sequence(std::int64_t length, unsigned seed = 1) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    std::vector<Complex> x(length);
    for (Complex& value : x) {
        const double re = normal(generator), im = normal(generator);
        value = {re, im};
    }
    return x;
}

/// exp(2 pi i k / length) to long double's rounding.
std::vector<LongComplex> long_roots(std::int64_t length) {
    std::vector<LongComplex> roots(length);
    for (std::int64_t k = 0; k < length; ++k)
        roots[k] = std::polar(1.0L, 2 * std::numbers::pi_v<long double> * k / length);
    return roots;
}

/// The sum as it is written: element k of the transform, sign = +1 backward, -1 forward.
LongComplex plain_sum(const std::vector<Complex>& x, const std::vector<LongComplex>& roots, std::int64_t k,
                      int sign) {
    const auto n = static_cast<std::int64_t>(x.size());
    LongComplex sum = 0;
    for (std::int64_t j = 0, turn = 0; j < n; ++j, turn = (turn + k) % n)
        sum += LongComplex(x[j]) * (sign > 0 ? roots[turn] : std::conj(roots[turn]));
    return sum;
}

double norm(const std::vector<Complex>& x) {
    double sum = 0;
    for (const Complex& value : x) sum += std::norm(value);
    return std::sqrt(sum);
}

/// The rms rounding error of an FFT is below eps log2 n of the output's rms (Gentleman & Sande 1966);
/// Bluestein's does three of at most 4 n; a direct sum over a prime factor p <= 199 adds sqrt(p) eps / 2; the
/// largest of n values lies at 4 standard deviations, and rms = |x|.
double tolerance(const std::vector<Complex>& x) {
    return eps * (4 * std::log2(4.0 * static_cast<double>(x.size())) + 4) * norm(x);
}

/// Largest error of both directions over the elements k = 0, step, 2 step, ...
void expect_sums(ComplexFft& fft, std::int64_t length, std::int64_t step = 1) {
    const auto x = random_sequence(length);
    const auto roots = long_roots(length);
    fft.prepare(length);
    ASSERT_EQ(fft.length(), length);
    for (const int sign : {1, -1}) {
        auto y = x;
        (fft.*(sign > 0 ? Transform(&ComplexFft::backward) : Transform(&ComplexFft::forward)))(y.data());
        double error = 0;
        for (std::int64_t k = 0; k < length; k += step) {
            const LongComplex difference = LongComplex(y[k]) - plain_sum(x, roots, k, sign);
            error = test::larger(error, static_cast<double>(std::abs(difference)));
        }
        EXPECT_LE(error, tolerance(x))
            << "length " << length << ", sign " << sign << ", in eps |x|: " << error / eps / norm(x);
    }
}

TEST(ComplexFft, MatchesThePlainSumForEveryLengthTo300) {
    ComplexFft fft;
    for (std::int64_t length = 1; length <= 300; ++length) expect_sums(fft, length);
}

// Primes on both sides of the largest that is summed directly, their powers and products, powers of the
// radices, lengths of HEALPix rings.
TEST(ComplexFft, MatchesThePlainSumForLargeLengths) {
    ComplexFft fft;
    for (const std::int64_t length : {307,
                                      311,
                                      4 * 199,
                                      4 * 211,
                                      1009,
                                      2003,
                                      4093,
                                      10007,
                                      4 * 1009,
                                      2 * 1009,
                                      3 * 1009,
                                      211 * 211,
                                      199 * 199,
                                      211 * 223,
                                      199 * 211,
                                      2 * 199 * 199,
                                      1024,
                                      8192,
                                      16384,
                                      6561,
                                      3125,
                                      2401,
                                      1331,
                                      2197,
                                      4 * 3 * 5 * 7 * 11,
                                      3 * 5 * 7 * 11,
                                      13 * 17 * 19,
                                      4 * 2047,
                                      4 * 2039,
                                      4 * 1531,
                                      360,
                                      3600,
                                      43200})
        expect_sums(fft, length, std::max<std::int64_t>(1, length / 61));
}

// Lengths as above: all radices, primes summed directly, and Bluestein's way.
TEST(RowFft, MatchesThePlainSumInEveryLane) {
    RowFft fft;
    for (const std::int64_t length : {1,  2,  3,  4,   5,   6,   7,   8,   12,  13,  16,   30,   32,  64,
                                      97, 96, 97, 120, 128, 199, 211, 256, 422, 512, 1009, 2048, 3072}) {
        fft.prepare(length);
        ASSERT_EQ(fft.length(), length);
        const auto roots = long_roots(length);
        std::vector<std::vector<Complex>> x;
        for (unsigned lane = 0; lane < RowFft::row; ++lane) {
            x.push_back(random_sequence(length, lane + 1));
            for (std::int64_t k = 0; k < length; ++k) {
                fft.data()[2 * RowFft::row * k + lane] = x[lane][k].real();
                fft.data()[2 * RowFft::row * k + RowFft::row + lane] = x[lane][k].imag();
            }
        }
        fft.backward();
        for (unsigned lane = 0; lane < RowFft::row; ++lane) {
            double error = 0;
            for (std::int64_t k = 0; k < length; k += 1 + length / 61) {
                const double* const row = fft.data() + 2 * RowFft::row * k + lane;
                const LongComplex difference =
                    LongComplex(row[0], row[RowFft::row]) - plain_sum(x[lane], roots, k, 1);
                error = test::larger(error, static_cast<double>(std::abs(difference)));
            }
            EXPECT_LE(error, tolerance(x[lane])) << "length " << length << ", lane " << lane;
        }
    }
}

TEST(ComplexFft, ForwardUndoesBackward) {
    ComplexFft fft;
    for (const std::int64_t length : {1, 2, 3, 4, 5, 8, 12, 97, 211, 256, 1009, 4 * 211, 8192, 10007}) {
        const auto x = random_sequence(length);
        auto y = x;
        fft.prepare(length);
        fft.backward(y.data());
        fft.forward(y.data());
        double error = 0;
        for (std::int64_t k = 0; k < length; ++k)
            error = test::larger(error, std::abs(y[k] / static_cast<double>(length) - x[k]));
        // Two transforms' errors on elements of rms |x| / sqrt(n).
        EXPECT_LE(error, 2 * tolerance(x) / std::sqrt(static_cast<double>(length))) << "length " << length;
    }
}

TEST(ComplexFft, IsTheSameWhateverLengthsCameBefore) {
    const std::int64_t lengths[] = {4 * 211, 12, 1009, 12, 5, 1, 8192, 4 * 211, 2018, 1009, 7};
    ComplexFft reused;
    for (const std::int64_t length : lengths) {
        ComplexFft fresh;
        auto x = random_sequence(length), y = x;
        fresh.prepare(length);
        fresh.backward(x.data());
        reused.prepare(length);
        reused.prepare(length);
        reused.backward(y.data());
        EXPECT_EQ(x, y) << "length " << length;
    }
}

TEST(ComplexFft, UnitImpulsesGiveTheRoots) {
    ComplexFft fft;
    for (const std::int64_t length : {1, 2, 6, 16, 211, 360, 4 * 211}) {
        fft.prepare(length);
        const auto roots = long_roots(length);
        for (const std::int64_t j : {std::int64_t{0}, length / 3, length - 1}) {
            std::vector<Complex> x(length, 0.0);
            x[j] = 1;
            fft.backward(x.data());
            for (std::int64_t k = 0; k < length; ++k)
                EXPECT_LE(std::abs(x[k] - Complex(roots[j * k % length])),
                          4 * eps * std::log2(8.0 * static_cast<double>(length)));
        }
    }
}

TEST(FftRoots, AreRightToTwoUnitsInTheLastPlace) {
    for (const std::int64_t length : {1, 2, 3, 7, 8, 100, 1009, 16384, 65537}) {
        std::vector<double> roots(2 * length);
        write_roots(length, length, roots.data());
        const auto exact = long_roots(length);
        for (std::int64_t k = 0; k < length; ++k)
            ASSERT_LE(std::abs(LongComplex(roots[2 * k], roots[2 * k + 1]) - exact[k]), 2 * eps)
                << k << " of " << length;
    }
}

TEST(FftGoodLength, IsTheSmallestMultipleOfFourOfSmallPrimes) {
    std::set<std::int64_t> good;
    for (std::int64_t five = 4; five < 5000; five *= 5)
        for (std::int64_t three = five; three < 5000; three *= 3)
            for (std::int64_t two = three; two < 5000; two *= 2) good.insert(two);
    for (std::int64_t minimum = 1; minimum <= 4000; ++minimum)
        ASSERT_EQ(good_length(minimum), *good.lower_bound(minimum)) << minimum;
}

}  // namespace
}  // namespace zonal::fft
