#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "beams/harmonics.hpp"
#include "sht_helpers.hpp"

namespace zonal::test {
namespace {

TEST(BeamHarmonics, AreThoseOfTheAngles) {
    for (const double largest : {7.0, 29000.0, 1e8})
        for (const std::int64_t count : {1, 7, 64, 129}) {
            const std::int64_t kmax = 40, stride = 130;
            std::mt19937_64 generator(1);
            std::uniform_real_distribution<double> angle(-largest, largest);
            std::vector<double> x, cosines((kmax + 1) * stride), sines(cosines.size());
            for (std::int64_t i = 0; i < count; ++i) x.push_back(angle(generator));
            beams::make_harmonics(x.data(), count, kmax, cosines.data(), sines.data(), stride);
            for (std::int64_t k = 0; k <= kmax; ++k)
                for (std::int64_t i = 0; i < count; ++i) {
                    // k x in long double, whose own rounding is 2^-64 of it; steps of 3 and of 1 unit.
                    const long double wanted = static_cast<long double>(k) * x[static_cast<std::size_t>(i)];
                    const auto at = static_cast<std::size_t>(k * stride + i);
                    const double error =
                        static_cast<double>(3 * k + 1) * eps + largest * static_cast<double>(k) * 0x1p-63;
                    EXPECT_NEAR(cosines[at], static_cast<double>(std::cos(wanted)), error)
                        << largest << ", " << k;
                    EXPECT_NEAR(sines[at], static_cast<double>(std::sin(wanted)), error)
                        << largest << ", " << k;
                }
        }
}

}  // namespace
}  // namespace zonal::test
