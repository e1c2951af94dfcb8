#include "zonal/wavelet_maps.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "zonal/error.hpp"
#include "zonal/mask.hpp"
#include "zonal/sky/synfast.hpp"

namespace zonal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t lmax = 16;

SkyMap sky() {
    return synfast({.tt = std::vector<double>(lmax + 1, 1.0)}, HealpixPixels{8, healpix::Order::ring},
                   {.lmax = lmax, .seed = 3})
        .map;
}

TEST(WaveletMaps, GoThereAndBack) {
    const auto map = sky();
    const MapAnalysisOptions exact{.tolerance = 1e-13};
    for (const WaveletScales& scales :
         {WaveletScales{.lmax = lmax},
          WaveletScales{.kind = WaveletKind::scale_discretised, .base = 3, .j_min = 1, .lmax = lmax}}) {
        const auto parts = wavelet_transform(map, scales, exact);
        EXPECT_EQ(parts.map.row_name(0), "SCALING");
        const auto read = WaveletScales::from_map(parts.map);
        EXPECT_EQ(read.cards(), scales.cards());
        const auto back = inverse_wavelet_transform(parts.map, read, exact);
        EXPECT_EQ(back.map.row_name(0), "SIGNAL");
        // Two solutions to 1e-13 of 17^2 coefficients of order 1, which add as random terms do; and 4 times
        // that in the worst of thousands.
        for (std::int64_t i = 0; i < map.rows().size(); ++i)
            ASSERT_NEAR(back.map.rows().data()[i], map.rows().data()[i], 4 * 17 * 1e-13);
    }
}

TEST(WaveletMaps, OfMexicanHatsHaveNoInverse) {
    const WaveletScales hats{.kind = WaveletKind::mexican_hat, .lmax = lmax, .radii = {0.3, 0.5}};
    EXPECT_THAT(hats.names(2), ElementsAre("HAT_0", "HAT_1"));
    const auto parts = wavelet_transform(sky(), hats).map;
    EXPECT_EQ(WaveletScales::from_map(parts).radii, hats.radii);
    EXPECT_THAT([&] { inverse_wavelet_transform(parts, hats); },
                ThrowsMessage<InvalidArgument>(HasSubstr("no inverse")));
}

TEST(WaveletMaps, RejectWhatIsNoWholeFieldAndNoTransform) {
    auto map = sky();
    EXPECT_THAT([&] { WaveletScales::from_map(map); },
                ThrowsMessage<InvalidArgument>(HasSubstr("no card WAVELET")));
    EXPECT_THAT([&] { inverse_wavelet_transform(map, {.lmax = lmax}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("scales are needed")));
    map.rows()(0, 7) = unseen_value;
    EXPECT_THAT([&] { wavelet_transform(map, {.lmax = lmax}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("the first is ring pixel 7")));
}

}  // namespace
}  // namespace zonal
