// Where series are cut off, against the steps of Aurentz & Trefethen (2017), "Chopping a Chebyshev series",
// as they are written there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "zonal/chebyshev/roots.hpp"

namespace zonal::test {
namespace {

/// Indices from 1, as in the paper.
std::size_t standard_chop(const std::vector<double>& coefficients, double tolerance) {
    const std::size_t n = coefficients.size();
    if (n < 17) return n;
    // Step 1: a nonincreasing envelope, normalized to begin with 1.
    std::vector<double> envelope(n + 1);
    envelope[n] = coefficients[n - 1];
    for (std::size_t j = n - 1; j >= 1; --j) envelope[j] = std::max(coefficients[j - 1], envelope[j + 1]);
    if (envelope[1] == 0) return 1;
    for (std::size_t j = n; j >= 1; --j) envelope[j] /= envelope[1];
    // Step 2: a plateau point.
    std::size_t plateau = 0, j2 = 0;
    for (std::size_t j = 2; j <= n && plateau == 0; ++j) {
        j2 = static_cast<std::size_t>(std::floor(1.25 * static_cast<double>(j) + 5 + 0.5));
        if (j2 > n) return n;
        const double ratio = 3 * (1 - std::log(envelope[j]) / std::log(tolerance));
        if (envelope[j] == 0 || envelope[j2] / envelope[j] > ratio) plateau = j - 1;
    }
    if (plateau == 0) return n;
    // Step 3: where the envelope and a line that falls by a third of the tolerance's digits are least.
    if (envelope[plateau] == 0) return plateau;
    const double least = std::pow(tolerance, 7.0 / 6);
    std::size_t j3 = 0;
    for (std::size_t j = 1; j <= n; ++j) j3 += envelope[j] >= least ? 1 : 0;
    if (j3 < j2) {
        j2 = j3 + 1;
        envelope[j2] = least;
    }
    std::size_t d = 1;
    double smallest = HUGE_VAL;
    for (std::size_t j = 1; j <= j2; ++j) {
        const double line =
            -std::log10(tolerance) / 3 * static_cast<double>(j - 1) / static_cast<double>(j2 - 1);
        const double value = std::log10(envelope[j]) + line;
        if (value < smallest) smallest = value, d = j;
    }
    return std::max<std::size_t>(d - 1, 1);
}

TEST(ChebyshevChop, FollowsItsSteps) {
    std::mt19937 engine(7);
    std::uniform_real_distribution<double> share(0, 1);
    int n_cut = 0;
    for (int i = 0; i < 600; ++i) {
        const auto n = static_cast<std::size_t>(17 + 120 * share(engine));
        const double rate = 2 * share(engine), floor = std::pow(10, -18 * share(engine)),
                     tolerance = std::pow(10, -1 - 15 * share(engine));
        std::vector<double> magnitudes;
        for (std::size_t k = 0; k < n; ++k)
            magnitudes.push_back(share(engine) *
                                 std::max(i % 3 == 0 ? std::pow(1.0 + static_cast<double>(k), -3 * rate)
                                                     : std::exp(-rate * static_cast<double>(k)),
                                          i % 5 == 0 ? 0 : floor));
        magnitudes.back() += 1e-300;  // zeros at the end are left out before
        const auto expected = standard_chop(magnitudes, tolerance);
        EXPECT_EQ(chebyshev::chop_length(magnitudes, tolerance), static_cast<std::int64_t>(expected)) << i;
        n_cut += expected < n ? 1 : 0;
    }
    EXPECT_GT(n_cut, 200);
    EXPECT_LT(n_cut, 500);
}

TEST(ChebyshevChop, LeavesOutZerosAtTheEnd) {
    std::vector<double> magnitudes(30, 1);
    std::fill(magnitudes.begin() + 22, magnitudes.end(), 0.0);
    EXPECT_EQ(chebyshev::chop_length(magnitudes, 1e-10), 22);
    magnitudes.resize(16, 0.0);
    std::fill(magnitudes.begin() + 3, magnitudes.end(), 1e-30);
    EXPECT_EQ(chebyshev::chop_length(magnitudes, 1e-10), 16);  // too few to tell
    magnitudes.resize(17, 1e-30);
    EXPECT_EQ(chebyshev::chop_length(magnitudes, 1e-10), 3);
}

}  // namespace
}  // namespace zonal::test
