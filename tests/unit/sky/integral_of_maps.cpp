#include "zonal/sky/integral.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/mask.hpp"

namespace zonal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double pi = std::numbers::pi, eps = std::numeric_limits<double>::epsilon();

template <class T>
ConstView<T, 1> view(const std::vector<T>& values) {
    return {values.data(), {std::ssize(values)}};
}

TEST(Integral, OfOneIsTheSphereOnEveryGrid) {
    for (const Grid& grid : {Grid::healpix(8), Grid::healpix(3), Grid::gauss_legendre(20, 40),
                             Grid::clenshaw_curtis(9, 12), Grid::equidistant_cylindrical(30, 60)}) {
        const std::vector<double> ones(static_cast<std::size_t>(grid.n_pixels()), 1);
        // Rounding of one sum a ring, and of their sum, of 60 terms at most, as in a random walk.
        EXPECT_NEAR(integral(view(ones), grid), 4 * pi, 4 * pi * std::sqrt(60.0) * eps) << grid.name();
    }
}

TEST(Integral, OfSomePixelsIsTheSumOfTheirValuesTimesTheirAreas) {
    const Grid grid = Grid::equidistant_cylindrical(6, 4);
    std::vector<double> map(24);
    for (std::size_t i = 0; i < map.size(); ++i) map[i] = static_cast<double>(i);
    map[9] = unseen_value;
    const auto& rings = grid.rings();
    EXPECT_DOUBLE_EQ(integral(view(map), grid, view(std::vector<std::int64_t>{21, 0, 9, 5})),
                     21 * rings[5].weight + 5 * rings[1].weight);
    EXPECT_EQ(integral(view(map), grid, {}), 0);
}

TEST(CredibleLevels, LeaveOutPixelsInNoRing) {
    const Grid caps = Grid::healpix(1).subset({0, 1});
    const std::vector<double> map{4, 3, 2, 1, 0, 0, 0, 0, 100, -1, std::nan(""), 0};
    std::vector<double> levels(12);
    credible_levels(view(map), caps, {levels.data(), {12}});
    EXPECT_NEAR(levels[0], 0.4, 4 * eps);
    for (const std::size_t pixel : {8, 9, 10, 11}) EXPECT_NEAR(levels[pixel], 1, 4 * eps) << pixel;
}

TEST(Integral, RefusesWhatHasNone) {
    const Grid grid = Grid::healpix(1);
    std::vector<double> map(12, 1);
    const auto error = [&](const std::vector<std::int64_t>& pixels) {
        return [&grid, &map, pixels] { integral(view(map), grid, view(pixels)); };
    };
    EXPECT_THAT(error({3, 12}), ThrowsMessage<InvalidArgument>("pixels[1] = 12: must be from 0 to 11"));
    EXPECT_THAT(error({-1}), ThrowsMessage<InvalidArgument>("pixels[0] = -1: must be from 0 to 11"));
    EXPECT_THAT(error({3, 4, 3}), ThrowsMessage<InvalidArgument>(HasSubstr("pixels[2] = 3: occurs twice")));
    map[3] = std::nan("");
    EXPECT_THAT(error({3}), ThrowsMessage<InvalidArgument>(HasSubstr("NaN")));
    map.pop_back();
    EXPECT_THAT(error({3}), ThrowsMessage<InvalidArgument>(HasSubstr("11 pixels: must be 12")));
}

TEST(CredibleLevels, AreTheSharesOfWhatIsDenser) {
    const Grid grid = Grid::healpix(1);
    const std::vector<double> map{1, 4, 0, 2, unseen_value, 1, 0, 0, 0, 0, 0, 0};
    std::vector<double> levels(12);
    credible_levels(view(map), grid, {levels.data(), {12}});
    EXPECT_THAT(levels, ElementsAre(7. / 8, 0.5, 1, 0.75, 1, 1, 1, 1, 1, 1, 1, 1));
}

TEST(CredibleLevels, WeighPixelsByTheirArea) {
    const Grid grid = Grid::equidistant_cylindrical(3, 1);
    const std::vector<double> map{3, 2, 1};
    std::vector<double> levels(3);
    credible_levels(view(map), grid, {levels.data(), {3}});
    const double polar = grid.rings()[0].weight, middle = grid.rings()[1].weight;
    EXPECT_DOUBLE_EQ(levels[0], 3 * polar / (4 * polar + 2 * middle));
    EXPECT_DOUBLE_EQ(levels[1], (3 * polar + 2 * middle) / (4 * polar + 2 * middle));
    EXPECT_EQ(levels[2], 1);
}

TEST(CredibleLevels, RefuseWhatIsNoDensity) {
    const Grid grid = Grid::healpix(1);
    std::vector<double> map(12), levels(12);
    const auto call = [&] { credible_levels(view(map), grid, {levels.data(), {12}}); };
    EXPECT_THAT(call,
                ThrowsMessage<InvalidArgument>(HasSubstr("its integral is 0: must be above 0 and finite")));
    for (const double bad : {-1.0, std::nan(""), HUGE_VAL}) {
        map[5] = bad;
        EXPECT_THAT(call, ThrowsMessage<InvalidArgument>(HasSubstr("must be finite and not negative")));
    }
}

}  // namespace
}  // namespace zonal
