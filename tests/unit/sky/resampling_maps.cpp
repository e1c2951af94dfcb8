#include "zonal/sky/resampling.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "zonal/error.hpp"
#include "zonal/healpix.hpp"
#include "zonal/mask.hpp"
#include "zonal/sky/synfast.hpp"

namespace zonal {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

SimulatedSky sky(const Pixelization& pixels) {
    SkySpectra c;
    for (auto* spectrum : {&c.tt, &c.ee, &c.bb}) spectrum->assign(13, 1.0);
    return synfast(c, pixels, {.lmax = 12, .seed = 3});
}

double largest_difference(const SkyMap& a, const SkyMap& b) {
    double largest = 0;
    for (std::int64_t i = 0; i < a.rows().size(); ++i) {
        const double delta = std::abs(a.rows().data()[i] - b.rows().data()[i]);
        if (!(delta <= largest)) largest = delta;
    }
    return largest;
}

TEST(Resampling, GivesTheMapThatTheAlmHaveThere) {
    const HealpixPixels coarse{8, healpix::Order::ring}, fine{16, healpix::Order::nest};
    const auto found = resample(sky(coarse).map, fine, {.analysis = {.lmax = 12, .tolerance = 1e-13}});
    // The residual of the solution, amplified by at most 10 (tests of the analysis), on values of order 10.
    EXPECT_LE(largest_difference(found.map, sky(fine).map), 10 * 10 * 1e-13);
    EXPECT_EQ(found.report.lmax, 12);
    EXPECT_EQ(resample(sky(fine).map, coarse).report.lmax, 23);  // what the coarser grid holds
    EXPECT_THAT([&] { resample(sky(coarse).map, fine, {.analysis = {.lmax = 1}}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("must be at least 2")));
}

TEST(Resampling, SaysWhatItsAnalysisHasNotReached) {
    const HealpixPixels coarse{8, healpix::Order::ring}, fine{16, healpix::Order::nest};
    const auto map = sky(coarse).map;
    EXPECT_THAT(resample(map, fine, {.analysis = {.lmax = 12, .tolerance = 1e-13}}).notes,
                testing::IsEmpty());
    EXPECT_THAT(
        resample(map, fine, {.analysis = {.lmax = 12, .tolerance = 1e-13, .max_iterations = 1}}).notes,
        testing::ElementsAre(HasSubstr("above the tolerance")));
}

TEST(Resampling, OfAPartialSkyIsOne) {
    auto map = sky(HealpixPixels{4, healpix::Order::ring}).map;
    const HealpixPixels fine{8, healpix::Order::ring};
    EXPECT_FALSE(resample(map, fine).map.header().partial());
    for (std::int64_t row = 0; row < 3; ++row) std::fill_n(map.rows()[row].data(), 50, unseen_value);
    map.make_partial_sky();
    const auto found = resample(map, fine).map;
    // A finer pixel is unknown where the coarse one that holds it is.
    std::vector<std::int64_t> expected;
    for (std::int64_t pixel = 0; pixel < 768; ++pixel) {
        const auto [theta, phi] = healpix::pix2ang(8, healpix::Order::ring, pixel);
        if (healpix::ang2pix(4, healpix::Order::ring, healpix::Angles{theta, phi}) >= 50)
            expected.push_back(pixel);
    }
    EXPECT_EQ(found.header().pixels, expected);
}

TEST(Resampling, OfTheSamePixelsInAnotherOrderKeepsPartialSkies) {
    auto map = sky(HealpixPixels{4, healpix::Order::ring}).map;
    for (std::int64_t row = 0; row < 3; ++row) std::fill_n(map.rows()[row].data(), 50, unseen_value);
    map.make_partial_sky();
    const auto nest = reorder(map, HealpixPixels{4, healpix::Order::nest});
    EXPECT_EQ(largest_difference(map, nest), 0);
    EXPECT_EQ(nest.header().pixels.size(), 192u - 50);
    EXPECT_NE(nest.header().pixels, map.header().pixels);
    EXPECT_THAT(
        [&] {
            reorder(map, HealpixPixels{8, healpix::Order::nest});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("pixels = nside 8, nest")));
}

TEST(Resampling, NamesTheColumnWhosePixelsAreMissing) {
    SkyMap map(MapFile{HealpixPixels{4},
                       CoordinateSystem::unknown,
                       PolarizationConvention::absent,
                       {},
                       {{.name = "LOW"}, {.name = "HIGH"}}});
    map.rows()(1, 7) = map.rows()(1, 30) = unseen_value;
    ResamplingOptions how;
    how.analysis.mask_mode = MaskMode::error;
    EXPECT_THAT([&] { resample(map, HealpixPixels{8}, how); },
                ThrowsMessage<InvalidArgument>(HasSubstr(
                    "column HIGH: 2 pixels are UNSEEN or masked, the first is pixel 7 in ring order")));
}

/// Every field of degree 12, on grids that know their alm exactly and on HEALPix to 1e-13, there and back.
TEST(Resampling, ThereAndBackBetweenGridsGivesTheMap) {
    const Grid grids[] = {Grid::gauss_legendre(13, 25), Grid::fejer1(13, 25, 0.1),
                          Grid::clenshaw_curtis(14, 25), Grid::driscoll_healy(13, 26), Grid::healpix(8)};
    const auto lmaxes = ResamplingOptions{.analysis = {.lmax = 12, .tolerance = 1e-13}};
    const auto source = sky(HealpixPixels{8, healpix::Order::ring});
    for (const Grid& first : grids) {
        Array<double, 2> map({3, first.n_pixels()});
        resample(Grid::healpix(8), source.map.rows(), Fields::iqu, first, map.view(), lmaxes);
        for (const Grid& second : grids) {
            Array<double, 2> there({3, second.n_pixels()}), back({3, first.n_pixels()});
            const auto report =
                resample(first, std::as_const(map).view(), Fields::iqu, second, there.view(), lmaxes);
            EXPECT_LE(report.analysis.unresolved, 1e-6) << first.name();  // of tolerances it is 0 below that
            resample(second, std::as_const(there).view(), Fields::iqu, first, back.view(), lmaxes);
            // Residuals of 1e-13, amplified by at most 10, on values of order 10.
            for (std::int64_t i = 0; i < map.size(); ++i)
                EXPECT_NEAR(back.data()[i], map.data()[i], 2 * 10 * 10 * 1e-13)
                    << first.name() << ", " << second.name();
        }
    }
}

/// Points that are a grid's pixels have the values of the grid, and of any others the sum over Y_lm decides.
TEST(Resampling, AtPointsIsTheFieldThere) {
    const Grid grid = Grid::gauss_legendre(13, 25), other = Grid::healpix(3);
    const auto source = sky(HealpixPixels{8, healpix::Order::ring});
    Array<double, 2> map({3, grid.n_pixels()}), wanted({3, other.n_pixels()}), found({3, other.n_pixels()});
    resample(Grid::healpix(8), source.map.rows(), Fields::iqu, grid, map.view(),
             {.analysis = {.lmax = 12, .tolerance = 1e-13}});
    std::vector<double> theta, phi;
    for (std::int64_t pixel = 0; pixel < other.n_pixels(); ++pixel) {
        const auto [t, p] = healpix::pix2ang(3, healpix::Order::ring, pixel);
        theta.push_back(t);
        phi.push_back(p - 20 * std::numbers::pi);
    }
    const View<const double, 1> thetas(theta.data(), {std::ssize(theta)}),
        phis(phi.data(), {std::ssize(phi)});
    for (const bool turned : {false, true}) {
        ResamplingOptions how{.error = 1e-12};
        if (turned) how.rotation = EulerAngles{0.3, 1.1, -2};
        how.analysis.lmax = 12;
        resample(grid, std::as_const(map).view(), Fields::iqu, other, wanted.view(), how);
        const auto report =
            resample(grid, std::as_const(map).view(), Fields::iqu, thetas, phis, found.view(), how);
        EXPECT_TRUE(report.interpolated);
        // 1e-12 of values below 20; phi of ten turns is right to 1e-14, times lmax.
        for (std::int64_t i = 0; i < found.size(); ++i)
            EXPECT_NEAR(found.data()[i], wanted.data()[i], 20 * (1e-12 + 12 * 1e-14)) << turned;
    }
}

/// Q and U at a pole are along the axes that the point's phi names: P(0, phi) = P(0, 0) e^{-2 i phi}, and
/// P(pi, phi) = P(pi, 0) e^{2 i phi}; also where a turn takes a point there from elsewhere.
TEST(Resampling, TurnsQAndUAtThePoles) {
    constexpr double pi = std::numbers::pi;
    const Grid grid = Grid::clenshaw_curtis(14, 27);
    const auto source = sky(HealpixPixels{8, healpix::Order::ring});
    Array<double, 2> map({2, grid.n_pixels()});
    resample(Grid::healpix(8), source.map.rows().slice(1, 2), Fields::qu, grid, map.view(),
             {.analysis = {.lmax = 12, .tolerance = 1e-13}});
    const double theta[] = {0, 0, pi, pi, 1e-9, 1.1}, phi[] = {0, 0.7, 0, 0.7, 0.7, -2};
    const auto at = [&](const std::optional<EulerAngles>& rotation) {
        Array<double, 2> found({2, 6});
        resample(grid, std::as_const(map).view(), Fields::qu, View<const double, 1>(theta, {6}),
                 View<const double, 1>(phi, {6}), found.view(), {.rotation = rotation, .error = 1e-12});
        return found;
    };
    const auto value = [](const Array<double, 2>& found, std::int64_t i) {
        return std::complex<double>(found(0, i), found(1, i));
    };
    for (const auto& rotation : {std::optional<EulerAngles>(), std::optional<EulerAngles>({0.3, 1.1, -2})}) {
        const auto found = at(rotation);
        const double scale = 20;  // of values below it
        EXPECT_LT(std::abs(value(found, 1) - value(found, 0) * std::polar(1.0, -1.4)), scale * 2e-12);
        EXPECT_LT(std::abs(value(found, 3) - value(found, 2) * std::polar(1.0, 1.4)), scale * 2e-12);
        EXPECT_LT(std::abs(value(found, 4) - value(found, 1)), scale * (2e-12 + 12 * 1e-9));
    }
    // R takes the north pole to (1.1, -2), with e_theta of phi = -psi there becoming e_theta.
    const auto plain = at({}), turned = at(EulerAngles{0.3, 1.1, -2});
    EXPECT_LT(std::abs(value(turned, 5) - value(plain, 0) * std::polar(1.0, 2 * 0.3)), 20 * 2e-12);
}

TEST(Resampling, RefusesWhatItCannotDo) {
    const Grid grid = Grid::gauss_legendre(5, 9);
    Array<double, 2> map({2, 45}), out({2, 1});
    const double theta[] = {3.2}, phi[] = {0}, bad[] = {INFINITY}, good[] = {1};
    const auto call = [&](const double* t, const double* p, const ResamplingOptions& options = {}) {
        resample(grid, std::as_const(map).view(), Fields::qu, View<const double, 1>(t, {1}),
                 View<const double, 1>(p, {1}), out.view(), options);
    };
    EXPECT_THAT([&] { call(theta, phi); },
                ThrowsMessage<InvalidArgument>(HasSubstr("theta = 3.2: must be from 0 to pi (point 0)")));
    EXPECT_THAT([&] { call(good, bad); }, ThrowsMessage<InvalidArgument>(HasSubstr("phi = inf")));
    EXPECT_THAT([&] { call(good, phi, {.error = 1}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("error = 1")));
    EXPECT_THAT([&] { call(good, phi, {.analysis = {.lmax = 5}}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("lmax = 5: must be at most 4")));
    EXPECT_THAT([&] { call(good, phi, {.analysis = {.mask_mode = MaskMode::renormalize}}); },
                ThrowsMessage<InvalidArgument>(HasSubstr("mask_mode = renormalize")));
    map(1, 7) = unseen_value;
    EXPECT_THAT(
        [&] { call(good, phi, {.analysis = {.mask_mode = MaskMode::error}}); },
        ThrowsMessage<InvalidArgument>(HasSubstr("map Q: 1 pixels are UNSEEN, the first is pixel 7")));
    map(1, 7) = NAN;
    EXPECT_THAT([&] { call(good, phi); }, ThrowsMessage<InvalidArgument>(HasSubstr("NaN")));
}

}  // namespace
}  // namespace zonal
