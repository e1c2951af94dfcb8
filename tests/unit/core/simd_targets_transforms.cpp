#include <gtest/gtest.h>

#include <iostream>

#include "fft/complex_fft.hpp"
#include "legendre_helpers.hpp"
#include "sht_helpers.hpp"
#include "simd_helpers.hpp"
#include "zonal/error.hpp"

// Every instruction set that is compiled in and that this machine has, forced in turn.
namespace zonal::test {
namespace {

TEST(SimdTargets, OfThisMachineAreCompiledIn) {
    std::string compiled, missing;
    for (std::int64_t bits = HWY_TARGETS; bits != 0; bits &= bits - 1)
        compiled += std::string(" ") + hwy::TargetName(bits & -bits);
    for (std::int64_t bits = hwy::SupportedTargets() & ~HWY_TARGETS; bits != 0; bits &= bits - 1)
        missing += std::string(" ") + hwy::TargetName(bits & -bits);
    std::cout << "compiled in:" << compiled << "; of this machine, but not compiled in:" << missing
              << "; used: " << simd_target() << "\n";
    EXPECT_FALSE(targets().empty());
    // What the library says that it uses is the best of those that it carries.
    EXPECT_EQ(simd_target(), targets().front().name);
}

TEST(SimdTargets, AreForcedOneByOne) {
    for (const Target& target : targets()) {
        const ForcedTarget forced(target.bit);
        EXPECT_EQ(simd_target(), target.name);
    }
}

#if defined(ZONAL_ONLY_TARGET) && HWY_ARCH_X86
TEST(SimdTargets, OfAnotherMachineAreRefused) {
    const ForcedTarget forced(HWY_SSSE3);  // stands for a processor that has no more than this
    EXPECT_THROW(simd_target(), BackendUnavailable);
}
#endif

class OnEveryTarget : public ::testing::TestWithParam<Target> {
  protected:
    const ForcedTarget forced{GetParam().bit};
};

TEST_P(OnEveryTarget, TransformMatchesReference) {
    // Rings near the poles, between and near the equator, in numbers that fill no vector group.
    for (const Grid& grid : {Grid::gauss_legendre(75, 20), Grid::healpix(6)})
        for (const int spin : {0, 1, 2, 3}) {
            const std::int64_t lmax = 40;
            SCOPED_TRACE(::testing::Message() << grid.name() << " spin " << spin);
            const ShtPlan plan(grid, options_of(lmax, spin));
            for (const std::int64_t n_maps : {1, 3}) {
                const AlmArray alm = random_alm(plan.layout(), n_maps, plan.alm_components(), 1);
                const MapArray map = random_map(grid, n_maps, plan.map_components(), 2);
                EXPECT_LE(scaled_difference(synthesis(plan, alm),
                                            reference_synthesis(grid, plan.layout(), spin, alm)),
                          transform_rounding(lmax, spin));
                EXPECT_LE(
                    scaled_difference(adjoint(plan, map), reference_adjoint(grid, plan.layout(), spin, map)),
                    transform_rounding(lmax, spin));
            }
        }
}

/// A start value of 2^-2850 is a product of a large order and a logarithm, which must be right to 1e-14, with
/// or without fused multiply-add. cos theta = 5/8 and its square are exact, so that no rounded angle hides
/// it. Up to where lambda stops growing, l = m / sin theta = 10247, beyond which errors of phase grow.
TEST_P(OnEveryTarget, StartValuesOfHighOrdersKeepTheirDigits) {
    constexpr std::int64_t m = 8000, lmax = 10200;
    const Ring ring{std::acos(0.625), 0.625, std::sqrt(1 - 0.625 * 0.625), 0, 1, 1, 0};
    const auto expected = lambda(lmax, m, ring);
    const auto alm = OneOrder(Grid({ring}), lmax, m).adjoint(1, 0);
    for (std::int64_t k = 0; k <= lmax - m; ++k) {
        const auto value = static_cast<double>(expected[k]);
        // As in sharp_transform_rounding, for the steps from m to lmax.
        ASSERT_NEAR(alm[k].real(), value, 6 * eps * std::sqrt(lmax - m) * std::abs(value) + 0x1p-60) << m + k;
    }
}

TEST_P(OnEveryTarget, FftMatchesThePlainSum) {
    fft::ComplexFft fft;
    for (const std::int64_t length :
         {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 30, 97, 120, 199, 211, 256, 422, 844, 1009}) {
        std::mt19937_64 generator(1);
        std::normal_distribution<double> normal;
        std::vector<Complex> x(length);
        for (Complex& value : x) value = {normal(generator), normal(generator)};
        auto y = x;
        fft.prepare(length);
        fft.backward(y.data());
        double error = 0;
        for (std::int64_t k = 0; k < length; k += 1 + length / 50) {
            std::complex<long double> sum = 0;
            for (std::int64_t j = 0; j < length; ++j) {
                const long double turns = static_cast<long double>(j * k % length) / length;
                sum += std::complex<long double>(x[j]) *
                       std::polar(1.0L, 2 * std::numbers::pi_v<long double> * turns);
            }
            error = larger(error, static_cast<double>(std::abs(std::complex<long double>(y[k]) - sum)));
        }
        // As in fft_complex.cpp; |x| = sqrt(2 length).
        const double n = static_cast<double>(length);
        EXPECT_LE(error, eps * (4 * std::log2(4 * n) + 4) * std::sqrt(2 * n) * 1.5) << "length " << length;
    }
}

INSTANTIATE_TEST_SUITE_P(Simd, OnEveryTarget, ::testing::ValuesIn(targets()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace zonal::test
