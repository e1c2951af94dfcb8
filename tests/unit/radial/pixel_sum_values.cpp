// The kernel's values in vectors against the plain ones.
#include <gtest/gtest.h>

#include "convolution_helpers.hpp"
#include "polarization_helpers.hpp"
#include "radial/pixel_sum/weights.hpp"

namespace zonal::radial {
namespace {

constexpr double accuracy = 1e-12;

/// Between rings of a map, at longitudes all around: more than are taken at once, and no whole vectors.
void expect_plain_values(const SumKernel& kernel) {
    const Grid grid = Grid::healpix(8);
    const PixelSumSchedule schedule(grid, kernel, grid, accuracy);
    constexpr std::int64_t n = 203;
    const auto d_phi = [](std::int64_t j) { return -3.1 + 0.0307 * static_cast<double>(j); };
    for (const std::int64_t out : {0, 3, 15, 30})
        for (const std::int64_t in : {0, 4, 15, 16, 29}) {
            const PairGeometry pair = pair_geometry(schedule.outputs()[out], schedule.inputs()[in]);
            std::int64_t next = 0;
            visit_values(kernel, pair, n, d_phi, [&](std::int64_t j, double value) {
                ASSERT_EQ(j, next++);
                // Tables right to `accuracy` are joined there, so at their joints the two may differ by twice
                // that.
                EXPECT_NEAR(value, kernel(pair, d_phi(j)), 2 * accuracy * kernel.peak())
                    << out << ' ' << in << ' ' << j;
            });
            EXPECT_EQ(next, n);
        }
}

TEST(KernelValues, OfOneFieldAreThePlainOnes) {
    for (const double support : {0.3, 1.7, std::numbers::pi})
        expect_plain_values(SumKernel(RadialKernel::gaussian(0.7 * support).truncated(support), accuracy));
}

TEST(KernelValues, OfQAndUAreThePlainOnes) {
    const PolarizationKernel kernel(test::random_windows(14, 1), test::random_windows(11, 2));
    for (const double support : {0.6, std::numbers::pi}) {
        const PolarizationKernel cut = kernel.truncated(support);
        const SumKernel both(cut.plus(), cut.minus(), accuracy);
        for (const KernelPart part : {KernelPart::qq, KernelPart::qu, KernelPart::uq, KernelPart::uu})
            expect_plain_values(both.with_part(part));
    }
}

}  // namespace
}  // namespace zonal::radial
