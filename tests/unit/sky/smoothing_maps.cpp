#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sht_helpers.hpp"
#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/sky/smoothing.hpp"

namespace zonal::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Maps = Array<double, 2>;

constexpr double fwhm = 40 * std::numbers::pi / 180;

/// I, Q, U of nside 4 that other programs can make too.
Maps wavy_maps() {
    Maps maps({3, 192});
    for (int p = 0; p < 192; ++p) {
        const auto n = healpix::pix2vec(4, healpix::Order::ring, p);
        maps(0, p) = std::cos(p * 0.37) + 2 + 0.5 * n[0] - n[2];
        maps(1, p) = std::sin(p * 0.11);
        maps(2, p) = std::cos(p * 0.23 + 1);
    }
    return maps;
}

Maps intensity() {
    const auto maps = wavy_maps();
    Maps one({1, 192});
    std::copy_n(maps.data(), 192, one.data());
    return one;
}

SmoothingOptions options_to(std::int64_t lmax) {
    SmoothingOptions options;
    options.lmax = lmax;
    options.threads = 1;
    return options;
}

struct Result {
    Maps maps;
    SmoothingReport report;
};

Result smoothed(const Maps& maps, Fields fields, const SmoothingOptions& options = options_to(8),
                const std::vector<double>& mask = {}, const Grid& out = Grid::healpix(4)) {
    Result result{Maps({maps.extent(0), out.n_pixels()}), {}};
    result.report =
        smooth<double>(Grid::healpix(4), maps.view(), fields,
                       View<const double, 1>(mask.data(), {static_cast<std::int64_t>(mask.size())}),
                       gaussian_beam(fwhm, options.lmax), out, result.maps.view(), options);
    return result;
}

// 8 transforms of values of order 1 or 2, in sums of 9 degrees, which round as in a random walk.
const double rounding = 8 * 2 * std::sqrt(9.) * eps;

TEST(Smoothing, AgreesWithHealpy) {
    const auto [maps, report] = smoothed(wavy_maps(), Fields::iqu);
    // healpy 1.20.1, smoothing(fwhm=40 deg, lmax=8, iter=3, pol=True)
    struct Row {
        std::int64_t pixel;
        double values[3];
    };
    for (const Row& row : {Row{0, {1.2765678061376318, 0.04502577561172063, 0.034396429580944986}},
                           Row{77, {0.8831353350135003, -0.005335381159116411, 0.005565843189304798}},
                           Row{191, {3.1958581129790162, 0.06496922887406019, 0.06727230187955718}}})
        for (std::int64_t field = 0; field < 3; ++field)
            EXPECT_NEAR(maps(field, row.pixel), row.values[field], rounding) << field << " " << row.pixel;
    EXPECT_EQ(report.lmax, 8);
    EXPECT_EQ(report.iterations, 3);
    EXPECT_TRUE(report.reached_tolerance && report.invertible);
    EXPECT_EQ(report.unseen_pixels, (std::vector<std::int64_t>{0, 0, 0}));
}

TEST(Smoothing, OfMaskedPixelsAgreesWithHealpy) {
    auto map = intensity();
    for (int p = 0; p < 8; ++p) map(0, p) = unseen_value;
    const auto [maps, report] = smoothed(map, Fields::scalars);
    for (int p = 0; p < 8; ++p) EXPECT_EQ(maps(0, p), unseen_value);
    EXPECT_NEAR(maps(0, 8), 0.8573458443842177, rounding);
    EXPECT_NEAR(maps(0, 77), 0.8841073697082493, rounding);
    EXPECT_NEAR(maps(0, 191), 3.191507765953175, rounding);
    EXPECT_EQ(report.bad_pixels[0].unseen, 8);
    EXPECT_EQ(report.masked_pixels[0], 8);
    EXPECT_EQ(report.unseen_pixels[0], 8);
}

TEST(Smoothing, TreatsMaskAndUnseenAlike) {
    auto with_unseen = intensity();
    std::vector<double> mask(192, 1.0);
    for (const int p : {0, 5, 100}) with_unseen(0, p) = unseen_value, mask[p] = 0;
    for (const auto mode : {MaskMode::zero, MaskMode::renormalize}) {
        auto options = options_to(8);
        options.mask_mode = mode;
        EXPECT_EQ(largest_difference(smoothed(with_unseen, Fields::scalars, options).maps,
                                     smoothed(intensity(), Fields::scalars, options, mask).maps),
                  0);
    }
}

TEST(Smoothing, FillsMaskedPixelsOnlyWhenAsked) {
    std::vector<double> mask(192, 1.0);
    mask[3] = 0;
    auto options = options_to(8);
    const auto kept = smoothed(intensity(), Fields::scalars, options, mask);
    options.fill_masked = true;
    const auto filled = smoothed(intensity(), Fields::scalars, options, mask);
    EXPECT_EQ(kept.maps(0, 3), unseen_value);
    EXPECT_GT(filled.maps(0, 3), 0);
    EXPECT_EQ(kept.maps(0, 4), filled.maps(0, 4));
    EXPECT_EQ(filled.report.unseen_pixels[0], 0);
}

TEST(Smoothing, RenormalisedKeepsConstants) {
    Maps map({1, 192});
    for (auto& value : map) value = 3;
    std::vector<double> mask(192, 1.0);
    for (int p = 0; p < 96; ++p) mask[p] = 0;
    auto options = options_to(8);
    options.mask_mode = MaskMode::renormalize;
    options.fill_masked = true;
    const auto [maps, report] = smoothed(map, Fields::scalars, options, mask);
    std::int64_t unseen = 0;
    for (const double value : maps) {
        if (value == unseen_value) {
            ++unseen;
        } else {
            EXPECT_NEAR(value, 3, 3 * rounding);  // the smoothed mask has the map's rounding
        }
    }
    // Far from the mask's edge its smoothed value is below the threshold.
    EXPECT_GT(unseen, 20);
    EXPECT_LT(unseen, 96);
    EXPECT_EQ(report.unseen_pixels[0], unseen);
}

TEST(Smoothing, RenormalisedPolarisationIsDividedByTheIntensityKernel) {
    std::vector<double> mask(192, 1.0);
    for (int p = 0; p < 30; ++p) mask[p] = 0;
    auto options = options_to(8);
    const auto zero = smoothed(wavy_maps(), Fields::iqu, options, mask);
    options.mask_mode = MaskMode::renormalize;
    const auto divided = smoothed(wavy_maps(), Fields::iqu, options, mask);
    Maps mask_map({1, 192});
    std::copy(mask.begin(), mask.end(), mask_map.begin());
    const auto share = smoothed(mask_map, Fields::scalars);
    for (std::int64_t p = 30; p < 192; ++p)
        for (std::int64_t field = 0; field < 3; ++field)
            if (share.maps(0, p) > 0.11) {
                EXPECT_NEAR(divided.maps(field, p), zero.maps(field, p) / share.maps(0, p), rounding / 0.1);
            }
}

TEST(Smoothing, MasksQAndUTogetherAndIntensityAlone) {
    auto maps = wavy_maps();
    maps(1, 17) = unseen_value;
    const auto [result, report] = smoothed(maps, Fields::iqu);
    EXPECT_EQ(report.masked_pixels, (std::vector<std::int64_t>{0, 1, 1}));
    EXPECT_NE(result(0, 17), unseen_value);
    EXPECT_EQ(result(1, 17), unseen_value);
    EXPECT_EQ(result(2, 17), unseen_value);
}

TEST(Smoothing, OfManyScalarsIsThatOfEach) {
    Maps maps({6, 192});
    for (std::int64_t f = 0; f < 6; ++f)
        for (std::int64_t p = 0; p < 192; ++p) maps(f, p) = std::sin(0.1 * static_cast<double>(p * (f + 1)));
    maps(2, 9) = unseen_value;
    const auto together = smoothed(maps, Fields::scalars);
    for (std::int64_t f = 0; f < 6; ++f) {
        Maps one({1, 192});
        std::copy_n(maps.data() + f * 192, 192, one.data());
        const auto alone = smoothed(one, Fields::scalars);
        for (std::int64_t p = 0; p < 192; ++p)
            EXPECT_NEAR(together.maps(f, p), alone.maps(0, p), f == 2 && p == 9 ? 0 : rounding)
                << f << " " << p;
    }
}

TEST(Smoothing, WorksInPlaceAndOnQAndU) {
    auto maps = wavy_maps();
    const auto want = smoothed(maps, Fields::iqu).maps;
    View<double, 2> pair(maps.data() + 192, {2, 192});
    smooth<double>(Grid::healpix(4), pair, Fields::qu, {}, gaussian_beam(fwhm, 8), Grid::healpix(4), pair,
                   options_to(8));
    for (std::int64_t i = 192; i < 576; ++i) EXPECT_EQ(maps.data()[i], want.data()[i]);
}

TEST(Smoothing, APlanServesManyMaps) {
    for (const int iterations : {0, 2}) {
        auto options = options_to(8);
        options.iterations = iterations;
        options.mask_mode = MaskMode::renormalize;
        auto masked = wavy_maps();
        masked(1, 17) = unseen_value;
        SmoothingPlan plan(Grid::healpix(4), Fields::iqu, gaussian_beam(fwhm, 8), Grid::healpix(4), options);
        for (const Maps& maps : {wavy_maps(), masked, wavy_maps()}) {
            Maps found(maps.extents());
            const auto report = plan.smooth<double>(maps.view(), {}, found.view());
            const auto [expected, expected_report] = smoothed(maps, Fields::iqu, options);
            EXPECT_EQ(largest_difference(found, expected), 0);
            EXPECT_EQ(report.masked_pixels, expected_report.masked_pixels);
            EXPECT_EQ(report.iterations, iterations);
        }
    }
}

TEST(Smoothing, ToAnotherGridSamplesTheSameField) {
    const auto here = smoothed(intensity(), Fields::scalars).maps;
    const Grid rings = Grid::healpix(4).subset({0, 7, 14});
    const auto there = smoothed(intensity(), Fields::scalars, options_to(8), {}, rings).maps;
    for (const Ring& ring : rings.rings())
        for (std::int64_t k = 0; k < ring.n_pixels; ++k)
            EXPECT_NEAR(there(0, ring.first_pixel + k), here(0, ring.first_pixel + k), rounding);
}

TEST(Smoothing, ToAnotherGridRestoresUnseenByTheNearestPixel) {
    std::vector<double> mask(192, 1.0);
    mask[0] = 0;
    const auto [fine, report] =
        smoothed(intensity(), Fields::scalars, options_to(8), mask, Grid::healpix(16));
    // The pixels around the north pole of longitude 0 to pi / 2.
    EXPECT_EQ(fine(0, 0), unseen_value);
    EXPECT_NE(fine(0, 1), unseen_value);
    EXPECT_NEAR(static_cast<double>(report.unseen_pixels[0]), 16, 8);
    std::int64_t unseen = 0;
    for (const double value : fine) unseen += value == unseen_value ? 1 : 0;
    EXPECT_EQ(report.unseen_pixels[0], unseen);
}

TEST(Smoothing, OfSinglePrecisionAgrees) {
    const auto maps = wavy_maps();
    Array<float, 2> narrow(maps.extents());
    for (std::int64_t i = 0; i < maps.size(); ++i) narrow.data()[i] = static_cast<float>(maps.data()[i]);
    narrow(0, 5) = static_cast<float>(unseen_value);
    const auto report = smooth<float>(Grid::healpix(4), std::as_const(narrow).view(), Fields::iqu, {},
                                      gaussian_beam(fwhm, 8), Grid::healpix(4), narrow.view(), options_to(8));
    EXPECT_EQ(narrow(0, 5), static_cast<float>(unseen_value));
    EXPECT_EQ(report.unseen_pixels[0], 1);
    const auto want = smoothed(maps, Fields::iqu).maps;
    for (std::int64_t p = 0; p < 192; ++p) EXPECT_NEAR(narrow(1, p), want(1, p), 10 * 0x1p-24);
}

TEST(Smoothing, RejectsBadPixels) {
    auto maps = wavy_maps();
    maps(2, 7) = std::nan("");
    EXPECT_THAT([&] { smoothed(maps, Fields::iqu); },
                ThrowsMessage<InvalidArgument>(HasSubstr("map U: 1 pixel is NaN, the first is pixel 7")));
    maps = wavy_maps();
    maps(1, 9) = unseen_value;
    auto options = options_to(8);
    options.mask_mode = MaskMode::error;
    EXPECT_THAT(
        [&] { smoothed(maps, Fields::iqu, options); },
        ThrowsMessage<InvalidArgument>(HasSubstr("map Q: 1 pixels are UNSEEN, the first is pixel 9")));
    std::vector<double> mask(192, 1.0);
    EXPECT_NO_THROW(smoothed(wavy_maps(), Fields::iqu, options, mask));
    mask[1] = 0;
    EXPECT_THROW(smoothed(wavy_maps(), Fields::iqu, options, mask), InvalidArgument);
    mask[1] = 1.5;
    EXPECT_THROW(smoothed(wavy_maps(), Fields::iqu, options_to(8), mask), InvalidArgument);
}

TEST(Smoothing, RejectsShapesThatDoNotFit) {
    EXPECT_THROW(smoothed(intensity(), Fields::iqu), InvalidArgument);
    EXPECT_THROW(smoothed(Maps({1, 191}), Fields::scalars), InvalidArgument);
    EXPECT_THROW(smoothed(intensity(), Fields::scalars, options_to(8), std::vector<double>(3)),
                 InvalidArgument);
    auto options = options_to(8);
    options.mask_threshold = 0;
    EXPECT_THROW(smoothed(intensity(), Fields::scalars, options), InvalidArgument);
    Maps out({1, 192});
    EXPECT_THROW(smooth<double>(Grid::healpix(4), intensity().view(), Fields::scalars, {},
                                gaussian_beam(fwhm, 7), Grid::healpix(4), out.view(), options_to(8)),
                 InvalidArgument);
}

TEST(Smoothing, TellsHowFarItIs) {
    std::vector<double> done;
    std::vector<double> mask(192, 1.0);
    mask[3] = 0;
    auto options = options_to(8);
    options.progress = [&](double share) {
        done.push_back(share);
        return true;
    };
    Maps scalars({6, 192});
    for (const auto mode : {MaskMode::zero, MaskMode::renormalize})
        for (const bool masked : {false, true})
            for (const Fields fields : {Fields::iqu, Fields::scalars}) {
                options.mask_mode = mode;
                done.clear();
                smoothed(fields == Fields::iqu ? wavy_maps() : scalars, fields, options,
                         masked ? mask : std::vector<double>{});
                ASSERT_GT(done.size(), 4u);
                EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
                EXPECT_GE(done.front(), 0);
                EXPECT_NEAR(done.back(), 1, 4 * eps);
                // No step is more than an analysis or a synthesis of one of two groups.
                double before = 0;
                for (const double share : done) EXPECT_LE(share - std::exchange(before, share), 0.51);
            }
}

TEST(Smoothing, DefaultLmaxFollowsTheGrid) {
    EXPECT_EQ(default_smoothing_lmax(Grid::healpix(16)), 47);
    EXPECT_EQ(default_smoothing_lmax(Grid::healpix(16).subset({0, 1})), 47);
    EXPECT_EQ(default_smoothing_lmax(Grid::gauss_legendre(20, 40)), 19);
    EXPECT_EQ(default_smoothing_lmax(Grid::gauss_legendre(20, 60)), 19);
    EXPECT_EQ(default_smoothing_lmax(Grid::gauss_legendre(20, 30)), 14);
    EXPECT_EQ(default_smoothing_lmax(Grid::gauss_legendre(20, 31)), 15);
    for (const auto* name : {"healpix nside=16", "healpix-like rings"})
        EXPECT_EQ(default_smoothing_lmax(Grid(Grid::gauss_legendre(20, 30).rings(), -1, name)), 14);
}

}  // namespace
}  // namespace zonal::test
