#include "zonal/spectra/estimate.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/grid.hpp"
#include "zonal/spectra/bins.hpp"
#include "zonal/spectra/coupling.hpp"
#include "zonal/spectra/pseudo_spectra.hpp"
#include "zonal/view.hpp"

// What bands are beside numbers of other packages, and in the mean over skies, is in
// tests/python/test_band_powers.py.
namespace zonal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double eps = std::numeric_limits<double>::epsilon();
const Grid grid = Grid::healpix(4);
const Bins bins = Bins::linear(4, 2, 9);

Array<double, 2> values(std::int64_t rows, double offset) {
    Array<double, 2> found({rows, grid.n_pixels()});
    for (std::int64_t i = 0; i < found.size(); ++i)
        found.data()[i] = offset + std::sin(1.3 * static_cast<double>(i * i % 977));
    return found;
}

const Array<double, 2> sky = values(3, 0), weights = values(2, 1.5);
/// In another place, with the same values.
const Array<double, 2> copy = weights;

MaskedMaps part(bool polarized, const Array<double, 2>& masks, std::int64_t mask) {
    return {.maps = polarized ? sky.view().slice(1, 2) : sky.view().slice(0, 1), .mask = masks.view()[mask]};
}

std::vector<MaskedField> three_fields() {
    return {{grid, {part(false, weights, 0)}},
            {grid, {part(false, weights, 1), part(true, copy, 0)}},
            {grid, {part(true, weights, 0)}}};
}

TEST(EstimateBands, HaveAllPairsOfParts) {
    const auto found = estimate_bands(three_fields(), bins, {.lmax_sky = 11, .threads = 1});
    std::vector<std::string> names;
    for (const auto& block : found.blocks) {
        names.push_back(std::to_string(block.first) + std::to_string(block.second));
        for (const auto& name : block.names) names.back() += " " + name;
    }
    EXPECT_THAT(names, ElementsAre("00 TT", "01 TT", "01 TE TB", "02 TE TB", "11 TT", "11 TE TB",
                                   "11 EE EB BE BB", "12 TE TB", "12 EE EB BE BB", "22 EE EB BE BB"));
    EXPECT_THAT(found.mask_of, ElementsAre(ElementsAre(0), ElementsAre(1, 0), ElementsAre(0)));
    EXPECT_EQ(found.mask_spectra.extents(), (View<double, 3>::Extents{2, 2, bins.lmax() + 11 + 1}));
    // E and B of all have the same mask.
    EXPECT_EQ(found.blocks[6].decoupling, found.blocks[8].decoupling);
    EXPECT_EQ(found.blocks[6].decoupling, found.blocks[9].decoupling);
    EXPECT_NE(found.blocks[0].decoupling, found.blocks[4].decoupling);
}

TEST(EstimateBands, SwapTheLettersOfFieldsThatAreSwapped) {
    auto fields = three_fields();
    const auto found = estimate_bands({fields[0], fields[2]}, bins, {.lmax_sky = 11, .threads = 1}),
               swapped = estimate_bands({fields[2], fields[0]}, bins, {.lmax_sky = 11, .threads = 1});
    EXPECT_THAT(found.blocks[1].names, ElementsAre("TE", "TB"));
    EXPECT_THAT(swapped.blocks[1].names, ElementsAre("ET", "BT"));
    for (std::int64_t i = 0; i < found.blocks[1].bands.size(); ++i)
        EXPECT_NEAR(swapped.blocks[1].bands.data()[i], found.blocks[1].bands.data()[i], 64 * eps);
}

TEST(EstimateBands, TakeOffWhiteNoiseOfAFieldWithItself) {
    auto fields = three_fields();
    const std::vector<double> variance(static_cast<std::size_t>(grid.n_pixels()), 0.3);
    for (auto& one : fields[1].parts) one.variance = {variance.data(), {std::ssize(variance)}};
    const auto found = estimate_bands(fields, bins, {.lmax_sky = 11, .threads = 1});
    const double of_t = white_noise_spectrum(grid, weights.view()[1], fields[1].parts[0].variance),
                 of_p = white_noise_spectrum(grid, weights.view()[0], fields[1].parts[0].variance);
    for (std::int64_t l = 0; l <= bins.lmax(); ++l) {
        EXPECT_EQ(found.blocks[4].noise(0, l), of_t);
        EXPECT_EQ(found.blocks[5].noise(0, l), 0);
        for (const std::int64_t s : {0, 3}) EXPECT_EQ(found.blocks[6].noise(s, l), l < 2 ? 0 : of_p);
        for (const std::int64_t s : {1, 2}) EXPECT_EQ(found.blocks[6].noise(s, l), 0);
        EXPECT_EQ(found.blocks[8].noise(0, l), 0);
    }
    auto difference = found.blocks[6].pseudo;
    for (std::int64_t i = 0; i < difference.size(); ++i)
        difference.data()[i] -= found.blocks[6].noise.data()[i];
    const auto bands = band_powers(*found.blocks[6].decoupling, difference.view());
    for (std::int64_t i = 0; i < bands.size(); ++i)
        EXPECT_EQ(found.blocks[6].bands.data()[i], bands.data()[i]);
}

TEST(EstimateBands, TakeNoiseSpectraAsTheMaskMixesThem) {
    auto fields = three_fields();
    std::vector<double> of_e, of_b;
    for (int l = 0; l <= 11; ++l) of_e.push_back(1.0 / (l + 1)), of_b.push_back(2.0 + l);
    fields[2].parts[0].noise = {of_e, of_b};
    const auto found = estimate_bands({fields[2]}, bins, {.lmax_sky = 11, .threads = 1});
    Array<double, 4> m({1, 2, 12, 12});
    const auto mask = found.mask_spectra.view()[0][0];
    coupling_matrices(View<const double, 2>(mask.data(), {1, mask.extent(0)}),
                      {CouplingKind::plus, CouplingKind::minus}, m.view(), 1);
    for (std::int64_t l = 0; l <= bins.lmax(); ++l) {
        double ee = 0, bb = 0;
        for (std::int64_t p = 0; p < 12; ++p) {
            const auto i = static_cast<std::size_t>(p);
            ee += m(0, 0, l, p) * of_e[i] + m(0, 1, l, p) * of_b[i];
            bb += m(0, 1, l, p) * of_e[i] + m(0, 0, l, p) * of_b[i];
        }
        EXPECT_NEAR(found.blocks[0].noise(0, l), ee, 64 * eps * std::abs(bb));
        EXPECT_NEAR(found.blocks[0].noise(3, l), bb, 64 * eps * std::abs(bb));
    }
}

TEST(EstimateBands, OfMaskedMapsDoNotMaskThemAgain) {
    auto fields = three_fields();
    auto holes = weights;
    auto products = values(1, 0);
    for (std::int64_t p = 0; p < grid.n_pixels(); ++p) {
        if (p % 5 == 0) holes(0, p) = 0;
        products(0, p) = p % 5 == 0 ? std::numeric_limits<double>::quiet_NaN() : sky(0, p) * holes(0, p);
    }
    fields[0].parts[0].mask = holes.view()[0];
    const MaskedField masked{grid, {{.maps = products.view(), .mask = holes.view()[0]}}, true};
    const auto one = estimate_bands({fields[0]}, bins), other = estimate_bands({masked}, bins);
    for (std::int64_t b = 0; b < bins.size(); ++b)
        EXPECT_EQ(one.blocks[0].bands(0, b), other.blocks[0].bands(0, b));
}

TEST(LmaxSkyOf, IsAQuarterAboveTheBinsUnlessItIsGiven) {
    EXPECT_EQ(lmax_sky_of(bins, std::nullopt), 11);  // bins.lmax() is 9
    EXPECT_EQ(lmax_sky_of(bins, 9), 9);
    EXPECT_EQ(lmax_sky_of(bins, 40), 40);
    EXPECT_EQ(estimate_bands(three_fields(), bins).blocks[0].decoupling->windows.extent(3), 12);
    for (const std::int64_t low : {8, -1})
        EXPECT_THAT([&] { lmax_sky_of(bins, low); },
                    ThrowsMessage<InvalidArgument>(
                        HasSubstr("lmax_sky = " + std::to_string(low) + ": must be 9 or more")));
}

TEST(EstimateBands, RejectWhatDoesNotFit) {
    const auto call = [](std::vector<MaskedField> fields, std::int64_t lmax_sky = 11) {
        return [fields, lmax_sky] { estimate_bands(fields, bins, {.lmax_sky = lmax_sky, .threads = 1}); };
    };
    auto fields = three_fields();
    EXPECT_THAT(call({}), ThrowsMessage<InvalidArgument>(HasSubstr("fields: are none")));
    EXPECT_THAT(call(fields, 8), ThrowsMessage<InvalidArgument>(HasSubstr("lmax_sky = 8: must be 9")));
    auto wrong = fields;
    wrong[1].parts = {fields[1].parts[1], fields[1].parts[0]};
    EXPECT_THAT(call(wrong), ThrowsMessage<InvalidArgument>(HasSubstr("fields[1]: must be T, Q and U")));
    wrong = fields;
    wrong[0].parts[0].transfer.assign(11, 1.0);
    EXPECT_THAT(call(wrong), ThrowsMessage<InvalidArgument>(
                                 HasSubstr("transfer: ends at l = 10: must reach lmax_sky = 11")));
    wrong = fields;
    wrong[2].parts[0].noise = {std::vector<double>(12, 1.0)};
    EXPECT_THAT(call(wrong),
                ThrowsMessage<InvalidArgument>(HasSubstr("fields[2]: noise = 1: must be 2 spectra")));
    wrong[2].parts[0].noise.assign(2, std::vector<double>(3, 1.0));
    EXPECT_THAT(call(wrong), ThrowsMessage<InvalidArgument>(HasSubstr("fields[2]: noise: ends at l = 2")));
    wrong[2].parts[0].variance = weights.view()[0];
    EXPECT_THAT(call(wrong), ThrowsMessage<InvalidArgument>(HasSubstr("variance, noise: are both given")));
}

}  // namespace
}  // namespace zonal
