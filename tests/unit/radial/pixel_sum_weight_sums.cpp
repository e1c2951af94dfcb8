#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "compare.hpp"
#include "few_pixels_helpers.hpp"
#include "radial/pixel_sum/weight_sums.hpp"

// What the weights of output pixels add up to.
namespace zonal {
namespace {

using test::kernel_to;
using test::rings_of_any_length;

TEST(WeightSums, AreTheConvolutionOfOnes) {
    const Grid healpix = Grid::healpix(64), car = Grid::equidistant_cylindrical(40, 160),
               any = rings_of_any_length(300),
               north = healpix.subset({3, 4, 5, 6, 40, 41, 70, 71, 72, 90, 91});
    for (const double accuracy : {1e-12, 1e-4})
        for (const auto& [grid, grid_out] :
             {std::pair{healpix, healpix}, std::pair{healpix, car}, std::pair{car, healpix},
              std::pair{healpix, north}, std::pair{north, healpix}, std::pair{any, any}})
            for (const auto& kernel : {kernel_to(0.1), RadialKernel::top_hat(0.2)}) {
                std::vector<Ring> rings = grid_out.rings();
                for (Ring& ring : rings) ring.weight = 1;
                const Grid unweighted(rings, grid_out.n_pixels(), grid_out.name());
                const radial::PixelSumSchedule schedule(unweighted, radial::SumKernel(kernel, accuracy), grid,
                                                        accuracy);
                std::vector<bool> in_rings(static_cast<std::size_t>(grid.n_pixels())), some(in_rings.size());
                for (const Ring& ring : grid.rings())
                    for (std::int64_t k = ring.first_pixel; k < ring.first_pixel + ring.n_pixels; ++k) {
                        in_rings[static_cast<std::size_t>(k)] = true;
                        some[static_cast<std::size_t>(k)] = k * k % 71 == 3;
                    }
                auto options = test::summed();
                options.accuracy = accuracy;
                const std::vector<double> ones(static_cast<std::size_t>(grid_out.n_pixels()), 1.);
                const auto expected = test::summed_over_pixels(unweighted, kernel, grid, ones, options);
                // Thousands of terms at most round by 1e-16 each; the kernel differs from tables by accuracy.
                for (const auto& [source, allowed] : {std::pair{radial::WeightSource::tables, 1e-13},
                                                      std::pair{radial::WeightSource::kernel, accuracy}}) {
                    const auto all = radial::weight_sums(schedule, in_rings, source, 2),
                               few = radial::weight_sums(schedule, some, source, 2);
                    EXPECT_LE(test::largest_difference(all, expected), allowed * test::largest(expected))
                        << grid.name() << " to " << grid_out.name() << ", support " << kernel.support();
                    for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(few[k], some[k] ? all[k] : 0) << k;
                }
            }
}

}  // namespace
}  // namespace zonal
